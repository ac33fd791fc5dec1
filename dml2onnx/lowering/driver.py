"""Lowers a checked graph: every live node in order, through the views of its descriptor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.codes.compiling import NOT_LOWERED
from dml2onnx.diagnostics import DmlError, InternalError
from dml2onnx.garbage import collection_paused
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Layout, memory_shape
from dml2onnx.lowering.bits import unsigned
from dml2onnx.lowering.buffers import Buffers, in_memory, layout_of
from dml2onnx.lowering.emitter import Emitter, Tensor
from dml2onnx.lowering.emitter.core import FLOAT, FLOAT16, value_info
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowerings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import GraphProto

    from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Value
    from dml2onnx.lowering.emitter.core import Array
    from dml2onnx.lowering.registry import Lowered, Lowering


@dataclass(frozen=True, slots=True)
class Port:
    """A graph input or output: its public name, its name in the ONNX model, and how the caller sees the buffer.

    ``shape`` is that of memory; ``desc`` the descriptor under which it is read or was last written.
    """

    name: str
    onnx_name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    desc: TensorDesc


@dataclass(frozen=True, slots=True)
class Trace:
    """What one DirectML node became: the range of ONNX nodes made for it, and why."""

    node: str
    operator: str
    operators: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoweredGraph:
    """An ONNX graph without its initializers' bytes, which stay arrays until they are written."""

    proto: GraphProto
    initializers: dict[str, Array]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    traces: tuple[Trace, ...] = field(default=())


@collection_paused()
def lower(
    graph: Graph,
    outputs: Sequence[GraphOutput],
    opset: int,
    target: str,
    *,
    trace: bool = False,
) -> LoweredGraph:
    """The ONNX graph of what ``outputs`` need of ``graph``.

    Raises :class:`DmlError` naming every operator without a lowering; the graph must have passed ``check``.
    """
    live = graph.live_nodes(tuple(outputs))
    functions = _functions(live)
    ports = {item.name for item in graph.inputs} | {item.name for item in outputs}
    weights = {item.value.name for item in graph.constants} - ports
    e = Emitter(opset, target, frozenset(ports), frozenset(weights))
    buffers = Buffers(e, graph)
    inputs = _bind_inputs(graph, live, outputs, e, buffers)
    wanted = {output.value: output for output in outputs}
    names = _OutputNames({port.onnx_name for port in inputs})
    traces = []
    for node, function in zip(live, functions, strict=True):
        start = len(e.graph.node)
        e.begin(node.name, node.operator.type)
        for value in _lower_node(node, function, e, buffers):
            if value in wanted:
                names.claim(wanted[value], buffers, e, start)
        if trace:
            emitted = tuple(item.op_type for item in e.graph.node[start:])
            traces.append(Trace(node.name, node.operator.type, emitted, tuple(e.notes)))
    e.begin("outputs", "")
    results = tuple(names.port(output, buffers, e) for output in outputs)
    e.graph.input.extend(value_info(port.onnx_name, port.dtype, port.shape) for port in inputs)
    e.graph.output.extend(value_info(port.onnx_name, port.dtype, port.shape) for port in results)
    return LoweredGraph(e.graph, e.initializers, inputs, results, tuple(traces))


def _functions(live: Sequence[Node]) -> list[Lowering]:
    table = lowerings()
    missing = [node for node in live if node.operator.type not in table]
    if missing:
        raise DmlError(
            *(
                NOT_LOWERED.at(
                    f"{node.operator.type} cannot be compiled yet",
                    expected="one of the operators that dml2onnx ops marks as compiled",
                    node=node.name,
                    operator=node.operator.type,
                    pointer=node.source,
                    documentation=node.operator.schema.doc,
                )
                for node in missing
            )
        )
    return [table[node.operator.type] for node in live]


def _lower_node(node: Node, function: Lowering, e: Emitter, buffers: Buffers) -> list[Value]:
    """Emits one node and returns the values that it wrote."""
    result = function(Operands(node, buffers, e), e)
    written = []
    for name, index, write, desc in node.views_out():
        tensor = _pick(node, result, name, index)
        dtype = desc.data_type.dtype
        if tensor.dtype != dtype and (tensor.dtype, dtype) == (FLOAT, FLOAT16):
            tensor = e.Cast(tensor, dtype)
        # bits of floats stay integers until a reader wants the floats: a NaN would not keep its payload
        fits = tensor.dtype == dtype or (dtype.kind == "f" and tensor.dtype == unsigned(dtype))
        if not fits or tensor.shape != desc.sizes:
            found = f"{tensor.dtype} {list(tensor.shape)}"
            raise InternalError(node.operator.type, f"its lowering gave {found} for {name}, which is {desc}")
        buffers.write(write.value, write.offset, desc, tensor, write.base)
        written.append(write.value)
    return written


def _pick(node: Node, result: Lowered, name: str, index: int) -> Tensor:
    if isinstance(result, Tensor):
        return result
    item = result.get(name)
    if item is None:
        raise InternalError(node.operator.type, f"its lowering gave nothing for {name}")
    return item if isinstance(item, Tensor) else item[index]


def _bind_inputs(
    graph: Graph, live: Sequence[Node], outputs: Sequence[GraphOutput], e: Emitter, buffers: Buffers
) -> tuple[Port, ...]:
    """One port per graph input, shaped like the memory of its first reader, if that reads all that is needed."""
    readers: dict[Value, list[tuple[int, TensorDesc]]] = {i.value: [] for i in graph.inputs if i.desc is None}
    for node in live if readers else ():
        for _, _, read, desc in node.views_in():
            if read.value in readers:
                readers[read.value].append((read.offset, in_memory(desc)))
        for _, _, write, desc in node.views_out():
            if write.base in readers:
                data_type = in_memory(desc).data_type
                readers[write.base].append((0, TensorDesc(data_type, (write.base.nbytes // data_type.itemsize,))))
    for output in outputs if readers else ():
        if output.value in readers:
            readers[output.value].append((0, in_memory(output.desc)))
    ports = []
    for item in graph.inputs:
        desc = item.desc or _input_desc(item, readers[item.value])
        stored = in_memory(desc)
        shape = memory_shape(layout_of(stored))
        port = Port(item.name, item.name, stored.data_type.dtype, shape, desc)
        buffers.bind(item.value, Tensor(item.name, port.dtype, shape))
        ports.append(port)
    return tuple(ports)


def _input_desc(item: GraphInput, readers: list[tuple[int, TensorDesc]]) -> TensorDesc:
    if not readers:
        return _flat(item.value.nbytes, 1, None)
    needed = max(offset + desc.extent * desc.data_type.itemsize for offset, desc in readers)
    first_offset, first = readers[0]
    width = first.data_type.itemsize
    if first_offset == 0 and first.extent * width >= needed:
        return first
    return _flat(-(-needed // width) * width, width, first)


def _flat(nbytes: int, width: int, like: TensorDesc | None) -> TensorDesc:
    from dml2onnx.ir.tensor import DataType

    return TensorDesc(DataType.UINT8 if like is None else like.data_type, (max(nbytes // width, 1),))


class _OutputNames:
    """Gives outputs their names: where possible the node that computes an output is named after it."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._claimed: dict[GraphOutput, Tensor] = {}
        self._tensors: set[Tensor] = set()

    def claim(self, output: GraphOutput, buffers: Buffers, e: Emitter, start: int) -> None:
        """Called right behind the node that writes ``output``, while few readers need to follow a renaming."""
        tensor = buffers.memory_order(output.value, output.desc)
        # a node that changes nothing hands on what an older one made
        made_here = any(tensor.name in item.output for item in e.graph.node[start:])
        if made_here and tensor not in self._tensors:
            e.rename(tensor, self._free(output.name, e), start)
            self._claimed[output] = tensor
            self._tensors.add(tensor)

    def port(self, output: GraphOutput, buffers: Buffers, e: Emitter) -> Port:
        tensor = self._claimed.get(output)
        if tensor is None:  # a constant, a graph input, or what an older node made; maybe another output already
            tensor = e.Identity(buffers.memory_order(output.value, output.desc))
            e.rename(tensor, self._free(output.name, e), len(e.graph.node) - 1)
        return Port(output.name, tensor.name, tensor.dtype, tensor.shape, output.desc)

    def _free(self, name: str, e: Emitter) -> str:
        """An in-place program's output has the name of its input; in ONNX names are written once."""
        if name in self._taken:
            return e.fresh(f"{name}_out")
        self._taken.add(name)
        return name


def logical(array: Array, port: Port) -> Array:
    """A port's memory-order array in the shape of its descriptor, 4-bit elements one to a byte."""
    if port.desc.data_type.is_packed_nibbles:
        octets = array.view(np.uint8)
        halves = np.stack((octets & 15, octets >> 4), -1).reshape(-1)
        array = ((halves ^ 8) - 8).view(np.int8) if port.desc.data_type.is_signed else halves
    layout = Layout(port.desc.sizes, port.desc.effective_strides)
    strides = tuple(stride * array.itemsize for stride in layout.strides)
    return np.lib.stride_tricks.as_strided(np.ascontiguousarray(array).reshape(-1), layout.sizes, strides).copy()
