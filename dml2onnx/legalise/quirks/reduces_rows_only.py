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
    fold_axes,
    merged,
    pieces,
    shrunk,
    starts_with,
)
from dml2onnx.legalise.rules import Kind, Quirk

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
    limit = float(np.finfo(x.dtype).max)  # type: ignore[type-var]
    top = e.Clip(e.ReduceMax(x, axes), -limit, limit)
    return e.Add(e.Log(e.ReduceSum(e.Exp(e.Sub(x, top)), axes)), top)


@QUIRK.rule("ReduceMean")
def reduce_mean(e: Emitter, x: Tensor, axes: Axes) -> Tensor:
    """Of neighbours at a time, the last first; by a product with ones where many columns are added."""
    axes = tuple(sorted(axes))
    while axes:
        first, behind = axes[-1], axes[-1] + 1
        while first - 1 in axes:
            first -= 1
        count, inner = prod(x.shape[first:behind]), prod(x.shape[behind:])
        if inner < WORTH_A_PRODUCT or count > LONGEST_ONES:
            x = e.ReduceMean(x, tuple(range(first, behind)))
        else:
            shape = (*x.shape[:first], *(1,) * (behind - first), *x.shape[behind:])
            ones = e.constant(np.ones((1, count), x.dtype))
            total = e.MatMul(ones, e.Reshape(x, (prod(x.shape[:first]), count, inner)))
            x = e.Reshape(e.Div(total, e.constant(count, x.dtype)), shape)
        axes = tuple(axis for axis in axes if axis < first)
    return x


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
