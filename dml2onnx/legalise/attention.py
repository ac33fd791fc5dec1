"""Attention (opset 23) and TensorScatter (opset 24) made of other operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import BOOL, INT64


def attention(
    e: Emitter,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *others: Any,
    heads: tuple[int, int],
    scale: float,
    **how: Any,
) -> list[Tensor] | None:
    """MatMul and Softmax; the arguments are those of :func:`attended`."""
    if is_attention(e, mask, heads, scale):
        if e.has_kernel("Attention", query.dtype, "T1"):
            return None
        e.suggest_opset(23, "Attention")
    return attended(e, query, key, value, mask, *others, heads=heads, scale=scale, **how)


def is_attention(e: Emitter, mask: Tensor | None, heads: tuple[int, int], scale: float) -> bool:
    """Whether Attention supports this scale and mask."""
    if not scale > 0:
        e.note("Attention needs a positive Scale: MatMul and Softmax replace it")
        return False
    if mask is not None and heads[0] != heads[1] and mask.shape[1] > 1:
        e.note("Attention with grouped heads has one mask for all heads: MatMul and Softmax replace it")
        return False
    return True


def attended(
    e: Emitter,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    past: tuple[Tensor, Tensor] | None,
    *,
    heads: tuple[int, int],
    scale: float,
    presents: int,
) -> list[Tensor]:
    """Attention as MatMul and Softmax; the scale may be 0 or negative."""
    keys, values = (in_heads(e, x, heads[1]) for x in (key, value))
    if past is not None:
        keys, values = (
            e.Concat([e.Cast(before, x.dtype), x], 2) for before, x in zip(past, (keys, values), strict=True)
        )
    return [weighted(e, in_heads(e, query, heads[0]), keys, values, mask, scale), keys, values][: 1 + presents]


def in_heads(e: Emitter, x: Tensor, count: int) -> Tensor:
    """Reshapes (batch, length, heads * size) to (batch, heads, length, size)."""
    batch, length, width = x.shape
    return e.Transpose(e.Reshape(x, (batch, length, count, width // count)), (0, 2, 1, 3))


def weighted(e: Emitter, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """(batch, queries, heads * size) from tensors (batch, heads, length, size), in the type of ``query``.

    Query heads that share a key head are adjacent [decision H15], so they become rows of one matrix.
    """
    batch, heads, length, size = query.shape
    groups, total = keys.shape[1:3]
    rows = (batch, groups, heads // groups * length)
    columns = e.Cast(e.Transpose(keys, (0, 1, 3, 2)), query.dtype)
    scores = e.MatMul(e.Reshape(query, (*rows, size)), columns)
    scores = e.Mul(scores, e.constant(scale, scores.dtype))
    if mask is not None:
        scores = e.Add(e.Reshape(scores, (batch, heads, length, total)), mask)
    weights = e.Reshape(e.Softmax(scores, 3), (*rows, total))
    y = e.MatMul(weights, e.Cast(values, query.dtype))
    by_position = e.Transpose(e.Reshape(y, (batch, heads, length, values.shape[3])), (0, 2, 1, 3))
    return e.Reshape(by_position, (batch, length, heads * values.shape[3]))


def tensor_scatter(e: Emitter, cache: Tensor, updates: Tensor, first: Tensor) -> Tensor:
    """ScatterND or, without a kernel for that, GatherElements over old and new rows."""
    e.suggest_opset(26, "TensorScatter")
    batch, heads, total, _ = cache.shape
    count, start = updates.shape[2], e.Reshape(first, (batch, 1, 1, 1))
    if e.takes_instead("ScatterND", cache.dtype, "Concat", "GatherElements"):
        e.note("ScatterND has no kernel: GatherElements selects among old and new rows")
        place = e.Reshape(e.arange(total, first.dtype), (total, 1))
        step = e.Sub(place, start)
        is_new = e.And(e.GreaterOrEqual(step, e.constant(0, step.dtype)), e.Less(step, e.constant(count, step.dtype)))
        rows = e.Where(is_new, e.Add(step, e.constant(total, step.dtype)), place)
        return e.GatherElements(e.Concat([cache, updates], 2), e.Expand(rows, cache.shape), 2)
    e.budget.require(3 * batch * heads * count)
    items = np.indices((batch, heads, count)).transpose(1, 2, 3, 0)
    places = e.Mul(e.Cast(start, INT64), e.constant([0, 0, 1], INT64))
    return e.ScatterND(cache, e.Add(e.constant(items, INT64), places), updates)


def masked(e: Emitter, mask: Tensor, value: Tensor, bias: Tensor | None, scale: float, **how: Any) -> Tensor | None:
    """``value * (1 - mask)`` for a numeric mask [decision H8], combined with the bias as in [decision H10]."""
    if mask.dtype == BOOL:
        return None
    missing = e.Sub(e.constant(1, value.dtype), e.Cast(mask, value.dtype))
    if bias is None:
        return e.Mul(missing, value)
    with np.errstate(all="ignore"):
        part = e.constant(np.float32(value.constant) / np.float32(scale), value.dtype)
    return e.Mul(e.Add(bias, e.Mul(missing, part)), e.constant(np.float32(scale), bias.dtype))
