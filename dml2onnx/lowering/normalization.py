"""BATCH_NORMALIZATION, all versions of MEAN_VARIANCE_NORMALIZATION, LP_ and LOCAL_RESPONSE_NORMALIZATION."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TypeAlias

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.formulas import (
    channel_sums,
    normalized,
    over_norm,
    plus,
    power,
    reach,
    rows,
    times,
    wide,
    with_statistics,
)
from dml2onnx.legalise.pools import window_sums
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.lowering.activation import affine, apply_activation
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers

Axes: TypeAlias = tuple[int, ...]

NEGLIGIBLE = 1e-10
"""The largest Epsilon that does not change sums of ordinary numbers."""


# --- BATCH_NORMALIZATION ---------------------------------------------------------------------------------------------


@lowers("BATCH_NORMALIZATION")
def batch_normalization(node: Operands, e: Emitter) -> Tensor:
    """``FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias)`` [decision N9].

    BatchNormalization if the parameters vary along adjacent axes only, else the formula.
    """
    names = ("InputTensor", "MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")
    x, *parameters = (node.widened(node.broadcastable(name)) for name in names)
    epsilon = node.op.float("Epsilon")
    y = _by_channels(e, x, parameters, epsilon)
    if y is None:
        mean, variance, scale, bias = (wide(e, item) for item in parameters)
        y = with_statistics(e, wide(e, x), mean, variance, scale, bias, epsilon)
    return apply_activation(e, node.op.activation(), y)


def _by_channels(e: Emitter, x: Tensor, parameters: list[Tensor], epsilon: float) -> Tensor | None:
    """BatchNormalization with the axes along which the parameters vary as channels; ``None`` if that is impossible."""
    varying = _varying(parameters)
    if any(x.shape[axis] == 1 for axis in varying):
        return None
    first, end = min(varying, default=0), max(varying, default=-1) + 1
    if varying <= {1} and x.rank >= 3:
        first, end = 1, 2
    if prod(x.shape[first:end]) == x.size > 1:  # each element would be a channel
        return None
    mean, variance, scale, bias = (_as_vector(e, item, x.shape, first, end) for item in parameters)
    y = e.BatchNormalization(e.Reshape(x, rows(x.shape, first, end)), scale, bias, mean, variance, epsilon)
    return e.Reshape(y, x.shape)


# --- MEAN_VARIANCE_NORMALIZATION and LP_NORMALIZATION ----------------------------------------------------------------


@lowers("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
def mean_variance_normalization(node: Operands, e: Emitter) -> Tensor:
    """BATCH_NORMALIZATION with the input's own mean and population variance over axes [decisions N1 to N8].

    LayerNormalization, RMSNormalization, GroupNormalization or InstanceNormalization if the axes are the last ones,
    else the formula. Broadcast elements change neither mean nor variance.
    """
    op = node.op
    if op.type == "MEAN_VARIANCE_NORMALIZATION":
        axes: Axes = (1, 2, 3) if op.flag("CrossChannel") else (2, 3)
    else:
        axes = op.uints("Axes")
    use_mean = op.flag("UseMean") if op.type.endswith("2") else True
    use_variance = op.flag("UseVariance" if op.type.endswith("2") else "NormalizeVariance")
    x = node.widened(node.broadcastable("InputTensor"))
    scale, bias = (
        node.widened(node.broadcastable(name)) if op.has(name) else None for name in ("ScaleTensor", "BiasTensor")
    )
    axes = tuple(axis for axis in sorted(axes) if x.shape[axis] > 1)
    epsilon, y = op.float("Epsilon"), None
    if use_variance and axes and _are_last(x, axes):
        y = _by_layers(e, x, axes[0], scale, bias, epsilon, use_mean=use_mean)
        if y is None and use_mean:
            y = _by_instances(e, x, axes[0], scale, bias, epsilon)
    if y is None:
        x = wide(e, x)
        if use_variance:
            y = normalized(e, x, axes, epsilon, use_mean=use_mean)
        else:
            y = e.Sub(x, e.ReduceMean(x, axes)) if use_mean else x
        y = plus(e, times(e, y, scale), bias)
    return apply_activation(e, op.activation(), y)


def _by_layers(
    e: Emitter, x: Tensor, first: int, scale: Tensor | None, bias: Tensor | None, epsilon: float, *, use_mean: bool
) -> Tensor | None:
    """LayerNormalization, or without the mean RMSNormalization, over the axes from ``first`` on.

    ``None`` if scale or bias vary along other axes, or if images are normalised channel by channel, which is
    InstanceNormalization.
    """
    if use_mean and first == 2 and x.rank > 3 and scale is None:
        return None
    parameters = [item for item in (scale, bias) if item is not None]
    if use_mean and first == 2 and x.rank > 3 and _varying(parameters) <= {1, 2} and 2 in _varying(parameters):
        return _by_groups(e, x, scale, bias, epsilon)
    is_inner = (
        all(prod(item.shape[:first]) == 1 for item in parameters)
        and broadcast_shape(x.shape, *(item.shape for item in parameters)) == x.shape
    )
    if not is_inner or not (use_mean or e.opset >= 23):
        return None
    factor, term = (None if item is None else e.Reshape(item, item.shape[first:]) for item in (scale, bias))
    factor = e.constant(np.ones((1,) * (x.rank - first), x.dtype)) if factor is None else factor
    if use_mean:
        return e.LayerNormalization(x, factor, term, first, epsilon)
    return plus(e, e.RMSNormalization(x, factor, first, epsilon), term)


def _by_groups(e: Emitter, x: Tensor, scale: Tensor | None, bias: Tensor | None, epsilon: float) -> Tensor | None:
    """GroupNormalization of (N, groups, channels of a group, ...) with scale and bias of channels, from opset 21 on."""
    if e.opset < 21 or _varying([x]) != _varying([item for item in (x, scale, bias) if item is not None]):
        return None
    channels = x.shape[1] * x.shape[2]

    def as_vector(parameter: Tensor | None, default: float) -> Tensor:
        if parameter is None:
            return e.constant(np.full(channels, default, x.dtype))
        return e.Reshape(e.Expand(e.Reshape(parameter, parameter.shape[1:3]), x.shape[1:3]), (channels,))

    y = e.Reshape(x, (x.shape[0], channels, *x.shape[3:]))
    y = e.GroupNormalization(y, as_vector(scale, 1), as_vector(bias, 0), x.shape[1], epsilon)
    return e.Reshape(y, x.shape)


def _are_last(x: Tensor, axes: Axes) -> bool:
    """Whether all axes after the first of ``axes`` belong to them or have size 1."""
    return all(axis in axes for axis, size in enumerate(x.shape) if size > 1 and axis > axes[0])


def _by_instances(
    e: Emitter, x: Tensor, first: int, scale: Tensor | None, bias: Tensor | None, epsilon: float
) -> Tensor:
    """InstanceNormalization over the axes from ``first`` on.

    It takes a scale and a bias that are constant over an instance; others are applied afterwards.
    """
    inner_scale = scale if scale is not None and _is_per_instance(scale, x, first) else None
    inner_bias = bias if bias is not None and _is_per_instance(bias, x, first) and scale is inner_scale else None
    varying = _varying(item for item in (inner_scale, inner_bias) if item is not None)
    # (N, C, ...) needs no Reshape
    start = min(varying, default=1 if first == 2 else first)
    one, zero = (e.constant(np.full((1,) * x.rank, value, x.dtype)) for value in (1, 0))
    factor = _as_vector(e, one if inner_scale is None else inner_scale, x.shape, start, first)
    term = _as_vector(e, zero if inner_bias is None else inner_bias, x.shape, start, first)
    instances = e.Reshape(x, rows(x.shape, start, first))
    y = e.Reshape(e.InstanceNormalization(instances, factor, term, epsilon), x.shape)
    y = y if scale is inner_scale else times(e, y, scale)
    return y if bias is inner_bias else plus(e, y, bias)


def _is_per_instance(parameter: Tensor, x: Tensor, first: int) -> bool:
    """Whether a parameter is constant along the axes from ``first`` on, and ``x`` need not be broadcast to it."""
    return prod(parameter.shape[first:]) == 1 and broadcast_shape(parameter.shape, x.shape) == x.shape


@lowers("LP_NORMALIZATION")
def lp_normalization(node: Operands, e: Emitter) -> Tensor:
    """``Input / sqrt(norm ** 2 + Epsilon)`` along Axis, with the norm of order P [decision N16].

    LpNormalization, which has no Epsilon, if Epsilon is negligible, else the formula. An axis of stride 0 is summed
    as its one element times its size.
    """
    op, sizes = node.op, node.output().sizes
    axis, epsilon = op.uint("Axis"), op.float("Epsilon")
    x = node.broadcastable("InputTensor")
    if x.shape[axis] == sizes[axis] and 0 <= epsilon <= NEGLIGIBLE:
        return e.LpNormalization(x, axis, op.uint("P"), epsilon)
    return over_norm(e, x, axis, op.uint("P"), epsilon, sizes[axis])


# --- operands ------------------------------------------------------------------------------------------------------


def _varying(parameters: Iterable[Tensor]) -> set[int]:
    return {axis for item in parameters for axis, size in enumerate(item.shape) if size > 1}


def _as_vector(e: Emitter, parameter: Tensor, shape: tuple[int, ...], first: int, end: int) -> Tensor:
    """Returns a parameter that varies along the axes ``[first, end)`` only as a vector over them."""
    part = e.Reshape(parameter, parameter.shape[first:end])
    return e.Reshape(e.Expand(part, shape[first:end]), (prod(shape[first:end]),))


# --- LOCAL_RESPONSE_NORMALIZATION ------------------------------------------------------------------------------------


@lowers("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(node: Operands, e: Emitter) -> Tensor:
    """``Input / (Bias + Alpha / LocalSize * sum(Input ** 2)) ** Beta`` over channels or image [decisions N13 to N15].

    LRN over channels, AveragePool over height and width.
    """
    op, x, across = node.op, node.tensor("InputTensor"), node.op.flag("CrossChannel")
    size, alpha, beta, bias = op.uint("LocalSize"), op.float("Alpha"), op.float("Beta"), op.float("Bias")
    # for DirectML any power of a negative number is NaN [decision N14]
    has_nan = (alpha < 0 or bias < 0) and float(beta).is_integer()
    if across and not has_nan:
        return e.LRN(x, size, alpha, beta, bias)
    x = wide(e, x)
    s = affine(e, (channel_sums if across else image_sums)(e, e.Mul(x, x), size), alpha / size, bias)
    y = e.Div(x, power(e, s, beta))
    return e.Where(e.Less(s, e.constant(0, s.dtype)), e.constant(np.nan, s.dtype), y) if has_nan else y


def image_sums(e: Emitter, x: Tensor, size: int) -> Tensor:
    """Returns the sums over square windows, with 0 outside the image."""
    start, end = zip(*(reach(size, length) for length in x.shape[2:]), strict=True)
    window = Window(tuple(a + b + 1 for a, b in zip(start, end, strict=True)), (1, 1), (1, 1), start, end)
    return window_sums(e, x, PoolWindows.over(x.shape[2:], window)) if any((*start, *end)) else x
