"""Every field of a descriptor with another value, as candidates for remedies: one edit each.

``candidates`` knows conventions by name. What is here knows none, and tries what fields of a kind can hold: other
axes, other enumerators, numbers that occur among the sizes, what makes one size of another, dimensions that changed
places, tensors that did. Only an edit with which nothing is wrong any more is of use, and only if few others are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldKind, FieldType, enum_schema
from dml2onnx.checks.candidates import LIKE, Candidate, Change, in_words, inferred
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import FieldValue, OperatorDesc

ATTRIBUTE, TENSOR, ABSENT = 1, 2, 6
"""Kinds of candidates beside those of ``candidates``: an attribute, tensors or their dimensions in each other's place,
nothing where something is."""
MOST_ENUMERATORS = 12
"""Enumerators that an enumeration may have, for each to be tried: data types have more, and say nothing of sizes."""
_OF_NUMBERS = (FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY, FieldType.SIZE_2D)
SMALL = range(9)
"""Numbers that are tried whatever the sizes are."""
MOST_AXES = 5
"""Dimensions of a tensor of which all choices of axes are tried."""


def single_edits(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[Candidate]:
    """The descriptor with one field changed that a finding has read."""
    read = {name.partition("/")[0] for item in findings for name in (item.field, item.path, *item.related)}
    wanted = [item.expected for item in findings if item.expected]
    tensors = {
        field.name: value
        for field, value in desc.items()
        if isinstance(value, TensorDesc) and len(value.effective_strides) == value.rank
    }
    counts = {field.count for field in desc.schema.fields}
    differences = list(_differences(desc, tensors))
    for field, value in desc.items():
        if field.kind is FieldKind.ATTRIBUTE and field.name in read - counts and value is not None:
            named = [text for text in wanted if field.enum and text in enum_schema(field.enum).values]
            corrected = _corrected(field, value, differences)
            for other in dict.fromkeys((*named, *corrected, *_values(field, value, tensors))):
                if other != value:
                    yield Candidate(ATTRIBUTE, _changes(field, other, value))
    yield from _tensors(desc, read, tensors, wanted)


def _changes(field: FieldSchema, value: FieldValue, old: FieldValue) -> tuple[Change, ...]:
    """The field, and the count of an array that gets another length."""
    change = Change(field.name, value, in_words(value))
    if field.count is None or not isinstance(value, tuple) or not isinstance(old, tuple) or len(old) == len(value):
        return (change,)
    return change, Change(field.count, len(value), str(len(value)))


# --- Attributes -------------------------------------------------------------------------------------------------------


def _values(field: FieldSchema, value: FieldValue, tensors: dict[str, TensorDesc]) -> Iterator[FieldValue]:
    """What a field may hold instead."""
    rank = max((tensor.rank for tensor in tensors.values()), default=0)
    if field.type is FieldType.ENUM and field.enum is not None and isinstance(value, str):
        names = list(enum_schema(field.enum).values)
        yield from names if len(names) <= MOST_ENUMERATORS else ()
    elif field.dimensions == "axis" and isinstance(value, int):
        yield from range(rank)
    elif field.dimensions == "axes" and isinstance(value, tuple):
        yield from _axes(len(value), rank)
    elif field.type in (FieldType.UINT, FieldType.INT) and isinstance(value, int):
        yield from sorted({*SMALL, *_sizes(tensors)})
    elif field.type in _OF_NUMBERS and isinstance(value, tuple):
        numbers = tuple([item for item in value if isinstance(item, (int, float))])
        for other in _arrays(field, numbers, tensors) if numbers and len(numbers) == len(value) else ():
            if field.type in (FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY) or min(other) >= 0:
                yield other


def _axes(count: int, rank: int) -> Iterator[tuple[int, ...]]:
    """As many axes, and where the tensor has few dimensions all other choices."""
    if rank <= MOST_AXES:
        lengths = [count, *[other for other in range(1, rank + 1) if other != count]]
        yield from chain.from_iterable(combinations(range(rank), length) for length in lengths)


def _sizes(tensors: dict[str, TensorDesc]) -> set[int]:
    return {size for tensor in tensors.values() for size in tensor.sizes if size < 1 << 16}


def _arrays(
    field: FieldSchema, value: tuple[float, ...], tensors: dict[str, TensorDesc]
) -> Iterator[tuple[float, ...]]:
    """One number for all entries; the entries in another order; those that lead from a tensor to another one."""
    kind = float if field.type is FieldType.FLOAT_ARRAY else int
    yield from (tuple([kind(number)] * len(value)) for number in SMALL)
    yield tuple(reversed(value))
    if len(value) == 2:
        yield from (tuple(map(kind, pair)) for pair in product(SMALL[:5], repeat=2))
    shapes = list(dict.fromkeys(tensor.sizes for tensor in tensors.values() if tensor.rank >= len(value)))
    for shape in shapes:
        yield tuple(map(kind, shape[-len(value) :]))
        for other in shapes:
            if other is not shape:
                pairs = list(zip(other[-len(value) :], shape[-len(value) :], strict=True))
                if all(size for _, size in pairs):
                    if kind is float or all(made % size == 0 for made, size in pairs):
                        yield tuple([kind(made / size) for made, size in pairs])
                    yield tuple([kind(made - size) for made, size in pairs])


def _differences(desc: OperatorDesc, tensors: dict[str, TensorDesc]) -> Iterator[tuple[int, ...]]:
    """How much larger outputs are stated than they follow from the rest."""
    names = [field.name for field in desc.schema.output_fields if field.name in tensors]
    for name, right in inferred(desc, names).items():
        if right is not None and right.rank == tensors[name].rank and right.sizes != tensors[name].sizes:
            yield tuple([one - other for one, other in zip(tensors[name].sizes, right.sizes, strict=True)])


def _corrected(
    field: FieldSchema, value: FieldValue, differences: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    """Whole numbers of which an output has as many more or fewer."""
    if field.type not in (FieldType.UINT_ARRAY, FieldType.INT_ARRAY) or not isinstance(value, tuple):
        return
    for difference in differences if value else ():
        if len(difference) >= len(value):
            pairs = list(zip(value, difference[-len(value) :], strict=True))
            for sign in (1, -1):
                made = tuple([item + sign * more for item, more in pairs if isinstance(item, int)])
                if len(made) == len(value) and (field.type is FieldType.INT_ARRAY or min(made) >= 0):
                    yield made


# --- Tensors ----------------------------------------------------------------------------------------------------------


def _listed(text: str) -> tuple[int, ...]:
    """The sizes that a finding expects; none if it expects something else."""
    return tuple(map(int, text[1:-1].split(", "))) if re.fullmatch(r"\[\d+(, \d+)*\]", text) else ()


def _tensors(
    desc: OperatorDesc, read: Collection[str], tensors: dict[str, TensorDesc], wanted: Sequence[str]
) -> Iterator[Candidate]:
    """Two dimensions of a tensor in each other's place, two inputs, and an optional tensor left out."""
    for name, tensor in tensors.items():
        for first, second in combinations(range(tensor.rank), 2) if name in read else ():
            if tensor.sizes[first] != tensor.sizes[second]:
                order = list(range(tensor.rank))
                order[first], order[second] = second, first
                sizes = tuple([tensor.sizes[axis] for axis in order])
                words = f"of sizes {list(sizes)}: dimensions {first} and {second} the other way round"
                made = replace(tensor, sizes=sizes, strides=None, total_size=0)
                yield Candidate(TENSOR, (Change(name, made, words, is_copied=True),))
        stated = [_listed(text) for text in wanted] if name in read else []
        for sizes in dict.fromkeys((*stated, *[other.sizes for other in tensors.values()])) if name in read else ():
            if len(sizes) == tensor.rank and sorted(sizes) != sorted(tensor.sizes):
                made = replace(tensor, sizes=sizes, strides=None, total_size=0)
                yield Candidate(LIKE, (Change(name, made, f"of sizes {list(sizes)}", is_copied=True),))
    inputs = [field.name for field in desc.schema.input_fields if field.name in tensors]
    for one, other in combinations(inputs, 2):
        if (one in read or other in read) and tensors[one] != tensors[other]:
            words = f"as {other}, and {other} as {one}: the other way round"
            changes = (
                Change(one, tensors[other], words, is_copied=True),
                Change(other, tensors[one], words, is_copied=True),
            )
            yield Candidate(TENSOR, changes)
    for field in desc.schema.fields:
        if field.is_tensor and field.optional and field.name in read and desc.get(field.name) is not None:
            yield Candidate(ABSENT, (Change(field.name, None, "left out"),))
