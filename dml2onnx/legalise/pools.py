"""Replacements of MaxPool, AveragePool and LpPool, where kernels lack a type, a padding width, or speed."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.core import without_rules
from dml2onnx.emitter.windows import Window, may_be_dilated
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.onnx_model import DOUBLE, FLOAT, INT64, DType

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Ratios = npt.NDArray[np.float64]

MOST_TAPS = 8
"""Windows up to this size are compared element by element; for longer ones the window doubles in each step."""


def _over(e: Emitter, x: Tensor, window: Window) -> PoolWindows:
    pool = PoolWindows.over(x.shape[2:], window)
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    return pool


def _has_dilations(e: Emitter, op: str, pool: PoolWindows) -> bool:
    return may_be_dilated(op, e.opset) or not pool.window.is_dilated


# --- maximum ---------------------------------------------------------------------------------------------------------


def max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """An explicit Pad if padding is as wide as a window; another type if MaxPool has no kernel for this one."""
    if not e.has_kernel("MaxPool", x.dtype):
        return max_pool_in_float(e, x, window)
    pool = _over(e, x, window)
    if pool.fits and not pool.has_empty:
        return None
    e.note(_BY_HAND)
    return e.MaxPool(*_filled(e, x, pool, lowest_of(x.dtype)))


_BY_HAND = "explicit Pad: ONNX Runtime needs pads smaller than the window, and no window in padding only"


def max_pool_in_float(e: Emitter, x: Tensor, window: Window) -> Tensor:
    """MaxPool in FLOAT, by far its fastest kernel, or Max over slices for types that FLOAT cannot hold."""
    pool, is_float = _over(e, x, window), x.dtype.kind == "f"
    if not is_float and x.dtype.itemsize > 2 and pool.is_global and e.supports("ReduceMax", x.dtype):
        return e.ReduceMax(x, tuple(range(2, x.rank)))
    if not is_float and x.dtype.itemsize > 2:
        e.note(f"Max over slices: MaxPool has no fast kernel that is exact for {x.dtype} and this padding")
        return sliding_maximum(e, x, pool)
    wide = e.Cast(x, FLOAT)
    if not pool.fits or pool.has_empty:
        e.note(_BY_HAND)
        wide, window = _filled(e, wide, pool, lowest_of(x.dtype))
    return e.Cast(e.MaxPool(wide, window), x.dtype)


def lowest_of(dtype: DType) -> int | float:
    """The initial value of a maximum, and the result of an empty window [decision P7]."""
    limits = np.finfo(dtype.name) if dtype.kind == "f" else np.iinfo(dtype.name)
    return float(limits.min) if dtype.kind == "f" else int(limits.min)


def max_pool_with_indices(e: Emitter, x: Tensor, window: Window) -> tuple[Tensor, Tensor] | None:
    """A MaxPool in a wider type, or ArgMax over gathered windows."""
    if not _is_searchable(e, x, window) and e.has_kernel("MaxPool", x.dtype):
        return None
    return maxima_in_wider_type(e, x, window)


def maxima_in_wider_type(e: Emitter, x: Tensor, window: Window) -> tuple[Tensor, Tensor]:
    """The first largest element of each window, and its row-major INT64 index in ``x``."""
    if _is_searchable(e, x, window):
        return searched(e, x, PoolWindows.over(x.shape[2:], window))
    narrow = x.dtype.itemsize <= 2 or (x.dtype.kind == "f" and not e.has_kernel("MaxPool", DOUBLE))
    wide = e.Cast(x, FLOAT if narrow else DOUBLE)
    if e.exact and x.dtype.kind == "f" and wide.dtype != x.dtype and not x.is_bounded:
        # ONNX Runtime 1.24 finds no index if all elements are -inf, so raise them, still below all narrow numbers
        wide = e.Clip(wide, 2 * lowest_of(x.dtype), None)
    values, indices = without_rules(e.MaxPoolWithIndices, wide, window)
    return e.Cast(values, x.dtype), indices


def max_unpool(e: Emitter, x: Tensor, indices: Tensor, sizes: tuple[int, ...]) -> Tensor | None:
    """ScatterElements if there is no kernel, or no window that yields the sizes."""
    grows = all(small <= large for small, large in zip(x.shape, sizes, strict=True))
    if x.shape[:2] == sizes[:2] and 2 < x.rank < 6 and grows and e.has_kernel("MaxUnpool", x.dtype, "T1"):
        return None
    return _scattered(e, x, e.Cast(indices, INT64), sizes, prod(sizes))


def exact_max_unpool(e: Emitter, x: Tensor, indices: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Elements with an index beyond the output go to an extra element, which is dropped [decision P17]."""
    count = prod(sizes)
    places = e.Cast(e.Min(indices, e.constant(min(count, np.iinfo(indices.dtype.name).max), indices.dtype)), INT64)
    is_inside = places.value is not None and bool((places.value < count).all())
    return _scattered(e, x, places, sizes, count if is_inside else count + 1)


def _scattered(e: Emitter, x: Tensor, places: Tensor, sizes: tuple[int, ...], count: int) -> Tensor:
    zeros = e.ConstantOfShape((count,), 0, x.dtype, fold=x.value is not None)
    y = e.ScatterElements(zeros, e.Reshape(places, (x.size,)), e.Reshape(x, (x.size,)))
    return e.Reshape(e.Slice(y, (0,), (prod(sizes),)), sizes)


def _is_searchable(e: Emitter, x: Tensor, window: Window) -> bool:
    """Whether no kernel covers the type or the padding."""
    pool = _over(e, x, window)
    return not pool.fits or pool.has_empty or x.dtype.itemsize == 8


def _filled(e: Emitter, x: Tensor, pool: PoolWindows, value: int | float) -> tuple[Tensor, Window]:
    """Returns the padded input and the window without padding."""
    w = pool.window
    none = (0,) * len(w.shape)
    padded = e.Pad(x, (0, 0, *w.start), (0, 0, *w.end), "constant", value)
    return padded, Window(w.shape, w.strides, w.dilations, none, none)


def sliding_maximum(e: Emitter, x: Tensor, pool: PoolWindows) -> Tensor:
    """The maximum over windows, one dimension at a time."""
    x, window = _filled(e, x, pool, lowest_of(x.dtype))
    for i, count in enumerate(pool.output):
        x = _maximum_along(e, x, i + 2, window.shape[i], window.strides[i], window.dilations[i], count)
    return x


def _maximum_along(e: Emitter, x: Tensor, axis: int, size: int, stride: int, dilation: int, count: int) -> Tensor:
    """``y[i] = max(x[i * stride + j * dilation] for j in range(size))`` along one axis, for ``count`` elements."""

    def part(start: int, length: int, step: int) -> Tensor:
        starts, ends, steps = [0] * x.rank, list(x.shape), [1] * x.rank
        starts[axis], ends[axis], steps[axis] = start, start + (length - 1) * step + 1, step
        return e.Slice(x, starts, ends, steps)

    doublings = max((size - 1).bit_length(), 1)
    if size <= min(2 * stride * doublings, MOST_TAPS):
        return e.Max(*(part(j * dilation, count, stride) for j in range(size)))
    covered = 1
    while covered < size:
        shift = min(covered, size - covered)
        length = x.shape[axis] - shift * dilation
        x = e.Max(part(0, length, 1), part(shift * dilation, length, 1))
        covered += shift
    return part(0, count, stride)


def searched(e: Emitter, x: Tensor, pool: PoolWindows) -> tuple[Tensor, Tensor]:
    """ArgMax over gathered windows, for any type and padding."""
    e.note("ArgMax over gathered windows: MaxPool has no indices for this type or padding")
    planes, area, taps, count = prod(x.shape[:2]), prod(pool.sizes), prod(pool.window.shape), prod(pool.output)
    e.budget.require(count * taps + planes)
    table, empty = _window_table(pool)
    flat = e.Reshape(x, (planes, area))
    source = table
    if empty.any():
        flat = e.Concat([flat, e.constant(np.full((planes, 1), lowest_of(x.dtype), x.dtype))], 1)
        source = np.where(empty[:, None], area, table)
    candidates = e.Reshape(e.Gather(flat, e.positions(source.reshape(-1)), 1), (planes, count, taps))
    which = e.ArgMax(candidates, 2)
    values = e.GatherElements(candidates, which, 2)
    entry = e.Add(which, e.constant(np.arange(count).reshape(1, count, 1) * taps, INT64))
    place = e.Cast(e.Gather(e.positions(table.reshape(-1)), entry), INT64)
    indices = e.Add(place, e.constant(np.arange(planes).reshape(planes, 1, 1) * area, INT64))
    shape = (*x.shape[:2], *pool.output)
    return e.Reshape(values, shape), e.Reshape(indices, shape)


@lru_cache(maxsize=64)
def _window_table(pool: PoolWindows) -> tuple[Counts, Mask]:
    """Flat row-major spatial indices of every window's elements, and which windows have none.

    Elements outside are replaced by the window's first element inside, which changes neither the maximum nor its first
    index.
    """
    flat: Counts = np.zeros((1, 1), np.int64)
    inside: Mask = np.ones((1, 1), np.bool_)
    for axis, size in enumerate(pool.sizes):
        places = pool.places(axis)
        rows, columns = flat.shape[0] * places.shape[0], flat.shape[1] * places.shape[1]
        flat = (flat[:, None, :, None] * size + places[None, :, None, :]).reshape(rows, columns)
        inside = inside[:, None, :, None] & ((places >= 0) & (places < size))[None, :, None, :]
        inside = inside.reshape(rows, columns)
    empty = np.logical_not(inside.any(axis=1, keepdims=True))[:, 0]
    first = np.where(empty, 0, flat[np.arange(len(flat)), inside.argmax(1)])
    return np.where(inside, flat, first[:, None]), empty


# --- mean ------------------------------------------------------------------------------------------------------------


def average_pool(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """A Conv if no kernel supports the type, the padding or, below opset 19, dilations."""
    pool = _over(e, x, window)
    if not is_filtered(e, x, pool):
        return None
    e.note("a Conv averages: AveragePool needs pads smaller than the window, and opset 19 for dilations")
    return mean_filter(e, x, pool, count_include_pad=count_include_pad)


def mean_filter(e: Emitter, x: Tensor, pool: PoolWindows, *, count_include_pad: bool) -> Tensor:
    """AveragePool as a Conv."""
    inside = pool.is_padded and not count_include_pad
    e.budget.require(pool.table_size if inside else 0)
    mean = _filtered(e, x, pool, 1 / prod(pool.window.shape))
    return e.Mul(mean, e.constant(whole_to_inside(pool), x.dtype)) if inside else mean


def is_filtered(e: Emitter, x: Tensor, pool: PoolWindows) -> bool:
    """Whether a Conv replaces AveragePool."""
    if not pool.fits or not _has_dilations(e, "AveragePool", pool):
        return True
    return e.takes_instead("AveragePool", x.dtype, "Conv", "Mul")


@lru_cache(maxsize=64)
def inside_to_whole(pool: PoolWindows) -> Ratios:
    """Factors from means over the elements inside to means over whole windows."""
    ratios: Ratios = pool.inside()[None, None] / prod(pool.window.shape)
    return ratios


@lru_cache(maxsize=64)
def whole_to_inside(pool: PoolWindows) -> Ratios:
    """Factors from means over whole windows to means inside; NaN for empty windows, 0 / 0 [decision P5]."""
    ratios = inside_to_whole(pool)
    return np.divide(1, ratios, out=np.full_like(ratios, np.nan), where=ratios != 0)


def _filtered(e: Emitter, x: Tensor, pool: PoolWindows, weight: float) -> Tensor:
    """The sum over each window times ``weight``, by one Conv with all planes as its batch."""
    e.budget.require(prod(pool.window.shape))
    weights = e.constant(np.full((1, 1, *pool.window.shape), weight), x.dtype)
    planes = e.Reshape(x, (prod(x.shape[:2]), 1, *pool.sizes))
    return e.Reshape(e.Conv(planes, weights, None, pool.window), (*x.shape[:2], *pool.output))


# --- norm ------------------------------------------------------------------------------------------------------------


def lp_pool(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor | None:
    """Sums of powers if no kernel supports the type, the padding or, below opset 18, dilations."""
    pool = PoolWindows.over(x.shape[2:], window)
    fits = pool.fits and _has_dilations(e, "LpPool", pool)
    return None if e.has_kernel("LpPool", x.dtype) and fits else norms(e, x, window, p)


def norms(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor:
    """LpPool by sums of powers and their root."""
    pool, dtype = _over(e, x, window), x.dtype
    # always FLOAT: powers of FLOAT16 soon overflow
    x = e.Cast(x, FLOAT)
    if p == 2:
        y = e.Sqrt(window_sums(e, e.Mul(x, x), pool))
    elif p == 1:
        y = window_sums(e, e.Abs(x), pool)
    else:
        total = window_sums(e, e.Pow(e.Abs(x), e.constant(p, FLOAT)), pool)
        y = e.Pow(total, e.constant(1 / p, FLOAT))
    return e.Cast(y, dtype)


def window_sums(e: Emitter, x: Tensor, pool: PoolWindows) -> Tensor:
    """The sum over each window, 0 if it is empty."""
    without = not _has_dilations(e, "AveragePool", pool) or e.takes_instead("AveragePool", x.dtype, "Conv")
    if not pool.fits or pool.has_empty or without:
        e.note("a Conv sums: AveragePool needs pads smaller than the window, and opset 19 for dilations")
        return _filtered(e, x, pool, 1)
    mean = e.AveragePool(x, pool.window, count_include_pad=False)
    e.budget.require(pool.table_size if pool.is_padded else 0)
    counts = pool.inside()[None, None] if pool.is_padded else prod(pool.window.shape)
    return e.Mul(mean, e.constant(counts, x.dtype))
