"""Reports cycles of a ``DML_GRAPH_DESC``, at the edge that leads back farthest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dml2onnx.codes.checking import CYCLE
from dml2onnx.diagnostics import Diagnostic, Edit, Remedy, quote, route
from dml2onnx.frontends.dml_graph_parts import Edge, Nodes, OperatorNode
from dml2onnx.frontends.findings import at_field
from dml2onnx.frontends.unresolved import Unresolved
from dml2onnx.ir.graph import Read


def break_cycles(nodes: Nodes, ends: Sequence[Edge], unresolved: Unresolved) -> Iterator[Diagnostic]:
    """Yields a finding for each edge that closes a cycle, and disconnects it."""
    operators = [node for node in nodes if isinstance(node, OperatorNode)]
    edges = [
        edge
        for node in operators
        for number, edge in node.edges.items()
        if len(edge.ends) == 4 and edge.ends[0] < len(nodes)
        if isinstance(source := nodes[edge.ends[0]], OperatorNode)
        if node.reads[number].value in source.values  # false for invalid edges
    ]
    while any(edge.ends[0] >= edge.ends[2] for edge in edges) and (cycle := _cycle(edges)):
        last = max(cycle, key=lambda edge: edge.ends[0] - edge.ends[2])
        edges.remove(last)
        node, number = nodes[last.ends[2]], last.ends[3]
        assert isinstance(node, OperatorNode)
        field = node.inputs[number].field
        names = [other.name for edge in cycle if isinstance(other := nodes[edge.ends[0]], OperatorNode)]
        message = f"The graph has a cycle: {route(names)}; this edge leads back to {field} of {quote(node.name)}"
        remedies = _idle_source(nodes, [*edges, *ends], last)
        yield at_field(
            CYCLE,
            message,
            last.place,
            node.name,
            node.operator.schema,
            field,
            expected="an acyclic graph",
            remedies=remedies,
        )
        node.reads[number] = Read(unresolved.value())


def _cycle(edges: Sequence[Edge]) -> list[Edge]:
    leaving: dict[int, list[Edge]] = {}
    for edge in edges:
        leaving.setdefault(edge.ends[0], []).append(edge)
    done = set[int]()
    for first in leaving:
        path: list[Edge] = []
        above = {first}
        left = [iter(leaving[first] if first not in done else ())]
        while left:
            following = next(left[-1], None)
            if following is None:
                left.pop()
                node = path.pop().ends[2] if path else first
                above.discard(node)
                done.add(node)
            elif following.ends[2] in above:
                path.append(following)
                begins = [index for index, item in enumerate(path) if item.ends[0] == following.ends[2]]
                return path[begins[-1] :]
            elif following.ends[2] not in done:
                path.append(following)
                above.add(following.ends[2])
                left.append(iter(leaving.get(following.ends[2], ())))
    return []


def _idle_source(nodes: Nodes, edges: Sequence[Edge], wrong: Edge) -> tuple[Remedy, ...]:
    """Suggests the only other node without outgoing edges as the source, if it has an equal output."""
    begun = {edge.ends[0] for edge in edges}
    target = nodes[wrong.ends[2]]
    assert isinstance(target, OperatorNode)
    idle = [
        index
        for index, node in enumerate(nodes)
        if isinstance(node, OperatorNode) and index not in begun and index != wrong.ends[2]
        if len(node.outputs) > wrong.ends[1] and node.outputs[wrong.ends[1]].desc == target.inputs[wrong.ends[3]].desc
    ]
    if len(idle) != 1:
        return ()
    source = nodes[idle[0]]
    assert isinstance(source, OperatorNode)
    words = f"{wrong.members[0]} {idle[0]}: no edge begins at {quote(source.name)}"
    return (Remedy(words, (Edit(wrong.at(0), idle[0]),)),)
