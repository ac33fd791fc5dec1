"""Shares equal data movements.

Each DirectML node reads through its own strides, so two readers of a permuted tensor transpose it twice.

Before:
    (float[2,3] x) => (float[3,2] y, float[3,2] z)
    { a = Transpose <perm = [1, 0]> (x) b = Transpose <perm = [1, 0]> (x) y = Abs (a) z = Neg (b) }
After:
    (float[2,3] x) => (float[3,2] y, float[3,2] z)
    { a = Transpose <perm = [1, 0]> (x) y = Abs (a) z = Neg (a) }
"""

from __future__ import annotations

from collections.abc import Hashable

from dml2onnx.onnx_model import OnnxNode
from dml2onnx.passes.draft import Draft

MOVES = frozenset({"Cast", "Flatten", "Gather", "Pad", "Reshape", "Slice", "Transpose", "Unsqueeze"})


def share_moves(draft: Draft) -> None:
    """Replaces each node by an earlier equal one."""
    first: dict[Hashable, OnnxNode] = {}
    for node in draft.nodes(MOVES):
        if not draft.is_there(node):
            continue
        key = (node.op_type, tuple([item and item.name for item in node.inputs]), tuple(node.attributes.items()))
        known = first.setdefault(key, node)
        (mine,), (theirs,) = node.outputs, known.outputs
        if known is not node and mine is not None and theirs is not None and not draft.is_pinned(mine):
            draft.redirect(mine, theirs)
            draft.replace(node, note=f"uses the result of the {known.op_type} {known.name}")
