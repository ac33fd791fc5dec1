"""Times of a profiled run, at the nodes of the model that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.model.records import Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dml2onnx.model import Node
    from dml2onnx.runtime import NodeTime

BLOCKED = "_nchwc"
"""ONNX Runtime's optimiser names a node that it lays out in blocks of channels after the value that it makes.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/nchwc_transformer.cc
"""


def placed(times: Iterable[NodeTime], nodes: Sequence[Node]) -> tuple[dict[str, NodeTime], list[NodeTime]]:
    """What was spent in each node, by its name, and what was spent elsewhere.

    Nodes in the graphs of other nodes are left out, for those have their times already.
    """
    inner = {node.name for node in _nested(nodes)}
    names = {node.name for node in nodes}
    makers = {value.name: node.name for node in nodes for value in node.outputs if value is not None}
    found: dict[str, NodeTime] = {}
    others: list[NodeTime] = []
    for item in times:
        name = item.name
        if name not in names and name.endswith(BLOCKED):
            name = makers.get(name.removesuffix(BLOCKED), name)
        if name in names and name not in found:
            found[name] = item
        elif item.name not in inner:
            others.append(item)
    return found, others


def _nested(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes of all graphs inside of ``nodes``."""
    for node in nodes:
        for value in node.attributes.values():
            if isinstance(value, Body):
                yield from value.nodes
                yield from _nested(value.nodes)
