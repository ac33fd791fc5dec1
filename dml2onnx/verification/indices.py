"""Inputs that are indices or regions: what a model that is not exact may be given there.

ONNX leaves open what an index out of range gives, or a region that is not finite, and ONNX Runtime refuses to run with
one. DirectML does not, and exact models do as DirectML does.
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
    """Of coordinates the smallest size that any of them counts along."""
    sizes = op.tensor("InputTensor").sizes
    first = len(sizes) - op.uint("InputDimensionCount")
    first += op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    return min(sizes[first : first + op.tensor("IndicesTensor").sizes[-1]])


def _of_regions(op: OperatorDesc) -> int:
    return op.tensor("InputTensor").sizes[0]


def _of_gradients(op: OperatorDesc) -> int:
    return op.tensor("InputTensor" if op.has("InputTensor") else "OutputGradientTensor").sizes[0]


def _of_planes(op: OperatorDesc) -> int:
    return prod(op.tensor("OutputTensor").sizes)


def _of_steps(op: OperatorDesc) -> int:
    """Lengths, which include the whole axis."""
    return op.tensor("InputTensor").sizes[1] + 1


_COUNTS: Mapping[str, tuple[str, Callable[[OperatorDesc], int]]] = {
    "GATHER": ("IndicesTensor", _along_axis),
    "GATHER_ELEMENTS": ("IndicesTensor", _along_axis),
    "GATHER_ND": ("IndicesTensor", _of_tuples),
    "GATHER_ND1": ("IndicesTensor", _of_tuples),
    "GRU": ("SequenceLengthsTensor", _of_steps),
    "LSTM": ("SequenceLengthsTensor", _of_steps),
    "MAX_UNPOOLING": ("IndicesTensor", _of_planes),
    "REVERSE_SUBSEQUENCES": ("SequenceLengthsTensor", lambda op: _along_axis(op) + 1),
    "RNN": ("SequenceLengthsTensor", _of_steps),
    "ROI_ALIGN": ("BatchIndicesTensor", _of_regions),
    "ROI_ALIGN1": ("BatchIndicesTensor", _of_regions),
    "ROI_ALIGN_GRAD": ("BatchIndicesTensor", _of_gradients),
    "SCATTER": ("IndicesTensor", _along_axis),
    "SCATTER_ND": ("IndicesTensor", _of_tuples),
}
"""The field of an operator that holds indices or lengths, and how many values it may have, from 0 on."""
_FROM_THE_END = frozenset({"GATHER", "GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1", "SCATTER", "SCATTER_ND"})
"""Whose indices may also be negative."""


_REGIONS = {"ROI_ALIGN": "ROITensor", "ROI_ALIGN1": "ROITensor"}
"""The field of an operator that holds corners, of which none may be infinite or NaN, nor the last before the first."""


def index_limits(nodes: Sequence[Node]) -> dict[Value, tuple[int, int]]:
    """The smallest and largest number that all nodes take which read a value as indices."""
    limits: dict[Value, tuple[int, int]] = {}
    for node in nodes:
        if (found := _COUNTS.get(node.operator.type)) is None:
            continue
        field, count_of = found
        for read, desc in zip(node.reads.get(field, ()), node.operator.tensors(field), strict=False):
            count = count_of(node.operator)
            low, high = limits.get(read.value, (-(1 << 62), 1 << 62))
            limits[read.value] = max(low, _lowest(node.operator.type, desc, count)), min(high, count - 1)
    return limits


def _lowest(operator: str, desc: TensorDesc, count: int) -> int:
    return -count if operator in _FROM_THE_END and desc.data_type.is_signed else 0


def within(graph: Graph, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """The contents of a graph's inputs, indices brought into their range, corners finite and in their order."""
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
    """Memory whose view by ``desc`` are regions: finite rows of x1, y1, x2, y2 with x1 <= x2 and y1 <= y2."""
    if array.dtype.kind != "f":
        return array
    result: Array = np.where(np.isfinite(array), array, array.dtype.type(0))
    content = result.reshape(-1).view(np.uint8)
    if offset + desc.minimum_bytes > content.size:  # what is left out at the end is 0
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
