"""What an edge of a DML_GRAPH_DESC may have been meant to lead to, seen from the inputs that no edge leads to."""

from __future__ import annotations

from dml2onnx.diagnostics import Edit, Place, Remedy, quote
from dml2onnx.frontends.dml_graph_parts import Edge, Nodes, OperatorNode
from dml2onnx.frontends.findings import pointer
from dml2onnx.frontends.members import Json
from dml2onnx.ir.tensor import TensorDesc

_FROM = ("FromNodeIndex", "FromNodeOutputIndex")
_TO = ("ToNodeIndex", "ToNodeInputIndex")


class Reached:
    """The inputs of nodes that some edge leads to, right or wrong, and the outputs that one begins at."""

    def __init__(self, root: Json) -> None:
        self._ends: set[tuple[int, int]] = set()
        self._begins: set[tuple[int, int]] = set()
        self._inputs: set[int] = set()
        self._all_lacking: list[tuple[int, int, str]] | None = None
        self._all_unread: dict[object, list[tuple[int, int]]] | None = None
        self._indices: dict[int, int] = {}
        for raw in (*_listed(root, "IntermediateEdges"), *_listed(root, "OutputEdges")):
            inner = raw.get("Desc", raw)
            node, number = (inner.get(name) for name in _FROM) if type(inner) is dict else (None, None)
            if type(node) is int and type(number) is int:
                self._begins.add((node, number))
        for raw in (*_listed(root, "InputEdges"), *_listed(root, "IntermediateEdges")):
            inner = raw.get("Desc", raw)
            node, number = (inner.get(name) for name in _TO) if type(inner) is dict else (None, None)
            if type(inner) is dict and type(index := inner.get("GraphInputIndex")) is int:
                self._inputs.add(index)
            if type(node) is int and type(number) is int:
                self._ends.add((node, number))

    def lacking(self, nodes: Nodes, index: int) -> list[tuple[int, str]]:
        """The inputs of a node, by number and field, that are present and that no edge leads to."""
        node = nodes[index] if index < len(nodes) else None
        if not isinstance(node, OperatorNode):
            return []
        return [
            (number, slot.field)
            for number, slot in enumerate(node.inputs)
            if slot.desc is not None and (index, number) not in self._ends
        ]

    def another_input(self, nodes: Nodes, edge: Edge, end: int) -> tuple[Remedy, ...]:
        """The only input that has no edge, of the same node or of all, for an absent one, none, or one that has two."""
        lacking = self.lacking(nodes, edge.ends[end - 1])
        if len(lacking) != 1:
            return self._of_another_node(nodes, edge, end) if not lacking else ()
        number, field = lacking[0]
        node, old = nodes[edge.ends[end - 1]], edge.ends[end]
        is_absent = isinstance(node, OperatorNode) and old < len(node.inputs) and node.inputs[old].desc is None
        why = ": tensors that are left out are counted" if is_absent else ", to which no edge leads"
        words = f"{edge.members[end]} {number}, which is {field}{why}"
        return (Remedy(words, (Edit(edge.at(end), number),), is_certain=is_absent),)

    def _of_another_node(self, nodes: Nodes, edge: Edge, end: int) -> tuple[Remedy, ...]:
        """The only input of all nodes that has no edge."""
        if self._all_lacking is None:  # once for all edges
            self._all_lacking = [(index, *item) for index in range(len(nodes)) for item in self.lacking(nodes, index)]
        if len(self._all_lacking) != 1:
            return ()
        ((index, number, field),) = self._all_lacking
        node = nodes[index]
        assert isinstance(node, OperatorNode)
        words = f"{edge.members[end - 1]} {index}, {edge.members[end]} {number}: {field} of {quote(node.name)}"
        edits = (Edit(edge.at(end - 1), index), Edit(edge.at(end), number))
        return (Remedy(f"{words}, to which no edge leads", edits),)

    def turned(self, nodes: Nodes, edge: Edge) -> tuple[Remedy, ...]:
        """An edge between nodes from its end to its beginning, where only the beginning lacks an edge."""
        if len(edge.ends) != 4:
            return ()
        first, _, last, _ = edge.ends
        lacking = self.lacking(nodes, first)
        if len(lacking) != 1 or self.lacking(nodes, last):
            return ()
        ends = (last, 0, first, lacking[0][0])
        words = ", ".join(f"{name} {number}" for name, number in zip(edge.members, ends, strict=True))
        edits = [Edit(edge.at(end), number) for end, number in enumerate(ends)]
        return (Remedy(f"{words}: the edge the other way round", tuple(edits)),)

    def from_unread(self, nodes: Nodes, node: OperatorNode, number: int) -> tuple[Remedy, ...]:
        """An edge to an input from the only output of its data type and sizes that none begins at, or from outside."""
        index = self._index_of(nodes, node)
        found = self._unread(nodes, node.inputs[number].desc, node)
        if len(found) != 1:
            return () if found or node.inputs[number].desc is None else (self._from_outside(index, number),)
        first, output = found[0]
        maker = nodes[first]
        assert isinstance(maker, OperatorNode)
        ends = ", ".join(
            f'"{member}": {end}' for member, end in zip((*_FROM, *_TO), (first, output, index, number), strict=True)
        )
        return (Remedy(f"{{{ends}}} in IntermediateEdges: nothing reads that output of {quote(maker.name)}"),)

    def another_output(self, nodes: Nodes, edge: Edge) -> tuple[Remedy, ...]:
        """The only output that no edge begins at, of those that an edge may have been meant to begin at."""
        wanted = None
        if len(edge.ends) == 4 and edge.ends[2] < len(nodes) and isinstance(node := nodes[edge.ends[2]], OperatorNode):
            wanted = node.inputs[edge.ends[3]].desc if edge.ends[3] < len(node.inputs) else None
        found = self._unread(nodes, wanted)
        if len(found) != 1:
            return ()
        first, output = found[0]
        maker = nodes[first]
        assert isinstance(maker, OperatorNode)
        of_it = f"{maker.outputs[output].field} of {quote(maker.name)}, which nothing reads"
        edits = (Edit(edge.at(0), first), Edit(edge.at(1), output))
        return (Remedy(f"{edge.members[0]} {first}, {edge.members[1]} {output}: {of_it}", edits),)

    def _unread(self, nodes: Nodes, wanted: object, reader: OperatorNode | None = None) -> list[tuple[int, int]]:
        """The outputs, by node and number, that no edge begins at: those like a tensor, or all without one."""
        if self._all_unread is None:  # once for all edges
            self._all_unread = {}
            for first, other in enumerate(nodes):
                for output, slot in enumerate(other.outputs) if isinstance(other, OperatorNode) else ():
                    if (first, output) not in self._begins and isinstance(slot.desc, TensorDesc):
                        for key in (None, (slot.desc.data_type, slot.desc.sizes)):
                            self._all_unread.setdefault(key, []).append((first, output))
        key = (wanted.data_type, wanted.sizes) if isinstance(wanted, TensorDesc) else None
        return [place for place in self._all_unread.get(key, ()) if nodes[place[0]] is not reader]

    def _index_of(self, nodes: Nodes, node: OperatorNode) -> int:
        if not self._indices:
            self._indices = {id(other): place for place, other in enumerate(nodes)}
        return self._indices[id(node)]

    def _from_outside(self, index: int, number: int) -> Remedy:
        """An edge from the first input of the graph that no edge begins at."""
        free = next(item for item in range(len(self._inputs) + 1) if item not in self._inputs)
        return Remedy(
            f'{{"GraphInputIndex": {free}, "ToNodeIndex": {index}, "ToNodeInputIndex": {number}}} in InputEdges, '
            "if it comes from outside of the graph"
        )


def ends(nodes: Nodes, edge: Edge) -> tuple[Place, ...]:
    """Both tensors of an edge between nodes, where they are described."""
    (first, output), (last, number) = edge.ends[:2], edge.ends[2:]
    found = []
    for index, place, is_output in ((first, output, True), (last, number, False)):
        node = nodes[index]
        if isinstance(node, OperatorNode):
            slot = (node.outputs if is_output else node.inputs)[place]
            words = f"{slot.field} of {quote(node.name)} is {slot.desc}"
            found.append(Place(node.place + pointer(slot.field), words))
    return tuple(found)


def _listed(root: Json, name: str) -> list[Json]:
    array = root.get(name)
    return [item for item in array if type(item) is dict] if type(array) is list else []
