"""BATCH_NORMALIZATION, MEAN_VARIANCE_NORMALIZATION in its versions, LP_ and LOCAL_RESPONSE_NORMALIZATION."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dml2onnx.emitter.core import broadcast_shape
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.formulas import channel_sums, factor_of, is_all, loses_little, power, reach
from dml2onnx.lowering.activation import affine, apply_activation
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import FLOAT, FLOAT16

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands

Axes: TypeAlias = tuple[int, ...]

SHORTEST_ROW = 2
"""Kernels that take a channel at a time want more than one element of it (ONNX Runtime 1.24 most of all)."""
NEGLIGIBLE = 1e-10
"""An Epsilon that no sum of ordinary numbers notices."""


# --- given statistics ------------------------------------------------------------------------------------------------


@lowers("BATCH_NORMALIZATION")
def batch_normalization(node: Operands, e: Emitter) -> Tensor:
    """``FusedActivation(Scale * ((Input - Mean) / sqrt(Variance + Epsilon)) + Bias)``, all given [decision N9].

    BatchNormalization, into which ONNX Runtime merges a Conv before it, where the parameters follow channels; else
    Sub, Mul and Add.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_batch_normalization_operator_desc
    """
    names = ("InputTensor", "MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor")
    x, *parameters = (node.widened(node.broadcastable(name)) for name in names)
    epsilon = node.op.float("Epsilon")
    y = _by_channels(e, x, parameters, epsilon)
    if y is None:
        y = _with_factor(e, _wide(e, x), [_wide(e, item) for item in parameters], epsilon)
    return apply_activation(e, node.op.activation(), y)


def _by_channels(e: Emitter, x: Tensor, parameters: list[Tensor], epsilon: float) -> Tensor | None:
    """A BatchNormalization of ``x`` in three parts, of which the parameters follow the middle one.

    ``None`` where there are no such, or the kernel could not tell numbers divided by 0 from each other.
    """
    following = _varying(parameters)
    first, behind = min(following, default=0), max(following, default=-1) + 1
    if following <= {1} and x.rank >= 3:
        first, behind = 1, 2
    fits = all(x.shape[axis] > 1 for axis in following)
    mean, variance, scale, bias = parameters
    if e.exact:
        fits &= prod(x.shape[behind:]) >= SHORTEST_ROW
        fits &= epsilon > 0 or _has_finite_factor(e, variance, scale, epsilon)
    if not fits:
        return None
    flat = {id(item): _spread(e, item, x.shape, first, behind) for item in parameters}
    rows = e.Reshape(x, _rows(x.shape, first, behind))
    factor, term, middle, spread = (flat[id(item)] for item in (scale, bias, mean, variance))
    y = e.BatchNormalization(rows, factor, term, middle, spread, epsilon)
    return e.Reshape(y, x.shape)


def _with_factor(e: Emitter, x: Tensor, parameters: list[Tensor], epsilon: float) -> Tensor:
    """One Mul and one Add where both factor and term are known; otherwise the mean is subtracted first."""
    mean, variance, scale, bias = parameters
    factor = factor_of(e, variance, scale, epsilon)
    is_finite = _has_finite_factor(e, variance, scale, epsilon)
    if is_finite and bias.value is not None and loses_little(e, mean, variance, scale, bias, epsilon):
        return _plus(e, _times(e, x, factor), e.Sub(bias, e.Mul(mean, factor)))
    centred = x if is_all(mean, 0) else e.Sub(x, mean)
    return _plus(e, _times(e, centred, factor), bias)


def _has_finite_factor(e: Emitter, variance: Tensor, scale: Tensor, epsilon: float) -> bool:
    """Whether variance and scale are known, and what they make of a number is one."""
    if variance.value is None or scale.value is None:
        return False
    return bool(np.isfinite(factor_of(e, variance, scale, epsilon).constant).all())


# --- the input's own statistics --------------------------------------------------------------------------------------


@lowers("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
def mean_variance_normalization(node: Operands, e: Emitter) -> Tensor:
    """The same with the input's own mean and population variance over axes [decisions N1 to N8].

    LayerNormalization, RMSNormalization, GroupNormalization or InstanceNormalization where the axes are the last ones,
    otherwise the formula. Exactly the last of them only: the kernel of LayerNormalization in ONNX Runtime 1.24
    subtracts the square of the mean from the mean of the squares, which leaves no digit, or NaN, where the mean is
    large. Elements that only repeat change neither mean nor variance.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_mean_variance_normalization1_operator_desc
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
    if use_variance and not e.exact:
        y = _by_layers(e, x, axes, scale, bias, epsilon, use_mean=use_mean)
    if y is None and use_mean and use_variance:
        y = _by_instances(e, x, axes, scale, bias, epsilon)
    if y is None:
        x = _wide(e, x)
        scale, bias = (None if item is None else _wide(e, item) for item in (scale, bias))
        centred = e.Sub(x, e.ReduceMean(x, axes)) if use_mean else x
        if use_variance:
            centred, scale = _divided(e, centred, axes, scale, epsilon)
        y = _plus(e, _times(e, centred, scale), bias)
    return apply_activation(e, op.activation(), y)


def _by_layers(
    e: Emitter, x: Tensor, axes: Axes, scale: Tensor | None, bias: Tensor | None, epsilon: float, *, use_mean: bool
) -> Tensor | None:
    """LayerNormalization, or without the mean RMSNormalization, over what lies behind the first of ``axes``.

    ``None`` where they are not the last ones, where scale or bias follow others, or where images are normalised channel
    by channel, which is InstanceNormalization.
    """
    if not axes or not _are_last(x, axes) or (use_mean and axes[0] == 2 and x.rank > 3 and scale is None):
        return None
    first = axes[0]
    given = [item for item in (scale, bias) if item is not None]
    if use_mean and first == 2 and x.rank > 3 and _varying(given) <= {1, 2} and 2 in _varying(given):
        return _by_groups(e, x, scale, bias, epsilon)
    is_inner = (
        all(prod(item.shape[:first]) == 1 for item in given)
        and broadcast_shape(x.shape, *(item.shape for item in given)) == x.shape
    )
    operator = "LayerNormalization" if use_mean else "RMSNormalization"
    if not is_inner or not e.has_kernel(operator, x.dtype):
        return None
    inner = x.shape[first:]

    def whole(item: Tensor) -> Tensor:
        return e.Expand(e.Reshape(item, item.shape[first:]), inner)

    factor = whole(e.constant(np.ones((1,) * x.rank, x.dtype)) if scale is None else scale)
    term = None if bias is None else whole(bias)
    if use_mean:
        return e.LayerNormalization(x, factor, term, first, epsilon)
    y = e.RMSNormalization(x, factor, first, epsilon)
    return y if term is None else e.Add(y, term)


def _by_groups(e: Emitter, x: Tensor, scale: Tensor | None, bias: Tensor | None, epsilon: float) -> Tensor | None:
    """GroupNormalization of (N, groups, channels of a group, ...), scale and bias being those of channels; opset 21."""
    if e.opset < 21 or _varying([x]) != _varying([item for item in (x, scale, bias) if item is not None]):
        return None
    channels = x.shape[1] * x.shape[2]

    def spread(parameter: Tensor | None, default: float) -> Tensor:
        if parameter is None:
            return e.constant(np.full(channels, default, x.dtype))
        return e.Reshape(e.Expand(e.Reshape(parameter, parameter.shape[1:3]), x.shape[1:3]), (channels,))

    rows = e.Reshape(x, (x.shape[0], channels, *x.shape[3:]))
    y = e.GroupNormalization(rows, spread(scale, 1), spread(bias, 0), x.shape[1], epsilon)
    return e.Reshape(y, x.shape)


def _are_last(x: Tensor, axes: Axes) -> bool:
    """Whether nothing that matters lies behind the first of ``axes`` but the others."""
    return all(axis in axes for axis, size in enumerate(x.shape) if size > 1 and axis > axes[0])


def _by_instances(
    e: Emitter, x: Tensor, axes: Axes, scale: Tensor | None, bias: Tensor | None, epsilon: float
) -> Tensor | None:
    """InstanceNormalization over what lies behind the first of ``axes``; ``None`` where they are not the last ones.

    It takes a scale and a bias that are the same all over an instance; others follow it.
    """
    if not axes or not _are_last(x, axes) or not e.has_kernel("InstanceNormalization", x.dtype):
        return None
    first = axes[0]
    inner_scale = scale if scale is not None and _is_outside(scale, x, first) else None
    inner_bias = bias if bias is not None and _is_outside(bias, x, first) and scale is inner_scale else None
    following = _varying(item for item in (inner_scale, inner_bias) if item is not None)
    # (N, C, ...) stays as it is
    start = min(following, default=1 if first == 2 else first)
    rows = _rows(x.shape, start, first)
    one, zero = (e.constant(np.full((1,) * x.rank, value, x.dtype)) for value in (1, 0))
    factor = _spread(e, one if inner_scale is None else inner_scale, x.shape, start, first)
    term = _spread(e, zero if inner_bias is None else inner_bias, x.shape, start, first)
    y = e.Reshape(e.InstanceNormalization(e.Reshape(x, rows), factor, term, epsilon), x.shape)
    y = y if scale is inner_scale else _times(e, y, scale)
    return y if bias is inner_bias else _plus(e, y, bias)


def _is_outside(parameter: Tensor, x: Tensor, first: int) -> bool:
    """Whether a parameter is the same along all axes from ``first`` on, and ``x`` is not repeated along the others."""
    return prod(parameter.shape[first:]) == 1 and broadcast_shape(parameter.shape, x.shape) == x.shape


def _divided(e: Emitter, x: Tensor, axes: Axes, scale: Tensor | None, epsilon: float) -> tuple[Tensor, Tensor | None]:
    """``x`` and the scale, one of which is divided by the root of the mean of ``x`` squared, plus ``epsilon``.

    The smaller one is, if that makes it no larger.
    """
    mean_square = e.ReduceMean(e.Mul(x, x), axes)
    inverse = e.Reciprocal(e.Sqrt(e.Add(mean_square, e.constant(epsilon, x.dtype))))
    if scale is None:
        return x, inverse
    if all(scale.shape[axis] == 1 for axis in axes):
        return x, e.Mul(scale, inverse)
    return e.Mul(x, inverse), scale


@lowers("LP_NORMALIZATION")
def lp_normalization(node: Operands, e: Emitter) -> Tensor:
    """``Input / sqrt(norm ** 2 + Epsilon)`` along Axis, of the norm that P names [decision N16].

    LpNormalization, which knows no Epsilon, where that is too small to matter; exactly the formula. An axis that memory
    repeats (stride 0) is summed as its one element.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_lp_normalization_operator_desc
    """
    op, sizes = node.op, node.output().sizes
    axis, epsilon = op.uint("Axis"), op.float("Epsilon")
    x = node.broadcastable("InputTensor")
    has_operator = e.has_kernel("LpNormalization", x.dtype)
    if not e.exact and has_operator and x.shape[axis] == sizes[axis] and 0 <= epsilon <= NEGLIGIBLE:
        return e.LpNormalization(x, axis, op.uint("P"))
    x = _wide(e, x)
    measure = e.Abs(x) if op.uint("P") == 1 else e.Mul(x, x)
    count = e.constant(sizes[axis], x.dtype)
    total = e.Mul(measure, count) if x.shape[axis] == 1 else e.ReduceSum(measure, (axis,))
    if op.uint("P") == 1:
        if epsilon == 0:
            return e.Div(x, total)
        total = e.Mul(total, total)
    return e.Div(x, e.Sqrt(_plus(e, total, e.constant(epsilon, x.dtype))))


# --- operands ------------------------------------------------------------------------------------------------------


def _wide(e: Emitter, x: Tensor) -> Tensor:
    """FLOAT16 as FLOAT, whatever the provider computes in: squares soon overflow, and Epsilon vanishes."""
    return e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x


def _varying(parameters: Iterable[Tensor]) -> set[int]:
    return {axis for item in parameters for axis, size in enumerate(item.shape) if size > 1}


def _rows(shape: tuple[int, ...], first: int, behind: int) -> tuple[int, ...]:
    """``shape`` as (N, C, ...), C being the axes from ``first`` to before ``behind``."""
    if (first, behind) == (1, 2) and len(shape) >= 3:
        return shape
    return prod(shape[:first]), prod(shape[first:behind]), prod(shape[behind:])


def _spread(e: Emitter, parameter: Tensor, shape: tuple[int, ...], first: int, behind: int) -> Tensor:
    """A parameter as a vector over the axes from ``first`` to before ``behind``, which alone it follows."""
    part = e.Reshape(parameter, parameter.shape[first:behind])
    return e.Reshape(e.Expand(part, shape[first:behind]), (prod(shape[first:behind]),))


def _times(e: Emitter, x: Tensor, factor: Tensor | None) -> Tensor:
    """``x`` itself where the factor is known to be 1."""
    return x if factor is None or is_all(factor, 1) else e.Mul(x, factor)


def _plus(e: Emitter, x: Tensor, term: Tensor | None) -> Tensor:
    """``x`` itself where the term is known to be 0."""
    return x if term is None or is_all(term, 0) else e.Add(x, term)


# --- neighbours ------------------------------------------------------------------------------------------------------


@lowers("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(node: Operands, e: Emitter) -> Tensor:
    """``Input / (Bias + Alpha / LocalSize * sum(Input ** 2)) ** Beta`` over channels or image [decisions N13 to N15].

    LRN, which wants odd sizes, or sums of slices of channels; AveragePool over height and width. ONNX Runtime's LRN
    subtracts from its sum what leaves the window, and where Bias hides nothing that takes the digits of small elements.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_local_response_normalization_operator_desc
    """
    op, x, across = node.op, node.tensor("InputTensor"), node.op.flag("CrossChannel")
    size, alpha, beta, bias = op.uint("LocalSize"), op.float("Alpha"), op.float("Beta"), op.float("Bias")
    if across and size % 2 and beta > 0 and 0 < alpha <= bias * size:
        return e.LRN(x, size, alpha, beta, bias)
    x = _wide(e, x)
    total = (channel_sums if across else image_sums)(e, e.Mul(x, x), size)
    s = affine(e, total, alpha / size, bias)
    y = e.Div(x, power(e, s, beta))
    if (alpha < 0 or bias < 0) and float(beta).is_integer():
        # DirectML's power of a negative number is NaN always [decision N14]
        y = e.Where(e.Less(s, e.constant(0, s.dtype)), e.constant(np.nan, s.dtype), y)
    return y


def image_sums(e: Emitter, x: Tensor, size: int) -> Tensor:
    """Sums over square windows, 0 outside: means of columns, and then of rows, times the elements inside.

    ONNX Runtime 1.24 counts padding wrongly where it is not the same all around.
    """
    counts = np.ones((1, 1, 1, 1), np.int64)
    for axis in (0, 1):
        length = x.shape[2 + axis]
        before, behind = reach(size, length)
        if before + behind == 0:
            continue
        shape, start, end = (
            tuple(value if axis == i else other for i in (0, 1))
            for value, other in ((before + behind + 1, 1), (before, 0), (behind, 0))
        )
        x = e.AveragePool(x, Window(shape, (1, 1), (1, 1), start, end), count_include_pad=False)
        e.budget.require(counts.size * length)
        places = np.arange(length)
        inside = np.minimum(places + behind, length - 1) - np.maximum(places - before, 0) + 1
        counts = counts * inside.reshape((-1, 1) if axis == 0 else (1, -1))
    return _times(e, x, e.constant(counts, x.dtype))
