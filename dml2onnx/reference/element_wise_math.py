"""ELEMENT_WISE operators for functions, powers, rounding and remainders; VALUE_SCALE_2D."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import ACCURACY, FEW, INVERSE_ACCURACY, LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.element_wise import bounds, clipped, float_result
from dml2onnx.reference.numeric import (
    as_integers,
    bound,
    scale_and_bias_floats,
    scale_and_bias_integers,
    scaled_integers_in_doubt,
    sum_error,
    through,
    truncate_within,
    widen,
)
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, either, reference


@dataclass(frozen=True, slots=True)
class _Function:
    """A unary function with its relative and absolute error."""

    function: Callable[[Floats], Floats]
    relative: float = 0.0
    absolute: float = 0.0
    unspecified: Callable[[Floats, Floats], Mask] | None = None
    """Unspecified elements, from x and its error."""


def _no_angle(x: Floats, error: Floats) -> Mask:
    """The documentation does not define infinite angles; an error of a quarter turn makes the result meaningless."""
    return np.isinf(x) | (error > math.pi / 2)


def _at_pole(x: Floats, error: Floats) -> Mask:
    """As :func:`_no_angle`, and where a pole of the tangent is within the error."""
    first, last = (np.floor(end / math.pi + 0.5) for end in (x - error, x + error))
    return _no_angle(x, error) | (first < last)


def _asinh(x: Floats) -> Floats:
    """The formula ``log(x + sqrt(x * x + 1))`` is NaN for -infinity (decision G12)."""
    return np.where(np.isneginf(x), np.nan, np.arcsinh(x))


def _cancels(x: Floats, error: Floats) -> Mask:
    """Where the sum in the formula cancels completely; DirectML returns -infinity below -5000."""
    return (x < -1000) & np.isfinite(x)


def _atan(x: Floats) -> Floats:
    """DirectML divides the smaller of |x| and 1 by the larger, where NaN becomes 1 (decision G1)."""
    return np.where(np.isnan(x), math.pi / 4, np.arctan(x))


_erf = np.vectorize(math.erf, otypes=[np.float64])

# limits, and NaN outside domains, are numpy's (decisions G12, G14 and E25)
_FUNCTIONS = {
    "ELEMENT_WISE_ACOS": _Function(np.arccos, absolute=INVERSE_ACCURACY),
    "ELEMENT_WISE_ACOSH": _Function(np.arccosh, ACCURACY),
    "ELEMENT_WISE_ASIN": _Function(np.arcsin, absolute=INVERSE_ACCURACY),
    "ELEMENT_WISE_ASINH": _Function(_asinh, ACCURACY, unspecified=_cancels),
    "ELEMENT_WISE_ATAN": _Function(_atan, ACCURACY),
    "ELEMENT_WISE_ATANH": _Function(np.arctanh, ACCURACY),
    "ELEMENT_WISE_CEIL": _Function(np.ceil),
    "ELEMENT_WISE_COS": _Function(np.cos, ACCURACY, unspecified=_no_angle),
    "ELEMENT_WISE_COSH": _Function(np.cosh, ACCURACY),
    "ELEMENT_WISE_ERF": _Function(_erf, ACCURACY),
    "ELEMENT_WISE_EXP": _Function(np.exp, ACCURACY),
    "ELEMENT_WISE_FLOOR": _Function(np.floor),
    "ELEMENT_WISE_LOG": _Function(np.log, ACCURACY),
    "ELEMENT_WISE_RECIP": _Function(np.reciprocal, FEW),
    "ELEMENT_WISE_SIN": _Function(np.sin, ACCURACY, unspecified=_no_angle),
    "ELEMENT_WISE_SINH": _Function(np.sinh, ACCURACY),
    "ELEMENT_WISE_SQRT": _Function(np.sqrt, FEW),
    "ELEMENT_WISE_TAN": _Function(np.tan, ACCURACY, unspecified=_at_pole),
    "ELEMENT_WISE_TANH": _Function(np.tanh, ACCURACY),
}


def has_pole(op: OperatorDesc) -> bool:
    """Whether the result depends on the sign of a zero."""
    return op.type in ("ELEMENT_WISE_RECIP", "ELEMENT_WISE_POW", "ELEMENT_WISE_CONSTANT_POW")


def scaled(op: OperatorDesc, inputs: Inputs) -> Result:
    """``InputTensor * Scale + Bias`` (decision G4), unspecified where FLOAT32 overflows."""
    x, factors = inputs.tensor("InputTensor"), op.scale_bias()
    before = scale_and_bias_floats(x, factors, op.tensor("InputTensor").data_type)
    if factors is None:
        return before
    size = np.maximum(np.abs(widen(x) * factors.scale), np.abs(before.values))
    overflows = np.isfinite(size) & (size > LARGEST_FLOAT32)
    # -0 + 0 is 0, but a Bias of 0 may be skipped (decision G9), which 1 / x and powers reveal
    return Result(before.values, before.error, overflows | (has_pole(op) & (before.values == 0)))


@reference("ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE")
def modulus(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The exact remainder, of the sign of ``b`` (FLOOR) or of ``a`` (TRUNCATE; decisions E2 to E5)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    is_floor = op.type.endswith("FLOOR")
    if a.dtype.kind == "f":
        n, d = widen(a), widen(b)
        # a - b * floor(a / b), which is NaN where b is infinite (decision E5)
        remainder = np.where(np.isinf(d), np.nan, np.fmod(n, d))
        if not is_floor:
            return {"OutputTensor": Result(remainder)}
        crosses = (remainder != 0) & ((remainder < 0) != (d < 0))
        result = float_result(np.where(crosses, remainder + d, remainder))
        # the quotient may be flushed to 0 (decisions G7 and G8), which leaves a as the remainder
        vanishes = crosses & (np.abs(n) < (1 + FEW) * SMALLEST_FLOAT32 * np.abs(d))
        return {"OutputTensor": replace(result, unspecified=vanishes) if vanishes.any() else result}
    whole, divisor = as_integers(a), as_integers(b)
    by_zero = divisor == 0
    safe = as_integers(np.where(by_zero, 1, divisor).astype(a.dtype))
    y = whole % safe if is_floor else np.fmod(whole, safe)
    undefined = a.dtype.type(0 if a.dtype.kind == "i" else np.iinfo(whole.dtype).max)
    return {"OutputTensor": Result(np.where(by_zero, undefined, y), None, by_zero)}


@reference("ELEMENT_WISE_MAX", "ELEMENT_WISE_MIN")
def extremum(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The larger or smaller of the two, ignoring NaN (decisions G1, E31)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    function = np.fmax if op.type.endswith("MAX") else np.fmin
    return {"OutputTensor": Result(function(a, b))}


@reference("ELEMENT_WISE_MEAN")
def mean(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(a + b) / 2``; the integer sum wraps and the quotient truncates (decisions E26, G2)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    if a.dtype.kind == "f":
        total = widen(a) + widen(b)
        y = total / 2
        overflows = np.isfinite(total) & (np.abs(total) > LARGEST_FLOAT32)
        return {"OutputTensor": Result(y, FEW * np.abs(y), overflows)}
    whole = as_integers(a) + as_integers(b)
    return {"OutputTensor": Result((whole + (whole < 0)) // 2)}


@reference("ELEMENT_WISE_DIFFERENCE_SQUARE")
def difference_square(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(a - b) ** 2``; integers wrap (decision E27)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    if a.dtype.kind == "f":
        y = (widen(a) - widen(b)) ** 2
        return {"OutputTensor": Result(y, FEW * y)}
    return {"OutputTensor": Result((as_integers(a) - as_integers(b)) ** 2)}


@reference("ELEMENT_WISE_ABS")
def abs_(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``|x * Scale + Bias|``; the driver decides for the most negative integer (decisions E3, G3, G4)."""
    x, factors, data_type = inputs.tensor("InputTensor"), op.scale_bias(), op.tensor("InputTensor").data_type
    if not data_type.is_float:
        before = as_integers(scale_and_bias_integers(x, factors, data_type))
        y = _without_lowest(np.abs(before), before)
        return {"OutputTensor": y.marked(scaled_integers_in_doubt(x, factors, data_type))}
    if factors is None:
        return {"OutputTensor": Result(np.abs(widen(x)))}
    return {"OutputTensor": through(np.abs, scale_and_bias_floats(x, factors, data_type))}


@reference("ELEMENT_WISE_NEGATE")
def negate(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``-x``; the driver decides for the most negative integer (decision E3)."""
    x = inputs.tensor("InputTensor")
    return {"OutputTensor": Result(-widen(x)) if x.dtype.kind == "f" else _without_lowest(-as_integers(x), x)}


def _without_lowest(y: Array, x: Array) -> Result:
    """``y`` with the result of DirectML for the lowest integer, which has no opposite (decision E3)."""
    if x.dtype.kind != "i":
        return Result(y)
    limits = np.iinfo(x.dtype.name)
    lowest: Mask = x == limits.min
    stored = limits.max if limits.bits < 32 else limits.min
    return Result(np.where(lowest, x.dtype.type(stored), y), None, lowest if lowest.any() else None)


@reference("ELEMENT_WISE_SIGN")
def sign(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """-1, 0 or 1; 0 for NaN, which is unspecified (decision E21)."""
    x = inputs.tensor("InputTensor")
    zero = x.dtype.type(0)
    y = np.where(x > zero, 1, np.where(x < zero, -1, 0))  # type: ignore[operator]  # all numeric types compare
    return {"OutputTensor": Result(y.astype(x.dtype), None, x != x)}


@reference("ELEMENT_WISE_THRESHOLD")
def threshold(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``max(x * Scale + Bias, Min)``, Min converted to the tensor's type (decisions E29, E7, G1)."""
    data_type = op.tensor("InputTensor").data_type
    low = bound(op.float("Min"), data_type)
    if not data_type.is_float:
        return clipped(op, inputs, low, np.asarray(data_type.limits[1], data_type.dtype))
    before = scale_and_bias_floats(inputs.tensor("InputTensor"), op.scale_bias(), data_type)
    error = None if op.scale_bias() is None else before.error
    return {"OutputTensor": Result(np.fmax(widen(low), before.values), error)}


@reference(*_FUNCTIONS)
def function(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``f(x * Scale + Bias)`` (decisions G4, G7, G11 to G14, E25)."""
    entry, before = _FUNCTIONS[op.type], scaled(op, inputs)
    after = through(entry.function, before)
    y, unspecified = after.values, after.unspecified
    if entry.unspecified is not None:
        unspecified = either(entry.unspecified(widen(before.values), before.bound), unspecified)
    if op.scale_bias() is None and entry.relative == entry.absolute == 0:
        return {"OutputTensor": Result(y, None, unspecified)}
    error = after.bound + entry.relative * np.abs(y) + entry.absolute
    return {"OutputTensor": Result(y, error, unspecified)}


@reference("ELEMENT_WISE_ROUND")
def round_(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Rounds to an integer according to RoundingMode (decisions E16, E17, G14)."""
    x, mode = widen(inputs.tensor("InputTensor")), op.enum("RoundingMode")
    if mode == "TOWARD_INFINITY":
        return {"OutputTensor": Result(np.copysign(np.floor(np.abs(x) + 0.5), x))}
    return {"OutputTensor": Result(np.trunc(x) if mode == "TOWARD_ZERO" else np.rint(x))}


@reference("ELEMENT_WISE_ATAN_YX")
def atan_yx(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The angle of the point (b, a), from -pi to pi (decisions E28, G11, G13)."""
    y, x = widen(inputs.tensor("ATensor")), widen(inputs.tensor("BTensor"))
    origin = (y == 0) & (x == 0)
    angle = np.where(origin, 0, np.arctan2(y, x))
    # NaN becomes 1 as in ATAN, in a quadrant that the driver chooses
    is_nan = np.isnan(angle)
    angle = np.where(is_nan, math.pi / 4, angle)
    return {"OutputTensor": Result(angle, ACCURACY * np.abs(angle), origin | is_nan)}


@reference("ELEMENT_WISE_POW")
def pow_(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(x * Scale + Bias) ** (exponent * Scale + Bias)``; integers are exact and wrap (decisions E18, E19)."""
    exponent, factors = inputs.tensor("ExponentTensor"), op.scale_bias()
    data_type = op.tensor("ExponentTensor").data_type
    if not data_type.is_float:
        exponent = scale_and_bias_integers(exponent, factors, data_type)
    elif factors is not None:
        exponent = widen(scale_and_bias_floats(exponent, factors, data_type).values).astype(np.float32)
    result = _power(op, inputs, exponent)
    if not data_type.is_float:
        result = result.marked(scaled_integers_in_doubt(inputs.tensor("ExponentTensor"), factors, data_type))
    if op.tensor("InputTensor").data_type is DataType.FLOAT32 and data_type.bits < DataType.FLOAT32.bits:
        # DirectML requires only 16 bits here; the driver decides beyond FLOAT16's range (decision E18)
        result = result.marked(np.abs(widen(result.values)) > np.finfo(np.float16).max)
    return {"OutputTensor": result}


@reference("ELEMENT_WISE_CONSTANT_POW")
def constant_pow(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """POW with a constant exponent, which stays an integer for integers if it is one (decisions E18 to E20)."""
    exponent, is_float = op.float("Exponent"), op.tensor("InputTensor").data_type.is_float
    if is_float or not exponent.is_integer():
        return {"OutputTensor": _power(op, inputs, np.asarray(exponent, np.float32))}
    data_type = op.tensor("InputTensor").data_type
    doubt = scaled_integers_in_doubt(inputs.tensor("InputTensor"), op.scale_bias(), data_type)
    whole = np.asarray(int(exponent), object)
    return {"OutputTensor": _integer_power(_scaled_integers(op, inputs), whole).marked(doubt)}


def _scaled_integers(op: OperatorDesc, inputs: Inputs) -> Array:
    return scale_and_bias_integers(inputs.tensor("InputTensor"), op.scale_bias(), op.tensor("InputTensor").data_type)


def _power(op: OperatorDesc, inputs: Inputs, exponent: Array) -> Result:
    data_type = op.tensor("InputTensor").data_type
    if data_type.is_float:
        return _float_power(scaled(op, inputs), exponent)
    base = _scaled_integers(op, inputs)
    doubt = scaled_integers_in_doubt(inputs.tensor("InputTensor"), op.scale_bias(), data_type)
    return _power_of_integers(base, exponent, data_type).marked(doubt)


def _power_of_integers(base: Array, exponent: Array, data_type: DataType) -> Result:
    if exponent.dtype.kind != "f":
        return _integer_power(base, exponent)
    after = _float_power(Result(widen(base), np.abs(widen(base) - base.astype(np.float32))), exponent)
    y, error = widen(after.values), after.bound
    result = truncate_within(y, error, data_type)
    low, high = data_type.limits
    # CAST promises nothing outside the type or for NaN (decision E10)
    outside = ~((y - error > low - 1) & (y + error < high + 1)) | ((base == 0) & (widen(exponent) < 0))
    return Result(result.values, result.error, either(outside, after.unspecified), after.open)


def _float_power(base: Result, exponent: Array) -> Result:
    # expanded, since numpy computes a broadcast exponent of 0.5 as a square root, which is NaN at -inf
    wide = np.full(base.values.shape, exponent, np.float64)
    after = through(lambda x: _as_exponential(x, wide), base)
    # FLOAT32 rounds integer exponents of more than 24 bits, which changes their parity
    rounded = (exponent.astype(np.float32) != wide) & ~np.isnan(wide)
    # powers of exactly 1 are 1 even for an exponent of NaN; all other powers are NaN
    near_one = np.isnan(wide) & (base.bound > 0) & (np.abs(base.values - 1) <= base.bound)
    unspecified = either(rounded | near_one, after.unspecified)
    # powers of 0 in ONNX follow C
    return Result(
        after.values, after.bound + ACCURACY * np.abs(after.values), unspecified, (base.values == 0) & (wide <= 0)
    )


def _as_exponential(x: Floats, y: Floats) -> Floats:
    """``exp2(y * log2 x)``: NaN where ``y * log2 |x|`` is, and 0 for powers of 0 (decision E18)."""
    size = np.abs(x)
    negative_root = (x < 0) & ~(np.isfinite(y) & (y == np.floor(y)))
    known = np.where(np.isnan(y * np.log2(size)) | negative_root, np.nan, np.power(x, y))
    return np.where(size == 0, 0.0, known)


def _one_integer_power(base: int, exponent: int) -> int:
    """The power modulo ``2**64``; narrower types use its low bits."""
    if exponent >= 0:
        return pow(base, exponent, 1 << 64)
    return pow(base, -exponent, 1 << 64) if base in (1, -1) else 0


def _integer_power(base: Array, exponent: Array) -> Result:
    powers = np.frompyfunc(_one_integer_power, 2, 1)(base.astype(object), exponent.astype(object))
    negative: Mask = exponent < 0  # type: ignore[operator]  # integers compare
    bits = np.asarray(powers, object).astype(np.uint64).astype(f"u{base.dtype.itemsize}")
    limits = np.iinfo(base.dtype.name)
    size = np.power(np.abs(widen(base)), np.maximum(widen(exponent), 0))
    # the power is a float that converts like CAST, which leaves numbers outside the type to the driver (decision E10)
    outside: Mask = size > limits.max
    odd = (base < 0) & (exponent.astype(object) % 2 == 1)  # type: ignore[operator]  # integers compare
    stored = np.where(outside, np.where(odd, limits.min, limits.max).astype(base.dtype), bits.view(base.dtype))
    return Result(stored, None, outside | np.broadcast_to((base == 0) & negative, base.shape))


@reference("ELEMENT_WISE_CLIP_GRAD", "ELEMENT_WISE_CLIP_GRAD1")
def clip_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The gradient where ``Min < x < Max``, else 0, including NaN (decisions E7, E8)."""
    low, high = bounds(op)
    x, gradient = inputs.tensor("InputTensor"), inputs.tensor("InputGradientTensor")
    inside = (x > low) & (x < high)  # type: ignore[operator]  # all numeric types compare
    return {"OutputGradientTensor": Result(np.where(inside, gradient, gradient.dtype.type(0)), None, None, x != x)}


@reference("VALUE_SCALE_2D")
def value_scale_2d(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``x * Scale + Bias[channel]`` (decision X26)."""
    product = widen(inputs.tensor("InputTensor")) * op.float("Scale")
    bias = np.asarray(op.floats("Bias")).reshape(1, -1, 1, 1)
    error = sum_error(2, np.abs(product) + np.abs(bias), ROUNDOFF)
    return {"OutputTensor": Result(product + bias, error)}
