"""MAX_UNPOOLING, and the gradients of MAX_POOLING2 and AVERAGE_POOLING: MaxUnpool, ScatterElements, ConvTranspose."""

from __future__ import annotations

from functools import reduce
from math import prod

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.pooling import pool_of
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT


@lowers("MAX_UNPOOLING", moves=("InputTensor",))
def max_unpooling(node: Operands, e: Emitter) -> Tensor:
    """``Output[Indices[i]] = Input[i]`` with flat indices, 0 elsewhere [decision P17]: MaxUnpool."""
    return e.MaxUnpool(node.tensor("InputTensor"), node.tensor("IndicesTensor"), node.output().sizes)


@lowers("MAX_POOLING_GRAD")
def max_pooling_grad(node: Operands, e: Emitter) -> Tensor:
    """Adds each window's gradient at its first largest element [decisions P10 and P18].

    MaxPool gives the indices for ScatterElements. The gradients of windows in the padding are dropped, except those
    of the first plane whose window surrounds its first element: they are added there.
    """
    x, gradient = node.tensor("InputTensor"), e.Cast(node.tensor("InputGradientTensor"), FLOAT)
    pool = pool_of(node.op, "InputTensor", "InputGradientTensor")
    # NaN is never the largest, except for the first element of a window with only NaN
    _, indices = e.MaxPoolWithIndices(e.unless_nan(x, x, -np.inf), pool.window)
    if pool.has_empty:
        is_kept = pool.inside()[None, None] > 0
        around = pool.over_first() & ~is_kept
        if around.any():
            e.budget.require(gradient.size)
            is_kept = np.broadcast_to(is_kept, gradient.shape).copy()
            is_kept[0, 0] |= around[0, 0]
            indices = e.Where(e.constant(around), e.constant(0, indices.dtype), indices)
        gradient = e.Where(e.constant(is_kept), gradient, e.constant(0, gradient.dtype))
    zeros = e.ConstantOfShape((x.size,), 0, gradient.dtype, fold=gradient.value is not None)
    places, updates = (e.Reshape(item, (item.size,)) for item in (indices, gradient))
    return e.Reshape(e.ScatterElements(zeros, places, updates, reduction="add"), x.shape)


@lowers("AVERAGE_POOLING_GRAD")
def average_pooling_grad(node: Operands, e: Emitter) -> Tensor:
    """Adds each window's gradient, divided as its mean was, at its elements [decisions P3, P4, P19].

    ConvTranspose with a filter of equal weights and all planes as its batch.
    """
    gradient = e.Cast(node.tensor("InputGradientTensor"), FLOAT)
    pool = pool_of(node.op, "OutputGradientTensor", "InputGradientTensor")
    e.budget.require(pool.table_size if pool.may_have_empty else 0)
    counts = _divisors(node, e, pool)
    if counts is None:
        return _spread(e, gradient, pool, 1 / prod(pool.window.shape))
    # maximum: a window in the padding has no elements
    return _spread(e, e.Div(gradient, e.constant(np.maximum(counts, 1)[None, None], gradient.dtype)), pool, 1)


def _divisors(node: Operands, e: Emitter, pool: PoolWindows) -> npt.NDArray[np.int64] | None:
    """Returns the number of elements of each window that count; ``None`` if that is always all.

    With IncludePadding, elements beyond the padded end do not count [decision P19].
    """
    if pool.is_padded and not node.op.flag("IncludePadding"):
        e.budget.require(pool.table_size)
        return pool.inside()
    ends = map(sum, zip(pool.sizes, node.op.uints("EndPadding"), strict=True))
    lines = [pool.within(axis, -pool.window.start[axis], end) for axis, end in enumerate(ends)]
    if all((line == k).all() for line, k in zip(lines, pool.window.shape, strict=True)):
        return None
    e.budget.require(pool.table_size)
    counts: npt.NDArray[np.int64] = reduce(np.multiply.outer, lines)
    return counts


def _spread(e: Emitter, gradient: Tensor, pool: PoolWindows, weight: float) -> Tensor:
    """Adds every element, times ``weight``, at the elements of its window; those outside the input are dropped."""
    window, spatial = pool.window, pool.sizes
    e.budget.require(prod(window.shape))
    planes = e.Reshape(gradient, (prod(gradient.shape[:2]), 1, *pool.output))
    # windows in the padding contribute nothing, and would enlarge the result of the ConvTranspose
    firsts, ends = zip(*map(pool.reaching, range(len(spatial))), strict=True)
    if any(first >= end for first, end in zip(firsts, ends, strict=True)):
        return e.ConstantOfShape((*gradient.shape[:2], *spatial), 0, gradient.dtype, fold=gradient.value is not None)
    planes = e.Slice(planes, (0, 0, *firsts), (*planes.shape[:2], *ends))
    # the position of the input's start, relative to the first of these windows
    origin = [a - first * s for a, first, s in zip(window.start, firsts, window.strides, strict=True)]
    none = (0,) * len(spatial)
    ones = e.constant(np.full((1, 1, *window.shape), weight), gradient.dtype)
    whole = e.ConvTranspose(planes, ones, None, Window(window.shape, window.strides, window.dilations, none, none))
    before = [max(-a, 0) for a in origin]
    after = [max(a + n - m, 0) for a, n, m in zip(origin, spatial, whole.shape[2:], strict=True)]
    padded = e.Pad(whole, (0, 0, *before), (0, 0, *after))
    start = [max(a, 0) for a in origin]
    stop = [a + n for a, n in zip(start, spatial, strict=True)]
    return e.Reshape(e.Slice(padded, (0, 0, *start), (*whole.shape[:2], *stop)), (*gradient.shape[:2], *spatial))
