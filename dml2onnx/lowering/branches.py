"""Branches that constants decide, taken when compiling.

ONNX Runtime folds the condition of an If that depends on no input and puts the nodes of one branch in its place; 1.24
then loses the weights that are in them, and does not load the model or reads what lies elsewhere in memory.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/constant_folding.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.model import Body, Node

if TYPE_CHECKING:
    from collections.abc import Container

    from dml2onnx.lowering.emitter import Emitter


def settle(e: Emitter) -> None:
    """Replaces every If that reads nothing but constants by its second branch, which is right in all cases."""
    if not any(node.op_type == "If" for origin in e.origins for node in origin.nodes):
        return
    known = set(e.initializers)
    for origin in e.origins:
        assert isinstance(origin.nodes, list)
        nodes: list[Node] = []
        for node in origin.nodes:
            if not _reads_only(known, node):
                nodes.append(node)
                continue
            known.update(item.name for item in node.outputs if item is not None)
            nodes.extend(_otherwise(node) if node.op_type == "If" else [node])
        origin.nodes[:] = nodes


def _reads_only(known: Container[str], node: Node) -> bool:
    for item in node.inputs:  # noqa: SIM110  # a generator takes three times as long
        if item is not None and item.name not in known:
            return False
    return True


def _otherwise(node: Node) -> list[Node]:
    body = node.attributes["else_branch"]
    assert isinstance(body, Body)
    results = zip(body.outputs, node.outputs, strict=True)
    copies = [Node(y.name, "Identity", (x,), (y,)) for x, y in results if y is not None]
    return [*body.nodes, *copies]
