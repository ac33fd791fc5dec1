"""Brings indices and regions among the inputs into the range that models that are not exact support.

ONNX does not define results for indices out of range or non-finite regions, and ONNX Runtime refuses them. DirectML
accepts them, and exact models match it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from dml2onnx.ir.graph import Graph, Node, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.onnx_model import Array
from dml2onnx.reference import memory


def _along_axis(op: OperatorDesc) -> int:
    return op.tensor("InputTensor").sizes[op.uint("Axis")]


def _of_tuples(op: OperatorDesc) -> int:
    """The smallest size that a coordinate indexes."""
    sizes = op.tensor("InputTensor").sizes
    first = len(sizes) - op.uint("InputDimensionCount")
    first += op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    return min(sizes[first : first + op.tensor("IndicesTensor").sizes[-1]])


def _of_gradients(op: OperatorDesc) -> int:
    return op.tensor("InputTensor" if op.has("InputTensor") else "OutputGradientTensor").sizes[0]


def _of_steps(op: OperatorDesc) -> int:
    """Lengths may equal the size of the axis."""
    return op.tensor("InputTensor").sizes[1] + 1


_COUNTS: Mapping[str, tuple[str, Callable[[OperatorDesc], int]]] = {
    "GATHER": ("IndicesTensor", _along_axis),
    "GATHER_ELEMENTS": ("IndicesTensor", _along_axis),
    "GATHER_ND": ("IndicesTensor", _of_tuples),
    "GATHER_ND1": ("IndicesTensor", _of_tuples),
    "GRU": ("SequenceLengthsTensor", _of_steps),
    "LSTM": ("SequenceLengthsTensor", _of_steps),
    "MAX_UNPOOLING": ("IndicesTensor", lambda op: prod(op.tensor("OutputTensor").sizes)),
    "REVERSE_SUBSEQUENCES": ("SequenceLengthsTensor", lambda op: _along_axis(op) + 1),
    "RNN": ("SequenceLengthsTensor", _of_steps),
    "ROI_ALIGN": ("BatchIndicesTensor", lambda op: op.tensor("InputTensor").sizes[0]),
    "ROI_ALIGN1": ("BatchIndicesTensor", lambda op: op.tensor("InputTensor").sizes[0]),
    "ROI_ALIGN_GRAD": ("BatchIndicesTensor", _of_gradients),
    "SCATTER": ("IndicesTensor", _along_axis),
    "SCATTER_ND": ("IndicesTensor", _of_tuples),
}
"""The field of an operator that contains indices or lengths, and their exclusive upper limit."""
_FROM_THE_END = frozenset({"GATHER", "GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1", "SCATTER", "SCATTER_ND"})
"""Operators that accept negative indices."""
_REGIONS = {"ROI_ALIGN": "ROITensor", "ROI_ALIGN1": "ROITensor"}
"""The field of an operator that contains corners, which must be finite and in order."""


def index_limits(nodes: Sequence[Node]) -> dict[Value, tuple[int, int]]:
    """The smallest and largest index that all nodes accept, for each value that is read as indices."""
    limits: dict[Value, tuple[int, int]] = {}
    for node in nodes:
        if (found := _COUNTS.get(node.operator.type)) is None:
            continue
        field, count_of = found
        for read, desc in zip(node.reads.get(field, ()), node.operator.tensors(field), strict=False):
            count = count_of(node.operator)
            lowest = -count if node.operator.type in _FROM_THE_END and desc.data_type.is_signed else 0
            low, high = limits.get(read.value, (-(1 << 62), 1 << 62))
            limits[read.value] = max(low, lowest), min(high, count - 1)
    return limits


def within(graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The contents of a graph's inputs, with indices in range and corners finite and in order."""
    limits, values = index_limits(graph.nodes), {item.name: item.value for item in graph.inputs}
    regions = {
        read.value: (node.operator.tensor(field), read.offset)
        for node in graph.nodes
        if (field := _REGIONS.get(node.operator.type)) is not None
        for read in node.reads.get(field, ())
    }
    return {
        name: as_regions(array, *regions[values[name]])
        if values[name] in regions
        else _within(array, limits.get(values[name]))
        for name, array in feeds.items()
    }


def as_regions(array: Array, desc: TensorDesc, offset: int) -> Array:
    """Memory that contains regions: finite rows of x1, y1, x2, y2 with x1 <= x2 and y1 <= y2."""
    if array.dtype.kind != "f":
        return array
    result: Array = np.where(np.isfinite(array), array, array.dtype.type(0))
    content = result.reshape(-1).view(np.uint8)
    if offset + desc.minimum_bytes > content.size:  # a shorter input is zero-padded
        return result
    corners = memory.read(content, desc, offset).reshape(-1, 2, 2)
    memory.write(content, desc, np.sort(corners, axis=1).reshape(desc.sizes), offset)
    return result


def _within(array: Array, limits: tuple[int, int] | None) -> Array:
    if limits is None or array.dtype.kind not in "iu":
        return array
    low, high = limits
    wide = array.astype(object) if array.dtype.itemsize == 8 else array.astype(np.int64)
    inside = (wide >= low) & (wide <= high)
    moved = np.where(inside, wide, low + (wide - low) % (high - low + 1))
    result: Array = moved.astype(array.dtype)
    return result
