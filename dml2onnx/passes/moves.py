"""Merges or eliminates two consecutive movements.

Before:
    (float[2,3,4] x) => (float[4,3,2] y, float[2,12] z)
    <int64[2] rows = {6, 4}, int64[2] flat = {2, 12}>
    { a = Transpose <perm = [0, 2, 1]> (x) y = Transpose <perm = [1, 2, 0]> (a)
    b = Reshape (x, rows) z = Reshape (b, flat) }
After:
    (float[2,3,4] x) => (float[4,3,2] y, float[2,12] z)
    <int64[2] flat = {2, 12}>
    { y = Transpose <perm = [2, 1, 0]> (x) z = Reshape (x, flat) }
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from dml2onnx.onnx_model import ELEMENT_TYPES, DType, OnnxNode, OnnxValue, has_unknown
from dml2onnx.passes.draft import Draft, only_output
from dml2onnx.targets import exact_wider


def merge_moves(draft: Draft) -> None:
    """Merges each movement with the one before it."""
    for node in draft.nodes(OPERATORS):
        if not draft.is_there(node):
            continue
        merge = _MERGES[node.op_type]
        before = draft.maker(node.inputs[0])
        if node.op_type == "Concat":
            merge(draft, node, node)
        elif before is not None and before.op_type == node.op_type:
            merge(draft, before, node)


def _instead(draft: Draft, node: OnnxNode, source: OnnxValue) -> None:
    """Replaces the output of a node by ``source``."""
    result = only_output(node)
    if draft.is_pinned(result):
        return
    before = draft.maker(node.inputs[0])
    draft.redirect(result, source)
    draft.replace(node, note=f"cancels the operation on {source.name}")
    draft.let_go(before, f"is undone by {node.name}")


def _moved(
    draft: Draft, before: OnnxNode, node: OnnxNode, inputs: tuple[OnnxValue | None, ...], attributes: dict[str, object]
) -> None:
    """Makes ``node`` read the input of ``before``."""
    merged = draft.node(node.op_type, (before.inputs[0], *inputs), node.outputs, cast("dict[str, int]", attributes))
    draft.replace(node, merged, note=f"one {merged.op_type} instead of two; {before.name} was the first")
    draft.let_go(before, f"its {before.op_type} is part of {merged.name}")


def _transposes(draft: Draft, before: OnnxNode, node: OnnxNode) -> None:
    first, second = (cast("tuple[int, ...]", item.attributes["perm"]) for item in (before, node))
    order = tuple(first[axis] for axis in second)
    source, *_ = _chain(before, node)
    if order == tuple(range(len(order))):
        _instead(draft, node, source)
    else:
        _moved(draft, before, node, (), {"perm": order})


def _chain(before: OnnxNode, node: OnnxNode) -> tuple[OnnxValue, OnnxValue, OnnxValue]:
    """The input, the intermediate value and the output of two consecutive movements."""
    source = before.inputs[0]
    assert source is not None
    return source, only_output(before), only_output(node)


def _reshapes(draft: Draft, before: OnnxNode, node: OnnxNode) -> None:
    """Reshapes to the last shape."""
    source, middle, result = _chain(before, node)
    if any(map(has_unknown, (source.shape, middle.shape, result.shape))):
        return
    if source.shape != result.shape:
        _moved(draft, before, node, node.inputs[1:], {})
    else:
        _instead(draft, node, source)


def _casts(draft: Draft, before: OnnxNode, node: OnnxNode) -> None:
    """Casts directly to the last type, if the middle type holds every number of the first."""
    source, middle, result = _chain(before, node)
    if not _survives(source.dtype, middle.dtype, result.dtype):
        return
    if source.dtype == result.dtype:
        _instead(draft, node, source)
    else:
        _moved(draft, before, node, (), {"to": ELEMENT_TYPES[result.dtype][0]})


def _survives(first: DType, middle: DType, last: DType) -> bool:
    """Whether a cast through ``middle`` is equivalent to a direct one for all numbers."""
    if first.kind == "b":
        return True  # every type has 0 and 1
    if not {first.kind, middle.kind, last.kind} <= set("iuf"):
        return False
    if {first.kind, middle.kind, last.kind} <= {"i", "u"} and middle.itemsize >= last.itemsize:
        return True  # only the low bits matter
    return _holds(middle, first) and _holds(last, first)


def _holds(wide: DType, dtype: DType) -> bool:
    return wide == dtype or ELEMENT_TYPES[wide][1] in exact_wider(ELEMENT_TYPES[dtype][1])


def _slices(draft: Draft, before: OnnxNode, node: OnnxNode) -> None:
    """Merges Slices with positive steps."""
    first, second = kept_ranges(draft, before), kept_ranges(draft, node)
    source, result = before.inputs[0], node.outputs[0]
    if first is None or second is None or source is None or result is None:
        return
    steps = {axis: range(source.shape[axis]) for axis in sorted({*first, *second})}
    for parts in (first, second):
        for axis, part in parts.items():
            steps[axis] = steps[axis][part]
    axes = [axis for axis, kept in steps.items() if kept != range(source.shape[axis])]
    if not axes or any(not steps[axis] for axis in axes):
        return
    rows = (
        [steps[axis].start for axis in axes],
        [steps[axis][-1] + 1 for axis in axes],
        axes,
        [steps[axis].step for axis in axes],
    )
    inputs = tuple(
        draft.store(np.array(row, np.int64), f"{result.name}/{name}")
        for name, row in zip(("starts", "ends", "axes", "steps"), rows, strict=True)
    )
    _moved(draft, before, node, inputs, {})


def kept_ranges(draft: Draft, node: OnnxNode) -> dict[int, slice] | None:
    """The range that a Slice keeps of each of its axes; ``None`` if unknown or backwards."""
    source = node.inputs[0]
    values = [draft.constant(item) for item in node.inputs[1:]]
    if source is None or has_unknown(source.shape) or len(values) < 3 or any(item is None for item in values):
        return None
    starts, ends, axes = ([int(number) for number in item.reshape(-1)] for item in values[:3] if item is not None)
    steps = [1] * len(axes) if len(values) < 4 or values[3] is None else [int(n) for n in values[3].reshape(-1)]
    if any(step < 1 for step in steps):
        return None
    return {axis: slice(*part) for axis, part in zip(axes, zip(starts, ends, steps, strict=True), strict=True)}


def _concats(draft: Draft, _: OnnxNode, node: OnnxNode) -> None:
    """Inlines Concats along the same axis that only this one reads."""
    inputs: list[OnnxValue | None] = []
    inner: list[OnnxNode] = []
    for item in node.inputs:
        maker = draft.maker(item)
        is_same = maker is not None and (maker.op_type, maker.attributes) == (node.op_type, node.attributes)
        is_only_reader = draft.only_reader(item) is node and node.inputs.count(item) == 1
        if maker is not None and is_same and is_only_reader:
            inputs += maker.inputs
            inner.append(maker)
        else:
            inputs.append(item)
    if inner:
        merged = draft.node("Concat", inputs, node.outputs, node.attributes)
        draft.replace(node, merged, note="includes Concats that only it read")
        for maker in inner:
            draft.let_go(maker, f"is part of {merged.name}")


def _pads(draft: Draft, before: OnnxNode, node: OnnxNode) -> None:
    """Adds up margins with the same value."""
    first, second = (draft.constant(item.inputs[1]) for item in (before, node))
    result = node.outputs[0]
    if before.attributes or node.attributes or before.inputs[2:] != node.inputs[2:]:
        return
    if first is not None and second is not None and result is not None:
        _moved(draft, before, node, (draft.store(first + second, f"{result.name}/pads"), *node.inputs[2:]), {})


_MERGES: dict[str, Callable[[Draft, OnnxNode, OnnxNode], None]] = {
    "Cast": _casts,
    "Concat": _concats,
    "Pad": _pads,
    "Reshape": _reshapes,
    "Slice": _slices,
    "Transpose": _transposes,
}
OPERATORS = frozenset(_MERGES)
