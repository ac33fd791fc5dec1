"""A model while passes rewrite it: who makes and who reads each value, kept up to date from one change to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.model import Body, Node, OnnxGraph, Value
from dml2onnx.targets import target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dml2onnx.model import Array, DType, Origin
    from dml2onnx.model.records import Attribute


class Draft:
    """The nodes of one model, in order, each in the place of the DirectML node that it comes from.

    What replaces a node stands in its place. Values are told apart by their names. Nodes inside of bodies (of Scan, of
    If) are never rewritten, so what they read is pinned, as graph outputs are: it keeps its name and its contents.
    """

    def __init__(self, graph: OnnxGraph, opset: int, provider: str) -> None:
        self.opset = opset
        self.target = target(provider)
        self._graph = graph
        self._initializers = dict(graph.initializers)
        self._stored: dict[str, Value] = {}
        self._pinned = {port.onnx_name for port in graph.outputs}
        self._origins: list[list[list[Node]]] = []
        """For each origin the places of its nodes, and in each the nodes that stand there by now."""
        self._place: dict[Node, list[Node]] = {}
        self._origin_of: dict[int, int] = {}
        """The origin of each place, by its identity."""
        self._makers: dict[str, Node] = {}
        self._readers: dict[str, dict[Node, None]] = {}
        self._notes: dict[int, list[str]] = {}
        self._names: set[str] = set()
        self.operators: set[str] = set()
        """All that are there, or have been."""
        self._changed: set[int] = set()
        """Numbers of origins whose nodes are others by now."""
        for number, origin in enumerate(graph.origins):
            places = []
            for node in origin.nodes:
                place = [node]
                places.append(place)
                self._place[node] = place
                self._origin_of[id(place)] = number
                self._enter(node)
            self._origins.append(places)

    # --- What is there -----------------------------------------------------------------------------------------------

    def nodes(self, operators: frozenset[str] | None = None) -> Iterator[Node]:
        """All nodes, or those of some operators, in an order in which they can run; what stands in places yet to come
        may change meanwhile.
        """
        for places in self._origins:
            for place in places:
                if len(place) == 1:  # as nearly all have
                    (node,) = place
                    if operators is None or node.op_type in operators:
                        yield node
                    continue
                for node in tuple(place):
                    if operators is None or node.op_type in operators:
                        yield node

    def is_there(self, node: Node) -> bool:
        """Whether nothing has taken the place of a node."""
        return node in self._place

    def maker(self, value: Value | None) -> Node | None:
        """The node that makes a value; none makes inputs and constants."""
        return None if value is None else self._makers.get(value.name)

    def readers(self, value: Value | None) -> tuple[Node, ...]:
        """The nodes that read a value, each once; of bodies the node that has them."""
        return () if value is None else tuple(self._readers.get(value.name, ()))

    def is_pinned(self, value: Value | None) -> bool:
        """Whether a value has to stay under its name: a graph output, or what a body reads."""
        return value is not None and value.name in self._pinned

    def constant(self, value: Value | None) -> Array | None:
        """The contents of a constant, ``None`` of any other value; they may be mapped from a file."""
        return None if value is None else self._initializers.get(value.name)

    # --- What becomes of it ------------------------------------------------------------------------------------------

    def value(self, name: str, dtype: DType, shape: Sequence[int]) -> Value:
        """A new value, of this name or the next one that is free."""
        return Value(self._fresh(name), dtype, tuple(shape))

    def store(self, array: Array, name: str) -> Value:
        """A new constant, of this name or the next one that is free."""
        value = self.value(name, array.dtype, array.shape)
        self._initializers[value.name] = array
        return value

    def node(
        self,
        op_type: str,
        inputs: Sequence[Value | None],
        outputs: Sequence[Value | None],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Node:
        """A new node, named after its first output; it is part of the model when it replaces another."""
        name = next(item.name for item in outputs if item is not None)
        return Node(name, op_type, tuple(inputs), tuple(outputs), attributes or {})

    def replace(self, node: Node, *others: Node, note: str = "") -> None:
        """Other nodes, ``node`` perhaps among them, in the place of ``node``; ``explain`` shows the note.

        What nobody reads when all passes are through is left out by itself.
        """
        place = self._place[node]
        at = place.index(node)
        place[at : at + 1] = others
        if node not in others:
            del self._place[node]
            self._leave(node)
        for other in others:
            if other is not node:
                self._place[other] = place
                self._enter(other)
        number = self._origin_of[id(place)]
        self._changed.add(number)
        if note:
            self._notes.setdefault(number, []).append(note)

    def let_go(self, node: Node | None, note: str) -> None:
        """Takes a node away if nobody reads what it makes any more; ``explain`` shows the note."""
        if node in self._place and not any(self._is_wanted(value) for value in node.outputs):
            self.replace(node, note=note)

    def redirect(self, old: Value, new: Value) -> None:
        """Whatever reads ``old`` reads ``new`` from here on, unless ``old`` is pinned: bodies stay as they are."""
        for reader in self.readers(old):
            inputs = tuple(new if item is not None and item.name == old.name else item for item in reader.inputs)
            self.replace(reader, replace(reader, inputs=inputs))

    def finish(self) -> OnnxGraph:
        """The model as it is now; the one that was given where nothing has changed."""
        if not self._changed:
            return self._graph
        self._drop_unread()
        origins = tuple(map(self._finished, range(len(self._origins)), self._graph.origins))
        read = {name for name, readers in self._readers.items() if readers} | self._pinned
        kept = {name: array for name, array in self._initializers.items() if name in read}
        return replace(self._graph, origins=origins, initializers=kept)

    # --- Bookkeeping -------------------------------------------------------------------------------------------------

    def _finished(self, number: int, origin: Origin) -> Origin:
        if number not in self._changed:
            return origin
        nodes = [node for place in self._origins[number] for node in place]
        notes = tuple(dict.fromkeys((*origin.notes, *self._notes.get(number, ()))))
        return replace(origin, nodes=nodes, notes=notes)

    def _drop_unread(self) -> None:
        for number in reversed(range(len(self._origins))):
            for place in reversed(self._origins[number]):
                for node in reversed(place.copy()):
                    if not any(map(self._is_wanted, node.outputs)):
                        place.remove(node)
                        self._leave(node)
                        self._changed.add(number)

    def _is_wanted(self, value: Value | None) -> bool:
        return value is not None and (value.name in self._pinned or bool(self._readers.get(value.name)))

    def _enter(self, node: Node) -> None:
        self.operators.add(node.op_type)
        for item in node.outputs:
            if item is not None:
                self._makers[item.name] = node
        for item in node.inputs:
            if item is not None:
                self._readers.setdefault(item.name, {})[node] = None
        for attribute in node.attributes.values():
            if isinstance(attribute, Body):
                for name in _read_inside(attribute):
                    self._readers.setdefault(name, {})[node] = None
                    self._pinned.add(name)

    def _leave(self, node: Node) -> None:
        for item in node.outputs:
            if item is not None and self._makers.get(item.name) is node:
                del self._makers[item.name]
        for item in node.inputs:
            if item is not None:
                self._readers[item.name].pop(node, None)

    def _fresh(self, name: str) -> str:
        if not self._names:
            self._names = {*self._initializers, *self._readers, *self._makers, *self._pinned}
            self._names.update(port.onnx_name for port in self._graph.inputs)
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}_{count}"
        self._names.add(candidate)
        return candidate


def _read_inside(body: Body) -> Iterable[str]:
    """The names that the nodes of a body read, its own among them."""
    for item in body.outputs:
        yield item.name
    for node in body.nodes:
        for value in (*node.inputs, *node.outputs):
            if value is not None:
                yield value.name
        for attribute in node.attributes.values():
            if isinstance(attribute, Body):
                yield from _read_inside(attribute)
