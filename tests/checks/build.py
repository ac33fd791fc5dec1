"""Builds graphs of one or a few nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.catalog import FieldKind
from dml2onnx.checks import check
from dml2onnx.checks.tensors import is_measurable
from dml2onnx.frontends import load_bytes
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.test_cases import descriptors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.operator import OperatorDesc

SOURCE = "/nodes/0/desc"
op, t = descriptors.plain, descriptors.sized
CONVOLUTION: dict[str, Any] = {
    "InputTensor": t(1, 1, 4, 4),
    "FilterTensor": t(1, 1, 3, 3),
    "OutputTensor": t(1, 1, 2, 2),
    "Direction": "FORWARD",
    "Strides": (1, 1),
}


def value(name: str, tensor: TensorDesc | int) -> Value:
    """A buffer that is just large enough."""
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
    """A node that reads and writes values from their start, unless they are reads and writes."""
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
    for field, field_value in desc.items():
        if not field.is_tensor:
            continue
        tensors = field_value if isinstance(field_value, tuple) else (field_value,)
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
    """An operator with one input and a similar output."""
    return descriptors.unary(operator, tensor or t(1, 1, 2, 3), **fields)


def found_in(text: str) -> list[Diagnostic]:
    """The findings about the text of a model."""
    return check(load_bytes(text.encode(), "net.json"))
