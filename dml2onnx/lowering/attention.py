"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: Attention; with lengths of the past MatMul and Softmax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.attention import in_heads, weighted
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT16

_STACKS = {
    "StackedQueryKeyTensor": ("QueryTensor", "KeyTensor"),
    "StackedKeyValueTensor": ("KeyTensor", "ValueTensor"),
    "StackedQueryKeyValueTensor": ("QueryTensor", "KeyTensor", "ValueTensor"),
}
"""The tensors that are stacked along the fourth dimension."""

_INSTEAD = ("KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START")
"""Masks whose MaskFilterValue is added instead of the bias."""
_PRESENTS = ("OutputPresentKeyTensor", "OutputPresentValueTensor")


@lowers("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
def attention(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``softmax(Scale * Query * Key^T + RelativePositionBias + mask) * Value`` in each head."""
    query, key, value = _operands(node, e)
    if node.op.has("PastSequenceLengthsTensor"):
        return _with_lengths(node, e, query, key, value)
    before = [_natural(node, e, name, 4) for name in ("PastKeyTensor", "PastValueTensor")]
    past = None if before[0] is None or before[1] is None else (before[0], before[1])
    total = key.shape[1] + (0 if past is None else past[0].shape[2])
    addend, heads, scale = _addend(node, e, query.shape[0], total), _heads(node), node.op.float("Scale")
    # ONNX has past and present tensors for both keys and values, or for neither
    count = 2 if past is not None or node.has_output(_PRESENTS[1]) else int(node.has_output(_PRESENTS[0]))
    output, *presents = e.Attention(query, key, value, addend, past, heads=heads, scale=scale, presents=count)
    return _results(node, output, presents)


# --- operands -------------------------------------------------------------------------------------------------------


def _natural(node: Operands, e: Emitter, name: str, rank: int) -> Tensor | None:
    """Returns an input without its leading dimensions of size 1, or ``None``."""
    if not node.op.has(name):
        return None
    x = node.broadcastable(name) if name in ("RelativePositionBiasTensor", "MaskTensor") else node.tensor(name)
    return e.Reshape(x, x.shape[x.rank - rank :])


def _heads(node: Operands) -> tuple[int, int]:
    """Returns the number of heads of queries, and of keys and values."""
    op = node.op
    if op.type == "MULTIHEAD_ATTENTION1":
        return op.uint("QueryHeadCount"), op.uint("KeyValueHeadCount")
    return op.uint("HeadCount"), op.uint("HeadCount")


def _operands(node: Operands, e: Emitter) -> tuple[Tensor, Tensor, Tensor]:
    """Returns query, key and value with their biases added, which BiasTensor concatenates [decision H2].

    Keys and values without a bias keep their type, in which they are joined with the past.
    """
    found: dict[str, Tensor] = {}
    for stack, names in _STACKS.items():
        if node.op.has(stack):
            x = node.tensor(stack)
            width = (*x.shape[:2], x.shape[2] * x.shape[4])
            parts = e.Split(x, (1,) * len(names), 3)
            found |= {name: e.Reshape(part, width) for name, part in zip(names, parts, strict=True)}
    for name in ("QueryTensor", "KeyTensor", "ValueTensor"):
        own = _natural(node, e, name, 3)
        if own is not None:
            found[name] = own
    query, key, value = node.widened(found["QueryTensor"]), found["KeyTensor"], found["ValueTensor"]
    bias = _natural(node, e, "BiasTensor", 1)
    if bias is not None:
        key, value = node.widened(key), node.widened(value)
        biases = e.Split(node.widened(bias), [x.shape[2] for x in (query, key, value)], 0)
        query, key, value = (e.Add(x, own) for x, own in zip((query, key, value), biases, strict=True))
    return query, key, value


# --- masks ---------------------------------------------------------------------------------------------------------


def _addend(node: Operands, e: Emitter, batch: int, keys: int) -> Tensor | None:
    """Returns the term of the scores: relative position bias and mask, broadcasts to (batch, heads, queries, keys).

    MaskFilterValue is added to the scores that the mask drops; a mask of lengths adds it instead of the bias
    [decision H3].
    """
    value, wide = _mask_filter_value(node), node.compute_type(node.output().data_type.dtype)
    bias = _natural(node, e, "RelativePositionBiasTensor", 4)
    bias = None if bias is None else node.widened(bias)
    kind = node.op.enum("MaskType")
    mask = _natural(node, e, "MaskTensor", 4) if kind == "BOOLEAN" else _kept(node, e, batch, keys)
    if mask is None:
        return bias
    scale = node.op.float("Scale") if kind == "BOOLEAN" else 1.0
    return e.masked(mask, e.constant(value, wide), bias, scale, instead=kind in _INSTEAD)


def _mask_filter_value(node: Operands) -> float:
    limit = float(np.finfo(np.float16).max) if node.output().data_type.dtype == FLOAT16 else np.inf
    return min(max(node.op.float("MaskFilterValue"), -limit), limit)  # decision H4


def _kept(node: Operands, e: Emitter, batch: int, keys: int) -> Tensor | None:
    """Returns a mask of lengths as BOOL that broadcasts to the scores, true for visible keys; ``None`` without one."""
    kind = node.op.enum("MaskType")
    if kind in ("NONE", "BOOLEAN") or not node.op.has("MaskTensor"):
        return None
    mask = node.tensor("MaskTensor")
    rows = e.Reshape(mask, (mask.size,))
    position = e.arange(keys, mask.dtype)
    if kind == "KEY_QUERY_SEQUENCE_LENGTH_START_END":
        return _within(node, e, rows, (batch, keys))
    ends = _column(e, rows, 0, batch)
    kept, starts = e.Less(position, ends), e.constant(0, mask.dtype)
    if kind == "KEY_SEQUENCE_END_START":
        starts = _column(e, rows, batch, batch)
        kept = e.And(kept, e.GreaterOrEqual(position, starts))
    return e.Or(kept, e.LessOrEqual(ends, starts))  # an empty range masks nothing [decisions H5 and H6]


def _column(e: Emitter, rows: Tensor, at: int, batch: int) -> Tensor:
    """Returns ``batch`` elements from index ``at`` on, one for each batch item."""
    return e.Reshape(e.Slice(rows, [at], [at + batch]), (batch, 1, 1, 1))


def _within(node: Operands, e: Emitter, rows: Tensor, sizes: tuple[int, int]) -> Tensor:
    """Whether query and key are in the ranges of their batch item; starts count through the batch [decision H7]."""
    batch, keys = sizes
    queries = node.output().sizes[-2]

    def counted(count: int, shape: tuple[int, ...]) -> Tensor:
        return e.constant(np.arange(batch * count).reshape(batch, 1, *shape).astype(rows.dtype))

    query, key = counted(queries, (queries, 1)), counted(keys, (1, keys))
    e.budget.require(batch * max(queries, keys))
    start = _column(e, rows, 2 * batch + 1, batch)
    first, end = (_column(e, rows, at, batch) for at in (batch, batch + 1))
    in_query = e.And(e.GreaterOrEqual(query, first), e.Less(query, end))
    in_keys = e.And(e.GreaterOrEqual(key, start), e.Less(key, e.Add(start, _column(e, rows, 0, batch))))
    return e.And(in_query, in_keys)


# --- outputs and past sequence lengths ------------------------------------------------------------------------------


def _results(node: Operands, output: Tensor, presents: Sequence[Tensor]) -> Mapping[str, Tensor]:
    results = {"OutputTensor": output, **dict(zip(_PRESENTS, presents, strict=False))}
    return {name: x for name, x in results.items() if node.has_output(name)}


def _with_lengths(node: Operands, e: Emitter, query: Tensor, key: Tensor, value: Tensor) -> Mapping[str, Tensor]:
    """Writes the new keys and values into the present tensors, after the valid past of each batch item.

    MaskFilterValue is added to the scores of keys after the query's own position [decisions H16 to H19].
    """
    lengths = _natural(node, e, "PastSequenceLengthsTensor", 1)
    assert lengths is not None
    (batch, count, _), heads = query.shape, _heads(node)
    total = node.output(_PRESENTS[0]).sizes[-2]
    start = e.Clip(lengths, 0, total - key.shape[1])
    added = (in_heads(e, x, heads[1]) for x in (key, value))
    keys, values = (_cached(node, e, new, name, start) for new, name in zip(added, _PRESENTS, strict=True))
    places, rows = (e.arange(size, start.dtype) for size in (total, count))
    step = e.Sub(places, e.Reshape(rows, (count, 1)))
    is_visible = e.LessOrEqual(step, e.Reshape(start, (batch, 1, 1, 1)))
    wide = query.dtype
    causal = e.Where(is_visible, e.constant(0, wide), e.constant(_mask_filter_value(node), wide))
    output = weighted(e, in_heads(e, query, heads[0]), keys, values, causal, node.op.float("Scale"))
    return _results(node, output, (keys, values))


def _cached(node: Operands, e: Emitter, added: Tensor, name: str, start: Tensor) -> Tensor:
    """Returns the old cache with the new keys or values from ``start`` on: (batch, heads, total, size)."""
    before = node.previous(name)
    batch, heads, _, size = added.shape
    shape = (batch, heads, node.output(name).sizes[-2], size)
    # the contents of a buffer that is not an input are unknown
    if before is None:
        return e.TensorScatter(e.ConstantOfShape(shape, 0, added.dtype), added, start)
    return e.TensorScatter(e.Cast(e.Reshape(before, shape), added.dtype), added, start)
