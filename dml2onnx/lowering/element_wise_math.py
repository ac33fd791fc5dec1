"""ELEMENT_WISE operators of arithmetic beyond the four basic ones, rounding, powers and transcendental functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.tensor import DataType
from dml2onnx.lowering.activation import affine, clamp, passing_over_nan
from dml2onnx.lowering.element_wise import bound, is_safe_divisor, is_unscaled, limits, operands, scaled, truncated
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import DOUBLE, FLOAT, INT64

if TYPE_CHECKING:
    from dml2onnx.lowering.operands import Operands

_INT32 = np.dtype(np.int32)
_UINT32 = np.dtype(np.uint32)

_UNARY: Mapping[str, Callable[[Emitter, Tensor], Tensor]] = {
    "ELEMENT_WISE_ACOS": Emitter.Acos,
    "ELEMENT_WISE_ACOSH": Emitter.Acosh,
    "ELEMENT_WISE_ASIN": Emitter.Asin,
    "ELEMENT_WISE_ASINH": Emitter.Asinh,
    "ELEMENT_WISE_ATAN": Emitter.Atan,
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
"""Functions of floats that are one ONNX operator."""

_EXACT: Mapping[str, Callable[[Emitter, Tensor], Tensor]] = {
    "ELEMENT_WISE_ABS": Emitter.Abs,
    "ELEMENT_WISE_CEIL": Emitter.Ceil,
    "ELEMENT_WISE_FLOOR": Emitter.Floor,
    "ELEMENT_WISE_NEGATE": Emitter.Neg,
    "ELEMENT_WISE_SIGN": Emitter.Sign,
}
"""Functions that are one ONNX operator and round nothing, so that FLOAT16 is not widened."""
_JUMPING = ("ELEMENT_WISE_CEIL", "ELEMENT_WISE_FLOOR", "ELEMENT_WISE_SIGN")
"""Those that make whole numbers of the smallest ones."""
_SMALLEST = float(np.finfo(np.float32).smallest_normal)
_LARGEST_BELOW = float(np.nextafter(np.float32(_SMALLEST), np.float32(0)))


@lowers(*_UNARY)
def unary(node: Operands, e: Emitter) -> Tensor:
    """``f(InputTensor * Scale + Bias)``: the ONNX operator of the same name.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_exp_operator_desc
    """
    x = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    if node.op.type == "ELEMENT_WISE_LOG":
        x = _without_subnormals(node, e, x)
    return _as_formula(e, node.op.type, x, _UNARY[node.op.type](e, x))


def _as_formula(e: Emitter, name: str, x: Tensor, y: Tensor) -> Tensor:
    """``y``, exactly with what DirectML's formulas of ATAN and ASINH make of NaN and -infinity [decisions G1, G12]."""
    if not e.exact or x.is_bounded:
        return y
    if name == "ELEMENT_WISE_ATAN":
        return e.Where(e.IsNaN(x), e.constant(math.pi / 4, x.dtype), y)
    if name == "ELEMENT_WISE_ASINH":
        return e.Where(e.Equal(x, e.constant(-math.inf, x.dtype)), e.constant(math.nan, x.dtype), y)
    return y


def _without_subnormals(node: Operands, e: Emitter, x: Tensor, *, keeps_nan: bool = True) -> Tensor:
    """FLOAT32 as DirectML takes it: exactly, and where a smallest number would make another result [decision G8].

    NaN becomes 0, too, unless ``keeps_nan``: the SIGN of it is 0.
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
    """ABS, CEIL, FLOOR, NEGATE, SIGN: the ONNX operators; the most negative integer stays [decision E3].

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_abs_operator_desc
    """
    x = node.broadcastable("InputTensor")
    factors = node.op.scale_bias() if "ScaleBias" in node.op.schema.index else None
    if not is_unscaled(factors):
        x = scaled(e, node.widened(x), factors)
    if node.op.type in _JUMPING:
        x = _without_subnormals(node, e, x, keeps_nan=node.op.type != "ELEMENT_WISE_SIGN")
    return _EXACT[node.op.type](e, x)


@lowers("ELEMENT_WISE_ROUND")
def round_(node: Operands, e: Emitter) -> Tensor:
    """Round, or Floor of the magnitude, itself or moved by a half, times the sign of x [decisions E16, E17].

    The sign is x itself within -1 and 1, where the factor is 0 unless it is an end: so 0 keeps its sign, too.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_round_operator_desc
    """
    x, mode = node.broadcastable("InputTensor"), node.op.enum("RoundingMode")
    if mode == "HALVES_TO_NEAREST_EVEN":
        return e.Round(x)
    x = node.widened(x) if mode == "TOWARD_ZERO" else e.Cast(x, FLOAT)
    magnitude, signed = e.Abs(x), x
    if mode == "TOWARD_INFINITY":
        e.note("|x| is moved by the FLOAT32 number below 0.5: halves round to the next whole number, less does not")
        magnitude = e.Add(magnitude, e.constant(np.nextafter(np.float32(0.5), np.float32(0))))
        signed = e.Mul(x, e.constant(2, x.dtype))
    return e.Mul(e.Floor(magnitude), e.Clip(signed, -1, 1))


@lowers("ELEMENT_WISE_ATAN_YX")
def atan_yx(node: Operands, e: Emitter) -> Tensor:
    """The angle of the point (BTensor, ATensor): Atan in the first quadrant, then mirrored [decision E28].

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_atan_yx_operator_desc
    """
    y, x = operands(node)
    zero = e.constant(0, x.dtype)
    height, width = e.Abs(y), e.Abs(x)
    e.note("equal sides are 45 degrees, also where they are infinite; the origin is 0")
    slope = e.Where(e.Equal(height, width), e.Sign(height), e.Div(height, width), no_minus_zero=True)
    angle = e.Atan(slope)
    other_side = e.Sub(e.constant(math.pi, x.dtype), angle)
    angle = e.Where(e.Less(x, zero), other_side, angle, no_minus_zero=True)
    # the reciprocal tells -0 from 0
    sign = e.Clip(e.Reciprocal(e.Clip(y, -1, 1)), -1, 1)
    return e.Mul(angle, sign)


# --- two operands ----------------------------------------------------------------------------------------------------


@lowers("ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN")
def extreme(node: Operands, e: Emitter) -> Tensor:
    """Max and Min.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_max_operator_desc
    """
    a, b = node.broadcastable("ATensor"), node.broadcastable("BTensor")
    if e.exact and a.dtype.kind == "f":
        e.note("NaN gives way to a number, as in DirectML")
        a, b = (x if x.is_bounded else e.Where(e.IsNaN(x), other, x) for x, other in ((a, b), (b, a)))
    return e.Max(a, b) if node.op.type.endswith("MAX") else e.Min(a, b)


@lowers("ELEMENT_WISE_MEAN")
def mean(node: Operands, e: Emitter) -> Tensor:
    """Mean of floats; of integers the wrapped sum, and half of it toward zero [decision E26].

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_mean_operator_desc
    """
    a, b = operands(node)
    return e.Mean(a, b) if a.dtype.kind == "f" else e.Div(e.Add(a, b), e.constant(2, a.dtype))


@lowers("ELEMENT_WISE_DIFFERENCE_SQUARE")
def difference_square(node: Operands, e: Emitter) -> Tensor:
    """``(ATensor - BTensor)`` times itself; integers wrap [decision E27]: Sub and Mul.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_difference_square_operator_desc
    """
    difference = e.Sub(*operands(node))
    return e.Mul(difference, difference)


@lowers("ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE")
def modulus(node: Operands, e: Emitter) -> Tensor:
    """The remainder, with the sign of BTensor (FLOOR) or of ATensor (TRUNCATE) [decisions E2 to E5].

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_modulus_floor_operator_desc
    """
    a, b = operands(node)
    is_floor = node.op.type.endswith("FLOOR")
    if a.dtype.kind == "f":
        a, b = _without_subnormals(node, e, a), _without_subnormals(node, e, b)
        result = e.Mod(a, b)
        if e.exact and (b.value is None or np.isinf(b.value).any()):
            e.note("a multiple of an infinite divisor is NaN, as in DirectML")
            result = e.Where(e.IsInf(b), e.constant(math.nan, b.dtype), result, no_minus_zero=True)
        if is_floor:
            crosses = e.Less(e.Mul(result, e.Sign(b)), e.constant(0, b.dtype))
            # a remainder is nearer to 0 than b
            result = e.Where(crosses, e.Add(result, b), result, no_minus_zero=True)
        return result
    return _unsigned_remainder(e, a, b) if a.dtype.kind == "u" else _signed_remainder(e, a, b, is_floor)


def _unsigned_remainder(e: Emitter, a: Tensor, b: Tensor) -> Tensor:
    if is_safe_divisor(b):
        return e.Mod(a, b)
    is_zero = e.Cast(e.Equal(b, e.constant(0, b.dtype)), b.dtype)
    # modulo 1 leaves 0, and 0 - 1 wraps to all ones
    return e.Sub(e.Mod(a, e.Add(b, is_zero)), is_zero)


def _signed_remainder(e: Emitter, a: Tensor, b: Tensor, is_floor: bool) -> Tensor:
    """Modulo -1, 0 and 1 everything is 0, and modulo 1 no processor traps."""
    if not is_safe_divisor(b):
        one = e.constant(1, b.dtype)
        if b.dtype.itemsize < 4:
            b = e.Add(b, e.Cast(e.Equal(b, e.constant(0, b.dtype)), b.dtype))
        else:
            is_unit = e.And(e.Less(b, e.constant(2, b.dtype)), e.Greater(b, e.constant(-2, b.dtype)))
            b = e.Where(is_unit, one, b)
    if is_floor:
        return e.Mod(a, b)
    e.note("integer Mod has the divisor's sign, and computes the dividend's in double precision")
    return e.Sub(a, e.Mul(e.Div(a, b), b))


# --- bounds ----------------------------------------------------------------------------------------------------------


@lowers("ELEMENT_WISE_THRESHOLD")
def threshold(node: Operands, e: Emitter) -> Tensor:
    """``max(x * Scale + Bias, Min)`` with Min of the tensor's type [decisions E7, E29]: Clip.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_threshold_operator_desc
    """
    out = node.output()
    x = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    low = bound(node.op.float("Min"), out.data_type.dtype)
    if x.dtype.kind == "f":
        return passing_over_nan(e, x, clamp(e, x, low, math.inf), low)
    lowest = np.iinfo(out.data_type.dtype.name).min
    return e.Clip(x, low if low > lowest else None, None)


@lowers("ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1")
def clip_grad(node: Operands, e: Emitter) -> Tensor:
    """The gradient, 0 where x is not between Min and Max, as NaN is not [decision E8]: two comparisons and a Where.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_clip_grad_operator_desc
    """
    x, gradient = node.broadcastable("InputTensor"), node.broadcastable("InputGradientTensor")
    low, high = (e.constant(limit, x.dtype) for limit in limits(node.op, x.dtype))
    return e.Where(e.And(e.Greater(x, low), e.Less(x, high)), gradient, e.constant(0, gradient.dtype))


@lowers("VALUE_SCALE_2D")
def value_scale_2d(node: Operands, e: Emitter) -> Tensor:
    """``InputTensor * Scale + Bias[channel]`` [decision X26]: Mul and Add.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_value_scale_2d_operator_desc
    """
    x = affine(e, node.widened(node.broadcastable("InputTensor")), node.op.float("Scale"), 0)
    bias = np.array(node.op.floats("Bias"), x.dtype).reshape(1, -1, 1, 1)
    return e.Add(x, e.constant(bias)) if bias.any() else x


# --- powers ----------------------------------------------------------------------------------------------------------


@lowers("ELEMENT_WISE_POW")
def pow_(node: Operands, e: Emitter) -> Tensor:
    """``(x * Scale + Bias) ** (exponent * Scale + Bias)`` of floats [decision E18]: Pow.

    Integers exactly in double precision; what is outside their type is left to the driver [decision E19].

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_pow_operator_desc
    """
    base = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    exponent, factors = node.broadcastable("ExponentTensor"), node.op.scale_bias()
    is_whole = exponent.dtype.kind != "f"
    if is_whole:
        exponent = scaled(e, exponent, factors)
    elif factors is not None:
        exponent = scaled(e, _exponent(e, exponent), factors)
    if base.dtype == _INT32 and not e.exact:
        return e.Pow(base, _exponent(e, exponent))
    if base.dtype.kind != "f":
        return _power_of_integers(e, base, exponent, is_whole=is_whole)
    exponent = _exponent(e, exponent)
    return _as_exponential(e, base, exponent, e.Pow(base, exponent))


@lowers("ELEMENT_WISE_CONSTANT_POW")
def constant_pow(node: Operands, e: Emitter) -> Tensor:
    """``(x * Scale + Bias) ** Exponent`` [decisions E18 to E20]: Pow, Sqrt or Reciprocal.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_constant_pow_operator_desc
    """
    exponent = node.op.float("Exponent")
    base = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    if exponent == 1:
        return base
    if base.dtype.kind == "f":
        return _constant_float_power(e, base, exponent)
    return _power_of_integers(e, base, e.constant(exponent, DOUBLE), is_whole=exponent.is_integer())


def _constant_float_power(e: Emitter, base: Tensor, exponent: float) -> Tensor:
    if exponent == 0.5:
        # which is NaN at -inf, as the power is
        return e.Sqrt(base)
    constant = e.constant(exponent, base.dtype)
    if exponent == 0:
        power = e.ConstantOfShape(base.shape, 1, base.dtype)
    else:
        power = e.Reciprocal(base) if exponent == -1 else e.Pow(base, constant)
    if exponent == 0 or not math.isfinite(exponent):
        return _as_exponential(e, base, constant, power)
    if not e.exact or (exponent > 0 and exponent.is_integer()):
        return power
    zero = e.constant(0, base.dtype)
    if not exponent.is_integer():
        power = e.Where(e.Less(base, zero), e.constant(math.nan, base.dtype), power)
    return e.Where(e.Equal(base, zero), zero, power) if exponent < 0 else power


def _as_exponential(e: Emitter, base: Tensor, exponent: Tensor, power: Tensor) -> Tensor:
    """A power as DirectML has it: 0 of 0, NaN where ``exponent * log |base|`` is, and of negative numbers where the
    exponent is not whole; C's, which ONNX's is, differs there [decision E18]."""
    if not e.exact:
        return power
    e.note("powers of 0 are 0, and NaN where the exponent times the logarithm is")
    zero, exponent = e.constant(0, base.dtype), e.Cast(exponent, base.dtype)
    lost = e.IsNaN(e.Mul(exponent, e.Log(e.Abs(base))))
    is_whole = e.Equal(e.Sub(exponent, e.Floor(exponent)), zero)
    lost = e.Or(lost, e.And(e.Less(base, zero), e.Not(is_whole)))
    return e.Where(e.Equal(base, zero), zero, e.Where(lost, e.constant(math.nan, base.dtype), power))


def _exponent(e: Emitter, exponent: Tensor) -> Tensor:
    """An exponent of a type that Pow takes, in which odd numbers stay odd."""
    if exponent.dtype in (FLOAT, _INT32):
        return exponent
    return e.Cast(exponent, INT64 if exponent.dtype == _UINT32 else FLOAT)


def _power_of_integers(e: Emitter, base: Tensor, exponent: Tensor, *, is_whole: bool) -> Tensor:
    """In double precision, which has all integers of these types, then truncated; what is outside of the type is left
    to the driver [decision E19]."""
    e.note("integer powers are computed in double precision, then truncated")
    y = e.Pow(e.Cast(base, DOUBLE), e.Cast(exponent, DOUBLE))
    if is_whole:
        return truncated(e, e.Round(y), base.dtype)
    none = e.Or(e.IsNaN(y), e.Equal(base, e.constant(0, base.dtype))) if e.exact else e.IsNaN(y)
    return truncated(e, e.Where(none, e.constant(0, DOUBLE), y), base.dtype)
