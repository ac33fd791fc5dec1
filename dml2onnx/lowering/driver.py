"""Lowers a checked graph, one live node after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from dml2onnx.buffer_views.buffers import Buffers
from dml2onnx.buffer_views.layout_propagation import with_propagated_layout
from dml2onnx.buffer_views.repeats import Repeats
from dml2onnx.codes.running import NO_MEMORY
from dml2onnx.diagnostics import DmlError, InternalError
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.budget import Budget
from dml2onnx.ir.graph import Graph, GraphOutput, Node, Value
from dml2onnx.ir.inputs import in_memory, input_descs, stored_shape
from dml2onnx.legalise import emitter
from dml2onnx.lowering.moving import moved_fields, wanted_as_bits
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import Lowered, Lowering, lowering
from dml2onnx.onnx_model import BOOL, FLOAT, FLOAT16, INT64, DType, OnnxGraph, OnnxPort
from dml2onnx.targets import Target

PROGRESS_INTERVAL = 64
"""Nodes between two progress reports: some hundredths of a second."""


def lower(
    graph: Graph,
    outputs: Sequence[GraphOutput],
    target: Target,
    progress: Callable[[str], object] | None = None,
    *,
    propagate: bool = True,
) -> OnnxGraph:
    """Lowers the nodes that ``outputs`` depend on to an ONNX graph; the graph must have passed ``check``.

    Calls ``progress`` with the number of lowered nodes, as text. With ``propagate``, nodes are compiled for the
    layouts in which their inputs are stored.
    """
    live = graph.live_nodes(tuple(outputs))
    functions = [lowering(node.operator.schema) for node in live]
    ports = {item.name for item in graph.inputs} | {item.name for item in outputs}
    weights = {item.value.name for item in graph.constants} - ports - {""}
    budget = Budget.beside(item.data for item in graph.constants)
    e = emitter(target, frozenset(ports), frozenset(weights), budget)
    buffers = Buffers(e, graph)
    bits = wanted_as_bits(live, outputs)
    repeats = Repeats(e, buffers, bits)
    inputs = _bind_inputs(graph, live, outputs, e, buffers)
    wanted = {output.value: output for output in outputs}
    names = _Names({port.onnx_name for port in inputs})
    for index, (node, function) in enumerate(zip(live, functions, strict=True)):
        if progress is not None and index % PROGRESS_INTERVAL == 0:
            progress(f"{index:,} of {len(live):,} nodes")
        e.begin(node.name, node.operator.type)
        rewritten = with_propagated_layout(node, buffers) if propagate else node
        if rewritten is not node:
            e.note("computed in the layout in which its inputs are stored")
        for value, tensor in _lower_node(rewritten, function, e, buffers, repeats, bits):
            if value in wanted:
                names.claim(wanted[value], buffers, e)
            else:
                names.assign(value.name, tensor, e)
        e.end()
    e.begin("outputs", "")
    results = tuple(names.port(output, buffers, e) for output in outputs)
    e.end()
    return OnnxGraph(tuple(e.origins), e.initializers, inputs, results, e.later_opset)


def _lower_node(
    node: Node, function: Lowering, e: Emitter, buffers: Buffers, repeats: Repeats, bits: frozenset[Value]
) -> list[tuple[Value, Tensor]]:
    """Emits one node and returns the values that it wrote, each with its tensor."""
    try:
        tensors = repeats.lower(node, lambda: _results(node, function(Operands(node, buffers, e, bits), e), e))
    except MemoryError:
        message = "there is not enough memory to compile it"
        finding = NO_MEMORY.at(message, node=node.name, operator=node.operator.type, pointer=node.source)
        raise DmlError(finding) from None
    written = []
    for (_, _, write, desc), tensor in zip(node.views_out(), tensors, strict=True):
        buffers.write(write.value, write.offset, desc, tensor, write.base)
        written.append((write.value, tensor))
    return written


def _results(node: Node, lowered: Lowered, e: Emitter) -> list[Tensor]:
    """Returns the tensors of all outputs in the types and sizes of their descriptors, broadcast where necessary."""
    results = []
    for name, index, _, desc in node.views_out():
        tensor = _pick(node, lowered, name, index)
        dtype = desc.data_type.dtype
        if tensor.dtype != dtype or tensor.shape != desc.sizes:
            tensor = _fitted(e, tensor, dtype, desc.sizes)
        # moved bits are cast only when a reader computes with them: a Cast would lose the payload of a NaN
        has_same_width = tensor.dtype.itemsize == dtype.itemsize
        fits = tensor.dtype == dtype or (has_same_width and (dtype.kind == "f" or bool(moved_fields(node))))
        if not fits or tensor.shape != desc.sizes:
            found = f"{tensor.dtype} {list(tensor.shape)}"
            raise InternalError(node.operator.type, f"its lowering returned {found} for {name}, which is {desc}")
        results.append(tensor)
    return results


def _fitted(e: Emitter, x: Tensor, dtype: DType, sizes: tuple[int, ...]) -> Tensor:
    """Broadcasts ``x`` to ``sizes`` and casts it to the type that DirectML uses.

    ONNX has different types for truth values and indices, and FLOAT16 may be computed in FLOAT.
    """
    front = len(sizes) - x.rank
    broadcasts = front >= 0 and all(n in (1, size) for n, size in zip(x.shape, sizes[front:], strict=True))
    to = sizes if broadcasts else x.shape
    if prod(to) == x.size:  # a Reshape before the Cast merges with those of the lowering
        x = e.Expand(x, to)
    if x.dtype == BOOL or (x.dtype == INT64 and dtype.kind in "iu") or (x.dtype, dtype) == (FLOAT, FLOAT16):
        x = e.Cast(x, dtype)
    return e.Expand(x, to)


def _pick(node: Node, result: Lowered, name: str, index: int) -> Tensor:
    if isinstance(result, Tensor):
        return result
    item = result.get(name)
    if item is None:
        raise InternalError(node.operator.type, f"its lowering returned nothing for {name}")
    return item if isinstance(item, Tensor) else item[index]


def _bind_inputs(
    graph: Graph, live: Sequence[Node], outputs: Sequence[GraphOutput], e: Emitter, buffers: Buffers
) -> tuple[OnnxPort, ...]:
    """Creates one port per graph input, with the shape that :func:`input_descs` chooses."""
    buffers.share(live, {item.value for item in graph.inputs})
    ports = []
    for item, desc in zip(graph.inputs, input_descs(graph.inputs, live, outputs), strict=True):
        stored, shape = in_memory(desc), stored_shape(desc)
        # the empty name means a missing value in ONNX
        port = OnnxPort(item.name, item.name or e.fresh("input"), stored.data_type.dtype, shape, desc)
        buffers.bind(item.value, Tensor(port.onnx_name, port.dtype, shape, is_input=e.takes_units()))
        ports.append(port)
    return tuple(ports)


class _Names:
    """Names ONNX values after the graph's values; a graph output keeps its name where possible."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._claimed: dict[GraphOutput, Tensor] = {}
        self._tensors: set[Tensor] = set()

    def claim(self, output: GraphOutput, buffers: Buffers, e: Emitter) -> None:
        """Names the tensor of ``output``; call it right after lowering the node that writes it."""
        tensor = buffers.memory_order(output.value, output.desc)
        if self._is_new(tensor, e):
            tensor.name = self._free(output.name, e)
            self._claimed[output] = tensor
            self._tensors.add(tensor)

    def assign(self, name: str, tensor: Tensor, e: Emitter) -> None:
        """Names ``tensor``, unless ``name`` is empty; call it right after lowering the node that writes it."""
        if name and self._is_new(tensor, e):
            tensor.name = e.fresh(name)
            self._tensors.add(tensor)

    def _is_new(self, tensor: Tensor, e: Emitter) -> bool:
        # a node that changes nothing returns the tensor of an earlier node
        if tensor not in self._tensors:
            for node in reversed(e.emitted):
                if tensor in node.outputs:
                    return True
        return False

    def port(self, output: GraphOutput, buffers: Buffers, e: Emitter) -> OnnxPort:
        """Returns the port of a graph output, with an Identity if no node could have its name."""
        tensor = self._claimed.get(output)
        if tensor is None:  # a constant, a graph input, another output, or the result of an earlier node
            tensor = e.Identity(buffers.memory_order(output.value, output.desc))
            tensor.name = self._free(output.name, e)
        return OnnxPort(output.name, tensor.name, tensor.dtype, tensor.shape, output.desc)

    def _free(self, name: str, e: Emitter) -> str:
        """Returns an unused name: an in-place program has the same name for an input and an output."""
        if name in self._taken or not name:
            return e.fresh(f"{name}_out" if name else "output")
        self._taken.add(name)
        return name
