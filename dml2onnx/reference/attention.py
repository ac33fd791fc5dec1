"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1.

Scores, weights and sums carry a bound on the error of FLOAT32 arithmetic with sums in any order. MaskFilterValue, which
is added to scores (decision H3), therefore costs them digits in proportion to its magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import ACCURACY, LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, reference

_OVERFLOWS = LARGEST_FLOAT32 * (1 + ROUNDOFF / 2)
"""The limit from which numbers round to infinity; the lowest FLOAT32 number is a valid MaskFilterValue."""
_ENOUGH = 100.0
"""A score that exceeds all others by this much has all of the weight."""

_ADDED = ("BOOLEAN", "KEY_QUERY_SEQUENCE_LENGTH_START_END")
"""Masks whose MaskFilterValue is added to the bias; the other two replace the bias with it (decision H3)."""

_STACKS = {
    "QueryTensor": ("StackedQueryKeyTensor", "StackedQueryKeyValueTensor"),
    "KeyTensor": ("StackedQueryKeyTensor", "StackedKeyValueTensor", "StackedQueryKeyValueTensor"),
    "ValueTensor": ("StackedKeyValueTensor", "StackedQueryKeyValueTensor"),
}
_STACKED = {
    "StackedQueryKeyTensor": ("QueryTensor", "KeyTensor"),
    "StackedKeyValueTensor": ("KeyTensor", "ValueTensor"),
    "StackedQueryKeyValueTensor": ("QueryTensor", "KeyTensor", "ValueTensor"),
}
"""The tensors along the fourth dimension (decision H1)."""


@dataclass(frozen=True, slots=True)
class _Heads:
    """{ batch, heads, length, size }, with an error bound for each number."""

    values: Floats
    error: Floats

    def repeated(self, times: int) -> _Heads:
        """Each head repeated for a group of query heads (decision H15)."""
        return _Heads(np.repeat(self.values, times, 1), np.repeat(self.error, times, 1))


@reference("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
def attention(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``softmax(Scale * Query * Key^T + RelativePositionBias + mask) * Value`` in each head (decisions H1 to H22)."""
    query, key, value = _operands(op, inputs)
    lengths = inputs.optional("PastSequenceLengthsTensor")
    past_key, past_value = inputs.optional("PastKeyTensor"), inputs.optional("PastValueTensor")
    batch, heads, queries, _ = query.values.shape
    broken = np.zeros((batch, 1, 1, 1), np.bool_)
    kept: list[Floats] = []
    if lengths is None:
        key, value = _joined(past_key, key), _joined(past_value, value)
    else:
        past = _plain(lengths, 1).astype(np.int64)
        new = key.values.shape[2]
        key = _cached(op, inputs, "OutputPresentKeyTensor", past_key, key, past)
        value = _cached(op, inputs, "OutputPresentValueTensor", past_value, value, past)
        total = key.values.shape[2]
        # nothing is guaranteed if the new keys do not fit (decision H19)
        broken = ((past < 0) | (past + new > total)).reshape(broken.shape)
        last = past.reshape(broken.shape) + np.arange(queries)[:, None]
        kept.append((np.arange(total) <= last).astype(np.float64))  # causal (decision H17)
    presents = {"OutputPresentKeyTensor": key, "OutputPresentValueTensor": value}
    mask = _kept(op, inputs, (batch, queries, key.values.shape[2]))
    kept += [] if mask is None else [mask]
    weights = _weights(_scores(op, inputs, query, key.repeated(heads // key.values.shape[1]), kept))
    output = _weighted(weights, value.repeated(heads // value.values.shape[1]))
    merged = _marked(op, "OutputTensor", _merged(output), broken[..., 0])
    if mask is not None and not np.isin(mask, (0, 1)).all():
        # masks in ONNX are 0 or 1 (decision H8)
        merged = replace(merged, open=np.ones(merged.values.shape, np.bool_))
    results = {"OutputTensor": merged}
    for name, present in presents.items():
        if op.has(name):
            exact = None if not present.error.any() else present.error
            results[name] = _marked(op, name, Result(present.values, exact), broken)
    return results


def _plain(x: Array, rank: int) -> Array:
    """A tensor without leading dimensions of size 1."""
    return x.reshape(x.shape[x.ndim - rank :])


def _marked(op: OperatorDesc, name: str, result: Result, broken: Mask) -> Result:
    """A result in the sizes of its descriptor, with broken batch items unspecified."""
    sizes = op.tensor(name).sizes
    error = None if result.error is None else result.error.reshape(sizes)
    return Result(result.values.reshape(sizes), error, (broken | result.marks).reshape(sizes))


# --- Operands -------------------------------------------------------------------------------------------------------


def _operands(op: OperatorDesc, inputs: Inputs) -> tuple[_Heads, _Heads, _Heads]:
    """Query, key and value plus their biases, which BiasTensor concatenates (decision H2)."""
    grouped = op.schema.short_name == "MULTIHEAD_ATTENTION1"
    query_heads = op.uint("QueryHeadCount" if grouped else "HeadCount")
    other_heads = op.uint("KeyValueHeadCount") if grouped else query_heads
    heads = {"QueryTensor": query_heads, "KeyTensor": other_heads, "ValueTensor": other_heads}
    split = {name: _split(inputs, name, count) for name, count in heads.items()}
    bias = inputs.optional("BiasTensor")
    if bias is None:
        query, key, value = (_Heads(x, np.zeros_like(x)) for x in split.values())
        return query, key, value
    widths = [x.shape[1] * x.shape[3] for x in split.values()]
    biases = np.split(widen(_plain(bias, 1)), np.cumsum(widths)[:-1])
    query, key, value = (_biased(x, own) for x, own in zip(split.values(), biases, strict=True))
    return query, key, value


def _split(inputs: Inputs, name: str, heads: int) -> Floats:
    """Query, key or value as { batch, heads, length, size }, from its own tensor or a stacked one."""
    for stack in _STACKS[name]:
        stacked = inputs.optional(stack)
        if stacked is not None:
            return widen(stacked[:, :, :, _STACKED[stack].index(name)]).swapaxes(1, 2)
    x = _plain(inputs.tensor(name), 3)
    return widen(x.reshape(*x.shape[:2], heads, -1)).swapaxes(1, 2)


def _biased(x: Floats, bias: Floats) -> _Heads:
    y = x + bias.reshape(1, x.shape[1], 1, x.shape[3])
    return _Heads(y, ROUNDOFF * np.abs(y))


def _joined(past: Array | None, new: _Heads) -> _Heads:
    """The past followed by the new (decisions H9 and H12)."""
    if past is None:
        return new
    before = widen(_plain(past, 4))
    return _Heads(np.concatenate([before, new.values], 2), np.concatenate([np.zeros_like(before), new.error], 2))


def _cached(op: OperatorDesc, inputs: Inputs, name: str, past: Array | None, new: _Heads, lengths: Array) -> _Heads:
    """Writes the new after the valid past of each batch item, in the present tensor (decisions H16 and H18)."""
    batch, heads, added, size = new.values.shape
    before = None if past is None else widen(_plain(past, 4))
    if op.has(name):
        stored = inputs.optional(name)
        total = op.tensor(name).sizes[-2]
        values = np.zeros((batch, heads, total, size)) if stored is None else widen(_plain(stored, 4))
    else:
        assert before is not None
        values = np.zeros((batch, heads, before.shape[2] + added, size))
    if before is not None:
        values[:, :, : before.shape[2]] = before
    error = np.zeros_like(values)
    for item, length in enumerate(lengths):
        start = int(np.clip(length, 0, values.shape[2] - added))
        values[item, :, start : start + added] = new.values[item]
        error[item, :, start : start + added] = new.error[item]
    return _Heads(values, error)


# --- Scores ---------------------------------------------------------------------------------------------------------


def _scores(op: OperatorDesc, inputs: Inputs, query: _Heads, key: _Heads, kept: list[Floats]) -> Result:
    """The input of the softmax, { batch, heads, queries, keys }, with ``(1 - kept) * MaskFilterValue`` of each mask."""
    scale = op.float("Scale")
    transposed, size = key.values.swapaxes(-1, -2), np.abs(key.values).swapaxes(-1, -2)
    key_error = key.error.swapaxes(-1, -2)
    raw = np.abs(query.values) @ size
    total, magnitude = scale * (query.values @ transposed), abs(scale) * raw
    carried = np.abs(query.values) @ key_error + query.error @ (size + key_error)
    position = inputs.optional("RelativePositionBiasTensor")
    addends = [] if position is None else [widen(_plain(position, 4))]
    value, outer = _mask_filter_value(op), 1.0
    is_joined = position is not None and op.has("MaskTensor") and op.enum("MaskType") in _ADDED
    is_scaled = is_joined and op.enum("MaskType") == "BOOLEAN"
    if position is not None and kept and not is_joined:
        addends = [np.where(kept[0] == 1, addends[0], 0.0)]  # decision H3
    if is_scaled:
        # the value is divided by the scale, then both are multiplied by it (decision H10)
        value, outer = float(np.float32(value) / np.float32(scale)), scale
    addends += [np.where((mask == 1) & np.isfinite(value), 0.0, (1 - mask) * value) for mask in kept]
    for added in addends:
        total = total + outer * added
        magnitude = magnitude + np.where(np.isfinite(added), np.abs(outer * added), 0)
    # the products, two roundings of each factor by the root of the scale, and the additions
    terms = query.values.shape[-1] + 7
    error = sum_error(terms, magnitude, ROUNDOFF) + abs(scale) * carried
    # the order decides whether partial sums overflow, and a scale of 0 leaves infinities open (decision H11)
    undefined = np.isfinite(raw) & ((raw >= _OVERFLOWS) | (magnitude >= _OVERFLOWS)) | ~np.isfinite(raw) & (scale == 0)
    if op.tensor("OutputTensor").data_type is DataType.FLOAT16:
        added = sum(addends, np.zeros(total.shape))
        undefined = undefined | _beyond_halves(op.float("MaskFilterValue"), outer, added, kept)
        if kept:
            # bias plus mask is one FLOAT16 tensor, or the mask is added in FLOAT16 (decisions H4 and H10)
            error = error + abs(outer) * float(np.finfo(np.float16).eps) * np.abs(added)
    return Result(total, error, undefined)


def _beyond_halves(value: float, scale: float, added: Floats, kept: list[Floats]) -> Mask:
    """Rows where FLOAT16 may overflow for all scores, or upward for some (decision H4).

    ``value`` is MaskFilterValue; ``added`` is the sum added to the scores with it clamped to FLOAT16.
    """
    most, stated = float(np.finfo(np.float16).max), float(np.float32(value) / np.float32(scale))
    unbounded = sum(((1 - mask) * stated for mask in kept), np.zeros(added.shape))
    is_hidden = np.maximum(np.abs(unbounded), np.abs(added)) >= most
    is_raised = ~(np.maximum(unbounded, added) < most)  # or NaN
    rows: Mask = np.logical_or(is_hidden.all(axis=-1, keepdims=True), is_raised.any(axis=-1, keepdims=True))
    return rows


def _mask_filter_value(op: OperatorDesc) -> float:
    value = op.float("MaskFilterValue")
    if op.tensor("OutputTensor").data_type is not DataType.FLOAT16:
        return value
    limit = float(np.finfo(np.float16).max)
    return float(np.clip(value, -limit, limit))  # decision H4


def _kept(op: OperatorDesc, inputs: Inputs, sizes: tuple[int, int, int]) -> Floats | None:
    """1 where a query attends to a key, else 0, broadcastable to the scores; ``None`` without a mask.

    BOOLEAN masks may contain other numbers (decision H8). ``sizes`` are the numbers of batch items, queries and keys.
    """
    batch, queries, keys = sizes
    mask, kind = inputs.optional("MaskTensor"), op.enum("MaskType")
    if mask is None or kind == "NONE":
        return None
    if kind == "BOOLEAN":
        return widen(_plain(mask, 4))
    position = np.arange(keys)
    rows = mask.reshape(-1).astype(np.int64)
    if kind == "KEY_QUERY_SEQUENCE_LENGTH_START_END":
        # starts count through the whole batch (decision H7)
        items = np.arange(batch).reshape(-1, 1, 1, 1)
        first, end, start = (rows[at : at + batch].reshape(items.shape) for at in (batch, batch + 1, 2 * batch + 1))
        query, key = items * queries + np.arange(queries).reshape(-1, 1), items * keys + position
        lengths = rows[:batch].reshape(items.shape)
        seen = (query >= first) & (query < end) & (key >= start) & (key < start + lengths)
        return seen.astype(np.float64)
    ends = rows[:batch].reshape(-1, 1, 1, 1)
    starts = rows[batch:].reshape(-1, 1, 1, 1) if kind == "KEY_SEQUENCE_END_START" else np.zeros_like(ends)
    # an empty range masks nothing (decisions H5 and H6)
    return ((starts <= position) & (position < ends) | (ends <= starts)).astype(np.float64)


# --- Weights --------------------------------------------------------------------------------------------------------


def _weights(scores: Result) -> Result:
    """The softmax along the keys."""
    s = widen(scores.values)
    top = s.max(axis=-1, keepdims=True)
    exponentials = np.exp(s - top)
    p = exponentials / exponentials.sum(axis=-1, keepdims=True)
    e = np.where(np.isfinite(scores.bound), scores.bound, 0)
    # the largest and smallest weights for scores within their errors
    edge = (s - e).max(axis=-1, keepdims=True)
    above, below = np.exp(np.minimum(s + e - edge, _ENOUGH)), np.exp(s - e - edge)
    high = above / (above + (below.sum(axis=-1, keepdims=True) - below))
    edge = (s + e).max(axis=-1, keepdims=True)
    above, below = np.exp(s + e - edge), np.exp(s - e - edge)
    low = np.where(below > 0, below / (below + (above.sum(axis=-1, keepdims=True) - above)), 0)
    drift = np.maximum(np.maximum(high - p, p - low), 0)
    own = sum_error(s.shape[-1] + 2, np.ones_like(p), ROUNDOFF) + ACCURACY
    error = drift + (p + drift) * own + SMALLEST_FLOAT32
    # with an infinite score or without a finite one, NaN depends on the formula (decision H22)
    undefined = (np.abs(top) >= _OVERFLOWS) | scores.marks.any(axis=-1, keepdims=True)
    return Result(p, error, np.broadcast_to(undefined, p.shape))


def _weighted(weights: Result, value: _Heads) -> Result:
    """The weighted sums of values, { batch, heads, queries, size }."""
    p, error = widen(weights.values), weights.bound
    finite = np.isfinite(value.values)
    size = np.where(finite, np.abs(value.values), 0)
    own = sum_error(p.shape[-1] + 2, (p + error) @ size, ROUNDOFF)
    carried = np.where(np.isfinite(error), error, 0) @ size + (p + error) @ value.error
    # an infinity times a weight that may be 0 (decision H20)
    vanishing = (p - error <= 2 * SMALLEST_FLOAT32).astype(np.float64)
    undefined = (vanishing @ (~finite).astype(np.float64)) > 0
    return Result(p @ value.values, own + carried, undefined | weights.marks.any(axis=-1, keepdims=True))


def _merged(x: Result) -> Result:
    """Transposes to { batch, queries, heads * size }."""

    def merge(array: Array) -> Array:
        return array.swapaxes(1, 2).reshape(array.shape[0], array.shape[2], -1)

    return Result(merge(x.values), merge(x.bound), merge(x.marks))  # type: ignore[arg-type]  # types are kept
