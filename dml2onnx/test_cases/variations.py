"""Small random changes of descriptors, according to the field types of the catalogue.

A walk of changes that pass the checks reaches unusual valid descriptors of every operator. If a change of one field
(``changed_field``) is invalid, the checks must report it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod
from random import Random

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, SupportRow
from dml2onnx.checks import check
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import MAX_DIMENSIONS, DataType, TensorDesc
from dml2onnx.test_cases.single_node import single_node

LARGEST = 4096
"""Limit of elements of a tensor."""

_ONES = frozenset({"InputWindowSizes", "InputWindowStrides", "Repeats", "Scales", "Sizes", "Strides"})
"""Arrays whose neutral entry is 1; that of others is 0."""
_FLOATS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, -1.0, 1e-5, 3.0)


def findings(op: OperatorDesc) -> list[Diagnostic]:
    """The findings for a graph of this operator alone."""
    return check(single_node(op), remedies=False)


def is_small(op: OperatorDesc) -> bool:
    """Whether all tensors are small."""
    descs = [desc for item in op.schema.tensor_fields for desc in op.tensors(item.name)]
    return all(desc.element_count <= LARGEST and desc.extent <= 4 * LARGEST for desc in descs)


def with_value(op: OperatorDesc, name: str, value: FieldValue) -> OperatorDesc:
    """The descriptor with another value in one field, and its count."""
    values = {name: value}
    count = op.schema.fields_by_name[name].count
    if count is not None and isinstance(value, tuple) and isinstance(op.get(name), tuple):
        values[count] = len(value)
    return op.with_values(values)


# --- Several fields at once -------------------------------------------------------------------------------------------


def together(op: OperatorDesc, random: Random) -> tuple[OperatorDesc, tuple[str, ...]]:
    """:func:`changed_field` for related fields, without names."""
    return _together(op, random), ()


def _together(op: OperatorDesc, random: Random) -> OperatorDesc:
    """Changes a data type, number or rank wherever it occurs, or all of them to those of a support row."""
    tensors = [desc for item in op.schema.tensor_fields for desc in op.tensors(item.name)]
    if not tensors:
        return op
    match random.randrange(4):
        case 0:
            old, new = random.choice(tensors).data_type, random.choice(list(DataType))
            return _each_tensor(op, lambda desc: replace(desc, data_type=new) if desc.data_type is old else desc)
        case 1:
            sizes = random.choice(tensors).sizes
            number = random.choice(sizes) if sizes else 1
            other = random.choice((number + 1, max(1, number - 1), 2 * number, 1, 2, 3))
            return OperatorDesc(op.schema, tuple(_with_number(value, number, other) for value in op.values))
        case 2:
            return of_row(op, random.choice(op.schema.support), random) if op.schema.support else op
        case _:
            return with_leading(op) if random.random() < 0.5 else _without_leading(op)


def of_row(op: OperatorDesc, row: SupportRow, random: Random) -> OperatorDesc:
    """The descriptor changed to a function, data types and ranks of a support row; equal types stay equal."""
    if row.functions and op.get("Function") not in row.functions:
        op = with_value(op, "Function", random.choice(row.functions))
    allowed: dict[DataType, frozenset[str]] = {}
    low, high = 0, MAX_DIMENSIONS
    for name, support in row.tensors.items():
        for desc in op.tensors(name):
            allowed[desc.data_type] = allowed.get(desc.data_type, support.data_types) & support.data_types
            low, high = max(low, support.dimension_counts[0]), min(high, support.dimension_counts[1])
    others = {
        old: old if old.name in names or not names else DataType[random.choice(sorted(names))]
        for old, names in allowed.items()
    }
    op = _of_types(op, others)
    ranks = [desc.rank for name in row.tensors for desc in op.tensors(name)]
    for _ in range(low - min(ranks, default=low)):
        op = with_leading(op)
    for _ in range(max(ranks, default=high) - high):
        op = _without_leading(op)
    return op


def _of_types(op: OperatorDesc, others: Mapping[DataType, DataType]) -> OperatorDesc:
    """The descriptor with data types of tensors and scalars replaced."""
    values: dict[str, FieldValue] = {}
    for item, value in op.items():
        new = others.get(value.data_type) if isinstance(value, Scalar) else None
        if isinstance(value, Scalar) and new is not None and item.scalar_type is not None:
            number = float(value.value) if new.is_float else int(value.value)
            values |= {item.scalar_type: new.name, item.name: Scalar(new, number)}
    return _each_tensor(
        op.with_values(values),
        lambda desc: replace(desc, data_type=others.get(desc.data_type, desc.data_type), total_size=0),
    )


def of_each_type(op: OperatorDesc) -> Iterator[OperatorDesc]:
    """Yields the descriptor with the types of each support row, and with each type replaced by every allowed one."""
    for number, row in enumerate(op.schema.support):
        yield of_row(op, row, Random(number))
        for old in {desc.data_type for name in row.tensors for desc in op.tensors(name)}:
            types = [
                item.data_types
                for name, item in row.tensors.items()
                if any(desc.data_type is old for desc in op.tensors(name))
            ]
            for new in sorted(frozenset.intersection(*types)):
                yield _of_types(op, {old: DataType[new]})


def of_each_rank(op: OperatorDesc) -> Iterator[OperatorDesc]:
    """Yields the descriptor with fewer and with more leading dimensions, as long as it has no findings.

    New dimensions have size 2 if that is valid, else 1.
    """
    fewer = op
    while all(desc.rank for item in op.schema.tensor_fields for desc in fewer.tensors(item.name)):
        fewer = _without_leading(fewer, any_size=True)
        if findings(fewer):
            break
        yield fewer
    while True:
        more = next((new for size in (2, 1) if is_small(new := with_leading(op, size)) and not findings(new)), None)
        if more is None:
            return
        yield (op := more)


def of_sizes(op: OperatorDesc, sizes: tuple[int, ...]) -> OperatorDesc:
    """The descriptor with these sizes for all tensors."""
    return _each_tensor(op, lambda desc: _sized(desc, sizes))


def with_leading(op: OperatorDesc, size: int = 1) -> OperatorDesc:
    """Adds a leading dimension, with an entry in every array that has one per dimension."""
    for name, value in _by_dimension(op):
        first = 1 if name in _ONES else 0
        kind = op.schema.fields_by_name[name].type
        op = with_value(op, name, (float(first) if kind is FieldType.FLOAT_ARRAY else first, *value))
    op = _along(op, 1)
    return _each_tensor(op, lambda desc: _sized(desc, (size, *desc.sizes)))


def _along(op: OperatorDesc, step: int) -> OperatorDesc:
    """The descriptor with its axes shifted by ``step``."""
    for item, value in op.items():
        if item.dimensions == "axis":
            op = with_value(op, item.name, max(op.uint(item.name) + step, 0))
        elif item.dimensions == "axes" and isinstance(value, tuple):
            op = with_value(op, item.name, tuple(axis + step for axis in op.uints(item.name) if axis + step >= 0))
    return op


def _without_leading(op: OperatorDesc, *, any_size: bool = False) -> OperatorDesc:
    """Removes the first dimension of all tensors where it has size 1, or of all tensors."""
    firsts = [desc.sizes[:1] == (1,) for item in op.schema.tensor_fields for desc in op.tensors(item.name)]
    if any_size or all(firsts):
        for name, value in _by_dimension(op):
            op = with_value(op, name, value[1:])
    if any_size:
        op = _along(op, -1)
    return _each_tensor(op, lambda desc: _sized(desc, desc.sizes[1:]) if any_size or desc.sizes[:1] == (1,) else desc)


def _by_dimension(op: OperatorDesc) -> list[tuple[str, tuple[int | float, ...]]]:
    """Arrays with one entry per dimension."""
    return [
        (item.name, value)  # type: ignore[misc]  # they are arrays of numbers
        for item, value in op.items()
        if item.dimensions == "each" and isinstance(value, tuple)
    ]


def _each_tensor(op: OperatorDesc, change: Callable[[TensorDesc], TensorDesc]) -> OperatorDesc:
    def of(value: FieldValue) -> FieldValue:
        if isinstance(value, TensorDesc):
            return change(value)
        if isinstance(value, tuple) and value and isinstance(value[0], TensorDesc):
            return tuple(change(item) for item in value if isinstance(item, TensorDesc))
        return value

    return OperatorDesc(op.schema, tuple(of(value) for value in op.values))


def _with_number(value: FieldValue, old: int, new: int) -> FieldValue:
    if isinstance(value, TensorDesc):
        return _sized(value, tuple(new if size == old else size for size in value.sizes))
    if isinstance(value, tuple):
        items = [_with_number(item, old, new) for item in value]
        return tuple(items)  # type: ignore[return-value]  # each keeps its type
    return new if type(value) is int and value == old else value


def _sized(desc: TensorDesc, sizes: tuple[int, ...]) -> TensorDesc:
    return desc if sizes == desc.sizes else TensorDesc(desc.data_type, sizes, None, desc.owned_by_dml)


def laid_out(op: OperatorDesc, random: Random) -> OperatorDesc:
    """The descriptor with another layout of one tensor."""
    places = list(_places(op))
    return _with_layout(op, *random.choice(places), random.randrange(LAYOUTS), random) if places else op


def of_each_layout(op: OperatorDesc, random: Random) -> Iterator[OperatorDesc]:
    """Yields the descriptor with each tensor in every kind of layout."""
    for place in _places(op):
        for kind in range(1, LAYOUTS):
            yield _with_layout(op, *place, kind, random)


def _places(op: OperatorDesc) -> Iterator[tuple[str, int]]:
    return ((item.name, number) for item in op.schema.tensor_fields for number in range(len(op.tensors(item.name))))


def _with_layout(op: OperatorDesc, name: str, number: int, kind: int, random: Random) -> OperatorDesc:
    several = list(op.tensors(name))
    several[number] = _in_another_layout(several[number], kind, random)
    return with_value(op, name, several[0] if isinstance(op.get(name), TensorDesc) else tuple(several))


# --- One field --------------------------------------------------------------------------------------------------------


def changed_field(op: OperatorDesc, random: Random) -> tuple[OperatorDesc, tuple[str, ...]]:
    """The descriptor with one field changed, with the names of the field and of its count if that changed too."""
    fields = [item for item in op.schema.fields if item.name not in _counts(op)]
    item = random.choice(fields)
    changed = with_value(op, item.name, _another(item, op.get(item.name), random))
    recounted = item.count is not None and op.get(item.count) != changed.get(item.count)
    return changed, (item.name, item.count) if recounted and item.count else (item.name,)


def _counts(op: OperatorDesc) -> set[str | None]:
    return {item.count for item in op.schema.fields}


def _another(item: FieldSchema, value: FieldValue, random: Random) -> FieldValue:
    if item.optional and value is not None and random.random() < 0.15:
        return None
    if isinstance(value, TensorDesc):
        return _another_tensor(value, random)
    if isinstance(value, tuple):
        return _another_array(item, value, random)
    match item.type:
        case FieldType.UINT | FieldType.INT if isinstance(value, int):
            return max(value + random.choice((1, -1, 2)), 0 if item.type is FieldType.UINT else -9)
        case FieldType.FLOAT:
            return random.choice(_FLOATS)
        case FieldType.BOOL:
            return not value
        case FieldType.ENUM:
            assert item.enum is not None
            return random.choice(sorted(catalog.enum_schema(item.enum).values))
        case FieldType.SCALE_BIAS:
            return ScaleBias(random.choice(_FLOATS), random.choice(_FLOATS))
        case FieldType.SIZE_2D if isinstance(value, Size2D):
            width, height = (max(0, size + random.choice((1, 0, -1))) for size in (value.width, value.height))
            return Size2D(width, height)
        case FieldType.SCALAR_UNION if isinstance(value, Scalar):
            number = random.choice(_FLOATS) if value.data_type.is_float else random.choice((0, 1, 2, 5))
            return Scalar(value.data_type, number)
    return value


def _another_array(item: FieldSchema, value: tuple[object, ...], random: Random) -> FieldValue:
    if not value:
        return ()
    position = random.randrange(len(value))
    chance = random.random()
    items = list(value)
    if chance < 0.1:
        items.append(items[position])
    elif chance < 0.2 and len(items) > 1:
        del items[position]
    else:
        old = items[position]
        if isinstance(old, TensorDesc):
            items[position] = _another_tensor(old, random)
        elif isinstance(old, float) or item.type is FieldType.FLOAT_ARRAY:
            items[position] = random.choice(_FLOATS)
        elif isinstance(old, int):
            items[position] = max(0 if item.type is FieldType.UINT_ARRAY else -9, old + random.choice((1, -1, 2)))
    return tuple(items)  # type: ignore[return-value]  # each keeps its type


def _another_tensor(desc: TensorDesc, random: Random) -> TensorDesc:
    match random.randrange(5):
        case 0:
            return replace(desc, data_type=random.choice(list(DataType)))
        case 1 if desc.rank:
            axis = random.randrange(desc.rank)
            size = random.choice((desc.sizes[axis] + 1, max(1, desc.sizes[axis] - 1), 1, 2 * desc.sizes[axis]))
            return _sized(desc, (*desc.sizes[:axis], size, *desc.sizes[axis + 1 :]))
        case 2:
            return _sized(desc, (1, *desc.sizes) if random.random() < 0.5 else desc.sizes[1:])
        case _:
            return _in_another_layout(desc, random.randrange(LAYOUTS), random)


def _in_another_layout(desc: TensorDesc, kind: int, random: Random) -> TensorDesc:
    return replace(desc, strides=_another_layout(desc.sizes, kind, random), total_size=0)


LAYOUTS = 5
"""Kinds of strides: none, permuted, with gaps, broadcast in one dimension, or overlapping."""


def _another_layout(sizes: tuple[int, ...], kind: int, random: Random) -> tuple[int, ...] | None:
    """Strides of a kind."""
    order = list(range(len(sizes)))
    if kind == 0:
        return None
    if kind == 4:
        return tuple(random.choice((1, 1, 2)) for _ in sizes)
    if kind == 1:
        random.shuffle(order)
    strides, step = [0] * len(sizes), 1
    for axis in reversed(order):
        if kind == 2:
            step += random.choice((0, 0, 1, 3))
        strides[axis] = step
        step *= sizes[axis]
    if kind == 3 and sizes:
        strides[random.randrange(len(sizes))] = 0
    return tuple(strides)


# --- Reduction --------------------------------------------------------------------------------------------------------


def smaller(op: OperatorDesc) -> Iterator[OperatorDesc]:
    """Yields smaller descriptors, the smallest first."""
    numbers = {size for item in op.schema.tensor_fields for desc in op.tensors(item.name) for size in desc.sizes}
    for number in sorted(numbers - {1}, reverse=True):
        for other in {1, number // 2, number - 1} - {0, number}:
            yield OperatorDesc(op.schema, tuple(_with_number(value, number, other) for value in op.values))
    yield _without_leading(op)
    for item, value in op.items():
        if item.optional and value is not None:
            yield with_value(op, item.name, None)
        if isinstance(value, TensorDesc):
            if value.strides is not None:
                yield with_value(op, item.name, replace(value, strides=None, total_size=0))
            for axis, size in enumerate(value.sizes):
                if size > 1:
                    shorter = (*value.sizes[:axis], size - 1, *value.sizes[axis + 1 :])
                    yield with_value(op, item.name, _sized(value, shorter))
        if isinstance(value, tuple) and len(value) > 1:
            yield with_value(op, item.name, value[:-1])


def weight(op: OperatorDesc) -> tuple[int, int, int]:
    """The size of a descriptor: elements, ranks plus tensors with strides, and fields that are present."""
    descs = [desc for item in op.schema.tensor_fields for desc in op.tensors(item.name)]
    with_strides = sum(desc.strides is not None for desc in descs)
    present = sum(value is not None for value in op.values)
    return sum(prod(desc.sizes) for desc in descs), sum(desc.rank for desc in descs) + with_strides, present
