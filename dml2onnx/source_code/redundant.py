"""Removes redundant members of descriptors, such as the smallest possible TotalTensorSizeInBytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dml2onnx.ir.graph import Graph, Node
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc


def with_usual_sizes(graph: Graph) -> Graph:
    """Returns the same graph; recordings and DML_GRAPH_DESCs state all sizes, which clutter a program."""
    known: dict[OperatorDesc, OperatorDesc] = {}

    def node(item: Node) -> Node:
        desc = known.get(item.operator)
        if desc is None:
            values = tuple(map(_usual, item.operator.values))
            same = all(a is b for a, b in zip(values, item.operator.values, strict=True))
            desc = known[item.operator] = item.operator if same else OperatorDesc(item.operator.schema, values)
        return item if desc is item.operator else Node(item.name, desc, item.reads, item.writes, item.source)

    return replace(
        graph,
        nodes=tuple(map(node, graph.nodes)),
        inputs=tuple(item if item.desc is None else replace(item, desc=_usual(item.desc)) for item in graph.inputs),
        outputs=tuple(replace(item, desc=_usual(item.desc)) for item in graph.outputs),
        results=tuple(replace(item, desc=_usual(item.desc)) for item in graph.results),
    )


def _usual(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return replace(value, total_size=0) if value.total_size == value.minimum_bytes else value
    if isinstance(value, tuple) and value and isinstance(value[0], TensorDesc):
        items = tuple(map(_usual, value))
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return value
