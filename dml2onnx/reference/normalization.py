"""BATCH_NORMALIZATION, MEAN_VARIANCE_NORMALIZATION (all versions), LP_ and LOCAL_RESPONSE_NORMALIZATION."""

from __future__ import annotations

from math import prod

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import ACCURACY, LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.activation import apply_activation
from dml2onnx.reference.numeric import sum_error, through, widen
from dml2onnx.reference.registry import Floats, Inputs, Mask, Outputs, Result, either, reference

_STEPS = 7
"""Roundings of a term between the statistics and the output."""


@reference("BATCH_NORMALIZATION")
def batch_normalization(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias)`` (decision N9).

    The four parameters broadcast independently; Spatial has no effect on the numbers.
    """
    names = ("InputTensor", "MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")
    x, mean, variance, scale, bias = (widen(inputs.tensor(name)) for name in names)
    statistics = (Result(mean, np.zeros_like(mean)), Result(variance, np.zeros_like(variance)))
    # for a variance of -Epsilon (or -0) the sign of the infinity depends on how it is computed
    marks: Mask = np.signbit(variance) & (variance + op.float("Epsilon") == 0)
    return {"OutputTensor": normalized(op, x, *statistics, scale, bias, marks)}


@reference("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
def mean_variance_normalization(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The same formula with the input's own mean and population variance over Axes (decisions N1 to N8).

    CrossChannel selects axes { 1, 2, 3 } instead of { 2, 3 }. Without a mean, the variance is the mean square.
    """
    x = widen(inputs.tensor("InputTensor"))
    if op.type == "MEAN_VARIANCE_NORMALIZATION":
        axes: tuple[int, ...] = (1, 2, 3) if op.flag("CrossChannel") else (2, 3)
    else:
        axes = tuple(dict.fromkeys(op.uints("Axes")))  # repeated axes count once
    use_mean = op.flag("UseMean") if op.type.endswith("2") else True
    use_variance = op.flag("UseVariance" if op.type.endswith("2") else "NormalizeVariance")
    zero = np.zeros(tuple(1 if axis in axes else size for axis, size in enumerate(x.shape)))
    mean = mean_of(x, axes) if use_mean else Result(zero, zero)
    variance = variance_of(x, mean, axes) if use_variance else None
    scale, bias = (
        np.full((), default, np.float64) if (parameter := inputs.optional(name)) is None else widen(parameter)
        for name, default in (("ScaleTensor", 1), ("BiasTensor", 0))
    )
    # DirectML was seen to return NaN for a negative number that is the only one of its mean
    is_alone = use_mean and use_variance and prod(x.shape[axis] for axis in axes) == 1
    return {"OutputTensor": normalized(op, x, mean, variance, scale, bias, (x < 0) & is_alone)}


def mean_of(x: Floats, axes: tuple[int, ...]) -> Result:
    """The mean over axes, which keep size 1."""
    terms = prod(x.shape[axis] for axis in axes)
    magnitude = np.abs(x).sum(axis=axes, keepdims=True)
    error = sum_error(terms + 2, magnitude / terms, ROUNDOFF)
    # the finite numbers alone may overflow and cancel an infinity
    marks = overflows(np.where(np.isfinite(x), np.abs(x), 0).sum(axis=axes, keepdims=True))
    return Result(x.sum(axis=axes, keepdims=True) / terms, error, marks)


def variance_of(x: Floats, mean: Result, axes: tuple[int, ...]) -> Result:
    """The mean of the squared differences from the mean.

    An error e of the mean changes it by e squared, because the differences from the exact mean sum to 0.
    """
    terms = prod(x.shape[axis] for axis in axes)
    total = np.square(x - widen(mean.values)).sum(axis=axes, keepdims=True)
    off = np.square(np.where(np.isfinite(mean.bound), mean.bound, 0))
    # squares below the smallest normal number may be 0 (decision G8)
    error = off + sum_error(terms + 4, total / terms + off, ROUNDOFF) + SMALLEST_FLOAT32
    # zeros have no rounding error
    return Result(total / terms, np.where(total == 0, off, error), overflows(total))


def normalized(
    op: OperatorDesc,
    x: Floats,
    mean: Result,
    variance: Result | None,
    scale: Floats,
    bias: Floats,
    unspecified: Mask,
    size_of_bias: Floats | None = None,
) -> Result:
    """``FusedActivation(Scale * ((x - mean) / sqrt(variance + Epsilon)) + bias)``, without the division for ``None``.

    The error is that of a sum of three terms in any order: scaled x, scaled mean, and bias. Unspecified where the order
    decides whether terms overflow, or with an infinite scale. ``size_of_bias`` is that of a bias that is itself a sum.
    """
    middle = widen(mean.values)
    inverse = _inverse_deviation(op, variance)
    difference, s = x - middle, widen(inverse.values)
    z = difference * s
    y = scale * z + bias
    factor = np.abs(scale) * s
    magnitude = factor * (np.abs(x) + np.abs(middle))
    size_of_bias = np.abs(bias) if size_of_bias is None else size_of_bias
    error = sum_error(_STEPS, magnitude + size_of_bias, ROUNDOFF) + factor * mean.bound
    error = error + np.abs(scale * difference) * inverse.bound
    # a factor, or the normalized x, below the smallest normal number may be 0 (decision G8)
    error = error + np.where(factor < SMALLEST_FLOAT32, SMALLEST_FLOAT32 * (np.abs(x) + np.abs(middle)), 0)
    error = error + np.where(np.abs(z) < SMALLEST_FLOAT32, SMALLEST_FLOAT32 * np.abs(scale), 0)
    vanishes = (factor > 0) & (factor < SMALLEST_FLOAT32)
    depends = unspecified | inverse.marks | np.isinf(scale) | (vanishes & np.isinf(difference))
    for part in (factor, factor * np.abs(x), factor * np.abs(middle), difference, z):
        depends = depends | overflows(part)
    depends = np.broadcast_to(either(depends, mean.unspecified), y.shape)
    return apply_activation(op.activation(), y, error, depends)


def _inverse_deviation(op: OperatorDesc, variance: Result | None) -> Result:
    if variance is None:
        return Result(np.ones(()), np.zeros(()), np.zeros((), np.bool_))
    radicand = widen(variance.values) + op.float("Epsilon")
    size = np.abs(radicand)
    radicand_result = Result(radicand, variance.bound + ROUNDOFF * size, variance.unspecified)
    inverse = through(lambda r: 1 / np.sqrt(r), radicand_result)
    # a radicand below the smallest normal number may be 0 (decision G8)
    marks = overflows(size) | ((size > 0) & (size < SMALLEST_FLOAT32))
    return Result(inverse.values, inverse.error, either(marks, inverse.unspecified))


def overflows(size: Floats) -> Mask:
    """Where a finite number overflows FLOAT32."""
    result: Mask = np.isfinite(size) & (np.abs(size) > LARGEST_FLOAT32)
    return result


@reference("LP_NORMALIZATION")
def lp_normalization(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Input / sqrt(n + Epsilon)`` along Axis, ``n = sum(|Input|) ** 2`` or, for P = 2, ``sum(Input ** 2)`` (N16)."""
    x, axis, p = widen(inputs.tensor("InputTensor")), op.uint("Axis"), op.uint("P")
    epsilon = op.float("Epsilon")
    total = (np.abs(x) ** p).sum(axis=axis, keepdims=True)
    # squares below the smallest normal number may be 0 (decision G8)
    if p == 1:
        square = total * total
        vanishing = np.where(total > 0, SMALLEST_FLOAT32, 0)
        off = sum_error(2 * x.shape[axis] + 3, square + abs(epsilon), ROUNDOFF) + vanishing
    else:
        square = total
        vanishing = SMALLEST_FLOAT32 * np.count_nonzero(x, axis=axis, keepdims=True)
        off = sum_error(x.shape[axis] + 3, square + abs(epsilon), ROUNDOFF) + vanishing
    shifted = square + epsilon
    norm = through(np.sqrt, Result(shifted, np.where(total > 0, off, 0)))
    divisor = widen(norm.values)
    y = x / divisor
    # unspecified if the divisor may be 0
    nearest: Floats = np.maximum(np.abs(divisor) - norm.bound, 0)
    spread = np.abs(x) * np.where(nearest > 0, 1 / nearest - 1 / np.abs(divisor), 0)
    error = np.where(np.isfinite(spread), spread, 0) + 3 * ROUNDOFF * np.where(np.isfinite(y), np.abs(y), 0)
    undefined = (nearest == 0) | (np.abs(shifted) < SMALLEST_FLOAT32)
    marks = overflows(square) | (undefined & ((total > 0) | (epsilon != 0)))
    return {"OutputTensor": Result(y, error, np.broadcast_to(either(marks, norm.unspecified), x.shape))}


@reference("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Input / (Bias + Alpha / LocalSize * sum(Input ** 2)) ** Beta`` over a window of channels, or of the image.

    The divisor is LocalSize at the borders and for square windows too (decision N13); an even window extends further
    after the element than before it (decision N15). A power of a negative number or NaN is NaN for every Beta (decision
    N14). Elements are open where runtimes with running sums would keep a NaN or an infinity.
    """
    x, size = widen(inputs.tensor("InputTensor")), op.uint("LocalSize")
    alpha, beta, bias = op.float("Alpha") / size, op.float("Beta"), op.float("Bias")
    total, terms = np.square(x), 1
    across = (1,) if op.flag("CrossChannel") else (2, 3)
    for axis in across:
        total, terms = window_sums(total, axis, size), terms * min(size, x.shape[axis])
    share = alpha * total
    s = bias + share
    # squares below the smallest normal number may be 0 (decision G8)
    error = sum_error(terms + 6, np.abs(share) + abs(bias), ROUNDOFF) + abs(alpha) * terms * SMALLEST_FLOAT32
    power = through(lambda s: np.where(s >= 0, s**-beta, np.nan), Result(s, error))
    p = widen(power.values)
    y = x * p
    error = np.abs(x) * (power.bound + ACCURACY * np.abs(p) + np.where(np.abs(p) < SMALLEST_FLOAT32, np.abs(p), 0))
    marks = overflows(total) | overflows(share) | overflows(s) | overflows(p)
    marks = marks | ((np.abs(s) > 0) & (np.abs(s) < SMALLEST_FLOAT32))
    if beta == 0:  # undefined for powers that use a logarithm (decision E18)
        marks = marks | (s == 0) | np.isposinf(s)
    running = np.broadcast_to(~np.isfinite(total).all(axis=across, keepdims=True), x.shape)
    return {"OutputTensor": Result(y, error, either(marks, power.unspecified), running)}


def window_sums(x: Floats, axis: int, size: int) -> Floats:
    """The sum over the window around each element along an axis, clipped to the tensor.

    An even window extends further after the element than before it.
    """
    count = x.shape[axis]
    first = np.arange(count) - (size - 1) // 2
    windows = zip(np.maximum(first, 0), np.minimum(first + size, count), strict=True)
    return np.stack([x.take(range(low, high), axis).sum(axis=axis) for low, high in windows], axis)
