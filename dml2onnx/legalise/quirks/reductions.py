"""Reductions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.extremes import at_extremes
from dml2onnx.legalise.reductions import (
    LONGEST_ONES,
    MOST_LEFT_OVER,
    WORTH_TWO_STEPS,
    fold_axes,
    merged,
    pieces,
    product_of_integers,
    shrunk,
    starts_with,
    sum_of_integers,
)
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import has_unknown

Axes = tuple[int, ...]

INTEGERS_REDUCED_IN_DOUBLE = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(int32[2] x0) => (int32[1] y) { y = ReduceProd (x0) }",
        ((2147483647, 2),),
        ((-2,),),
        versions=((1, 25), (9, 0)),
    ),
)
"""ReduceSum and ReduceProd of integers compute in DOUBLE and saturate (ONNX Runtime 1.31; 1.24 wraps).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/reduction/reduction_ops.cc
"""


@INTEGERS_REDUCED_IN_DOUBLE.rule("ReduceSum")
def reduce_sum_of_integers(e: Emitter, x: Tensor, axes: Axes, *, wraps: bool = False) -> Tensor | None:
    """A product with ones."""
    return sum_of_integers(e, x, axes) if wraps and x.dtype.kind in "iu" else None


@INTEGERS_REDUCED_IN_DOUBLE.rule("ReduceProd")
def reduce_prod_of_integers(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """Mul of pieces."""
    return product_of_integers(e, x, axes) if x.dtype.kind in "iu" else None


INTEGERS_REDUCED_IN_FLOAT = Quirk(
    RuleKind.NUMBERS, Shown("(int32[2] x) => (int32[1] y) { y = ReduceMax (x) }", ((2147483647, 87),), ((2147483647,),))
)
"""ReduceMax and ReduceMin of 32-bit integers compute in FLOAT (OpenVINO)."""


@INTEGERS_REDUCED_IN_FLOAT.each("ReduceMax", "ReduceMin")
def extreme_of_integers(operator: str, e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """ArgMax or ArgMin."""
    if x.value is not None or x.dtype.kind not in "iu" or x.dtype.itemsize != 4:
        return None
    return at_extremes(e, operator, x, axes)


REDUCES_ROWS_ONLY = Quirk(RuleKind.SPEED)
"""Reductions are slow over all but the last axes.

ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum and ReduceLogSumExp are slow over any axes.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/reduction/reduction_ops.cc
"""
WORTH_A_PRODUCT = 16
"""From this many columns on, MatMul sums rows several times as fast as ReduceMean."""


@REDUCES_ROWS_ONLY.rule("ReduceL1")
def reduce_l1(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """A sum of magnitudes."""
    return e.ReduceSum(e.Abs(x), axes)


@REDUCES_ROWS_ONLY.rule("ReduceL2")
def reduce_l2(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """The root of a sum of squares."""
    return e.Sqrt(e.ReduceSumSquare(x, axes))


@REDUCES_ROWS_ONLY.rule("ReduceSumSquare")
def reduce_sum_square(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """A sum of squares."""
    return e.ReduceSum(e.Mul(x, x), axes)


@REDUCES_ROWS_ONLY.rule("ReduceLogSum")
def reduce_log_sum(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """The logarithm of a sum."""
    return e.Log(e.ReduceSum(x, axes))


@REDUCES_ROWS_ONLY.rule("ReduceLogSumExp")
def reduce_log_sum_exp(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """Subtracts the maximum first, clamped to finite numbers: a difference of infinities is NaN."""
    limit = float(np.finfo(x.dtype).max)  # type: ignore[type-var]  # of floats only
    top = e.Clip(e.ReduceMax(x, axes), -limit, limit)
    return e.Add(e.Log(e.ReduceSum(e.Exp(e.Sub(x, top)), axes)), top)


@REDUCES_ROWS_ONLY.rule("ReduceSum")
def reduce_sum(e: Emitter, x: Tensor, axes: Axes, *, wraps: bool = False) -> Tensor | None:
    """A product with ones, for many columns of a large tensor."""
    return _added(e, x, axes, e.ReduceSum, lambda total, _: total) if x.size >= WORTH_TWO_STEPS else None


@REDUCES_ROWS_ONLY.rule("ReduceMean")
def reduce_mean(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """A product with ones, for many columns."""
    return _added(e, x, axes, e.ReduceMean, lambda total, count: e.Div(total, e.constant(count, x.dtype)))


def _added(
    e: Emitter,
    x: Tensor,
    axes: Axes,
    otherwise: Callable[[Tensor, Axes], Tensor],
    finish: Callable[[Tensor, int], Tensor],
) -> Tensor | None:
    """Reduces one run of neighboring axes at a time, the last first."""
    runs: list[tuple[int, int]] = []
    for axis in sorted(axes):
        first = runs.pop()[0] if runs and runs[-1][1] == axis else axis
        runs.append((first, axis + 1))
    if x.dtype.kind != "f" or has_unknown(x.shape) or not any(_is_fast_as_product(x, *run) for run in runs):
        return None
    for first, end in reversed(runs):
        if _is_fast_as_product(x, first, end):
            count = prod(x.shape[first:end])
            rows = e.Reshape(x, (prod(x.shape[:first]), count, prod(x.shape[end:])))
            total = finish(e.MatMul(e.constant(np.ones((1, count), x.dtype)), rows), count)
            x = e.Reshape(total, (*x.shape[:first], *(1,) * (end - first), *x.shape[end:]))
        else:
            x = otherwise(x, tuple(range(first, end)))
    return x


def _is_fast_as_product(x: Tensor, first: int, end: int) -> bool:
    return prod(x.shape[end:]) >= WORTH_A_PRODUCT and prod(x.shape[first:end]) <= LONGEST_ONES


@REDUCES_ROWS_ONLY.rule("ReduceProd")
def reduce_prod(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """Mul of pieces of the first axis."""
    if x.dtype.kind != "f" or not starts_with(x, axes):
        return None
    e.note("products by Mul of pieces: the CPU's ReduceProd is slow over the first axis")
    return fold_axes(e, x, axes, lambda e, x: pieces(e, x, e.Mul))


@REDUCES_ROWS_ONLY.each("ReduceMax", "ReduceMin")
def extreme_in_two_steps(operator: str, e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """Reduces blocks, then their results."""
    if x.value is not None or x.dtype.itemsize == 8 or not starts_with(x, axes):
        return None
    y, inner = merged(e, x, axes)
    block = next((d for d in range(MOST_LEFT_OVER << 1, 7, -1) if y.shape[0] % d == 0 and d < y.shape[0]), 0)
    if block == 0:
        return None
    e.note("in two steps: kernels are slow over the first axis")
    blocks = e.Reshape(y, (y.shape[0] // block, block, *y.shape[1:]))
    over: Callable[[Tensor, Axes], Tensor] = getattr(e, operator)
    y = over(blocks, tuple(axis + 1 for axis in inner))
    return e.Reshape(over(y, (0,)), shrunk(x, axes))


REDUCES_SIX_DIMENSIONS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1,1,1,1,2] x) => (float[1,1,1,1,1,1,1] y) <int64[1] a = {6}> { y = ReduceSum (x, a) }",
        ((1.0, 2.0),),
        ((3.0,),),
        says="Failed to allocate tensors",
    ),
)
"""Reductions of more than six dimensions fail to build (WebNN in Chromium)."""
MOST_DIMENSIONS = 6


@REDUCES_SIX_DIMENSIONS.each(
    "ReduceSum",
    "ReduceMax",
    "ReduceMin",
    "ReduceMean",
    "ReduceProd",
    "ReduceL1",
    "ReduceL2",
    "ReduceSumSquare",
    "ReduceLogSum",
    "ReduceLogSumExp",
)
def in_fewer_dimensions(operator: str, e: Emitter, x: Tensor, axes: Axes, **how: bool) -> Tensor | None:
    """Merges neighboring axes that are both reduced or both kept."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape):
        return None
    e.note("reductions have at most six dimensions")
    rows, inner = merged(e, x, axes)
    result: Tensor = getattr(e, operator)(rows, inner, **how) if inner else rows
    return e.Reshape(result, shrunk(x, axes))
