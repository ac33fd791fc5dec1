"""All ACTIVATION operators, standalone and fused.

https://learn.microsoft.com/windows/ai/directml/dml-fused-activations
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import ACCURACY, FEW, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.numeric import as_integers, in_blocks, sum_error, truncate, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, either, reference

_TRANSCENDENTAL = 32 * ROUNDOFF
"""Error of exp, tanh, erf and similar functions, relative to the largest intermediate value of the formula."""

Function = Callable[[OperatorDesc, Floats], Floats]


@dataclass(frozen=True, slots=True)
class _Elementwise:
    """An element-wise activation; ``error`` bounds its rounding errors, from operator, x and f(x)."""

    function: Function
    error: Callable[[OperatorDesc, Floats, Floats], Floats]
    unspecified: Callable[[Floats, Floats], Mask] | None = None
    """Unspecified elements, from x and f(x)."""
    passes_over_nan: bool = False
    """Whether its max or min returns a number for NaN; if fused, that is open (decision G1)."""
    is_product_when_fused: bool = False
    """Whether the fused form multiplies by 0 instead of returning 0, so that -infinity is open (decision G1)."""

    def bounded(self, op: OperatorDesc, x: Floats, error: Floats) -> tuple[Array, ...]:
        """f(x), its error where x may be off by ``error``, and unspecified elements if there can be any."""
        y = self.function(op, x)
        # evaluating both ends of x's error accounts for slopes and jumps; inexact x may have been flushed to 0 too (G8)
        reach = (error + SMALLEST_FLOAT32) * (error > 0)
        known = np.isfinite(x) & np.isfinite(error)
        if not known.all():
            reach = np.where(known, reach, 0)
        spread = np.abs(self.function(op, x - reach) - y)
        np.maximum(spread, np.abs(self.function(op, x + reach) - y), out=spread)
        known = np.isfinite(y)
        if not known.all():
            spread[~known] = 0
        if self.error is not _exact:
            own = self.error(op, x, y)
            spread += np.where(np.isfinite(own), own, 0)
        return (y, spread) if self.unspecified is None else (y, spread, self.unspecified(x, y))


def apply_activation(
    op: OperatorDesc | None,
    x: Floats,
    error: Floats | None = None,
    unspecified: Mask | None = None,
    *,
    by_itself: bool = False,
) -> Result:
    """Applies a fused activation, if any, to the unrounded result ``x`` of its operator (decision F4).

    ``error`` and ``unspecified`` of ``x`` become those of the result. ``by_itself`` means a standalone activation.
    """
    if error is None:
        error = np.zeros_like(x)
    if op is None:
        return Result(x, error, unspecified)
    if op.type in _SLICES:
        return _apply_to_slices(op, x, error, unspecified)
    if op.type.startswith("ACTIVATION_HARDMAX"):
        return _apply_hardmax(op, x, error, unspecified)
    activation = _ELEMENTWISE[op.type]
    y, spread, *marks = in_blocks(lambda x, error: activation.bounded(op, x, error), x, error)
    if activation.passes_over_nan and not by_itself and np.isnan(x).any():
        marks.append(np.isnan(x))
    if activation.is_product_when_fused and not by_itself and np.isneginf(x).any():
        marks.append(np.isneginf(x))
    for marked in marks:
        unspecified = either(marked, unspecified)
    made_of = _MADE_OF.get(op.type)
    return Result(y, spread, unspecified, scale=made_of(x) if made_of else 0.0)


def activated(op: OperatorDesc | None, x: Floats) -> Result:
    """:func:`apply_activation` without errors or marks."""
    if op is not None and op.type in _ELEMENTWISE:
        (y,) = in_blocks(lambda x: (_ELEMENTWISE[op.type].function(op, x),), x)
        return Result(y)
    return Result(apply_activation(op, x).values)


# --- One element at a time ------------------------------------------------------------------------------------------


def _elu(x: Floats, alpha: float) -> Floats:
    return np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _celu(op: OperatorDesc, x: Floats) -> Floats:
    alpha = op.float("Alpha")
    return np.maximum(0, x) + np.minimum(0, alpha * np.expm1(x / alpha))


def _scaled_elu(op: OperatorDesc, x: Floats) -> Floats:
    alpha, gamma = op.float("Alpha"), op.float("Gamma")
    return np.where(x > 0, gamma * x, gamma * alpha * np.expm1(np.minimum(x, 0)))


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def _softplus(y: Floats) -> Floats:
    """``ln(1 + exp(y))`` without overflow (decision A2)."""
    return np.maximum(y, 0) + np.log1p(np.exp(-np.abs(y)))


def _hard_sigmoid(op: OperatorDesc, x: Floats) -> Floats:
    # max and min ignore NaN (decision G1)
    y: Floats = np.fmin(np.fmax(op.float("Alpha") * x + op.float("Beta"), 0), 1)
    return y


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _gelu(op: OperatorDesc, x: Floats) -> Floats:
    # 1 + erf(z) = erfc(-z), which is accurate where erf approaches -1; at -inf it is a product with 0 (decision A6)
    y: Floats = 0.5 * x * _erfc(-x / math.sqrt(2))
    return y


def _softsign(op: OperatorDesc, x: Floats) -> Floats:
    y: Floats = x / (1 + np.abs(x))
    return y


def _shrink(op: OperatorDesc, x: Floats) -> Floats:
    bias, threshold = op.float("Bias"), op.float("Threshold")
    return np.where(x > threshold, x - bias, np.where(x < -threshold, x + bias, 0))


def _clip(op: OperatorDesc, x: Floats) -> Floats:
    # FLOAT16 bounds need no rounding: rounding the clipped value gives the same result
    y: Floats = np.fmax(op.float("Min"), np.fmin(x, op.float("Max")))
    return y


def _exact(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
    return np.zeros_like(y)


def _short(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
    return FEW * np.abs(y)


def _affine_error(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
    return FEW * (np.abs(op.float("Alpha") * x) + abs(op.float("Beta")))


def _hard_sigmoid_error(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
    # the clamp removes every error outside the slope and a margin
    inner = op.float("Alpha") * x + op.float("Beta")
    return np.where(np.abs(inner - 0.5) < 1, _affine_error(op, x, y), 0)


def _hard_swish_error(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
    return FEW * np.abs(y) + np.abs(x) * _hard_sigmoid_error(op, x, y)


def _shrink_error(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
    return np.where(y == 0, 0, FEW * (np.abs(x) + abs(op.float("Bias"))))


def _smooth(largest: Function) -> Callable[[OperatorDesc, Floats, Floats], Floats]:
    """The error of a formula with transcendental functions, from its largest intermediate value."""

    def error(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
        return ACCURACY * np.abs(y) + _TRANSCENDENTAL * largest(op, x)

    return error


def _exponential(
    scale: Callable[[OperatorDesc], float], factor: Function
) -> Callable[[OperatorDesc, Floats, Floats], Floats]:
    """The error of ``factor`` times a function of ``scale * x`` that approaches 0 exponentially.

    It is relative to the result, however small: a rounding error of the argument becomes a relative error of the
    exponential. A function value below the smallest normal number may be flushed to 0 (decision G8).
    """

    def error(op: OperatorDesc, x: Floats, y: Floats) -> Floats:
        argument = np.minimum(np.abs(scale(op) * x), 128)
        flushed = np.where(y == 0, 0, SMALLEST_FLOAT32 * np.abs(factor(op, x)))
        return (ACCURACY + FEW * argument) * np.abs(y) + flushed

    return error


def _only_below_zero(value: Callable[[OperatorDesc], float]) -> Function:
    return lambda op, x: np.where(x > 0, 0, abs(value(op)))


def _nan(x: Floats, y: Floats) -> Mask:
    """NaN is unspecified for functions that use max and min (decision G1)."""
    return np.isnan(y)


def _beyond_softsign(x: Floats, y: Floats) -> Mask:
    return (np.abs(x) > 1e37) & np.isfinite(x)


_ELEMENTWISE: dict[str, _Elementwise] = {
    "ACTIVATION_CELU": _Elementwise(
        _celu, _smooth(lambda op, x: np.where((x > 0) & (op.float("Alpha") > 0), 0, abs(op.float("Alpha")))), _nan
    ),
    "ACTIVATION_ELU": _Elementwise(
        lambda op, x: _elu(x, op.float("Alpha")), _smooth(_only_below_zero(lambda op: op.float("Alpha")))
    ),
    # |erf| is exactly 1 above 6 (decision E25), so larger x multiply no error
    "ACTIVATION_GELU": _Elementwise(_gelu, _smooth(lambda op, x: np.minimum(np.abs(x), 6))),
    "ACTIVATION_HARD_SIGMOID": _Elementwise(_hard_sigmoid, _hard_sigmoid_error, passes_over_nan=True),
    "ACTIVATION_HARD_SWISH": _Elementwise(lambda op, x: x * _hard_sigmoid(op, x), _hard_swish_error),
    "ACTIVATION_IDENTITY": _Elementwise(lambda op, x: x, _exact),
    "ACTIVATION_LEAKY_RELU": _Elementwise(lambda op, x: np.where(x >= 0, x, op.float("Alpha") * x), _short),
    "ACTIVATION_LINEAR": _Elementwise(lambda op, x: op.float("Alpha") * x + op.float("Beta"), _affine_error),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": _Elementwise(
        lambda op, x: op.float("Alpha") * _softplus(op.float("Beta") * x),
        _smooth(lambda op, x: np.full_like(x, abs(op.float("Alpha")))),
    ),
    "ACTIVATION_RELU": _Elementwise(
        lambda op, x: np.fmax(0, x), _exact, passes_over_nan=True, is_product_when_fused=True
    ),
    "ACTIVATION_SCALED_ELU": _Elementwise(
        _scaled_elu, _smooth(_only_below_zero(lambda op: op.float("Alpha") * op.float("Gamma")))
    ),
    "ACTIVATION_SCALED_TANH": _Elementwise(
        lambda op, x: op.float("Alpha") * np.tanh(op.float("Beta") * x),
        _smooth(lambda op, x: abs(op.float("Alpha")) * np.minimum(np.abs(op.float("Beta") * x), 1)),
    ),
    "ACTIVATION_SHRINK": _Elementwise(_shrink, _shrink_error),
    "ACTIVATION_SIGMOID": _Elementwise(
        lambda op, x: _sigmoid(x), _exponential(lambda op: 1.0, lambda op, x: np.ones_like(x))
    ),
    "ACTIVATION_SOFTPLUS": _Elementwise(
        lambda op, x: _softplus(op.float("Steepness") * x) / op.float("Steepness"),
        _smooth(lambda op, x: np.full_like(x, 1 / op.float("Steepness"))),
    ),
    "ACTIVATION_SOFTSIGN": _Elementwise(_softsign, _short, _beyond_softsign),
    "ACTIVATION_SWISH": _Elementwise(
        lambda op, x: x * _sigmoid(op.float("SigmoidInputScale") * x),
        _exponential(lambda op: op.float("SigmoidInputScale"), lambda op, x: x),
    ),
    "ACTIVATION_TANH": _Elementwise(lambda op, x: np.tanh(x), _smooth(lambda op, x: np.minimum(np.abs(x), 1))),
    "ACTIVATION_THRESHOLDED_RELU": _Elementwise(lambda op, x: np.where(x <= op.float("Alpha"), 0, x), _exact),
    "ELEMENT_WISE_CLIP": _Elementwise(_clip, _exact, passes_over_nan=True),
}


_MADE_OF: Mapping[str, Callable[[Floats], float]] = {
    "ACTIVATION_SIGMOID": lambda x: 1.0,
    "ACTIVATION_SWISH": lambda x: float(np.abs(x).max(initial=0, where=np.isfinite(x))),
}
"""Magnitude of intermediate values: 1 for Sigmoid, as the error of ONNX Runtime's CPU kernel is 1.7e-7 everywhere, and
x for Swish, which multiplies it."""


@reference(*(name for name in _ELEMENTWISE if name.startswith("ACTIVATION_")))
def elementwise(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``f(x)`` per element (decisions A1 to A13)."""
    x = inputs.tensor("InputTensor")
    if op.type == "ACTIVATION_IDENTITY":
        return {"OutputTensor": Result(x)}
    if x.dtype.kind != "f":
        return {"OutputTensor": _integer_activation(op, x)}
    result = apply_activation(op, widen(x), by_itself=True)
    if _ELEMENTWISE[op.type].error is _exact:
        result = Result(result.values, None, result.unspecified)
    return {"OutputTensor": result}


def _integer_activation(op: OperatorDesc, x: Array) -> Result:
    if op.type == "ACTIVATION_RELU":
        return Result(np.where(as_integers(x) > 0, x, x.dtype.type(0)))
    assert op.type == "ACTIVATION_SHRINK", op.type
    in_float32 = x.astype(np.float32)
    bias, threshold = np.float32(op.float("Bias")), np.float32(op.float("Threshold"))
    y = np.where(
        in_float32 > threshold, in_float32 - bias, np.where(in_float32 < -threshold, in_float32 + bias, np.float32(0))
    )
    # rounds to nearest; as in CAST, the driver decides outside the type (decisions A13, E10)
    whole, data_type = np.rint(widen(y)), op.tensor("InputTensor").data_type
    low, high = data_type.limits
    outside: Mask = (whole < low) | (whole > high)
    return Result(truncate(whole, data_type), None, outside if outside.any() else None)


@reference("ACTIVATION_PARAMETERIZED_RELU")
def parameterized_relu(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``x if x >= 0 else slope * x``; integer products wrap (decisions A10 and A11)."""
    x, slope = inputs.tensor("InputTensor"), inputs.tensor("SlopeTensor")
    if x.dtype.kind == "f":
        wide = widen(x)
        y = np.where(wide >= 0, wide, widen(slope) * wide)
        return {"OutputTensor": Result(y, np.zeros_like(y))}
    whole = as_integers(x)
    return {"OutputTensor": Result(np.where(whole >= 0, whole, as_integers(slope) * whole))}


@reference("ACTIVATION_RELU_GRAD")
def relu_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The gradient where ``x > 0``, otherwise 0; NaN x gives 0 (decision A1)."""
    x, gradient = inputs.tensor("InputTensor"), inputs.tensor("InputGradientTensor")
    return {"OutputGradientTensor": Result(np.where(widen(x) > 0, gradient, gradient.dtype.type(0)))}


# --- Slices along axes ----------------------------------------------------------------------------------------------


def _axes(op: OperatorDesc, rank: int) -> tuple[int, ...]:
    """The reduced axes: Axes, or the last one (decisions A14 and A15)."""
    return op.uints("Axes") if op.type.endswith("1") else (rank - 1,)


def _softmax(x: Floats, axes: tuple[int, ...]) -> Floats:
    shifted: Floats = np.exp(x - x.max(axis=axes, keepdims=True))
    total: Floats = shifted.sum(axis=axes, keepdims=True)
    return shifted / total


_SMALLEST_TOTAL = 1e-20


def _log_softmax(x: Floats, axes: tuple[int, ...]) -> Floats:
    # both maxima ignore NaN; the second prevents a logarithm of 0 (decision A17)
    shifted: Floats = x - np.fmax.reduce(x, axis=axes, keepdims=True)
    total: Floats = np.exp(shifted).sum(axis=axes, keepdims=True)
    return shifted - np.log(np.fmax(total, _SMALLEST_TOTAL))


_SLICES = {
    "ACTIVATION_SOFTMAX": _softmax,
    "ACTIVATION_SOFTMAX1": _softmax,
    "ACTIVATION_LOG_SOFTMAX": _log_softmax,
    "ACTIVATION_LOG_SOFTMAX1": _log_softmax,
}


def _apply_to_slices(op: OperatorDesc, x: Floats, error: Floats, unspecified: Mask | None) -> Result:
    axes = _axes(op, x.ndim)
    y = _SLICES[op.type](x, axes)
    terms = int(np.prod([x.shape[axis] for axis in axes]))
    # an input error of e scales numerator and denominator independently by up to exp(e)
    drift = 2 * np.where(np.isfinite(error), error, 0).max(axis=axes, keepdims=True)
    drift = drift + sum_error(terms, np.ones_like(drift), ROUNDOFF) + ACCURACY
    if "LOG" in op.type:
        own = drift + FEW * np.where(np.isfinite(y), np.abs(y), 0)
    else:
        own = np.where(np.isfinite(y), y * np.expm1(drift), 0)
    # a slice of only -inf, or one with inf: NaN depends on the formula (decision A17)
    top = x.max(axis=axes, keepdims=True)
    undefined = np.isinf(top) | np.isnan(top) if "LOG" in op.type else np.isinf(top)
    marks: Mask = np.broadcast_to(undefined, x.shape)
    if unspecified is not None:
        marks = marks | unspecified.any(axis=axes, keepdims=True)
    return Result(y, own, marks)


@reference(*_SLICES)
def softmax(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``exp(x) / sum(exp(x))`` or its logarithm, summed over all axes (decisions A14, A15, A17)."""
    return {"OutputTensor": apply_activation(op, widen(inputs.tensor("InputTensor")))}


def _apply_hardmax(op: OperatorDesc, x: Floats, error: Floats, unspecified: Mask | None) -> Result:
    axes = tuple(sorted(_axes(op, x.ndim)))
    order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    moved_shape, back = x.transpose(order).shape, np.argsort(order)
    length = int(np.prod([x.shape[axis] for axis in axes]))
    values, reach = x.transpose(order).reshape(-1, length), error.transpose(order).reshape(-1, length)
    reach = np.where(np.isfinite(reach) & (reach > 0), reach + SMALLEST_FLOAT32, 0)
    # a leading NaN wins; later ones are ignored (decision A19)
    ranked = np.where(np.isnan(values), -np.inf, values)
    first = np.argmax(np.where(np.isnan(values), -1, ranked == ranked.max(axis=1, keepdims=True)), axis=1)
    first = np.where(np.isnan(values[:, 0]), 0, first)
    hot = np.zeros_like(values)
    hot[np.arange(len(values)), first] = 1
    # every inexact number within its error of the highest may be the first maximum
    near = (ranked + reach >= (ranked - reach).max(axis=1, keepdims=True)) & reach.any(axis=1, keepdims=True)
    own = np.where(near & (near.sum(axis=1, keepdims=True) > 1), 1.0, 0.0)
    marks = np.isnan(values).any(axis=1, keepdims=True)
    if unspecified is not None:
        marks = marks | unspecified.transpose(order).reshape(-1, length).any(axis=1, keepdims=True)
    everywhere: Mask = np.broadcast_to(marks, values.shape).reshape(moved_shape).transpose(back)
    return Result(hot.reshape(moved_shape).transpose(back), own.reshape(moved_shape).transpose(back), everywhere)


@reference("ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1")
def hardmax(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """1 at the first maximum in row-major order over all axes, else 0 (decisions A15, A16, A19)."""
    result = apply_activation(op, widen(inputs.tensor("InputTensor")))
    return {"OutputTensor": Result(result.values, None, result.unspecified)}
