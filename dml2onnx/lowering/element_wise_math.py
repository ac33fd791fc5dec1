"""ELEMENT_WISE operators for rounding, powers, bounds, transcendental functions and further arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.tensor import DataType
from dml2onnx.lowering.activation import affine, clamp
from dml2onnx.lowering.element_wise import bound, is_unscaled, limits, operands, scaled
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT

_UNARY: Mapping[str, Callable[[Emitter, Tensor], Tensor]] = {
    "ELEMENT_WISE_ACOS": Emitter.Acos,
    "ELEMENT_WISE_ACOSH": Emitter.Acosh,
    "ELEMENT_WISE_ASIN": Emitter.Asin,
    "ELEMENT_WISE_ASINH": Emitter.Asinh,
    "ELEMENT_WISE_ATAN": lambda e, x: e.unless_nan(x, e.Atan(x), math.pi / 4),
    "ELEMENT_WISE_ATANH": Emitter.Atanh,
    "ELEMENT_WISE_COS": Emitter.Cos,
    "ELEMENT_WISE_COSH": Emitter.Cosh,
    "ELEMENT_WISE_ERF": Emitter.Erf,
    "ELEMENT_WISE_EXP": Emitter.Exp,
    "ELEMENT_WISE_LOG": Emitter.Log,
    "ELEMENT_WISE_RECIP": Emitter.Reciprocal,
    "ELEMENT_WISE_SIN": Emitter.Sin,
    "ELEMENT_WISE_SINH": Emitter.Sinh,
    "ELEMENT_WISE_SQRT": Emitter.Sqrt,
    "ELEMENT_WISE_TAN": Emitter.Tan,
    "ELEMENT_WISE_TANH": Emitter.Tanh,
}
"""Functions of floats that map to one ONNX operator."""

_EXACT: Mapping[str, Callable[[Emitter, Tensor], Tensor]] = {
    "ELEMENT_WISE_ABS": Emitter.Abs,
    "ELEMENT_WISE_CEIL": Emitter.Ceil,
    "ELEMENT_WISE_FLOOR": Emitter.Floor,
    "ELEMENT_WISE_NEGATE": Emitter.Neg,
    "ELEMENT_WISE_SIGN": Emitter.Sign,
}
"""Functions that map to one ONNX operator and do not round, so that FLOAT16 is not widened."""
_DISCONTINUOUS = ("ELEMENT_WISE_CEIL", "ELEMENT_WISE_FLOOR", "ELEMENT_WISE_SIGN")
"""Functions whose result for a subnormal number may be 1 or -1."""
_SMALLEST = float(np.finfo(np.float32).smallest_normal)
_LARGEST_BELOW = float(np.nextafter(np.float32(_SMALLEST), np.float32(0)))


@lowers(*_UNARY)
def unary(node: Operands, e: Emitter) -> Tensor:
    """``f(InputTensor * Scale + Bias)``: the ONNX operator of the same name."""
    x = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    if node.op.type == "ELEMENT_WISE_LOG":
        x = _without_subnormals(node, e, x)
    return _UNARY[node.op.type](e, x)


def _without_subnormals(node: Operands, e: Emitter, x: Tensor, *, keeps_nan: bool = True) -> Tensor:
    """Flushes subnormal FLOAT32 numbers to 0, as DirectML does, if the model must keep that [decision G8].

    NaN becomes 0 too, unless ``keeps_nan``: the SIGN of NaN is 0.
    """
    data_type = node.op.tensor(node.op.schema.input_fields[0].name).data_type
    if data_type is not DataType.FLOAT32 or not e.keeps_subnormals():
        return x
    zero, size = e.constant(0, x.dtype), e.Abs(x)
    if keeps_nan:
        # a zero keeps its sign
        is_subnormal = e.And(e.Less(size, e.constant(_SMALLEST, x.dtype)), e.Greater(size, zero))
        return e.Where(is_subnormal, zero, x)
    return e.Where(e.Greater(size, e.constant(_LARGEST_BELOW, x.dtype)), x, zero, no_minus_zero=True)


@lowers(*_EXACT)
def exact_unary(node: Operands, e: Emitter) -> Tensor:
    """ABS, CEIL, FLOOR, NEGATE, SIGN; the lowest integer keeps its sign [decision E3]: the ONNX operators."""
    x = node.broadcastable("InputTensor")
    factors = node.op.scale_bias() if "ScaleBias" in node.op.schema.index else None
    if not is_unscaled(factors):
        x = scaled(e, node.widened(x), factors)
    if node.op.type in _DISCONTINUOUS:
        x = _without_subnormals(node, e, x, keeps_nan=node.op.type != "ELEMENT_WISE_SIGN")
    return _EXACT[node.op.type](e, x)


@lowers("ELEMENT_WISE_ROUND")
def round_(node: Operands, e: Emitter) -> Tensor:
    """Round, or the sign of x times Floor of its magnitude, for TOWARD_INFINITY plus 0.5 [decisions E16, E17].

    The sign is x clipped to [-1, 1], so that 0 keeps its sign; between the limits the other factor is 0.
    """
    x, mode = node.broadcastable("InputTensor"), node.op.enum("RoundingMode")
    if mode == "HALVES_TO_NEAREST_EVEN":
        return e.Round(x)
    x = node.widened(x) if mode == "TOWARD_ZERO" else e.Cast(x, FLOAT)
    magnitude, signed = e.Abs(x), x
    if mode == "TOWARD_INFINITY":
        e.note("the FLOAT32 number below 0.5 is added to |x|: halves round away from zero, smaller fractions do not")
        magnitude = e.Add(magnitude, e.constant(np.nextafter(np.float32(0.5), np.float32(0))))
        signed = e.Mul(x, e.constant(2, x.dtype))
    return e.Mul(e.Floor(magnitude), e.Clip(signed, -1, 1))


@lowers("ELEMENT_WISE_ATAN_YX")
def atan_yx(node: Operands, e: Emitter) -> Tensor:
    """The angle of the point (BTensor, ATensor): Atan in the first quadrant, then mirrored [decision E28]."""
    y, x = operands(node)
    zero = e.constant(0, x.dtype)
    height, width = e.Abs(y), e.Abs(x)
    e.note("equal sides are 45 degrees, also if they are infinite; the origin is 0")
    slope = e.Where(e.Equal(height, width), e.Sign(height), e.Div(height, width), no_minus_zero=True)
    angle = e.Atan(slope)
    other_side = e.Sub(e.constant(math.pi, x.dtype), angle)
    angle = e.Where(e.Less(x, zero), other_side, angle, no_minus_zero=True)
    # the reciprocal distinguishes -0 from 0
    sign = e.Clip(e.Reciprocal(e.Clip(y, -1, 1)), -1, 1)
    return e.Mul(angle, sign)


# --- two operands ----------------------------------------------------------------------------------------------------


@lowers("ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN")
def extreme(node: Operands, e: Emitter) -> Tensor:
    """Max and Min."""
    a, b = node.broadcastable("ATensor"), node.broadcastable("BTensor")
    a, b = e.unless_nan(a, a, b), e.unless_nan(b, b, a)
    return e.Max(a, b) if node.op.type.endswith("MAX") else e.Min(a, b)


@lowers("ELEMENT_WISE_MEAN")
def mean(node: Operands, e: Emitter) -> Tensor:
    """Mean for floats; for integers half of the wrapped sum, truncated [decision E26]."""
    a, b = operands(node)
    return e.Mean(a, b) if a.dtype.kind == "f" else e.Div(e.Add(a, b), e.constant(2, a.dtype))


@lowers("ELEMENT_WISE_DIFFERENCE_SQUARE")
def difference_square(node: Operands, e: Emitter) -> Tensor:
    """``(ATensor - BTensor) ** 2``; integers wrap [decision E27]: Sub and Mul."""
    difference = e.Sub(*operands(node))
    return e.Mul(difference, difference)


@lowers("ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE")
def modulus(node: Operands, e: Emitter) -> Tensor:
    """The remainder, with the sign of BTensor (FLOOR) or of ATensor (TRUNCATE) [decisions E2 to E5]."""
    a, b = operands(node)
    is_floor = node.op.type.endswith("FLOOR")
    if a.dtype.kind != "f":
        return e.Mod(a, b, truncates=not is_floor)
    a, b = _without_subnormals(node, e, a), _without_subnormals(node, e, b)
    result = e.Mod(a, b)
    if not is_floor:
        return result
    crosses = e.Less(e.Mul(result, e.Sign(b)), e.constant(0, b.dtype))
    # |remainder| < |b|, so the sum is not 0
    return e.Where(crosses, e.Add(result, b), result, no_minus_zero=True)


# --- bounds ----------------------------------------------------------------------------------------------------------


@lowers("ELEMENT_WISE_THRESHOLD")
def threshold(node: Operands, e: Emitter) -> Tensor:
    """``max(x * Scale + Bias, Min)`` with Min of the tensor's type [decisions E7, E29]: Clip."""
    out = node.output()
    x = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    low = bound(node.op.float("Min"), out.data_type.dtype)
    if x.dtype.kind == "f":
        return e.unless_nan(x, clamp(e, x, low, math.inf), low)
    lowest = np.iinfo(out.data_type.dtype.name).min
    return e.Clip(x, low if low > lowest else None, None)


@lowers("ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1")
def clip_grad(node: Operands, e: Emitter) -> Tensor:
    """The gradient where Min < x < Max, else 0, also for NaN [decision E8]: two comparisons and a Where."""
    x, gradient = node.broadcastable("InputTensor"), node.broadcastable("InputGradientTensor")
    low, high = (e.constant(limit, x.dtype) for limit in limits(node.op, x.dtype))
    return e.Where(e.And(e.Greater(x, low), e.Less(x, high)), gradient, e.constant(0, gradient.dtype))


@lowers("VALUE_SCALE_2D")
def value_scale_2d(node: Operands, e: Emitter) -> Tensor:
    """``InputTensor * Scale + Bias[channel]`` [decision X26]: Mul and Add."""
    x = affine(e, node.widened(node.broadcastable("InputTensor")), node.op.float("Scale"), 0)
    bias = np.array(node.op.floats("Bias"), x.dtype).reshape(1, -1, 1, 1)
    return e.Add(x, e.constant(bias)) if bias.any() else x


# --- powers ----------------------------------------------------------------------------------------------------------


@lowers("ELEMENT_WISE_POW")
def pow_(node: Operands, e: Emitter) -> Tensor:
    """``(x * Scale + Bias) ** (exponent * Scale + Bias)`` [decisions E18, E19]: Pow."""
    base = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    exponent, factors = node.broadcastable("ExponentTensor"), node.op.scale_bias()
    if factors is not None and exponent.dtype.kind == "f":
        exponent = e.Cast(exponent, FLOAT)
    return e.Pow(base, scaled(e, exponent, factors))


@lowers("ELEMENT_WISE_CONSTANT_POW")
def constant_pow(node: Operands, e: Emitter) -> Tensor:
    """``(x * Scale + Bias) ** Exponent`` [decisions E18 to E20]: Pow."""
    base = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    return e.Pow(base, e.constant(node.op.float("Exponent"), base.dtype if base.dtype.kind == "f" else FLOAT))
