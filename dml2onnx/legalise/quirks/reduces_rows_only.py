"""Reductions are slow over all axes but the last ones.

ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum and ReduceLogSumExp are slow over all.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/reduction/reduction_ops.cc
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.reductions import (
    LONGEST_ONES,
    MOST_LEFT_OVER,
    WORTH_TWO_STEPS,
    fold_axes,
    merged,
    pieces,
    shrunk,
    starts_with,
)
from dml2onnx.legalise.rules import Kind, Quirk
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.emitter import Emitter, Tensor

    Axes = tuple[int, ...]

QUIRK = Quirk(Kind.SPEED)

WORTH_A_PRODUCT = 16
"""Columns from which on a MatMul adds rows several times as fast as ReduceMean does."""


@QUIRK.rule("ReduceL1")
def reduce_l1(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """A sum of magnitudes."""
    return e.ReduceSum(e.Abs(x), axes)


@QUIRK.rule("ReduceL2")
def reduce_l2(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """The root of a sum of squares."""
    return e.Sqrt(e.ReduceSumSquare(x, axes))


@QUIRK.rule("ReduceSumSquare")
def reduce_sum_square(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """A sum of squares."""
    return e.ReduceSum(e.Mul(x, x), axes)


@QUIRK.rule("ReduceLogSum")
def reduce_log_sum(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """The logarithm of a sum."""
    return e.Log(e.ReduceSum(x, axes))


@QUIRK.rule("ReduceLogSumExp")
def reduce_log_sum_exp(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """The maximum is subtracted first, as a finite number: of infinities the difference would be NaN."""
    limit = float(np.finfo(x.dtype).max)  # type: ignore[type-var]  # of floats only
    top = e.Clip(e.ReduceMax(x, axes), -limit, limit)
    return e.Add(e.Log(e.ReduceSum(e.Exp(e.Sub(x, top)), axes)), top)


@QUIRK.rule("ReduceSum")
def reduce_sum(e: Emitter, x: Tensor, axes: Axes, *, wraps: bool = False) -> Tensor | None:
    """A product with ones where many columns of a large tensor are added."""
    return _added(e, x, axes, e.ReduceSum, lambda total, _: total) if x.size >= WORTH_TWO_STEPS else None


@QUIRK.rule("ReduceMean")
def reduce_mean(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """A product with ones where many columns are added."""
    return _added(e, x, axes, e.ReduceMean, lambda total, count: e.Div(total, e.constant(count, x.dtype)))


def _added(
    e: Emitter,
    x: Tensor,
    axes: Axes,
    otherwise: Callable[[Tensor, Axes], Tensor],
    finish: Callable[[Tensor, int], Tensor],
) -> Tensor | None:
    """Of neighbours at a time, the last first."""
    runs: list[tuple[int, int]] = []
    for axis in sorted(axes):
        first = runs.pop()[0] if runs and runs[-1][1] == axis else axis
        runs.append((first, axis + 1))
    if x.dtype.kind != "f" or has_unknown(x.shape) or not any(_is_fast_as_product(x, *run) for run in runs):
        return None
    for first, behind in reversed(runs):
        if _is_fast_as_product(x, first, behind):
            count = prod(x.shape[first:behind])
            rows = e.Reshape(x, (prod(x.shape[:first]), count, prod(x.shape[behind:])))
            total = finish(e.MatMul(e.constant(np.ones((1, count), x.dtype)), rows), count)
            x = e.Reshape(total, (*x.shape[:first], *(1,) * (behind - first), *x.shape[behind:]))
        else:
            x = otherwise(x, tuple(range(first, behind)))
    return x


def _is_fast_as_product(x: Tensor, first: int, behind: int) -> bool:
    return prod(x.shape[behind:]) >= WORTH_A_PRODUCT and prod(x.shape[first:behind]) <= LONGEST_ONES


@QUIRK.rule("ReduceProd")
def reduce_prod(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """Mul of pieces of the first axis."""
    if x.dtype.kind != "f" or not starts_with(x, axes):
        return None
    e.note("products by Mul of pieces: the CPU's ReduceProd is slow over the first axis")
    return fold_axes(e, x, axes, lambda e, x: pieces(e, x, e.Mul))


@QUIRK.rule("ReduceMax")
def reduce_max(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """In two steps."""
    return _in_two_steps(e, x, axes, e.ReduceMax)


@QUIRK.rule("ReduceMin")
def reduce_min(e: Emitter, x: Tensor, axes: Axes) -> Tensor | None:
    """In two steps."""
    return _in_two_steps(e, x, axes, e.ReduceMin)


def _in_two_steps(e: Emitter, x: Tensor, axes: Axes, over: Callable[[Tensor, Axes], Tensor]) -> Tensor | None:
    if x.value is not None or x.dtype.itemsize == 8 or not starts_with(x, axes):
        return None
    y, inner = merged(e, x, axes)
    block = next((d for d in range(MOST_LEFT_OVER << 1, 7, -1) if y.shape[0] % d == 0 and d < y.shape[0]), 0)
    if block == 0:
        return None
    e.note("in two steps, since the kernels are fast only over what is not the first axis")
    blocks = e.Reshape(y, (y.shape[0] // block, block, *y.shape[1:]))
    y = over(blocks, tuple(axis + 1 for axis in inner))
    return e.Reshape(over(y, (0,)), shrunk(x, axes))
