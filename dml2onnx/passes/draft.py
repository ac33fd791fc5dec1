"""A model while passes rewrite it: who makes and who reads each value, kept up to date from one change to the next."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from dml2onnx.model import Node, OnnxGraph, Value, bodies
from dml2onnx.targets import target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dml2onnx.model import Array, Body, DType, Origin
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
        self._pinned = {port.onnx_name for port in graph.outputs}
        self._stands: dict[Node, list[Node]] = {}
        """What stands in the place of a node of the model that was given, where that is not just the node."""
        self._given: dict[Node, Node] = {}
        """In the place of which node of that model a new one stands."""
        self._gone: set[Node] = set()
        self._makers: dict[str, Node] = {}
        self._readers: dict[str, Node | dict[Node, None]] = {}
        """The node that reads a value, if there has only been one, as of most values; or all that do by now."""
        self._notes: dict[Node, list[str]] = {}
        """By the node of that model in the place of which something has happened."""
        self._names: set[str] = set()
        self.operators: set[str] = set()
        """All that are there, or have been."""
        for origin in graph.origins:
            self._enter(origin.nodes)

    # --- What is there -----------------------------------------------------------------------------------------------

    def nodes(self, operators: frozenset[str] | None = None) -> Iterator[Node]:
        """All nodes, or those of some operators, in an order in which they can run; what stands in places yet to come
        may change meanwhile.
        """
        stands = self._stands
        for origin in self._graph.origins:
            for given in origin.nodes:
                if given in stands:
                    for node in tuple(stands[given]):
                        if operators is None or node.op_type in operators:
                            yield node
                elif operators is None or given.op_type in operators:
                    yield given

    def is_there(self, node: Node) -> bool:
        """Whether nothing has taken the place of a node."""
        return node not in self._gone

    def maker(self, value: Value | None) -> Node | None:
        """The node that makes a value; none makes inputs and constants."""
        return None if value is None else self._makers.get(value.name)

    def readers(self, value: Value | None) -> tuple[Node, ...]:
        """The nodes that read a value, each once; of bodies the node that has them."""
        found = None if value is None else self._readers.get(value.name)
        return (found,) if isinstance(found, Node) else tuple(found or ())

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
        given = self._given.get(node, node)
        place = self._stands.setdefault(given, [given])
        at = place.index(node)
        place[at : at + 1] = others
        if node not in others:
            self._gone.add(node)
            self._leave(node)
        new = [other for other in others if other is not node]
        self._given.update(dict.fromkeys(new, given))
        self._enter(new)
        if note:
            self._notes.setdefault(given, []).append(note)

    def let_go(self, node: Node | None, note: str) -> None:
        """Takes a node away if nobody reads what it makes any more; ``explain`` shows the note."""
        if node is not None and node not in self._gone and not any(map(self._is_wanted, node.outputs)):
            self.replace(node, note=note)

    def redirect(self, old: Value, new: Value) -> None:
        """Whatever reads ``old`` reads ``new`` from here on, unless ``old`` is pinned: bodies stay as they are."""
        for reader in self.readers(old):
            inputs = tuple(new if item is not None and item.name == old.name else item for item in reader.inputs)
            self.replace(reader, replace(reader, inputs=inputs))

    def finish(self) -> OnnxGraph:
        """The model as it is now; the one that was given where nothing has changed."""
        if not self._stands:
            return self._graph
        self._drop_unread()
        readers, pinned = self._readers, self._pinned
        kept = {name: array for name, array in self._initializers.items() if readers.get(name) or name in pinned}
        return replace(self._graph, origins=tuple(map(self._finished, self._graph.origins)), initializers=kept)

    # --- Bookkeeping -------------------------------------------------------------------------------------------------

    def _finished(self, origin: Origin) -> Origin:
        stands = self._stands
        if stands.keys().isdisjoint(origin.nodes):
            return origin
        nodes = [node for given in origin.nodes for node in stands.get(given, (given,))]
        notes = [note for given in origin.nodes for note in self._notes.get(given, ())]
        return replace(origin, nodes=nodes, notes=tuple(dict.fromkeys((*origin.notes, *notes))))

    def _drop_unread(self) -> None:
        """Takes away the nodes of which nothing is read, and then those that only these have read."""
        readers, pinned = self._readers, self._pinned
        unread = [node for name, node in self._makers.items() if not readers.get(name) and name not in pinned]
        while unread:
            node = unread.pop()
            if node not in self._gone and not any(map(self._is_wanted, node.outputs)):
                self.replace(node)
                unread += filter(None, map(self.maker, node.inputs))

    def _is_wanted(self, value: Value | None) -> bool:
        return value is not None and (value.name in self._pinned or bool(self._readers.get(value.name)))

    def _enter(self, nodes: Iterable[Node]) -> None:
        makers, readers, operators = self._makers, self._readers, self.operators
        for node in nodes:
            operators.add(node.op_type)
            for item in node.outputs:
                if item is not None:
                    makers[item.name] = node
            for item in node.inputs:
                if item is not None:
                    name = item.name
                    if name in readers:
                        self._join(name, node)
                    else:
                        readers[name] = node
            for body in bodies(node):
                for name in dict.fromkeys(_names_in(body)):
                    self._join(name, node)
                    self._pinned.add(name)

    def _join(self, name: str, node: Node) -> None:
        """One more node reads a value."""
        found = self._readers.get(name)
        if isinstance(found, dict):
            found[node] = None
        elif found is not node:
            self._readers[name] = {node: None} if found is None else {found: None, node: None}

    def _leave(self, node: Node) -> None:
        for item in node.outputs:
            if item is not None and self._makers.get(item.name) is node:
                del self._makers[item.name]
        for item in node.inputs:
            if item is not None:
                found = self._readers[item.name]
                if isinstance(found, dict):
                    found.pop(node, None)
                elif found is node:
                    self._readers[item.name] = {}

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


def _names_in(body: Body) -> Iterator[str]:
    """The names of all that a body returns and that its nodes read and make."""
    for item in chain(body.outputs, *((*node.inputs, *node.outputs) for node in body.nodes)):
        if item is not None:
            yield item.name
