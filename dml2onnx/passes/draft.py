"""A model while passes rewrite it: who makes and who reads each value, kept up to date from one change to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain

from dml2onnx.onnx_model import CONTROL_FLOW, Array, DType, Node, OnnxGraph, Origin, Value, bodies
from dml2onnx.onnx_model.records import Attribute
from dml2onnx.targets import Target


class Draft:
    """The nodes of one model, in order, each in the place of the DirectML node that it comes from.

    What replaces a node stands in its place. Values are told apart by their names. Nodes inside of bodies (of Scan, of
    If) are never rewritten, so what they read is pinned, as graph outputs are: it keeps its name and its contents.
    """

    def __init__(self, graph: OnnxGraph, target: Target) -> None:
        self.target = target
        self._graph = graph
        self._initializers = dict(graph.initializers)
        self._outputs = frozenset(port.onnx_name for port in graph.outputs)
        self._inside: set[str] = set()
        """What bodies read."""
        self._nodes = graph.nodes
        """Those of the model that was given, each in its place."""
        self._places: dict[Node, int] = {}
        """Where a node stands; of those that were given, when something is replaced."""
        self._stands: dict[int, list[Node]] = {}
        """What stands in a place where that is not just the node that was given."""
        self._found: defaultdict[str, list[int]] = defaultdict(list)
        """In which places an operator is to be found, or has been."""
        self._sought: frozenset[str] = frozenset()
        """What the walk at hand is for."""
        self._ahead: list[int] = []
        """The places that it has yet to come to, as a heap."""
        self._gone: set[Node] = set()
        self._new: dict[Node, None] = {}
        """What was not given as it is, but for its inputs."""
        self._makers: dict[str, Node] = {}
        self._readers: dict[str, Node | dict[Node, None]] = {}
        """The node that reads a value, if there has only been one, as of most values; or all that do by now."""
        self._notes: dict[int, list[str]] = {}
        """By the place in which something has happened."""
        self._names: set[str] = set()
        found = self._found
        for place, node in enumerate(self._nodes):
            found[node.op_type].append(place)
        self._enter(self._nodes)
        self._drop_unread()

    # --- What is there -----------------------------------------------------------------------------------------------

    @property
    def operators(self) -> Set[str]:
        """All that are there, or have been."""
        return self._found.keys()

    def in_order(self) -> list[Node]:
        """All nodes, in an order in which they can run."""
        return [node for place, given in enumerate(self._nodes) for node in self._stands.get(place, (given,))]

    def nodes(self, operators: frozenset[str]) -> Iterator[Node]:
        """The nodes of some operators, in an order in which they can run; what stands in places yet to come may change
        meanwhile. One such walk is made at a time.
        """
        self._sought = operators
        self._ahead = ahead = sorted(chain.from_iterable(self._found[name] for name in operators & self._found.keys()))
        stands, last = self._stands, -1
        while ahead:
            place = heappop(ahead)
            if place <= last:
                continue
            last = place
            for node in tuple(stands[place]) if place in stands else (self._nodes[place],):
                if node.op_type in operators:
                    yield node

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
        return value is not None and (value.name in self._outputs or value.name in self._inside)

    def is_output(self, value: Value | None) -> bool:
        """Whether a value is a graph output."""
        return value is not None and value.name in self._outputs

    def is_read_inside(self, value: Value | None) -> bool:
        """Whether a body reads a value."""
        return value is not None and value.name in self._inside

    @property
    def has_bodies(self) -> bool:
        """Whether any node has a graph inside of it."""
        return bool(self._inside)

    def made(self) -> list[Node]:
        """The nodes that are there and were not given, inputs aside."""
        return [node for node in self._new if node not in self._gone]

    def names(self) -> frozenset[str]:
        """All that are taken."""
        self._fresh("")
        return frozenset(self._names)

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

    def keep(self, name: str, array: Array) -> None:
        """A constant that somebody else has named."""
        self._names.add(name)
        self._initializers[name] = array

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

        What nobody reads, of what was given or when all passes are through, is left out by itself.
        """
        if not self._places:
            self._places = {given: place for place, given in enumerate(self._nodes)}
        place = self._places[node]
        stands = self._stands.setdefault(place, [node])
        at = stands.index(node)
        stands[at : at + 1] = others
        if node not in others:
            self._gone.add(node)
            self._leave(node)
        new = [other for other in others if other is not node]
        self._new.update(dict.fromkeys(new))
        for other in new:
            self._places[other] = place
            self._found[other.op_type].append(place)
            if other.op_type in self._sought:
                heappush(self._ahead, place)
        self._enter(new)
        if note:
            self._notes.setdefault(place, []).append(note)

    def let_go(self, node: Node | None, note: str) -> None:
        """Takes a node away if nobody reads what it makes any more; ``explain`` shows the note."""
        if node is not None and node not in self._gone and not any(map(self._is_wanted, node.outputs)):
            self.replace(node, note=note)

    def redirect(self, old: Value, new: Value) -> None:
        """Whatever reads ``old`` reads ``new`` from here on, unless ``old`` is pinned: bodies stay as they are."""
        for reader in self.readers(old):
            inputs = tuple(new if item is not None and item.name == old.name else item for item in reader.inputs)
            rewired, is_new = replace(reader, inputs=inputs), reader in self._new
            self.replace(reader, rewired)
            if not is_new:
                del self._new[rewired]

    def finish(self) -> OnnxGraph:
        """The model as it is now; the one that was given where nothing has changed."""
        if not self._stands:
            return self._graph
        self._drop_unread()
        readers, outputs = self._readers, self._outputs  # what bodies read their hosts do
        kept = {name: array for name, array in self._initializers.items() if readers.get(name) or name in outputs}
        return replace(self._graph, origins=tuple(self._finished()), initializers=kept)

    # --- Bookkeeping -------------------------------------------------------------------------------------------------

    def _finished(self) -> Iterator[Origin]:
        """The origins, with what stands in the places of their nodes now."""
        changed = sorted(self._stands, reverse=True)
        end = 0
        for origin in self._graph.origins:
            start, end = end, end + len(origin.nodes)
            if not changed or changed[-1] >= end:
                yield origin
                continue
            nodes, notes = list(origin.nodes), list(origin.notes)
            places = []
            while changed and changed[-1] < end:
                places.append(changed.pop())
            for place in places:
                notes += self._notes.get(place, ())
            for place in reversed(places):
                at = place - start
                nodes[at : at + 1] = self._stands[place]
            yield origin._replace(nodes=nodes, notes=tuple(dict.fromkeys(notes)))

    def _drop_unread(self) -> None:
        """Takes away the nodes of which nothing is read, and then those that only these have read."""
        readers, outputs = self._readers, self._outputs
        unread = [node for name, node in self._makers.items() if not readers.get(name) and name not in outputs]
        while unread:
            node = unread.pop()
            if node not in self._gone and not any(map(self._is_wanted, node.outputs)):
                self.replace(node)
                unread += filter(None, map(self.maker, node.inputs))

    def _is_wanted(self, value: Value | None) -> bool:
        return value is not None and (value.name in self._outputs or bool(self._readers.get(value.name)))

    def _enter(self, nodes: Iterable[Node]) -> None:
        makers, readers = self._makers, self._readers
        for node in nodes:
            for item in node.outputs:
                if item is not None:
                    makers[item.name] = node
            for item in node.inputs:
                if item is not None:
                    if item.name in readers:
                        self._also_reads(node, item.name)
                    else:
                        readers[item.name] = node
            if node.op_type in CONTROL_FLOW:
                inner = _read_inside(node)
                self._inside |= inner
                for name in inner:
                    self._also_reads(node, name)

    def _also_reads(self, node: Node, name: str) -> None:
        found = self._readers.setdefault(name, node)
        if isinstance(found, dict):
            found[node] = None
        elif found is not node:
            self._readers[name] = {found: None, node: None}

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
            self._names = {*self._initializers, *self._readers, *self._makers, *self._outputs, *self._inside}
            self._names.update(port.onnx_name for port in self._graph.inputs)
            hosts = [node for node in self._nodes if node.op_type in CONTROL_FLOW]
            self._names.update(*map(_made_inside, hosts))
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}_{count}"
        self._names.add(candidate)
        return candidate


def _read_inside(node: Node) -> set[str]:
    """The names of what the graphs inside of a node return and what their nodes read."""
    inner = bodies(node)
    read = {item.name for body in inner for each in body.nodes for item in each.inputs if item is not None}
    return read.union(item.name for body in inner for item in body.outputs)


def _made_inside(node: Node) -> set[str]:
    """The names of what the graphs inside of a node are given and what their nodes make."""
    inner = bodies(node)
    made = {item.name for body in inner for each in body.nodes for item in each.outputs if item is not None}
    return made.union(item.name for body in inner for item in body.inputs)
