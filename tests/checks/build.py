"""Graphs of one node, and of a few, written in as few words as a test needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx import catalog
from dml2onnx.catalog import FieldKind, FieldType
from dml2onnx.checks.tensors import is_measurable
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dml2onnx.catalog import FieldSchema
    from dml2onnx.ir.operator import FieldValue

SOURCE = "/nodes/0/desc"

# Arrays that are left out mean "nothing special": no padding, no step, no scaling.
_ONES = frozenset({"Strides", "Dilations", "WindowSize", "WindowSizes", "Repeats", "InputWindowStrides"})


def t(
    *sizes: int,
    type: str = "FLOAT32",
    strides: Sequence[int] | None = None,
    owned: bool = False,
    total: int = 0,
    alignment: int = 0,
) -> TensorDesc:
    """A tensor descriptor."""
    return TensorDesc(DataType[type], sizes, None if strides is None else tuple(strides), owned, total, alignment)


def op(operator: str, **fields: Any) -> OperatorDesc:
    """A descriptor; counts follow from arrays, and attributes that are left out mean nothing special."""
    schema = catalog.operator(operator)
    assert fields.keys() <= schema.index.keys(), fields.keys() - schema.index.keys()
    counts = {
        field.count: len(value)
        for field in schema.fields
        if field.count is not None and isinstance(value := fields.get(field.name), tuple)
    }
    values: list[FieldValue] = []
    for field in schema.fields:
        if field.name in fields:
            values.append(fields[field.name])
        elif field.name in counts:
            values.append(counts[field.name])
        else:
            values.append(_default(field, counts, fields))
    return OperatorDesc(schema, tuple(values))


def _default(field: FieldSchema, counts: dict[str, int], fields: dict[str, FieldValue]) -> FieldValue:
    if field.optional or field.is_tensor:
        return None
    match field.type:
        case FieldType.ENUM:
            assert field.enum is not None
            return next(iter(catalog.enum_schema(field.enum).values))
        case FieldType.FLOAT:
            return 1.0
        case FieldType.BOOL:
            return False
        case FieldType.UINT | FieldType.INT:
            return 1
        case FieldType.UINT_ARRAY | FieldType.INT_ARRAY | FieldType.FLOAT_ARRAY:
            assert field.count is not None
            count = counts.get(field.count, fields.get(field.count))
            assert isinstance(count, int), f"{field.name} needs {field.count}"
            one: int | float = 1 if field.name in _ONES else 0
            return (float(one),) * count if field.type is FieldType.FLOAT_ARRAY else (one,) * count
        case FieldType.SCALAR_UNION:
            assert field.scalar_type is not None
            return Scalar(DataType[str(fields[field.scalar_type])], 0)
        case _:
            return None


def value(name: str, tensor: TensorDesc | int) -> Value:
    """A buffer just large enough."""
    if isinstance(tensor, int):
        return Value(name, tensor)
    return Value(name, tensor.total_bytes if is_measurable(tensor) else 64)


def node(
    desc: OperatorDesc,
    reads: Mapping[str, Iterable[Value | Read]],
    writes: Mapping[str, Iterable[Value | Write]],
    name: str = "node",
    source: str = SOURCE,
) -> Node:
    """A node; values are read and written from their start."""
    return Node(
        name,
        desc,
        {key: tuple(Read(item) if isinstance(item, Value) else item for item in items) for key, items in reads.items()},
        {
            key: tuple(Write(item) if isinstance(item, Value) else item for item in items)
            for key, items in writes.items()
        },
        source,
    )


def graph(
    nodes: Sequence[Node],
    inputs: Sequence[Value] = (),
    outputs: Sequence[tuple[Value, TensorDesc]] = (),
    constants: Sequence[Value] = (),
    **members: Any,
) -> Graph:
    """A graph of these nodes."""
    return Graph(
        tuple(nodes),
        tuple(GraphInput(item.name, item) for item in inputs),
        tuple(GraphOutput(item.name, item, desc) for item, desc in outputs),
        tuple(Constant(item, ArrayData(np.zeros(item.nbytes, np.uint8))) for item in constants),
        **members,
    )


def one(desc: OperatorDesc, **members: Any) -> Graph:
    """A graph of one node that reads graph inputs and writes graph outputs."""
    bound: dict[FieldKind, dict[str, list[Value]]] = {FieldKind.INPUT_TENSOR: {}, FieldKind.OUTPUT_TENSOR: {}}
    outputs: list[tuple[Value, TensorDesc]] = []
    for field, held in desc.items():
        if not field.is_tensor:
            continue
        tensors = held if isinstance(held, tuple) else (held,)
        values = [
            value(f"{field.name}{i}", tensor) for i, tensor in enumerate(tensors) if isinstance(tensor, TensorDesc)
        ]
        if values:
            bound[field.kind][field.name] = values
            if field.kind is FieldKind.OUTPUT_TENSOR:
                outputs.extend(zip(values, (item for item in tensors if isinstance(item, TensorDesc)), strict=True))
    reads, writes = bound[FieldKind.INPUT_TENSOR], bound[FieldKind.OUTPUT_TENSOR]
    inputs = [item for values in reads.values() for item in values]
    return graph([node(desc, reads, writes)], inputs, outputs, **members)


def unary(operator: str, tensor: TensorDesc | None = None, **fields: Any) -> OperatorDesc:
    """An operator with one input and an output like it."""
    tensor = tensor or t(1, 1, 2, 3)
    return op(operator, InputTensor=tensor, OutputTensor=tensor, **fields)
