"""Chains of activations: bounds within bounds, and functions that undo or repeat themselves.

Before:
    (float[3] x) => (float[3] y, float[3] z)
    <float one = {-1}, float four = {4}, float zero = {0}, float six = {6}>
    { a = Clip (x, one, four) y = Clip (a, zero, six) b = Relu (x) c = Relu (b) z = Sqrt (c) }
After:
    (float[3] x) => (float[3] y, float[3] z)
    <float zero = {0}, float four = {4}>
    { y = Clip (x, zero, four) b = Relu (x) z = Sqrt (b) }
"""

from __future__ import annotations

import numpy as np

from dml2onnx.onnx_model import Array, OnnxNode, OnnxValue
from dml2onnx.passes.draft import Draft

_IDEMPOTENT = frozenset({"Abs", "Ceil", "Floor", "Relu", "Round", "Sign"})
"""Idempotent operators."""
_INVOLUTIONS = frozenset({"Neg", "Not"})
"""Operators that are their own inverse; integers wrap."""
OPERATORS = frozenset({"Clip", *_IDEMPOTENT, *_INVOLUTIONS})


def merge_activations(draft: Draft) -> None:
    """Merges two Clip, drops a repeated activation, and eliminates two that undo each other."""
    for node in draft.nodes(OPERATORS):
        if not draft.is_there(node):
            continue
        before, (result,) = draft.maker(node.inputs[0]), node.outputs
        if before is None or before.op_type != node.op_type or result is None:
            continue
        if node.op_type == "Clip":
            _clips(draft, before, node, result)
        elif not draft.is_pinned(result):
            source = before.outputs[0] if node.op_type in _IDEMPOTENT else before.inputs[0]
            assert source is not None
            draft.redirect(result, source)
            draft.replace(node, note=f"repeats or undoes {before.name}")
            draft.let_go(before, f"is undone by {node.name}")


def _clips(draft: Draft, before: OnnxNode, node: OnnxNode, result: OnnxValue) -> None:
    """Clips the bounds of the inner Clip by those of the outer one."""
    inner, outer = _bounds(draft, before, result), _bounds(draft, node, result)
    if _has_both_zeros(*inner, *outer):
        return
    if any(bool(np.greater(low, high)) for low, high in (inner, outer)):
        return
    bounds: list[OnnxValue | None] = []
    for index, (name, none) in enumerate(zip(("min", "max"), _limits(result), strict=True)):
        number = np.clip(inner[index], *outer)
        # kernels use the largest finite number for an absent bound, so infinity may not replace it
        is_open = number == none and (_is_open(before, index) or _is_open(node, index))
        bounds.append(None if is_open else draft.store(np.asarray(number, result.dtype), f"{result.name}/{name}"))
    while bounds and bounds[-1] is None:
        bounds.pop()
    merged = draft.node("Clip", [before.inputs[0], *bounds], node.outputs, node.attributes)
    draft.replace(node, merged, note=f"includes the bounds of {before.name}")
    draft.let_go(before, f"its bounds are part of {merged.name}")


def _limits(result: OnnxValue) -> tuple[Array, Array]:
    """The defaults of the bounds."""
    if result.dtype.kind == "f":
        return np.array(-np.inf, result.dtype), np.array(np.inf, result.dtype)
    info = np.iinfo(result.dtype.name)
    return np.array(info.min, result.dtype), np.array(info.max, result.dtype)


def _bounds(draft: Draft, node: OnnxNode, result: OnnxValue) -> tuple[Array, Array]:
    """Both bounds, which lowering never sets to NaN."""
    found = list(_limits(result))
    for index, item in enumerate(node.inputs[1:]):
        if item is not None:
            value = draft.constant(item)
            assert value is not None
            found[index] = value.reshape(())
    return found[0], found[1]


def _is_open(node: OnnxNode, index: int) -> bool:
    return len(node.inputs) < index + 2 or node.inputs[index + 1] is None


def _has_both_zeros(*bounds: Array) -> bool:
    """Whether the bounds include both 0.0 and -0.0, which compare as equal."""
    signs = {bool(np.signbit(item)) for item in bounds if item.dtype.kind == "f" and item.item() == 0}
    return len(signs) > 1
