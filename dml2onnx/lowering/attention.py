"""MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: ONNX's Attention where it is exactly that, else MatMul and Softmax.

ONNX Runtime makes the scaling of the second form, and the transposition of joined keys, a part of the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.lowering.registry import lowers
from dml2onnx.model import BOOL, FLOAT16, INT64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands

_LARGE = 1e37
"""Up to here all that is added to scores is a number to ONNX's Attention.

ONNX Runtime takes the lowest number as it takes -inf, for a mask, and gives 0 for a row that is masked throughout.
"""

_STACKS = {
    "StackedQueryKeyTensor": ("QueryTensor", "KeyTensor"),
    "StackedKeyValueTensor": ("KeyTensor", "ValueTensor"),
    "StackedQueryKeyValueTensor": ("QueryTensor", "KeyTensor", "ValueTensor"),
}
"""What lies along the fourth dimension."""

_KEYS = ("PastKeyTensor", "OutputPresentKeyTensor")
_VALUES = ("PastValueTensor", "OutputPresentValueTensor")


@dataclass(frozen=True, slots=True)
class _Heads:
    """(batch, length, heads * size) as it comes, and how many heads that is."""

    tensor: Tensor
    count: int

    @property
    def apart(self) -> tuple[int, int, int, int]:
        """(batch, length, heads, size)."""
        batch, length, width = self.tensor.shape
        return batch, length, self.count, width // self.count

    def transposed(self, e: Emitter, permutation: tuple[int, int, int, int] = (0, 2, 1, 3)) -> Tensor:
        """The four axes of :attr:`apart` in another order, by default (batch, heads, length, size)."""
        return e.Transpose(e.Reshape(self.tensor, self.apart), permutation)


@lowers("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
def attention(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``softmax(Scale * Query * Key^T + RelativePositionBias + mask) * Value`` in each head.

    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_multihead_attention_operator_desc
    """
    query, key, value = _operands(node, e)
    if node.op.has("PastSequenceLengthsTensor"):
        return _with_lengths(node, e, query, key, value)
    past = _natural(node, e, "PastKeyTensor", 4)
    total = key.apart[1] + (0 if past is None else past.shape[2])
    addend = _addend(node, e, query.apart[0], total)
    if _is_attention(node, e, addend, grouped=query.count != key.count):
        if e.opset >= 23:
            return _as_attention(node, e, query, key, value, addend)
        e.suggest_opset(23, "Attention")
    values = _joined(node, e, value, _VALUES)
    if past is None and not node.has_output("OutputPresentKeyTensor"):
        output = _in_steps(node, e, query, key.transposed(e, (0, 2, 3, 1)), values, addend)
        return _results(node, output, {"OutputPresentValueTensor": values})
    keys = _joined(node, e, key, _KEYS)
    output = _in_steps(node, e, query, e.Transpose(keys, (0, 1, 3, 2)), values, addend)
    return _results(node, output, {"OutputPresentKeyTensor": keys, "OutputPresentValueTensor": values})


# --- Operands -------------------------------------------------------------------------------------------------------


def _natural(node: Operands, e: Emitter, name: str, rank: int) -> Tensor | None:
    """An input, if there is one, without its leading ones."""
    if not node.op.has(name):
        return None
    x = node.broadcastable(name) if name == "RelativePositionBiasTensor" else node.tensor(name)
    return e.Reshape(x, x.shape[x.rank - rank :])


def _operands(node: Operands, e: Emitter) -> tuple[_Heads, _Heads, _Heads]:
    """Query, key and value with their biases, which lie one after the other [decision H2].

    Keys and values without a bias keep their type, in which they are joined with the past.
    """
    op = node.op
    grouped = op.type == "MULTIHEAD_ATTENTION1"
    queries = op.uint("QueryHeadCount" if grouped else "HeadCount")
    others = op.uint("KeyValueHeadCount") if grouped else queries
    found: dict[str, Tensor] = {}
    for stack, names in _STACKS.items():
        if op.has(stack):
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
    return _Heads(query, queries), _Heads(key, others), _Heads(value, others)


def _joined(node: Operands, e: Emitter, new: _Heads, names: tuple[str, str]) -> Tensor:
    """(batch, heads, length, size): the past, if there is one, in front of the new."""
    past, added = _natural(node, e, names[0], 4), new.transposed(e)
    return added if past is None else e.Concat([e.Cast(past, added.dtype), added], 2)


# --- What is added to the scores ------------------------------------------------------------------------------------


def _addend(node: Operands, e: Emitter, batch: int, keys: int) -> Tensor | None:
    """The relative position bias and the mask's values; broadcasts to (batch, heads, queries, keys).

    Beside a BOOLEAN mask the bias is multiplied by Scale [decision H10].
    """
    position = _natural(node, e, "RelativePositionBiasTensor", 4)
    if position is None:
        return _mask_values(node, e, batch, keys)
    wide, scale = node.widened(position), np.float32(node.op.float("Scale"))
    is_scaled = _has_boolean_mask(node)
    if is_scaled:
        with np.errstate(all="ignore"):
            value = float(np.float32(_mask_filter_value(node)) / scale)
        if e.exact or not np.isfinite(value):
            return e.Mul(e.Add(wide, _missing(node, e, value)), e.constant(scale, wide.dtype))
    values = _mask_values(node, e, batch, keys)
    if is_scaled and scale != 1:
        wide = e.Mul(wide, e.constant(scale, wide.dtype))
    return wide if values is None else e.Add(wide, values)


def _has_boolean_mask(node: Operands) -> bool:
    return node.op.enum("MaskType") == "BOOLEAN" and node.op.has("MaskTensor")


def _mask_values(node: Operands, e: Emitter, batch: int, keys: int) -> Tensor | None:
    """MaskFilterValue where the mask keeps nothing, else 0; it is added to the scores [decision H3]."""
    value = _mask_filter_value(node)
    if e.exact and _has_boolean_mask(node):
        return _missing(node, e, value)
    kept = _kept(node, e, batch, keys)
    if kept is None or (kept.value is not None and kept.value.all()):
        return None
    wide = node.compute_type(node.output().data_type.dtype)
    return e.Where(kept, e.constant(0, wide), e.constant(value, wide))


def _missing(node: Operands, e: Emitter, value: float) -> Tensor:
    """``value`` multiplied by 1 less what a BOOLEAN mask has, any numbers [decision H8]."""
    wide, mask = node.compute_type(node.output().data_type.dtype), node.broadcastable("MaskTensor")
    missing = e.Sub(e.constant(1, wide), e.Cast(e.Reshape(mask, mask.shape[mask.rank - 4 :]), wide))
    return e.Mul(missing, e.constant(value, wide))


def _mask_filter_value(node: Operands) -> float:
    value = node.op.float("MaskFilterValue")
    if node.output().data_type.dtype != FLOAT16:
        return value
    limit = float(np.finfo(np.float16).max)
    return min(max(value, -limit), limit)  # decision H4


def _kept(node: Operands, e: Emitter, batch: int, keys: int) -> Tensor | None:
    """Where the mask lets a query see a key, as BOOL that broadcasts to the scores; ``None`` without a mask."""
    kind = node.op.enum("MaskType")
    if kind == "NONE" or not node.op.has("MaskTensor"):
        return None
    if kind == "BOOLEAN":
        mask = node.broadcastable("MaskTensor")
        return e.Cast(e.Reshape(mask, mask.shape[mask.rank - 4 :]), BOOL)  # decision H8
    mask = node.tensor("MaskTensor")
    rows = e.Reshape(mask, (mask.size,))
    position = e.arange(keys, mask.dtype)
    if kind == "KEY_QUERY_SEQUENCE_LENGTH_START_END":
        return _within(node, e, rows, (batch, keys))
    ends = e.Reshape(e.Slice(rows, [0], [batch]), (batch, 1, 1, 1))  # decisions H5 and H6
    before = e.Less(position, ends)
    if kind != "KEY_SEQUENCE_END_START":
        return before
    starts = e.Reshape(e.Slice(rows, [batch], [2 * batch]), (batch, 1, 1, 1))
    return e.And(before, e.GreaterOrEqual(position, starts))


def _within(node: Operands, e: Emitter, rows: Tensor, sizes: tuple[int, int]) -> Tensor:
    """Where query and key lie in the ranges of their item; starts count through the whole batch [decision H7]."""
    batch, keys = sizes
    queries = node.output().sizes[-2]
    items = (batch, 1, 1, 1)

    def column(at: int) -> Tensor:
        return e.Reshape(e.Slice(rows, [at], [at + batch]), items)

    def counted(count: int, shape: tuple[int, ...]) -> Tensor:
        return e.constant(np.arange(batch * count).reshape(batch, 1, *shape).astype(rows.dtype))

    query, key = counted(queries, (queries, 1)), counted(keys, (1, keys))
    e.budget.require(batch * max(queries, keys))
    start = column(2 * batch + 1)
    in_query = e.And(e.GreaterOrEqual(query, column(batch)), e.Less(query, column(batch + 1)))
    in_keys = e.And(e.GreaterOrEqual(key, start), e.Less(key, e.Add(start, column(0))))
    return e.And(in_query, in_keys)


# --- Forms ----------------------------------------------------------------------------------------------------------


def _is_attention(node: Operands, e: Emitter, addend: Tensor | None, *, grouped: bool) -> bool:
    """Whether every ONNX Runtime's Attention computes this node."""
    op = node.op
    if e.opset >= 23 and not e.has_kernel("Attention", node.compute_type(node.output().data_type.dtype), "T1"):
        return False
    if not op.float("Scale") > 0:
        e.note("Attention wants a positive Scale: it is MatMul and Softmax")
        return False
    if addend is None:
        return True
    if grouped and addend.shape[1] > 1:
        e.note("Attention of grouped heads has one mask for all of them: it is MatMul and Softmax")
        return False
    if not e.exact:
        return True
    position = node.optional("RelativePositionBiasTensor")
    if (position is not None and not _is_plain(position)) or abs(_mask_filter_value(node)) >= _LARGE:
        e.note("what is added to the scores may be a mask to Attention: it is MatMul and Softmax")
        return False
    return True


def _is_plain(x: Tensor) -> bool:
    """Whether it is known to hold but numbers."""
    return x.value is not None and bool((np.abs(x.value.astype(np.float64)) < _LARGE).all())


def _as_attention(
    node: Operands, e: Emitter, query: _Heads, key: _Heads, value: _Heads, addend: Tensor | None
) -> Mapping[str, Tensor]:
    past_key, past_value = _natural(node, e, _KEYS[0], 4), _natural(node, e, _VALUES[0], 4)
    past = None if past_key is None or past_value is None else (node.widened(past_key), node.widened(past_value))
    if addend is not None:
        total = key.apart[1] + (0 if past is None else past[0].shape[2])
        # of other axes ONNX Runtime wants all
        addend = e.Expand(addend, (*addend.shape[:2], query.apart[1], total))
    wanted = [node.has_output(name) for name in (_KEYS[1], _VALUES[1])]
    y, *presents = e.Attention(
        query.tensor,
        node.widened(key.tensor),
        node.widened(value.tensor),
        addend,
        past,
        heads=(query.count, key.count),
        scale=node.op.float("Scale"),
        # ONNX Runtime gives a past and present tensors together
        presents=2 if past is not None or wanted[1] else int(wanted[0]),
    )
    return _results(node, y, dict(zip((_KEYS[1], _VALUES[1]), presents, strict=False)))


def _in_steps(node: Operands, e: Emitter, query: _Heads, keys: Tensor, values: Tensor, addend: Tensor | None) -> Tensor:
    """(batch, queries, heads * size), of ``keys`` (batch, heads, size, length) and ``values`` (batch, heads, length,
    size).

    The heads of queries that share a head of keys lie side by side [decision H15]: they are rows of one matrix.
    """
    batch, length, heads, size = query.apart
    groups, total = keys.shape[1], keys.shape[3]
    rows = (batch, groups, heads // groups * length)
    q = e.Reshape(query.transposed(e), (*rows, size))
    scores = e.MatMul(q, node.widened(keys))
    scores = e.Mul(scores, e.constant(node.op.float("Scale"), scores.dtype))
    if addend is not None:
        scores = e.Add(e.Reshape(scores, (batch, heads, length, total)), addend)
    weights = e.Reshape(e.Softmax(scores, 3), (*rows, total))
    y = e.MatMul(weights, node.widened(values))
    apart = e.Transpose(e.Reshape(y, (batch, heads, length, values.shape[3])), (0, 2, 1, 3))
    return e.Reshape(apart, (batch, length, heads * values.shape[3]))


def _results(node: Operands, output: Tensor, presents: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The outputs that are wanted."""
    given = {"OutputTensor": output, **presents}
    return {name: x for name, x in given.items() if node.has_output(name)}


# --- Past sequence lengths ------------------------------------------------------------------------------------------


def _with_lengths(node: Operands, e: Emitter, query: _Heads, key: _Heads, value: _Heads) -> Mapping[str, Tensor]:
    """New keys and values lie behind the valid past of each batch item, which is what the present tensors hold before;
    MaskFilterValue is added to the scores of those behind the query's own place [decisions H16 to H19].
    """
    lengths = _natural(node, e, "PastSequenceLengthsTensor", 1)
    assert lengths is not None
    batch, count = query.apart[:2]
    total = node.output(_KEYS[1]).sizes[-2]
    start = e.Clip(lengths, 0, total - key.apart[1])
    keys, values = (_cached(node, e, new, name, start) for new, name in ((key, _KEYS[1]), (value, _VALUES[1])))
    places, rows = (e.arange(size, start.dtype) for size in (total, count))
    step = e.Sub(places, e.Reshape(rows, (count, 1)))
    attended = e.LessOrEqual(step, e.Reshape(start, (batch, 1, 1, 1)))
    wide = node.compute_type(node.output().data_type.dtype)
    causal = e.Where(attended, e.constant(0, wide), e.constant(_mask_filter_value(node), wide))
    output = _in_steps(node, e, query, e.Transpose(keys, (0, 1, 3, 2)), values, causal)
    return _results(node, output, {"OutputPresentKeyTensor": keys, "OutputPresentValueTensor": values})


def _cached(node: Operands, e: Emitter, new: _Heads, name: str, start: Tensor) -> Tensor:
    """(batch, heads, total, size): what is there already, with the new keys or values from ``start`` on."""
    added, before = new.transposed(e), node.previous(name)
    batch, heads, count, size = added.shape
    shape = (batch, heads, node.output(name).sizes[-2], size)
    # nobody can tell what lies in a buffer that is not an input
    cache = (
        e.ConstantOfShape(shape, 0, added.dtype) if before is None else e.Cast(e.Reshape(before, shape), added.dtype)
    )
    if e.has_kernel("TensorScatter", added.dtype):
        return e.TensorScatter(cache, added, e.Cast(start, INT64))
    if e.takes_instead("ScatterND", added.dtype, "Concat", "GatherElements"):
        return _chosen_rows(e, cache, added, start)
    e.budget.require(3 * batch * heads * count)
    items = np.indices((batch, heads, count)).transpose(1, 2, 3, 0)
    along = e.constant([0, 0, 1], INT64)
    places = e.Mul(e.Reshape(e.Cast(start, INT64), (batch, 1, 1, 1)), along)
    return e.ScatterND(cache, e.Add(e.constant(items, INT64), places), added)


def _chosen_rows(e: Emitter, cache: Tensor, added: Tensor, start: Tensor) -> Tensor:
    """``cache`` with the rows of ``added`` from ``start`` on, without ScatterND: GatherElements among both."""
    e.note("GatherElements among old and new rows puts the new ones in, where ScatterND has no kernel")
    batch, _, total, _ = cache.shape
    place = e.Reshape(e.arange(total, start.dtype), (total, 1))
    step = e.Sub(place, e.Reshape(start, (batch, 1, 1, 1)))
    is_new = e.And(
        e.GreaterOrEqual(step, e.constant(0, start.dtype)), e.Less(step, e.constant(added.shape[2], start.dtype))
    )
    rows = e.Where(is_new, e.Add(step, e.constant(total, start.dtype)), place)
    return e.GatherElements(e.Concat([cache, added], 2), e.Expand(rows, cache.shape), 2)
