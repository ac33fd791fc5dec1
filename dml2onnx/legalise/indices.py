"""Gather, Scatter and their relatives with out-of-range indices.

These are undefined in ONNX. DirectML computes a flat offset in unsigned 32 bits; an offset beyond the end reads the
last element, and writes nothing [decisions X1 to X3, X8]. Exact models do so for computed indices. All models do so
for constant indices, which ONNX Runtime would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.ir.tensor import packed_strides
from dml2onnx.legalise.movements import from_start
from dml2onnx.onnx_model import INT32, INT64, UINT32, Array, DType


def by_constants(
    e: Emitter, op: str, x: Tensor, indices: Tensor, *others: Any, sizes: Sequence[int], **how: Any
) -> Tensor | None:
    """Replaces the operator if known indices are out of range."""
    if indices.value is None:
        return None
    wide, count = indices.value.astype(np.int64), np.asarray(sizes, np.int64)
    if ((wide >= -count) & (wide < count)).all():
        return None
    return outside(e, op, x, indices, *others, sizes=sizes, **how)


def by_computed(
    e: Emitter, op: str, x: Tensor, indices: Tensor, *others: Any, sizes: Sequence[int], **how: Any
) -> Tensor | None:
    """Replaces the operator if the indices are known only at run time."""
    return outside(e, op, x, indices, *others, sizes=sizes, **how) if indices.value is None else None


def outside(
    e: Emitter,
    op: str,
    x: Tensor,
    indices: Tensor,
    *others: Any,
    sizes: Sequence[int],
    to: tuple[int, ...] | None = None,
    is_packed: bool = True,
) -> Tensor:
    """Uses flat offsets; without ``is_packed`` the memory beyond the axes is unspecified, and clamping suffices."""
    if not is_packed:
        return e.by_indices(op, x, _clamped(e, indices, sizes), *others, sizes=sizes, to=to)
    if op in ("ScatterElements", "ScatterND"):
        e.note("indices known only at run time may be out of range: an extra element receives their updates")
    else:
        e.note("indices known only at run time may be out of range: elements are read by flat offset")
    return _FORMS[op](e, x, indices, *others)


def _clamped(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Clamps indices to [-size, size - 1], with one size for all, or one for each element of the last axis.

    Negative indices may stay: ONNX counts them from the end as DirectML does.
    """
    count = np.array(sizes[:1] if len(set(sizes)) == 1 else sizes, np.int64)
    if indices.value is not None:
        wide = indices.value.astype(np.int64)
        return e.positions(np.clip(np.where(wide < 0, wide + count, wide), 0, count - 1))
    narrow = max(sizes) < 1 << 31
    if indices.dtype == UINT32:
        return e.Cast(e.Min(indices, e.constant(count - 1, indices.dtype)), INT32 if narrow else INT64)
    work = INT32 if indices.dtype == INT32 and narrow else INT64
    x = e.Cast(indices, work)
    if count.size == 1:
        return e.Clip(x, -count.item(), count.item() - 1)
    return e.Min(e.Max(x, e.constant(-count, work)), e.constant(count - 1, work))


# --- offsets ---------------------------------------------------------------------------------------------------------


def _offsets(
    e: Emitter, start: Array, steps: Sequence[tuple[Tensor, int]], most: int, dtype: DType | None = None
) -> Tensor:
    """ONNX indices for the flat offset ``start + sum(place * stride)``, computed in UINT32, at most ``most``."""
    e.budget.require(start.size)
    parts = [place if stride == 1 else e.Mul(place, e.constant(stride, UINT32)) for place, stride in steps]
    total = reduce(e.Add, parts if not start.any() else [e.constant(start.astype(UINT32)), *parts])
    total = e.Expand(total, broadcast_shape(total.shape, start.shape))
    return e.Cast(e.Min(total, e.constant(most, UINT32)), dtype or (INT32 if most + 1 < 1 << 31 else INT64))


def _rows(e: Emitter, rows: int, step: int, count: int) -> Array:
    """The flat offsets of ``count`` elements in each of ``rows``, which are ``step`` apart."""
    e.budget.require(rows * count)
    starts: Array = np.arange(rows).reshape(-1, 1, 1) * step + np.arange(count)
    return starts


def _places(e: Emitter, shape: tuple[int, ...], sizes: tuple[int, ...], axis: int) -> Array:
    """The flat offsets in a tensor of ``shape`` of a block of ``sizes``, without the part of one axis."""
    e.budget.require(prod(sizes) // sizes[axis])
    start = np.zeros((1,) * len(shape), np.int64)
    for i, stride in enumerate(packed_strides(shape)):
        if i != axis:
            start = start + np.arange(sizes[i]).reshape([-1 if i == d else 1 for d in range(len(shape))]) * stride
    return start


def _columns(
    e: Emitter, indices: Tensor, sizes: tuple[int, ...], rows: int, width: int = 1
) -> list[tuple[Tensor, int]]:
    """Each coordinate of the index tuples, as (rows, tuple, 1), with its stride in blocks of ``width``."""
    length = indices.shape[-1]
    count = prod(indices.shape[:-1])
    parts = e.Split(e.Reshape(indices, (count, length)), (1,) * length, 1)
    return [
        (e.Reshape(from_start(e, part, size), (rows, count // rows, 1)), stride // width)
        for part, size, stride in zip(parts, sizes, packed_strides(sizes), strict=False)
    ]


# --- reading ---------------------------------------------------------------------------------------------------------


def _at(e: Emitter, x: Tensor, start: Array, steps: Sequence[tuple[Tensor, int]]) -> Tensor:
    """Elements of ``x`` by flat offset; beyond the end, the last one."""
    offsets = _offsets(e, start, steps, x.size - 1)
    flat = e.GatherElements(e.Reshape(x, (x.size,)), e.Reshape(offsets, (offsets.size,)), 0)
    return e.Reshape(flat, offsets.shape)


def _gather(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    front, size, rest = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    inner = prod(rest)
    place = e.Reshape(from_start(e, indices, size), (1, indices.size, 1))
    y = _at(e, x, _rows(e, prod(front), size * inner, inner), [(place, inner)])
    return e.Reshape(y, (*front, *indices.shape, *rest))


def _gather_elements(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    sizes = (*x.shape[:axis], indices.shape[axis], *x.shape[axis + 1 :])
    step = from_start(e, indices, x.shape[axis]), packed_strides(x.shape)[axis]
    return _at(e, x, _places(e, x.shape, sizes, axis), [step])


def _gather_nd(e: Emitter, x: Tensor, indices: Tensor, batches: int) -> Tensor:
    rest = x.shape[batches + indices.shape[-1] :]
    rows, inner = prod(x.shape[:batches]), prod(rest)
    columns = _columns(e, indices, x.shape[batches:], rows)
    y = _at(e, x, _rows(e, rows, x.size // rows, inner), columns)
    return e.Reshape(y, (*indices.shape[:-1], *rest))


# --- writing ---------------------------------------------------------------------------------------------------------


def _with_one_more(e: Emitter, rows: Tensor) -> Tensor:
    """Rows and one more with arbitrary contents."""
    return e.Concat([rows, e.Slice(rows, (0, 0), (1, rows.shape[1]))], 0)


def _scatter_elements(e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    step = from_start(e, indices, x.shape[axis]), packed_strides(x.shape)[axis]
    offsets = _offsets(e, _places(e, x.shape, indices.shape, axis), [step], x.size)
    longer = e.Reshape(_with_one_more(e, e.Reshape(x, (x.size, 1))), (x.size + 1,))
    offsets, updates = (e.Reshape(item, (item.size,)) for item in (offsets, updates))
    return e.Reshape(e.Slice(e.ScatterElements(longer, offsets, updates), (0,), (x.size,)), x.shape)


def _scatter_nd(e: Emitter, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    width = prod(x.shape[indices.shape[-1] :])
    count, tuples = x.size // width, prod(indices.shape[:-1])
    columns = _columns(e, indices, x.shape, 1, width)
    numbers = e.Reshape(_offsets(e, np.zeros((1, 1, 1), np.int64), columns, count, INT64), (tuples, 1))
    rows = _with_one_more(e, e.Reshape(x, (count, width)))
    y = e.ScatterND(rows, numbers, e.Reshape(updates, (tuples, width)))
    return e.Reshape(e.Slice(y, (0, 0), (count, width)), x.shape)


_FORMS: Mapping[str, Callable[..., Tensor]] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
}
