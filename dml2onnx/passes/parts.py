"""Replaces a Concat of all slices of a tensor along another axis by a Transpose.

Before:
    (float[3,2] x) => (float[6,1] y)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}>
    { a = Slice (x, zero, one, one) b = Slice (x, one, two, one) y = Concat <axis = 0> (a, b) }
After:
    (float[3,2] x) => (float[6,1] y)
    <int64[2] sizes = {6, 1}>
    { a = Transpose <perm = [1, 0]> (x) y = Reshape (a, sizes) }
"""

from __future__ import annotations

from typing import cast

import numpy as np

from dml2onnx.onnx_model import OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft
from dml2onnx.passes.moves import kept_ranges

OPERATORS = frozenset({"Concat"})


def turn_parts(draft: Draft) -> None:
    """Replaces a Concat of all single steps along an axis, such as the directions of an LSTM."""
    for node in draft.nodes(OPERATORS):
        if len(node.inputs) < 2 or not draft.is_there(node):
            continue
        makers = [draft.maker(item) for item in node.inputs]
        parts = [
            _part(draft, maker, item) for maker, item in zip(makers, node.inputs, strict=True) if maker is not None
        ]
        result, first = node.outputs[0], parts[0] if parts else None
        if len(parts) < len(makers) or first is None or result is None:
            continue
        source, axis, _ = first
        along = cast("int", node.attributes["axis"])
        if axis == along or source.shape[axis] != len(parts) or source.rank != result.rank:
            continue
        if parts != [(source, axis, index) for index in range(len(parts))]:
            continue
        if any(draft.only_reader(item) is not node for item in node.inputs):
            continue
        order = [other for other in range(source.rank) if other != axis]
        order.insert(order.index(along), axis)
        shape = tuple(source.shape[item] for item in order)
        transposed = draft.value(f"{result.name}/Transpose", source.dtype, shape)
        sizes = draft.store(np.array(result.shape, np.int64), f"{result.name}/shape")
        draft.replace(
            node,
            draft.node("Transpose", [source], [transposed], {"perm": tuple(order)}),
            draft.node("Reshape", [transposed, sizes], [result]),
            note=f"joins all slices of {source.name}, which is a permutation",
        )
        for maker in dict.fromkeys(makers):
            draft.let_go(maker, f"its slices are joined by {node.name}")


def _part(draft: Draft, maker: OnnxNode, item: OnnxValue | None) -> tuple[OnnxValue, int, int] | None:
    """Source, axis and index of a slice of one step; ``None`` for other values."""
    source = maker.inputs[0] if maker.inputs else None
    if source is None or item is None:
        return None
    if maker.op_type == "Split":
        axis = cast("int", maker.attributes["axis"])
        is_single = len(maker.outputs) == source.shape[axis]
        names = [output and output.name for output in maker.outputs]
        return (source, axis, names.index(item.name)) if is_single else None
    ranges = kept_ranges(draft, maker) if maker.op_type == "Slice" else None
    if ranges is None or len(ranges) != 1:
        return None
    ((axis, part),) = ranges.items()
    steps = range(source.shape[axis])[part]
    return (source, axis, steps[0]) if len(steps) == 1 else None
