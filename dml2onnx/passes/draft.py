"""A model while passes rewrite it, with an up-to-date index of the producer and the readers of each value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain

from dml2onnx.onnx_model import CONTROL_FLOW, Array, DType, OnnxGraph, OnnxNode, OnnxValue, Origin, bodies
from dml2onnx.onnx_model.records import Attribute
from dml2onnx.targets import Target


class Draft:
    """The nodes of a model in order, each at the place of the original node that it replaces.

    Values are identified by name. Nodes in bodies (of Scan and If) are never rewritten, so the values that they read
    are pinned, like graph outputs: they keep name and contents.
    """

    def __init__(self, graph: OnnxGraph, target: Target) -> None:
        self.target = target
        self._graph = graph
        self._initializers = dict(graph.initializers)
        self._outputs = frozenset(port.onnx_name for port in graph.outputs)
        self._inside: set[str] = set()
        """Values read by bodies."""
        self._nodes = graph.nodes
        """The original nodes; their indices are the places."""
        self._places: dict[OnnxNode, int] = {}
        """The place of a node; filled on the first replacement."""
        self._stands: dict[int, list[OnnxNode]] = {}
        """The nodes at a place, unless it is just the original node."""
        self._found: defaultdict[str, list[int]] = defaultdict(list)
        """The places at which an operator occurs, or has occurred."""
        self._sought: frozenset[str] = frozenset()
        """The operators of the current walk."""
        self._ahead: list[int] = []
        """The places that the walk has yet to visit, as a heap."""
        self._gone: set[OnnxNode] = set()
        self._new: dict[OnnxNode, None] = {}
        """Nodes that passes have made, not counting changes of inputs."""
        self._makers: dict[str, OnnxNode] = {}
        self._readers: dict[str, OnnxNode | dict[OnnxNode, None]] = {}
        """The only reader of a value, as for most values, or all current readers once there was a second."""
        self._notes: dict[int, list[str]] = {}
        """Notes by place."""
        self._names: set[str] = set()
        found = self._found
        for place, node in enumerate(self._nodes):
            found[node.op_type].append(place)
        self._enter(self._nodes)
        self._drop_unread()

    # --- Queries -----------------------------------------------------------------------------------------------------

    @property
    def operators(self) -> Set[str]:
        """All current and past operators."""
        return self._found.keys()

    def in_order(self) -> list[OnnxNode]:
        """All nodes in topological order."""
        return [node for place, original in enumerate(self._nodes) for node in self._stands.get(place, (original,))]

    def nodes(self, operators: frozenset[str]) -> Iterator[OnnxNode]:
        """Yields the nodes of some operators in topological order, one walk at a time.

        Places that the walk has yet to visit may change meanwhile.
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

    def is_there(self, node: OnnxNode) -> bool:
        """Whether a node has not been replaced."""
        return node not in self._gone

    def maker(self, value: OnnxValue | None) -> OnnxNode | None:
        """The node that produces a value; ``None`` for inputs and constants."""
        return None if value is None else self._makers.get(value.name)

    def readers(self, value: OnnxValue | None) -> tuple[OnnxNode, ...]:
        """The distinct nodes that read a value; for bodies, the node that contains them."""
        found = None if value is None else self._readers.get(value.name)
        return (found,) if isinstance(found, OnnxNode) else tuple(found or ())

    def only_reader(self, value: OnnxValue | None) -> OnnxNode | None:
        """The node that reads a value, if it is the only one and the value is not pinned."""
        readers = self.readers(value)
        return readers[0] if len(readers) == 1 and not self.is_pinned(value) else None

    def is_pinned(self, value: OnnxValue | None) -> bool:
        """Whether a value must keep its name: it is a graph output, or a body reads it."""
        return value is not None and (value.name in self._outputs or value.name in self._inside)

    def is_output(self, value: OnnxValue | None) -> bool:
        """Whether a value is a graph output."""
        return value is not None and value.name in self._outputs

    def is_read_inside(self, value: OnnxValue | None) -> bool:
        """Whether a body reads a value."""
        return value is not None and value.name in self._inside

    @property
    def has_bodies(self) -> bool:
        """Whether any node has a body."""
        return bool(self._inside)

    def new_nodes(self) -> list[OnnxNode]:
        """The current nodes that passes have made, not counting changes of inputs."""
        return [node for node in self._new if node not in self._gone]

    def names(self) -> frozenset[str]:
        """All names in use."""
        self._fresh("")
        return frozenset(self._names)

    def constant(self, value: OnnxValue | None) -> Array | None:
        """The contents of a constant, possibly mapped from a file; ``None`` for other values."""
        return None if value is None else self._initializers.get(value.name)

    # --- Changes -----------------------------------------------------------------------------------------------------

    def value(self, name: str, dtype: DType, shape: Sequence[int]) -> OnnxValue:
        """Returns a new value with this name or the next free one."""
        return OnnxValue(self._fresh(name), dtype, tuple(shape))

    def store(self, array: Array, name: str) -> OnnxValue:
        """Adds a constant with this name or the next free one."""
        value = self.value(name, array.dtype, array.shape)
        self._initializers[value.name] = array
        return value

    def keep(self, name: str, array: Array) -> None:
        """Adds a constant whose name is known to be free."""
        self._names.add(name)
        self._initializers[name] = array

    def node(
        self,
        op_type: str,
        inputs: Sequence[OnnxValue | None],
        outputs: Sequence[OnnxValue | None],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> OnnxNode:
        """Returns a new node named after its first output; :meth:`replace` adds it to the model."""
        name = next(item.name for item in outputs if item is not None)
        return OnnxNode(name, op_type, tuple(inputs), tuple(outputs), attributes or {})

    def replace(self, node: OnnxNode, *others: OnnxNode, note: str = "") -> None:
        """Replaces ``node`` by other nodes, which may include it; ``explain`` shows the note.

        Unread nodes are removed at the start and in :meth:`finish`.
        """
        if not self._places:
            self._places = {original: place for place, original in enumerate(self._nodes)}
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

    def let_go(self, node: OnnxNode | None, note: str) -> None:
        """Removes a node if its outputs are unused; ``explain`` shows the note."""
        if node is not None and node not in self._gone and not any(map(self._is_wanted, node.outputs)):
            self.replace(node, note=note)

    def redirect(self, old: OnnxValue, new: OnnxValue) -> None:
        """Makes all nodes that read ``old`` read ``new``; bodies do not change, so ``old`` must not be pinned."""
        for reader in self.readers(old):
            inputs = tuple(new if item is not None and item.name == old.name else item for item in reader.inputs)
            rewired, is_new = replace(reader, inputs=inputs), reader in self._new
            self.replace(reader, rewired)
            if not is_new:
                del self._new[rewired]

    def finish(self) -> OnnxGraph:
        """Returns the rewritten model, or the original one if nothing has changed."""
        if not self._stands:
            return self._graph
        self._drop_unread()
        readers, outputs = self._readers, self._outputs  # readers include the hosts of bodies
        kept = {name: array for name, array in self._initializers.items() if readers.get(name) or name in outputs}
        return replace(self._graph, origins=tuple(self._finished()), initializers=kept)

    # --- Bookkeeping -------------------------------------------------------------------------------------------------

    def _finished(self) -> Iterator[Origin]:
        """The origins with their current nodes."""
        changed = sorted(self._stands, reverse=True)
        end = 0
        for origin in self._graph.origins:
            start, end = end, end + len(origin.nodes)
            places = []
            while changed and changed[-1] < end:
                places.append(changed.pop())
            if not places:
                yield origin
                continue
            nodes, notes = list(origin.nodes), list(origin.notes)
            for place in places:
                notes += self._notes.get(place, ())
            for place in reversed(places):
                at = place - start
                nodes[at : at + 1] = self._stands[place]
            yield origin._replace(nodes=nodes, notes=tuple(dict.fromkeys(notes)))

    def _drop_unread(self) -> None:
        """Removes unread nodes, and then the nodes that only these have read."""
        readers, outputs = self._readers, self._outputs
        unread = [node for name, node in self._makers.items() if not readers.get(name) and name not in outputs]
        while unread:
            node = unread.pop()
            if node not in self._gone and not any(map(self._is_wanted, node.outputs)):
                self.replace(node)
                unread += filter(None, map(self.maker, node.inputs))

    def _is_wanted(self, value: OnnxValue | None) -> bool:
        return value is not None and (value.name in self._outputs or bool(self._readers.get(value.name)))

    def _enter(self, nodes: Iterable[OnnxNode]) -> None:
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

    def _also_reads(self, node: OnnxNode, name: str) -> None:
        found = self._readers.setdefault(name, node)
        if isinstance(found, dict):
            found[node] = None
        elif found is not node:
            self._readers[name] = {found: None, node: None}

    def _leave(self, node: OnnxNode) -> None:
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
            self._names.update(*map(_produced_inside, hosts))
        candidate, count = name, 1
        while candidate in self._names:
            count += 1
            candidate = f"{name}_{count}"
        self._names.add(candidate)
        return candidate


def only_output(node: OnnxNode) -> OnnxValue:
    """The output of a node that has exactly one."""
    (value,) = node.outputs
    assert value is not None
    return value


def _read_inside(node: OnnxNode) -> set[str]:
    """The names that the bodies of a node return, and that their nodes read."""
    inner = bodies(node)
    read = {item.name for body in inner for each in body.nodes for item in each.inputs if item is not None}
    return read.union(item.name for body in inner for item in body.outputs)


def _produced_inside(node: OnnxNode) -> set[str]:
    """The names of the inputs of a node's bodies, and of the values that their nodes produce."""
    inner = bodies(node)
    produced = {item.name for body in inner for each in body.nodes for item in each.outputs if item is not None}
    return produced.union(item.name for body in inner for item in body.inputs)
