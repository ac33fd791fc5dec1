"""How the buffers of a graph's inputs appear to whoever fills them: as which tensor, and in memory order."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.ir.view import Layout, memory_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dml2onnx.ir.graph import GraphInput, GraphOutput, Node, Value


def in_memory(desc: TensorDesc) -> TensorDesc:
    """A descriptor whose elements can be addressed: two 4-bit elements are a byte, and lie there flat."""
    if not desc.data_type.is_packed_nibbles:
        return desc
    return TensorDesc(DataType.UINT8, (desc.data_type.bytes_for(desc.extent),))


def stored_shape(desc: TensorDesc) -> tuple[int, ...]:
    """The shape of a tensor's buffer in memory order, in the elements of :func:`in_memory`."""
    stored = in_memory(desc)
    return memory_shape(Layout(stored.sizes, stored.effective_strides))


def input_descs(
    inputs: Sequence[GraphInput], nodes: Iterable[Node], outputs: Iterable[GraphOutput]
) -> list[TensorDesc]:
    """The tensor as which each input is seen: its own descriptor, or else that of its first reader.

    Where the first reader does not read all that ``nodes`` and ``outputs`` do, it is a row of all that is read.
    """
    readers: dict[Value, list[tuple[int, TensorDesc]]] = {item.value: [] for item in inputs if item.desc is None}
    for node in nodes if readers else ():
        for _, _, read, desc in node.views_in():
            if read.value in readers:
                readers[read.value].append((read.offset, in_memory(desc)))
        for name, _, write, desc in node.views_out():
            if write.base in readers and node.operator.updates(name):
                readers[write.base].append((write.offset, in_memory(desc)))
            elif write.base in readers:
                data_type = in_memory(desc).data_type
                readers[write.base].append((0, TensorDesc(data_type, (-(-write.base.nbytes // data_type.itemsize),))))
    for output in outputs if readers else ():
        if output.value in readers:
            readers[output.value].append((0, in_memory(output.desc)))
    return [item.desc or _desc(item.value.nbytes, readers[item.value]) for item in inputs]


def _desc(nbytes: int, readers: list[tuple[int, TensorDesc]]) -> TensorDesc:
    """As the first reader sees a buffer if that is all that anybody reads, else a row of what is read."""
    if not readers:
        return TensorDesc(DataType.UINT8, (max(nbytes, 1),))
    needed = min(nbytes, max(offset + desc.extent * desc.data_type.itemsize for offset, desc in readers))
    first_offset, first = readers[0]
    width = first.data_type.itemsize
    if first_offset == 0 and needed <= first.extent * width <= nbytes:
        return first
    count = -(-needed // width)
    if count * width <= nbytes:
        return TensorDesc(first.data_type, (count,))
    # a buffer may end in the middle of an element of its first reader
    width = gcd(width, nbytes)
    return TensorDesc(DataType(f"uint{8 * width}"), (nbytes // width,))
