"""Formulas of functions and normalizations."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import FLOAT, FLOAT16, DType


def shrunk(e: Emitter, x: Tensor, bias: float, lambd: float) -> Tensor:
    """``x - bias`` above ``lambd``, else ``x + bias`` below ``-lambd``, else 0."""
    # neither a sum with the bias nor an x beyond a threshold >= 0 can be -0.0
    signed = bias != 0 or lambd >= 0
    below, above = e.Less(x, e.constant(-lambd, x.dtype)), e.Greater(x, e.constant(lambd, x.dtype))

    def moved(by: float) -> Tensor:
        return e.Add(x, e.constant(by, x.dtype)) if by else x

    inner = e.Where(below, moved(bias), e.constant(0, x.dtype), no_minus_zero=signed)
    return e.Where(above, moved(-bias), inner, no_minus_zero=signed)


_SUM_IS_X = 2.0**25
"""``1 + x`` rounds to x from here on."""


def logarithm_of_1_and(e: Emitter, x: Tensor, *, bounded: bool) -> Tensor:
    """``ln(1 + x)`` of FLOAT ``x >= 0``, to nearly full precision; ``bounded`` excludes infinity.

    The rounding error of the sum is known exactly; divided by the sum, it corrects the logarithm to first order. It
    vanishes for huge numbers.
    """
    one = e.constant(1, x.dtype)
    total = e.Add(x, one)
    near, rounded = x, total
    if not bounded:
        near = e.Clip(x, None, _SUM_IS_X)
        rounded = e.Add(near, one)
    lost = e.Sub(near, e.Sub(rounded, one))
    return e.Add(e.Log(total), e.Div(lost, rounded))


# --- integers ---------------------------------------------------------------------------------------------------------


def truncated(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Casts FLOAT or DOUBLE to integers, toward zero and saturated [decisions E9, E10]; the caller handles NaN."""
    low, high = integer_limits(dtype)
    if high.bit_length() <= (24 if x.dtype == FLOAT else 53):
        return e.Cast(e.Clip(x, low, high), dtype)
    beyond = np.asarray(high + 1, x.dtype)
    # the largest integer has no exact float here, and Cast beyond it is undefined
    below = float(np.nextafter(beyond, np.zeros_like(beyond)))
    whole = e.Cast(e.Clip(x, low, below), dtype)
    return e.Where(e.GreaterOrEqual(x, e.constant(beyond)), e.constant(high, dtype), whole)


def integer_limits(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    bits = 8 * dtype.itemsize
    return (0, (1 << bits) - 1) if dtype.kind == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


# --- normalization ---------------------------------------------------------------------------------------------------

MOST_LOST = 2.0**8
"""The largest ratio of canceling terms to the result: it costs 8 of FLOAT32's 24 bits."""


def is_all(x: Tensor, number: float) -> bool:
    """Whether a tensor is known to hold one number only."""
    return x.value is not None and bool((x.value == number).all())


def factor_of(e: Emitter, variance: Tensor, scale: Tensor, epsilon: float) -> Tensor:
    """``scale / sqrt(variance + epsilon)``."""
    return e.Div(scale, e.Sqrt(e.Add(variance, e.constant(epsilon, variance.dtype))))


def wide(e: Emitter, x: Tensor) -> Tensor:
    """FLOAT16 as FLOAT for all providers: squares soon overflow, and an Epsilon underflows."""
    return e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x


def times(e: Emitter, x: Tensor, factor: Tensor | None) -> Tensor:
    """``x * factor`` in the type of ``x``; ``x`` itself if the factor is known to be 1."""
    return x if factor is None or is_all(factor, 1) else e.Mul(x, e.Cast(factor, x.dtype))


def plus(e: Emitter, x: Tensor, term: Tensor | None) -> Tensor:
    """``x + term`` in the type of ``x``; ``x`` itself if the term is known to be 0."""
    return x if term is None or is_all(term, 0) else e.Add(x, e.Cast(term, x.dtype))


def with_statistics(
    e: Emitter, x: Tensor, mean: Tensor, variance: Tensor, scale: Tensor, bias: Tensor, epsilon: float
) -> Tensor:
    """``scale * (x - mean) / sqrt(variance + epsilon) + bias``, as one Mul and one Add if they are known."""
    factor = factor_of(e, variance, scale, epsilon)
    is_finite = has_finite_factor(e, variance, scale, epsilon) and bias.value is not None
    if is_finite and loses_little(e, mean, variance, scale, bias, epsilon):
        return plus(e, times(e, x, factor), e.Sub(bias, e.Mul(mean, factor)))
    centred = x if is_all(mean, 0) else e.Sub(x, mean)
    return plus(e, times(e, centred, factor), bias)


def normalized(e: Emitter, x: Tensor, axes: Iterable[int], epsilon: float, *, use_mean: bool = True) -> Tensor:
    """``(x - mean) / sqrt(variance + epsilon)`` over axes, FLOAT16 as FLOAT.

    Without ``use_mean``: ``x / sqrt(mean(x ** 2) + epsilon)``.
    """
    x, axes = wide(e, x), tuple(axes)
    centred = e.Sub(x, e.ReduceMean(x, axes)) if use_mean else x
    mean_square = e.ReduceMean(e.Mul(centred, centred), axes)
    return e.Mul(centred, e.Reciprocal(e.Sqrt(e.Add(mean_square, e.constant(epsilon, x.dtype)))))


def rows(shape: tuple[int, ...], first: int, end: int) -> tuple[int, ...]:
    """``shape`` as (N, C, ...) with C the axes from ``first`` to before ``end``."""
    if (first, end) == (1, 2) and len(shape) >= 3:
        return shape
    return prod(shape[:first]), prod(shape[first:end]), prod(shape[end:])


def by_instances(e: Emitter, x: Tensor, first: int, epsilon: float) -> Tensor:
    """InstanceNormalization of ``x`` over the axes from ``first`` on."""
    instances = e.Reshape(x, rows(x.shape, min(first, 1), first))
    one, zero = (e.constant(np.full(instances.shape[1], value, x.dtype)) for value in (1, 0))
    return e.Reshape(e.InstanceNormalization(instances, one, zero, epsilon), x.shape)


def layer_by_instances(e: Emitter, x: Tensor, scale: Tensor, bias: Tensor | None, axis: int, epsilon: float) -> Tensor:
    """LayerNormalization as InstanceNormalization, followed by scale and bias."""
    return plus(e, times(e, by_instances(e, x, axis, epsilon), scale), bias)


def has_finite_factor(e: Emitter, variance: Tensor, scale: Tensor, epsilon: float) -> bool:
    """Whether variance and scale are known and give finite factors."""
    if variance.value is None or scale.value is None:
        return False
    return bool(np.isfinite(factor_of(e, variance, scale, epsilon).constant).all())


def loses_little(e: Emitter, mean: Tensor, variance: Tensor, scale: Tensor, bias: Tensor, epsilon: float) -> bool:
    """Whether ``x * factor + (bias - mean * factor)`` is about as precise as the formula.

    Results are assumed to be as large as scale plus bias.
    """
    if is_all(mean, 0):
        return True
    if mean.value is None or variance.value is None or scale.value is None:
        return False
    cancels = e.Abs(e.Mul(mean, factor_of(e, variance, scale, epsilon))).constant.max()
    size = sum(np.abs(item.value).max() for item in (scale, bias) if item.value is not None)
    return bool(np.isfinite(size) and cancels <= MOST_LOST * size)


def over_norm(e: Emitter, x: Tensor, axis: int, p: int, epsilon: float, count: int = 1) -> Tensor:
    """``x / sqrt(norm ** 2 + epsilon)`` with the norm of order 1 or 2 along an axis, FLOAT16 as FLOAT.

    A single element along the axis counts ``count`` times.
    """
    x = wide(e, x)
    measure = e.Abs(x) if p == 1 else e.Mul(x, x)
    total = e.Mul(measure, e.constant(count, x.dtype)) if x.shape[axis] == 1 else e.ReduceSum(measure, (axis,))
    if p == 1 and epsilon == 0:
        return e.Div(x, total)
    return e.Div(x, e.Sqrt(plus(e, e.Mul(total, total) if p == 1 else total, e.constant(epsilon, x.dtype))))


def lrn(e: Emitter, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
    """LRN by sums of channel slices."""
    y = wide(e, x)
    total = e.Mul(channel_sums(e, e.Mul(y, y), size), e.constant(alpha / size, y.dtype))
    s = e.Add(total, e.constant(bias, y.dtype)) if bias else total
    return e.Cast(e.Div(y, power(e, s, beta)), x.dtype)


def reach(size: int, count: int) -> tuple[int, int]:
    """How far a window of ``size`` extends before and after one of ``count`` elements."""
    return min((size - 1) // 2, count - 1), min(size // 2, count - 1)


def channel_sums(e: Emitter, x: Tensor, size: int) -> Tensor:
    """Sums over windows of channels, padded with 0."""
    before, after = reach(size, x.shape[1])
    flat = e.Reshape(x, (*x.shape[:2], prod(x.shape[2:])))
    return e.Reshape(_window_sums(e, e.Pad(flat, (0, before, 0), (0, after, 0)), before + after + 1), x.shape)


def _window_sums(e: Emitter, x: Tensor, size: int) -> Tensor:
    """Sums ``size`` consecutive elements along the middle of three axes, by halves to need few slices."""
    if size == 1:
        return x
    count, half = x.shape[1] - size + 1, size // 2

    def part(y: Tensor, start: int) -> Tensor:
        return e.Slice(y, (0, start, 0), (y.shape[0], start + count, y.shape[2]))

    halves = _window_sums(e, x, half)
    total = e.Add(part(halves, 0), part(halves, half))
    return e.Add(total, part(x, size - 1)) if size % 2 else total


def power(e: Emitter, x: Tensor, exponent: float) -> Tensor:
    """``x ** exponent``, by roots for quarters: Pow is ten times as slow."""
    if exponent == 1:
        return x
    if exponent not in (0.25, 0.5, 0.75):
        return e.Pow(x, e.constant(exponent, x.dtype))
    root = e.Sqrt(x)
    if exponent == 0.5:
        return root
    fourth = e.Sqrt(root)
    return fourth if exponent == 0.25 else e.Mul(root, fourth)
