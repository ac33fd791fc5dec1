"""Remedies for wrong edges of a ``DML_GRAPH_DESC``, from the inputs and outputs that are not connected."""

from __future__ import annotations

from functools import cached_property

from dml2onnx.diagnostics import Edit, Place, Remedy, quote
from dml2onnx.frontends.dml_graph_parts import Edge, Nodes, OperatorNode
from dml2onnx.frontends.findings import pointer
from dml2onnx.frontends.members import Json
from dml2onnx.ir.tensor import TensorDesc

_FROM = ("FromNodeIndex", "FromNodeOutputIndex")
_TO = ("ToNodeIndex", "ToNodeInputIndex")


class ConnectedPorts:
    """The inputs and outputs of nodes that have an edge, valid or not."""

    def __init__(self, root: Json, nodes: Nodes) -> None:
        self._nodes = nodes
        self._targets: set[tuple[int, int]] = set()
        self._sources: set[tuple[int, int]] = set()
        self._inputs: set[int] = set()
        for section, members, ports in (
            ("InputEdges", _TO, self._targets),
            ("IntermediateEdges", _TO, self._targets),
            ("IntermediateEdges", _FROM, self._sources),
            ("OutputEdges", _FROM, self._sources),
        ):
            array = root.get(section)
            for raw in array if type(array) is list else ():
                edge = raw.get("Desc", raw) if type(raw) is dict else None
                if type(edge) is not dict:
                    continue
                node, number = (edge.get(name) for name in members)
                if type(node) is int and type(number) is int:
                    ports.add((node, number))
                if members is _TO and type(index := edge.get("GraphInputIndex")) is int:
                    self._inputs.add(index)

    def _operator(self, index: int) -> OperatorNode:
        node = self._nodes[index]
        assert isinstance(node, OperatorNode)
        return node

    def unconnected_inputs(self, index: int) -> list[tuple[int, str]]:
        """Returns the number and field of each present input of a node without an edge."""
        node = self._nodes[index] if index < len(self._nodes) else None
        if not isinstance(node, OperatorNode):
            return []
        return [
            (number, slot.field)
            for number, slot in enumerate(node.inputs)
            if slot.desc is not None and (index, number) not in self._targets
        ]

    @cached_property
    def _all_unconnected(self) -> list[tuple[int, int, str]]:
        return [(index, *item) for index in range(len(self._nodes)) for item in self.unconnected_inputs(index)]

    def other_input(self, edge: Edge, end: int) -> tuple[Remedy, ...]:
        """Suggests the only input without an edge, of the same node or of the graph, as the target."""
        unconnected = self.unconnected_inputs(edge.ends[end - 1])
        if len(unconnected) != 1:
            return self._other_node_input(edge, end) if not unconnected else ()
        number, field = unconnected[0]
        node, old = self._nodes[edge.ends[end - 1]], edge.ends[end]
        is_absent = isinstance(node, OperatorNode) and old < len(node.inputs) and node.inputs[old].desc is None
        why = ": omitted tensors are counted, too" if is_absent else ", to which no edge leads"
        words = f"{edge.members[end]} {number}, which is {field}{why}"
        return (Remedy(words, (Edit(edge.at(end), number),), is_certain=is_absent),)

    def _other_node_input(self, edge: Edge, end: int) -> tuple[Remedy, ...]:
        if len(self._all_unconnected) != 1:
            return ()
        ((index, number, field),) = self._all_unconnected
        name = quote(self._operator(index).name)
        words = f"{edge.members[end - 1]} {index}, {edge.members[end]} {number}: {field} of {name}"
        edits = (Edit(edge.at(end - 1), index), Edit(edge.at(end), number))
        return (Remedy(f"{words}, to which no edge leads", edits),)

    def reversed_edge(self, edge: Edge) -> tuple[Remedy, ...]:
        """Suggests to reverse an edge between nodes, if only its source lacks an edge to an input."""
        if len(edge.ends) != 4:
            return ()
        first, _, last, _ = edge.ends
        unconnected = self.unconnected_inputs(first)
        if len(unconnected) != 1 or self.unconnected_inputs(last):
            return ()
        ends = (last, 0, first, unconnected[0][0])
        words = ", ".join(f"{name} {number}" for name, number in zip(edge.members, ends, strict=True))
        edits = [Edit(edge.at(end), number) for end, number in enumerate(ends)]
        return (Remedy(f"{words}: the edge reversed", tuple(edits)),)

    def missing_edge(self, node: OperatorNode, number: int) -> tuple[Remedy, ...]:
        """Suggests an edge to an input from the only unread output of its data type and sizes, or a graph input."""
        index, desc = self._indices[id(node)], node.inputs[number].desc
        found = self._unread(desc, node)
        if len(found) != 1:
            return () if found or desc is None else (self._graph_input_edge(index, number),)
        ends = ", ".join(
            f'"{member}": {end}' for member, end in zip((*_FROM, *_TO), (*found[0], index, number), strict=True)
        )
        source = quote(self._operator(found[0][0]).name)
        return (Remedy(f"{{{ends}}} in IntermediateEdges: nothing reads that output of {source}"),)

    @cached_property
    def _indices(self) -> dict[int, int]:
        return {id(node): index for index, node in enumerate(self._nodes)}

    def other_output(self, edge: Edge) -> tuple[Remedy, ...]:
        """Suggests the only unread output that fits the target as the source."""
        desc, nodes = None, self._nodes
        if len(edge.ends) == 4 and edge.ends[2] < len(nodes) and isinstance(node := nodes[edge.ends[2]], OperatorNode):
            desc = node.inputs[edge.ends[3]].desc if edge.ends[3] < len(node.inputs) else None
        found = self._unread(desc)
        if len(found) != 1:
            return ()
        index, output = found[0]
        source = self._operator(index)
        edits = (Edit(edge.at(0), index), Edit(edge.at(1), output))
        words = f"{edge.members[0]} {index}, {edge.members[1]} {output}: {source.outputs[output].field}"
        return (Remedy(f"{words} of {quote(source.name)}, which nothing reads", edits),)

    @cached_property
    def _unread_outputs(self) -> dict[object, list[tuple[int, int]]]:
        """The outputs without an edge by data type and sizes; all of them under ``None``."""
        found: dict[object, list[tuple[int, int]]] = {}
        for index, node in enumerate(self._nodes):
            for output, slot in enumerate(node.outputs) if isinstance(node, OperatorNode) else ():
                if (index, output) not in self._sources and isinstance(slot.desc, TensorDesc):
                    for key in (None, (slot.desc.data_type, slot.desc.sizes)):
                        found.setdefault(key, []).append((index, output))
        return found

    def _unread(self, desc: object, reader: OperatorNode | None = None) -> list[tuple[int, int]]:
        """Returns the node and number of each unread output, of the type and sizes of ``desc`` if it is a tensor."""
        key = (desc.data_type, desc.sizes) if isinstance(desc, TensorDesc) else None
        return [port for port in self._unread_outputs.get(key, ()) if self._nodes[port[0]] is not reader]

    def _graph_input_edge(self, index: int, number: int) -> Remedy:
        """Suggests an edge from the first unused graph input."""
        free = next(item for item in range(len(self._inputs) + 1) if item not in self._inputs)
        return Remedy(
            f'{{"GraphInputIndex": {free}, "ToNodeIndex": {index}, "ToNodeInputIndex": {number}}} in InputEdges, '
            "if it comes from outside of the graph"
        )


def end_places(nodes: Nodes, edge: Edge) -> tuple[Place, ...]:
    """Returns the places of both tensors of an edge between nodes."""
    (first, output), (last, number) = edge.ends[:2], edge.ends[2:]
    found = []
    for index, place, is_output in ((first, output, True), (last, number, False)):
        node = nodes[index]
        if isinstance(node, OperatorNode):
            slot = (node.outputs if is_output else node.inputs)[place]
            words = f"{slot.field} of {quote(node.name)} is {slot.desc}"
            found.append(Place(node.place + pointer(slot.field), words))
    return tuple(found)
