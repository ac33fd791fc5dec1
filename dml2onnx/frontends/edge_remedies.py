"""What an edge of a DML_GRAPH_DESC may have been meant to lead to, seen from the inputs that no edge leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.diagnostics import Edit, Remedy
from dml2onnx.frontends.dml_graph_parts import OperatorNode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from dml2onnx.frontends.dml_graph_parts import ConstantNode, Edge
    from dml2onnx.frontends.members import Json

    Nodes: TypeAlias = Sequence[OperatorNode | ConstantNode | None]


_TO = ("ToNodeIndex", "ToNodeInputIndex")


class Reached:
    """The inputs of nodes that some edge leads to, right or wrong."""

    def __init__(self, root: Json) -> None:
        self._ends: set[tuple[int, int]] = set()
        for raw in (*_listed(root, "InputEdges"), *_listed(root, "IntermediateEdges")):
            inner = raw.get("Desc", raw)
            node, number = (inner.get(name) for name in _TO) if type(inner) is dict else (None, None)
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
        """The only input of the same node that has no edge, in the place of an absent one, or one that has two."""
        lacking = self.lacking(nodes, edge.ends[end - 1])
        if len(lacking) != 1:
            return ()
        number, field = lacking[0]
        node = nodes[edge.ends[end - 1]]
        is_absent = isinstance(node, OperatorNode) and node.inputs[edge.ends[end]].desc is None
        why = ": tensors that are left out are counted" if is_absent else ", to which no edge leads"
        words = f"{edge.members[end]} {number}, which is {field}{why}"
        return (Remedy(words, (Edit(edge.at(end), number),), is_certain=is_absent),)

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


def _listed(root: Json, name: str) -> list[Json]:
    array = root.get(name)
    return [item for item in array if type(item) is dict] if type(array) is list else []
