"""Branches that constants decide, taken when compiling.

ONNX Runtime folds the condition of an If that depends on no input and puts the nodes of one branch in its place; 1.24
then loses the weights that are in them, and does not load the model or reads what lies elsewhere in memory.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/constant_folding.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.model import Body, Node

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter


def settle(e: Emitter) -> None:
    """Replaces every If that reads nothing but constants by its second branch, which is right in all cases."""
    if "If" not in e.operators:
        return
    known = set(e.initializers)
    for origin in e.origins:
        assert isinstance(origin.nodes, list)
        settled: list[Node] = []
        for node in origin.nodes:
            for item in node.inputs:
                if item is not None and item.name not in known:
                    break
            else:
                known.update(item.name for item in node.outputs if item is not None)
                if node.op_type == "If":
                    settled.append(node)
        for node in settled:
            at = origin.nodes.index(node)
            origin.nodes[at : at + 1] = _otherwise(node)


def _otherwise(node: Node) -> list[Node]:
    body = node.attributes["else_branch"]
    assert isinstance(body, Body)
    results = zip(body.outputs, node.outputs, strict=True)
    copies = [Node(y.name, "Identity", (x,), (y,)) for x, y in results if y is not None]
    return [*body.nodes, *copies]
