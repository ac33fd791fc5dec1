"""Descriptors with another value in one field, as candidates for remedies.

``candidates`` has conventions by name. This module has none, and tries all plausible values of a field: other axes and
enumerators, numbers that occur among the sizes, ratios of sizes, permuted dimensions, exchanged tensors. An edit is of
use only if it makes the descriptor valid and few others do. The ``kind`` of such a candidate is its distance from the
current value: slips are near.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldKind, FieldType, enum_schema
from dml2onnx.checks.candidates import NEUTRAL, Candidate, Change, in_words, inferred, window
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import Scalar
from dml2onnx.ir.tensor import MAX_DIMENSIONS, DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import FieldValue, OperatorDesc

SLIP, OPPOSITE, LIKE, FAR, ABSENT = 10, 14, 15, 16, 17
"""Kinds of candidates beyond those of ``candidates``: one slip, a change of the other side of a mismatch, the sizes of
another tensor, any other value, and the removal of a tensor."""
MOST_ENUMERATORS = 12
"""The largest enumeration of which all values are tried; data types have more, and do not affect sizes."""
_OF_NUMBERS = (FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY, FieldType.SIZE_2D)
_OF_RANKS = frozenset(
    {codes.DIFFERENT_DIMENSION_COUNTS, codes.WRONG_DIMENSION_COUNT, codes.DIMENSION_COUNT_UNSUPPORTED}
)
BEYOND = frozenset({codes.OUT_OF_RANGE, codes.OUT_OF_WINDOW})
"""Findings about values outside a range, of which the nearest valid one is proposed."""
SMALL = range(9)
"""Numbers that are always tried."""
MOST_APART = 16
"""The largest distance between an entry that a finding names and the proposed one."""
MOST_ELEMENTS = 8
"""The longest array of tensors of which each is tried."""
MOST_AXES = 5
"""The highest rank for which all choices of axes are tried."""


def single_edits(desc: OperatorDesc, findings: Sequence[Diagnostic]) -> Iterator[Candidate]:
    """Yields the descriptor with one field changed; attributes that a finding depends on come first."""
    read = {name.partition("/")[0] for item in findings for name in (item.field, item.path, *item.related)}
    wanted = [item.expected for item in findings if item.expected]
    tensors = by_path(desc)
    counts = {field.count for field in desc.schema.fields}
    differences = list(_differences(desc, tensors))
    named = _entries(findings)
    outside = _entries([item for item in findings if item.code in BEYOND])
    yield from _together(desc)
    for field, value in sorted(desc.items(), key=lambda item: item[0].name not in read):
        if field.kind is FieldKind.ATTRIBUTE and field.name not in counts and value is not None:
            expected = [text for text in wanted if field.enum and text in enum_schema(field.enum).values]
            corrected = _corrected(field, value, differences)
            between = [made for made in _between_sizes(field, value, tensors) if _is_possible(field, made)]
            nearby = [] if field.names_axes else _nearby(value, outside.get(field.name, ()))
            for other in dict.fromkeys((*expected, *corrected, *nearby, *_values(field, value, tensors), *between)):
                if other != value:
                    kind = _distance(field, value, other, named.get(field.name, ()))
                    kind = min(kind, SLIP + 1) if other in between and not named else kind
                    kind = SLIP if other in nearby else kind
                    kind = FAR if field.name.endswith("Padding") and _is_beyond(desc, other) else kind
                    yield Candidate(kind, (*_changes(field, other, value), *_scalars(desc, field, other)))
    yield from _tensors(desc, read, tensors, findings)


def _is_beyond(desc: OperatorDesc, padding: FieldValue) -> bool:
    """Whether padding is as wide as a whole window, which would see only padding."""
    reach = window(desc)
    numbers = padding if isinstance(padding, tuple) and len(padding) == len(reach) else ()
    return any(isinstance(one, int) and one >= most for one, most in zip(numbers, reach, strict=False))


def by_path(desc: OperatorDesc) -> dict[str, TensorDesc]:
    """Returns the valid tensors by field name, or by field name and index in arrays."""
    found = {}
    for field, value in desc.items():
        if isinstance(value, TensorDesc):
            found[field.name] = value
        elif field.is_tensor and isinstance(value, tuple) and len(value) <= MOST_ELEMENTS:
            found |= {f"{field.name}/{i}": item for i, item in enumerate(value) if isinstance(item, TensorDesc)}
    return {path: tensor for path, tensor in found.items() if len(tensor.effective_strides) == tensor.rank}


def at_path(path: str, tensor: TensorDesc, words: str = "") -> Change:
    """Returns the change to another tensor, which needs a copy, at a path of :func:`by_path`."""
    field, _, position = path.partition("/")
    return Change(field, tensor, words, position=int(position) if position else None, is_copied=True)


def _changes(field: FieldSchema, value: FieldValue, old: FieldValue) -> tuple[Change, ...]:
    """The change of the field, and of the count if an array changes its length."""
    change = Change(field.name, value, in_words(value))
    if field.count is None or not isinstance(value, tuple) or not isinstance(old, tuple) or len(old) == len(value):
        return (change,)
    return change, Change(field.count, len(value), str(len(value)))


def _scalars(desc: OperatorDesc, field: FieldSchema, value: FieldValue) -> Iterator[Change]:
    """The scalars in another data type, if the field determines it."""
    kind = DataType.__members__.get(value) if field.enum == "DML_TENSOR_DATA_TYPE" and isinstance(value, str) else None
    if kind is None:
        return
    for other, scalar in desc.items():
        if isinstance(scalar, Scalar) and (kind.is_float or scalar.value == int(scalar.value)):
            number = float(scalar.value) if kind.is_float else int(scalar.value)
            yield Change(other.name, Scalar(kind, number), f"{number}")


# --- Distances ---------------------------------------------------------------------------------------------------


def _entries(findings: Sequence[Diagnostic]) -> dict[str, set[int]]:
    """The array entries that findings are about, by field."""
    found: dict[str, set[int]] = {}
    for item in findings:
        field, _, entry = item.path.partition("/")
        if entry.isdigit():
            found.setdefault(field, set()).add(int(entry))
    return found


def _distance(field: FieldSchema, old: FieldValue, new: FieldValue, named: Collection[int]) -> int:
    """The kind of a candidate that replaces an attribute. If findings have ``named`` entries, the others are right."""
    if not isinstance(old, tuple) or not isinstance(new, tuple):
        return SLIP
    if len(old) != len(new):
        kept = [item for entry, item in enumerate(old) if entry not in named]
        return SLIP if list(new) == kept else SLIP + abs(len(old) - len(new))
    is_beside = any(old[entry] != new[entry] for entry in range(len(old)) if named and entry not in named)
    numbers = [[item for item in array if isinstance(item, (int, float))] for array in (old, new)]
    pairs = list(zip(*numbers, strict=True))
    apart = sum(a != b for a, b in pairs)
    if _is_one_slip(pairs) or set(new) == {NEUTRAL.get(field.name)}:
        return SLIP + is_beside
    if is_beside:
        return FAR
    return SLIP + 1 if apart == 1 or len(set(new)) == 1 else FAR


_SLIPS: tuple[Callable[[float], float], ...] = (
    lambda number: number + 1,
    lambda number: number - 1,
    lambda number: number * 2,
    lambda number: number / 2,
)


def _is_one_slip(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether numbers are permuted, or one or all of them are off by one, doubled or halved."""
    old, new = [a for a, _ in pairs], [b for _, b in pairs]
    if sorted(old) == sorted(new):
        return True
    moved = [(a, b) for a, b in pairs if a != b]
    if len(moved) not in (1, len(pairs)) and len(moved) < sum(a != 0 for a in old):
        return False
    return any(all(step(a) == b for a, b in moved) for step in _SLIPS)


# --- Attributes -------------------------------------------------------------------------------------------------------


def _values(field: FieldSchema, value: FieldValue, tensors: dict[str, TensorDesc]) -> Iterator[FieldValue]:
    """The other values of a field that are tried."""
    rank = max((tensor.rank for tensor in tensors.values()), default=0)
    if field.type is FieldType.ENUM and field.enum is not None and isinstance(value, str):
        names = list(enum_schema(field.enum).values)
        yield from names if len(names) <= MOST_ENUMERATORS else ()
    elif field.dimensions == "axis" and isinstance(value, int):
        yield from sorted(range(rank), key=lambda axis: abs(axis - value))
    elif field.dimensions == "axes" and isinstance(value, tuple):
        yield from _axes(value, rank)
    elif field.type in (FieldType.UINT, FieldType.INT) and isinstance(value, int):
        yield from sorted({*SMALL, *_sizes(tensors)}, key=lambda number: abs(number - value))
    elif field.type in _OF_NUMBERS and isinstance(value, tuple):
        numbers = tuple([item for item in value if isinstance(item, (int, float))])
        for other in _arrays(field, numbers) if numbers and len(numbers) == len(value) else ():
            if _is_possible(field, other):
                yield other


def _axes(value: tuple[FieldValue, ...], rank: int) -> Iterator[tuple[int, ...]]:
    """Axes of the same number, the nearest first, then all other choices; none if the rank is high."""
    if rank <= MOST_AXES:
        count, old_axes = len(value), [axis for axis in value if isinstance(axis, int)]
        alike = sorted(
            combinations(range(rank), count),
            key=lambda axes: sum(abs(axis - old) for axis, old in zip(axes, old_axes, strict=False)),
        )
        others = [combinations(range(rank), other) for other in range(1, rank + 1) if other != count]
        yield from chain(alike, *others)


def _sizes(tensors: dict[str, TensorDesc]) -> set[int]:
    return {size for tensor in tensors.values() for size in tensor.sizes}


def _is_possible(field: FieldSchema, value: tuple[float, ...]) -> bool:
    """Whether the type of the field allows negative numbers, if there are any."""
    return field.type in (FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY) or min(value) >= 0


def _arrays(field: FieldSchema, value: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    """Slips of the entries, then arrays of equal entries."""
    kind = float if field.type is FieldType.FLOAT_ARRAY else int
    for slipped in _slipped(value):
        if kind is float or all(number == int(number) for number in slipped):
            yield tuple(map(kind, slipped))
    yield from (tuple([kind(number)] * len(value)) for number in SMALL)
    if len(value) == 2:
        yield from (tuple(map(kind, pair)) for pair in product(SMALL[:5], repeat=2))


def _between_sizes(
    field: FieldSchema, value: FieldValue, tensors: dict[str, TensorDesc]
) -> Iterator[tuple[float, ...]]:
    """The ratios and differences between the sizes of two tensors."""
    if field.type not in _OF_NUMBERS or not isinstance(value, tuple) or not value:
        return
    kind = float if field.type is FieldType.FLOAT_ARRAY else int
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


def _slipped(value: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    """The entries permuted, or one or all of them off by one, doubled, halved or 0."""
    for order in _orders(len(value)):
        yield tuple([value[index] for index in order])
    for step in _SLIPS:
        yield tuple(map(step, value))
        yield from ((*value[:index], step(number), *value[index + 1 :]) for index, number in enumerate(value))
    yield from ((*value[:index], 0, *value[index + 1 :]) for index in range(len(value)))


def _nearby(value: FieldValue, named: Collection[int]) -> list[tuple[int, ...]]:
    """Arrays with another number in one of the entries that findings name, the nearest first."""
    numbers = tuple([item for item in value if isinstance(item, int)]) if isinstance(value, tuple) and named else ()
    if not isinstance(value, tuple) or len(numbers) != len(value):
        return []
    steps = [step for apart in range(1, MOST_APART + 1) for step in (-apart, apart)]
    return [
        (*numbers[:entry], numbers[entry] + step, *numbers[entry + 1 :])
        for step in steps
        for entry in named
        if entry < len(numbers) and numbers[entry] + step >= 0
    ]


def _differences(desc: OperatorDesc, tensors: dict[str, TensorDesc]) -> Iterator[tuple[int, ...]]:
    """The differences between the stated and the inferred output sizes."""
    names = [field.name for field in desc.schema.output_fields if field.name in tensors]
    for name, right in inferred(desc, names).items():
        if right is not None and right.rank == tensors[name].rank and right.sizes != tensors[name].sizes:
            yield tuple([one - other for one, other in zip(tensors[name].sizes, right.sizes, strict=True)])


def _corrected(
    field: FieldSchema, value: FieldValue, differences: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    """Arrays changed by the difference between the stated and the inferred output sizes."""
    if field.type not in (FieldType.UINT_ARRAY, FieldType.INT_ARRAY) or not isinstance(value, tuple):
        return
    for difference in differences if value else ():
        if len(difference) >= len(value):
            pairs = list(zip(value, difference[-len(value) :], strict=True))
            for sign in (1, -1):
                made = tuple([item + sign * more for item, more in pairs if isinstance(item, int)])
                if len(made) == len(value) and (field.type is FieldType.INT_ARRAY or min(made) >= 0):
                    yield made


def _together(desc: OperatorDesc) -> Iterator[Candidate]:
    """Arrays of one length, such as both ends of a padding, permuted together."""
    alike: dict[str, list[tuple[FieldSchema, tuple[float, ...]]]] = {}
    for field, value in desc.items():
        if field.count is not None and field.type in _OF_NUMBERS and isinstance(value, tuple):
            numbers = tuple([item for item in value if isinstance(item, (int, float))])
            alike.setdefault(field.count, []).append((field, numbers))
    for arrays in alike.values():
        for order in _orders(len(arrays[0][1])) if len(arrays) > 1 and len({len(n) for _, n in arrays}) == 1 else ():
            made = [(field.name, old, tuple([old[index] for index in order])) for field, old in arrays]
            changes = [Change(name, new, in_words(new)) for name, old, new in made if old != new]
            if len(changes) > 1:
                yield Candidate(SLIP, tuple(changes))


def _orders(length: int) -> Iterator[tuple[int, ...]]:
    """The last first; and of more than two the second last, or the last second."""
    places = tuple(range(length))
    yield places[::-1]
    if length > 2:
        yield from ((0, *places[2:], 1), (0, length - 1, *places[1:-1]))


# --- Tensors ----------------------------------------------------------------------------------------------------------


def _tensors(
    desc: OperatorDesc, read: Collection[str], tensors: dict[str, TensorDesc], findings: Sequence[Diagnostic]
) -> Iterator[Candidate]:
    """Dimensions of a tensor in another order, sizes as others have them, two tensors, an optional one left out."""
    ranks = {tensors[name].rank for item in findings for name in (item.field, *item.related) if name in tensors}
    of_ranks = any(
        item.code in _OF_RANKS or (item.code is codes.ACCEPTED_SIZES and len(ranks) > 1) for item in findings
    )
    seen = set[tuple[str, tuple[int, ...]]]()

    def sized(name: str, sizes: tuple[int, ...], kind: int, words: str = "") -> Iterator[Candidate]:
        if sizes != tensors[name].sizes and (name, sizes) not in seen and 0 < len(sizes) <= MAX_DIMENSIONS:
            seen.add((name, sizes))
            made = replace(tensors[name], sizes=sizes, strides=None, total_size=0)
            yield Candidate(kind, (at_path(name, made, f"of sizes {list(sizes)}{words}"),))

    def is_read(name: str) -> bool:
        return name.partition("/")[0] in read

    for name, tensor in tensors.items():
        if not is_read(name):
            continue
        for sizes, words in _reordered(tensor.sizes):
            yield from sized(name, sizes, SLIP, words)
        for sizes in _stated(name, tensor.sizes, findings):
            yield from sized(name, sizes, SLIP + _apart(tensor.sizes, sizes))
        for sizes in _opposite(name, tensor.sizes, findings):
            yield from sized(name, sizes, OPPOSITE)
        for sizes in _of_windows(tensor.sizes) if name == "FilterTensor" else ():
            yield from sized(name, sizes, SLIP + (len(set(sizes[2:])) == len(set(tensor.sizes[2:]))))
        for sizes in _in_sum(name, tensor.sizes, findings):
            yield from sized(name, sizes, SLIP)
        for sizes in _with_other_ones(tensor.sizes) if of_ranks else ():
            yield from sized(name, sizes, SLIP)
        for number in sorted(_sizes(tensors)) if of_ranks else ():
            yield from sized(name, (number, *tensor.sizes), SLIP + 1)
            yield from sized(name, (*tensor.sizes, number), SLIP + 2)
        for other in tensors.values():
            if other.rank == tensor.rank or of_ranks:
                is_near = tensor.rank > 1 and _apart(tensor.sizes, other.sizes) == 1
                yield from sized(name, other.sizes, SLIP + 1 if is_near else LIKE)
    yield from _in_equal_parts(desc, tensors)
    yield from _exchanged(desc, read, tensors)
    for name, tensor in tensors.items():
        numbers = _sizes(tensors) if is_read(name) else set()
        for axis, number in product(range(tensor.rank), sorted(numbers)):
            yield from sized(name, (*tensor.sizes[:axis], number, *tensor.sizes[axis + 1 :]), FAR)
    for field in desc.schema.fields:
        if field.is_tensor and field.optional and field.name in read and desc.get(field.name) is not None:
            yield Candidate(ABSENT, (Change(field.name, None, "left out"),))


def _apart(sizes: Sequence[int], others: Sequence[int]) -> int:
    """In how many dimensions sizes differ; all, where they have not as many."""
    if len(sizes) != len(others):
        return len(others)
    return sum(one != other for one, other in zip(sizes, others, strict=True))


def _in_equal_parts(desc: OperatorDesc, tensors: dict[str, TensorDesc]) -> Iterator[Candidate]:
    """The tensors of an array that are all as large as the whole along a dimension, as equal parts of it."""
    for field in desc.schema.fields:
        parts = {path: tensor for path, tensor in tensors.items() if path.startswith(f"{field.name}/")}
        count, alike = len(parts), list(dict.fromkeys(tensor.sizes for tensor in parts.values()))
        for axis, size in enumerate(alike[0]) if count > 1 and len(alike) == 1 else ():
            if size % count == 0 and size:
                sizes = (*alike[0][:axis], size // count, *alike[0][axis + 1 :])
                words = f"of sizes {list(sizes)}"
                made = {path: replace(each, sizes=sizes, strides=None, total_size=0) for path, each in parts.items()}
                yield Candidate(SLIP, tuple([at_path(path, each, words) for path, each in made.items()]))


def _reordered(sizes: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Two dimensions in each other's place, and channels first for last."""
    for first, second in combinations(range(len(sizes)), 2):
        made = list(sizes)
        made[first], made[second] = made[second], made[first]
        yield tuple(made), f": dimensions {first} and {second} swapped"
    if len(sizes) > 3:
        yield (sizes[0], sizes[-1], *sizes[1:-1]), ": the last dimension second"
        yield (sizes[0], *sizes[2:], sizes[1]), ": the second dimension last"


def _stated(name: str, sizes: tuple[int, ...], findings: Sequence[Diagnostic]) -> Iterator[tuple[int, ...]]:
    """The sizes that findings expect, all or one of them."""
    for item in findings:
        field, _, axis = item.path.partition("/Sizes/")
        if re.fullmatch(r"\[\d+(, \d+)*\]", item.expected):
            yield tuple(map(int, item.expected[1:-1].split(", ")))
        elif field == name and axis.isdigit() and int(axis) < len(sizes) and re.fullmatch(r"[1-9]\d*", item.expected):
            yield (*sizes[: int(axis)], int(item.expected), *sizes[int(axis) + 1 :])


def _opposite(name: str, sizes: tuple[int, ...], findings: Sequence[Diagnostic]) -> Iterator[tuple[int, ...]]:
    """Sizes of a tensor that others must match, with the size that the others have."""
    for item in findings:
        if name not in item.related or not item.expected.isdigit() or not item.found.isdigit():
            continue
        needed, found = int(item.expected), int(item.found)
        axes = [axis for axis, size in enumerate(sizes) if size == needed]
        at = item.path.rpartition("/")[2]
        axes = [axis for axis in axes if str(axis) == at] or axes
        if len(axes) == 1 and found:
            yield (*sizes[: axes[0]], found, *sizes[axes[0] + 1 :])


def _of_windows(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A filter that reaches equally far in all dimensions: as in one of them, or as others do that are usual."""
    reach = sizes[2:]
    usual = reach if len(set(reach)) > 1 else (1, 2, 3, 4, 5, 7)
    yield from ((*sizes[:2], *[size] * len(reach)) for size in dict.fromkeys(usual))


def _in_sum(name: str, sizes: tuple[int, ...], findings: Sequence[Diagnostic]) -> Iterator[tuple[int, ...]]:
    """A part of a whole that is said to be larger or smaller, as much larger or smaller."""
    field, _, position = name.partition("/")
    for item in findings:
        if position and item.path == field and item.expected.isdigit() and item.found.isdigit():
            more = int(item.expected) - int(item.found)
            yield from (
                (*sizes[:axis], size + more, *sizes[axis + 1 :]) for axis, size in enumerate(sizes) if size + more > 0
            )


def _with_other_ones(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """With a dimension of 1 more, or less."""
    yield from ((1, *sizes), (*sizes, 1))
    yield from ((*sizes[:axis], *sizes[axis + 1 :]) for axis, size in enumerate(sizes) if size == 1)


def _exchanged(desc: OperatorDesc, read: Collection[str], tensors: dict[str, TensorDesc]) -> Iterator[Candidate]:
    """Two tensors in each other's place."""
    outputs = {field.name for field in desc.schema.output_fields}
    for one, other in combinations([name for name in tensors if "/" not in name], 2):
        first, second = tensors[one], tensors[other]
        is_of_ends = one in outputs or other in outputs
        if is_of_ends and (min(first.rank, second.rank) < 3 or first.data_type is not second.data_type):
            continue  # few vectors and matrices are not the other way round by chance
        if (one in read or other in read) and first != second:
            words = f"as {one}: swapped"
            changes = (Change(one, second, f"as {other}", is_copied=True), Change(other, first, words, is_copied=True))
            yield Candidate(SLIP, changes)
