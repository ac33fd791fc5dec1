"""Replacements of reductions: sums by products with ones, others in pieces or in two steps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import has_unknown

Axes = tuple[int, ...]

WORTH_TWO_STEPS = 1 << 14
"""Tensors with fewer elements are not worth the nodes of a reduction in two steps."""
LONGEST_ONES = 1 << 12
"""The maximal length of constant vectors of ones."""
MOST_LEFT_OVER = 1 << 6
"""Blocks up to this length leave too much for the next step; padding is cheaper."""
MOST_PIECES = 8


def shrunk(x: Tensor, axes: Axes) -> tuple[int, ...]:
    """The shape of a reduction that keeps its axes."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))


def starts_with(x: Tensor, axes: Axes) -> bool:
    """Whether ``axes`` reduce the first non-trivial axis of a large tensor, but not all of them."""
    relevant = [axis for axis, size in enumerate(x.shape) if size > 1]
    return x.size >= WORTH_TWO_STEPS and not has_unknown(x.shape) and relevant[0] in axes and len(relevant) > len(axes)


def merged(e: Emitter, x: Tensor, axes: Axes) -> tuple[Tensor, Axes]:
    """``x`` without axes of size 1, with neighbors that are both reduced or both kept merged, and the axes in it."""
    sizes: list[int] = []
    reduced: list[bool] = []
    for axis, size in enumerate(x.shape):
        if size == 1:
            continue
        if reduced and reduced[-1] == (axis in axes):
            sizes[-1] *= size
        else:
            sizes.append(size)
            reduced.append(axis in axes)
    return e.Reshape(x, sizes), tuple(i for i, is_reduced in enumerate(reduced) if is_reduced)


def ones_times(e: Emitter, x: Tensor) -> Tensor:
    """Sums over the middle of three axes by MatMul, in steps that keep vectors of ones short."""
    outer, count, inner = x.shape
    if count == 1:
        return x
    width = next((d for d in range(min(count, LONGEST_ONES), MOST_LEFT_OVER, -1) if count % d == 0), count)
    if width > LONGEST_ONES:
        width = LONGEST_ONES
        x = e.Pad(x, (0, 0, 0), (0, -count % width, 0))
    blocks = x.shape[1] // width
    if inner == 1:
        y = e.MatMul(e.Reshape(x, (outer * blocks, width)), e.constant(np.ones((width, 1), x.dtype)))
    else:
        y = e.MatMul(e.constant(np.ones((1, width), x.dtype)), e.Reshape(x, (outer * blocks, width, inner)))
    return ones_times(e, e.Reshape(y, (outer, blocks, inner)))


def fold_axes(e: Emitter, x: Tensor, axes: Axes, fold: Callable[[Emitter, Tensor], Tensor]) -> Tensor:
    """Applies ``fold``, which reduces the middle of three axes, to each of the merged axes."""
    kept = shrunk(x, axes)
    y, axes = merged(e, x, axes)
    for axis in reversed(axes):  # the last first: its elements are adjacent
        sizes = y.shape
        y = fold(e, e.Reshape(y, (prod(sizes[:axis]), sizes[axis], prod(sizes[axis + 1 :]))))
        y = e.Reshape(y, (*sizes[:axis], 1, *sizes[axis + 1 :]))
    return e.Reshape(y, kept)


def pieces(e: Emitter, x: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Reduces the middle of three axes by ``combine`` of a few long pieces, until one element is left."""
    count = x.shape[1]
    if count == 1:
        return x
    number = min(count, MOST_PIECES)
    sizes, rest = (count // number,) * number, count % number
    parts = e.Split(x, (*sizes, rest) if rest else sizes, 1)
    y = functools.reduce(combine, parts[:number])
    return pieces(e, e.Concat([y, *parts[number:]], 1), combine)


def reduce_sum(e: Emitter, x: Tensor, axes: Axes, *, wraps: bool = False) -> Tensor | None:
    """A product with ones if ReduceSum has no kernel for integers."""
    return sum_of_integers(e, x, axes) if wraps and _is_missing(e, "ReduceSum", x) else None


def sum_of_integers(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """Sums that wrap."""
    e.note("integer sums by MatMul with ones, which wraps: the CPU's ReduceSum adds in DOUBLE and saturates")
    return fold_axes(e, x, axes, ones_times)


def reduce_prod(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """Mul of pieces if ReduceProd has no kernel for integers."""
    return product_of_integers(e, x, axes) if _is_missing(e, "ReduceProd", x) else None


def product_of_integers(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """Products that wrap."""
    e.note("products by Mul of pieces: the CPU's ReduceProd multiplies integers in DOUBLE and saturates")
    return fold_axes(e, x, axes, lambda e, x: pieces(e, x, e.Mul))


def reduce_extreme(operator: str, e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """Max or Min of pieces if ReduceMax or ReduceMin has no kernel for UINT64."""
    if x.dtype != np.uint64 or not _is_missing(e, operator, x):
        return None
    e.note("Max or Min of pieces: ReduceMax and ReduceMin have no kernel for UINT64")
    combine = e.Max if operator == "ReduceMax" else e.Min
    return fold_axes(e, x, axes, lambda e, x: pieces(e, x, combine))


def _is_missing(e: Emitter, operator: str, x: Tensor) -> bool:
    return x.dtype.kind in "iu" and not e.has_kernel(operator, x.dtype)
