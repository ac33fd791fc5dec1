"""Assigns values to buffers, and orders nodes and commands so that no value is overwritten too early.

In a DxDispatch program a value is the contents of a resource between two dispatches. A value and its base share a
resource. Values named ``x``, ``x#1``, ``x#2`` (the front end's names for the versions of a resource) share one if there
is an order in which every value is read before it is overwritten.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import networkx as nx

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Diagnostic, DmlError, quote
from dml2onnx.exporters.problems import problem, sorted_nodes
from dml2onnx.frontends.names import UniqueNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Effect, Graph, Node, Value, Write
    from dml2onnx.ir.tensor import TensorDesc

_VERSION = re.compile(r"(.*)#\d+", re.DOTALL)


@dataclass(slots=True, eq=False)
class ResourceBuffer:
    """The values of one resource, in order."""

    nbytes: int
    public: str = ""
    """The name of an input or output."""
    name: str = ""
    initial: Value | None = None
    """The value before the first write; ``None`` if nothing reads it."""
    data: Data | None = None
    """The contents of ``initial``; ``None`` for zeros."""
    is_input: bool = False
    versions: list[Value] = field(default_factory=list)
    """The values that are written to it, in order."""

    @property
    def latest(self) -> Value | None:
        """The last value."""
        return self.versions[-1] if self.versions else self.initial


@dataclass(frozen=True, slots=True, eq=False)
class BufferPlan:
    """The buffers of a graph, the buffer of each value, and the order of nodes and commands."""

    buffers: list[ResourceBuffer]
    homes: dict[Value, ResourceBuffer]
    steps: list[Node | Effect]


def is_whole(write: Write, desc: TensorDesc) -> bool:
    """Whether a tensor covers its buffer, except for padding to 4 bytes."""
    return not write.offset and desc.is_dense and -(-desc.reach // 4) * 4 >= write.value.nbytes


def kept(node: Node, name: str, write: Write, desc: TensorDesc) -> Value | None:
    """The value that a write updates or overwrites in part; ``None`` if it overwrites the whole buffer."""
    return write.base if node.operator.updates(name) or not is_whole(write, desc) else None


def plan(graph: Graph) -> BufferPlan:
    """Assigns buffers and orders the nodes; raises :class:`DmlError` if there is no valid order."""
    nodes = sorted_nodes(graph)
    problems: list[Diagnostic] = []
    for by_name in (True, False):
        places = _Places(graph, nodes, by_name)
        steps = None if places.problems else _ordered(graph, nodes, places)
        if steps is not None:
            return BufferPlan(places.named(), places.homes, steps)
        problems = places.problems or [codes.BUFFER_VERSIONS.at("A version of a buffer is read after an overwrite.")]
    raise DmlError(*problems)


class _Places:
    """The buffer of each value; values may share one by name if ``by_name`` is set."""

    def __init__(self, graph: Graph, nodes: tuple[Node, ...], by_name: bool) -> None:
        self._graph = graph
        self._by_name = by_name
        self._public = {item.value: item.name for item in (*graph.results, *graph.outputs)}
        self._names = {item.name: item.value.nbytes for item in (*graph.results, *graph.outputs)}
        self._shareable: dict[str, ResourceBuffer] = {}
        """Buffers by the names of values that may share them."""
        self.homes: dict[Value, ResourceBuffer] = {}
        self.buffers: list[ResourceBuffer] = []
        self.problems: list[Diagnostic] = []
        self._add_initial()
        for node in nodes:
            for name, _, write, desc in node.views_out():
                self._add(node, name, write, desc)
        for item in (*graph.outputs, *graph.results):
            if self.homes[item.value].latest is not item.value:
                message = f"The output {quote(item.name)} is overwritten."
                self.problems.append(codes.BUFFER_VERSIONS.at(message, found=quote(item.name)))

    def _add_initial(self) -> None:
        graph = self._graph
        used = {value for node in graph.nodes for value in node.sources}
        used.update(effect.output.value for effect in graph.effects)
        for item in graph.inputs:
            buffer = ResourceBuffer(item.value.nbytes, item.name, "", item.value, item.default, True)
            if item.name in self._shareable:
                message = f"Two inputs have the name {quote(item.name)}."
                self.problems.append(codes.UNSUITABLE_NAME.at(message, found=quote(item.name)))
            self._insert(item.name, buffer, item.value)
        for constant in graph.constants:
            if constant.value in used:
                buffer = ResourceBuffer(constant.value.nbytes, "", "", constant.value, constant.data)
                self._insert(constant.value.name, buffer, constant.value)

    def _insert(self, name: str, buffer: ResourceBuffer, value: Value) -> None:
        self._shareable.setdefault(name, buffer)
        self.homes[value] = buffer
        self.buffers.append(buffer)

    def _add(self, node: Node, name: str, write: Write, desc: TensorDesc) -> None:
        base = kept(node, name, write, desc)
        buffer = self._shared(write, desc) if base is None else self.homes.get(base)
        if base is not None and (buffer is None or buffer.latest is not base):
            message = f"{name} overwrites a part of {quote(base.name)}, which has been overwritten before."
            self.problems.append(problem(codes.BUFFER_VERSIONS, message, node, name, quote(base.name)))
            buffer = None
        if buffer is None:
            buffer = ResourceBuffer(write.value.nbytes)
            self._insert(write.value.name, buffer, write.value)
        public = self._public.get(write.value)
        if public is not None and public != buffer.public:
            other = self._shareable.get(public)
            if buffer.public or (other is not None and other is not buffer and other.public == public):
                names = f"{quote(public)} and {quote(buffer.public or public)}"
                message = f"{name} has the names {names}, but a resource has one name for all of its bytes."
                self.problems.append(problem(codes.UNSUITABLE_NAME, message, node, name, quote(public)))
            buffer.public = public
            self._shareable[public] = buffer
        self.homes[write.value] = buffer
        buffer.versions.append(write.value)

    def _shared(self, write: Write, desc: TensorDesc) -> ResourceBuffer | None:
        """The buffer with the name of the value, if the value may overwrite it."""
        if not self._by_name or not is_whole(write, desc):
            return None
        version = _VERSION.fullmatch(write.value.name)
        name = self._public.get(write.value) or (version[1] if version else None)
        if name is None:
            return None
        found = self._shareable.get(name)
        if found is None and self._names.get(name) == write.value.nbytes:
            found = self._shareable[name] = ResourceBuffer(write.value.nbytes, name)
            self.buffers.append(found)
        return found if found is not None and found.nbytes == write.value.nbytes else None

    def named(self) -> list[ResourceBuffer]:
        """All buffers, with unique names."""
        names = UniqueNames()
        for buffer in self.buffers:
            if buffer.public:
                buffer.name = names.new(buffer.public)
        for buffer in self.buffers:
            if not buffer.public:
                first = buffer.initial or buffer.versions[0]
                buffer.name = names.new(first.name or "buffer")
        return _in_order(self._graph, self.buffers)


def _in_order(graph: Graph, buffers: list[ResourceBuffer]) -> list[ResourceBuffer]:
    """Orders buffers so that the front end lists inputs, constants and results as in the graph, as far as possible."""
    numbers = {buffer.name: index for index, buffer in enumerate(buffers)}
    by_initial = {buffer.initial: buffer.name for buffer in buffers if buffer.initial is not None}
    chains = [
        [by_initial[item.value] for item in graph.inputs],
        [by_initial[item.value] for item in graph.constants if item.value in by_initial],
        [item.name for item in graph.results or graph.outputs if item.name in numbers],
    ]
    constraints: nx.DiGraph[str] = nx.DiGraph()
    constraints.add_nodes_from(numbers)
    for chain in chains:
        nx.add_path(constraints, chain)
        if not nx.is_directed_acyclic_graph(constraints):
            constraints.remove_edges_from(list(nx.utils.pairwise(chain)))
    order = nx.lexicographical_topological_sort(constraints, key=numbers.__getitem__)
    return [buffers[numbers[name]] for name in order]


def _ordered(graph: Graph, nodes: tuple[Node, ...], places: _Places) -> list[Node | Effect] | None:
    """Orders nodes and commands so that each value is read before it is overwritten; ``None`` if that is impossible."""
    steps: list[Node | Effect] = [*graph.effects, *nodes]  # commands first: each runs as early as possible
    writers = {value: index for index, step in enumerate(steps) for value in getattr(step, "targets", ())}
    order: nx.DiGraph[int] = nx.DiGraph()
    order.add_nodes_from(range(len(steps)))
    order.add_edges_from(nx.utils.pairwise(range(len(graph.effects))))
    after = {
        value: writers[later]
        for buffer in places.buffers
        for value, later in nx.utils.pairwise([buffer.initial, *buffer.versions])
    }
    for index, step in enumerate(steps):
        for value, is_captured in _needed(step, places):
            if value in writers:
                order.add_edge(writers[value], index)
            if not is_captured and after.get(value, index) != index:
                order.add_edge(index, after[value])
    for value, later in after.items():
        if value in writers and writers[value] != later:
            order.add_edge(writers[value], later)
    if any(first == last for first, last in order.edges) or not nx.is_directed_acyclic_graph(order):
        return None
    return [steps[index] for index in nx.lexicographical_topological_sort(order)]


def _needed(step: Node | Effect, places: _Places) -> Iterator[tuple[Value, bool]]:
    """Yields the values that a step reads, and whether DirectML has captured them at initialization."""
    sources = getattr(step, "sources", None)
    if sources is None:
        yield step.output.value, False  # type: ignore[union-attr]  # a command
        return
    views = step.views_in()  # type: ignore[union-attr]  # a node
    captured = {read.value for _, _, read, desc in views if desc.owned_by_dml and not places.homes[read.value].is_input}
    not_owned = {read.value for _, _, read, desc in views if not desc.owned_by_dml}
    for value in sources:
        home = places.homes.get(value)
        yield value, value in captured - not_owned and home is not None and home.initial is value
