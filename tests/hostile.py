"""Small descriptors that are expensive to execute: valid ones with some sizes made large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dml2onnx.catalog import FieldType
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.rules.inference import infer_outputs

LARGE = (1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 30, (1 << 31) - 1)
_SIZES = (FieldType.UINT, FieldType.UINT_ARRAY, FieldType.TENSOR, FieldType.TENSOR_ARRAY, FieldType.SIZE_2D)


def enlarged(op: OperatorDesc, larges: tuple[int, ...] = LARGE) -> Iterator[OperatorDesc]:
    """Yields the descriptor with one number made large, everywhere or in one place, and with inferred outputs."""
    pairs = zip(op.schema.fields, op.values, strict=True)  # JSON's examples have 0 and 1 for flags
    op = OperatorDesc(op.schema, tuple(bool(value) if item.type is FieldType.BOOL else value for item, value in pairs))
    numbers = {number for value in op.values for number in _numbers(value) if number > 1}
    for number in sorted(numbers):
        for large in larges:
            yield OperatorDesc(op.schema, tuple(_replaced(value, number, large) for value in op.values))
    counts = {item.name for item in op.schema.fields if item.type is FieldType.UINT and not item.enum}
    for large in larges if len(counts) > 1 else ():
        named = zip(op.schema.fields, op.values, strict=True)
        values = [large if item.name in counts and type(value) is int else value for item, value in named]
        yield _following(OperatorDesc(op.schema, tuple(values)), "")
    yield from _wide_windows(op, larges)
    for position, item in enumerate(op.schema.fields):
        if item.type not in _SIZES or item.enum:
            continue
        for value in _with_one_large(op.values[position], larges):
            values = list(op.values)
            values[position] = value
            yield _following(OperatorDesc(op.schema, tuple(values)), item.name)


def _wide_windows(op: OperatorDesc, larges: tuple[int, ...]) -> Iterator[OperatorDesc]:
    """Windows that are nearly all padding: windows and padding can only be large together."""
    if not op.has("StartPadding") or type(op.get("StartPadding")) is not tuple:
        return
    count = len(op.uints("StartPadding"))
    padded = [name for name in ("StartPadding", "EndPadding") if op.has(name)]
    for large in larges:
        for wide in ((large,) * count, (large, *(1,) * (count - 1))):
            changes: dict[str, Any] = {name: tuple(n // 2 for n in wide) for name in padded}
            for pads_only in (False, True):
                if "WindowSize" in op.schema.index and not pads_only:
                    changes["WindowSize"] = wide
                if op.has("FilterTensor") and not pads_only:
                    w = op.tensor("FilterTensor")
                    changes["FilterTensor"] = TensorDesc(w.data_type, (*w.sizes[:2], *wide))
                values = {item.name: value for item, value in zip(op.schema.fields, op.values, strict=True)}
                changed = changes if not pads_only else {name: changes[name] for name in padded}
                yield _following(OperatorDesc(op.schema, tuple({**values, **changed}.values())), "")


def _numbers(value: object) -> list[int]:
    if isinstance(value, TensorDesc):
        return list(value.sizes)
    if isinstance(value, tuple):
        return [number for item in value for number in _numbers(item)]
    return [value] if type(value) is int else []


def _replaced(value: Any, old: int, new: int) -> Any:
    if isinstance(value, TensorDesc):
        return TensorDesc(value.data_type, tuple(new if size == old else size for size in value.sizes))
    if type(value) is tuple:
        return tuple(_replaced(item, old, new) for item in value)
    return new if type(value) is int and value == old else value


def _with_one_large(value: object, larges: tuple[int, ...]) -> Iterator[Any]:
    if isinstance(value, TensorDesc):
        for axis in range(value.rank):
            for large in larges:
                yield TensorDesc(value.data_type, (*value.sizes[:axis], large, *value.sizes[axis + 1 :]))
        for stride in larges:
            yield TensorDesc(value.data_type, value.sizes, (stride, *value.effective_strides[1:]))
        yield TensorDesc(value.data_type, (1 << 15,) * min(value.rank, 2), (1, 1)[: value.rank])
    elif isinstance(value, tuple) and value and type(value[0]) is int:
        for position in range(len(value)):
            for large in larges:
                yield (*value[:position], large, *value[position + 1 :])
    elif type(value) is int:
        yield from larges


def _following(op: OperatorDesc, changed: str) -> OperatorDesc:
    """Returns the descriptor with the outputs that follow from the rest, if they can be inferred."""
    outputs = [item.name for item in op.schema.output_fields if isinstance(op.get(item.name), TensorDesc)]
    if changed in outputs:
        return op
    without = tuple(
        None if item.name in outputs else value for item, value in zip(op.schema.fields, op.values, strict=True)
    )
    types = {name: op.tensor(name).data_type for name in outputs}
    try:
        inferred = infer_outputs(OperatorDesc(op.schema, without), {}, types, outputs).outputs
    except Exception:
        return op
    made = {name: TensorDesc(data_type, tuple(sizes)) for name, (data_type, sizes) in inferred.items()}
    values = (made.get(item.name, value) for item, value in zip(op.schema.fields, op.values, strict=True))
    return OperatorDesc(op.schema, tuple(values))
