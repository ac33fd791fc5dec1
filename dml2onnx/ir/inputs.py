"""The shapes and data types of a graph's inputs for callers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from dml2onnx.ir.graph import GraphInput, GraphOutput, Node, Value
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.ir.view import Layout, memory_shape


def in_memory(desc: TensorDesc) -> TensorDesc:
    """The descriptor, or one of bytes for 4-bit elements, which cannot be addressed one by one."""
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
    """The descriptor of each input: its own, or that of its first reader.

    If ``nodes`` and ``outputs`` read more than this, it is one dimension of everything that they read.
    """
    readers = _readers(inputs, nodes, outputs)
    return [_desc(item, readers[item.value]) for item in inputs]


def _readers(
    inputs: Sequence[GraphInput], nodes: Iterable[Node], outputs: Iterable[GraphOutput]
) -> dict[Value, list[tuple[int, TensorDesc]]]:
    """The (byte offset, descriptor) of each read of the initial contents of an input.

    For an input with a descriptor, that includes reads after partial writes. Without one, a partial write counts as a
    read of the whole buffer.
    """
    readers: dict[Value, list[tuple[int, TensorDesc]]] = {item.value: [] for item in inputs}
    seen = {item.value: item for item in inputs if item.desc is None or _reach(item.desc) < item.value.nbytes}
    for node in nodes if seen else ():
        for _, _, read, desc in node.views_in():
            if read.value in seen:
                readers[seen[read.value].value].append((read.offset, in_memory(desc)))
        for name, _, write, desc in node.views_out():
            item = None if write.base is None else seen.get(write.base)
            if item is None:
                continue
            if node.operator.updates(name):
                readers[item.value].append((write.offset, in_memory(desc)))
            elif item.desc is None:
                data_type = in_memory(desc).data_type
                whole = TensorDesc(data_type, (-(-item.value.nbytes // data_type.itemsize),))
                readers[item.value].append((0, whole))
            if item.desc is not None:
                seen[write.value] = item
    for output in outputs if seen else ():
        if output.value in seen:
            readers[seen[output.value].value].append((0, in_memory(output.desc)))
    return readers


def _desc(item: GraphInput, readers: list[tuple[int, TensorDesc]]) -> TensorDesc:
    """The input's own or first reader's descriptor if it covers all reads, else one dimension that does."""
    nbytes = item.value.nbytes
    if not readers:
        return item.desc or TensorDesc(DataType.UINT8, (max(nbytes, 1),))
    needed = min(nbytes, max(offset + _reach(desc) for offset, desc in readers))
    if item.desc is not None and needed <= _reach(item.desc):
        return item.desc
    first_offset, first = readers[0] if item.desc is None else (0, in_memory(item.desc))
    if first_offset == 0 and needed <= _reach(first) <= nbytes:
        return first
    width = first.data_type.itemsize
    count = -(-needed // width)
    if count * width <= nbytes:
        return TensorDesc(first.data_type, (count,))
    # a buffer may end within an element of its first reader
    width = gcd(width, nbytes)
    return TensorDesc(DataType(f"uint{8 * width}"), (nbytes // width,))


def _reach(desc: TensorDesc) -> int:
    """Bytes that a tensor spans; 0 if it has too few or too many strides, which the checks report."""
    return desc.reach if desc.strides is None or len(desc.strides) == desc.rank else 0
