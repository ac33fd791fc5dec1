from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.numbers import INTEGERS, binary, integers, wrapped

FUNCTIONS = {
    "ACOS": np.arccos,
    "ACOSH": np.arccosh,
    "ASIN": np.arcsin,
    # log(x + sqrt(x * x + 1)), and a quotient of the larger of x and 1, which NaN is not
    "ASINH": lambda x: np.where(np.isneginf(x), np.nan, np.arcsinh(x)),
    "ATAN": lambda x: np.where(np.isnan(x), math.pi / 4, np.arctan(x)),
    "ATANH": np.arctanh,
    "CEIL": np.ceil,
    "COS": np.cos,
    "COSH": np.cosh,
    "ERF": scipy.special.erf,
    "EXP": np.exp,
    "FLOOR": np.floor,
    "LOG": np.log,
    "RECIP": lambda x: 1 / x,
    "SIN": np.sin,
    "SINH": np.sinh,
    "SQRT": np.sqrt,
    "TAN": np.tan,
    "TANH": np.tanh,
}
EXACT = {"CEIL", "FLOOR"}
POW_INTEGERS = [t for t in DataType if not t.is_float and 8 <= t.bits <= 32]
CLIPPED = [t for t in DataType if t.bits >= 8 and t is not DataType.FLOAT64]
SPECIALS = [0.0, -0.0, 1, -1, 0.5, -0.5, 1e-7, 100, -100, np.inf, -np.inf, np.nan]


def unary(name, x, **values):
    op = describe(f"ELEMENT_WISE_{name}", InputTensor=x, OutputTensor=x, **values)
    return operator_results(op, {"InputTensor": x})["OutputTensor"][0]


def power(x, exponent, **values):
    op = describe("ELEMENT_WISE_POW", InputTensor=x, ExponentTensor=exponent, OutputTensor=x, **values)
    return operator_results(op, {"InputTensor": x, "ExponentTensor": exponent})["OutputTensor"][0]


def integer_power(base, exponent, data_type):
    """A power, limited to its type, and whether it is inside."""
    if exponent < 0:
        return (int(Fraction(base) ** exponent) if base else 0), base != 0
    if abs(base) <= 1 or exponent < 64:
        value = base**exponent
    else:
        value = 2**64 * (-1 if base < 0 and exponent % 2 else 1)
    low, high = data_type.limits
    # the lowest is no size of a positive number
    return min(max(value, low), high), abs(value) <= high


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, dtype):
    x = np.array([*SPECIALS, *np.linspace(-4, 4, 41)], dtype)
    got = unary(name, x)
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name](x.astype(np.float64))
        np.testing.assert_allclose(got.values, want.astype(dtype), rtol=1e-6 if dtype == np.float32 else 1e-3, atol=0)
    assert (got.error is None) == (name in EXACT)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_scale_first(name):
    x = np.array([0.25, 0.5, 0.75], np.float32)
    got = unary(name, x, ScaleBias=(0.5, 0.125))
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name](x.astype(np.float64) * 0.5 + 0.125)
    np.testing.assert_allclose(got.values, want, rtol=1e-6)


def test_the_error_of_scaling_passes_through():
    x = np.full(1, 0.1, np.float32)
    scaled = x.astype(np.float64) * np.float64(np.float32(1e4)) - 1e3
    steep = unary("TAN", x, ScaleBias=(1e4, -1e3))
    # x * Scale + Bias cancels: the difference has the error of the product
    assert steep.error[0] > 1000 * 2**-24
    assert not disagreements(np.tan(scaled + 6e-5).astype(np.float32), steep, DataType.FLOAT32).any()
    assert disagreements(np.tan(scaled + 1e-3).astype(np.float32), steep, DataType.FLOAT32).all()


def test_ends_of_domains_in_doubt_are_unspecified():
    x = np.array([0.1, 3], np.float32)
    # -3e-9 in exact arithmetic, -1 + 1 in FLOAT32
    np.testing.assert_array_equal(unary("SQRT", x, ScaleBias=(-10, 1)).unspecified, [True, False])
    np.testing.assert_array_equal(unary("LOG", x, ScaleBias=(3e38, 1e38)).unspecified, [False, True])


@pytest.mark.parametrize("name", ["SIN", "COS", "TAN"])
def test_infinite_angles_are_unspecified(name):
    got = unary(name, np.array([np.inf, -np.inf, 0, np.nan], np.float32))
    np.testing.assert_array_equal(got.unspecified, [True, True, False, False])


def test_angles_that_rounding_turns_are_unspecified():
    # FLOAT32 holds angles of 3e10 to a thousand radians, those of 3e3 to a thousandth
    x = np.array([0.3, math.pi / 2 - 1e-4, 1], np.float32)
    for name in ("SIN", "COS"):
        np.testing.assert_array_equal(unary(name, x[:1], ScaleBias=(1e11, 1)).unspecified, [True])
        np.testing.assert_array_equal(unary(name, x, ScaleBias=(3e3, 1)).unspecified, [False] * 3)
    np.testing.assert_array_equal(unary("TAN", x, ScaleBias=(3001, 0)).unspecified, [False, False, False])
    np.testing.assert_array_equal(unary("TAN", x, ScaleBias=(1, 1e-4)).unspecified, [False, True, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rounding(dtype):
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 0.49, -0.2, 500.75, 3e4, -0.0, np.inf, -np.inf, np.nan], dtype)
    even = unary("ROUND", x, RoundingMode="HALVES_TO_NEAREST_EVEN").values
    zero = unary("ROUND", x, RoundingMode="TOWARD_ZERO").values
    away = unary("ROUND", x, RoundingMode="TOWARD_INFINITY").values
    rest = [3e4, -0.0, np.inf, -np.inf, np.nan]
    np.testing.assert_array_equal(even, np.array([0, 0, 2, 2, -2, 0, 0, np.rint(x[7]), *rest], dtype))
    np.testing.assert_array_equal(zero, np.array([0, 0, 1, 2, -2, 0, 0, np.trunc(x[7]), *rest], dtype))
    np.testing.assert_array_equal(away, np.array([1, -1, 2, 3, -3, 0, 0, np.rint(x[7]), *rest], dtype))
    for got in (even, zero, away):
        np.testing.assert_array_equal(np.signbit(got[:-1]), np.signbit(x[:-1]))


@pytest.mark.parametrize("value", [8388609.0, 0.49999997, 1e38, -4194304.5])
def test_halves_away_from_zero_are_exact(value):
    x = np.array([value], np.float32)
    exact = Fraction(float(x[0]))
    want = math.copysign(math.floor(abs(exact) + Fraction(1, 2)), exact)
    assert unary("ROUND", x, RoundingMode="TOWARD_INFINITY").values[0] == want


def test_atan_yx():
    y = np.array([1, 1, -1, -1, 0, 0, -0.0, 5, np.inf, -np.inf, 0], np.float32)
    x = np.array([1, -1, -1, 1, 2, -2, -2, 0, np.inf, np.inf, 0], np.float32)
    op = describe("ELEMENT_WISE_ATAN_YX", ATensor=y, BTensor=x, OutputTensor=x)
    got: Any
    (got,) = operator_results(op, {"ATensor": y, "BTensor": x})["OutputTensor"]
    want = np.array([1, 3, -3, -1, 0, 4, -4, 2, 1, -1, 0]) * math.pi / 4
    np.testing.assert_allclose(got.values, want, rtol=1e-6)
    np.testing.assert_array_equal(got.unspecified, [*[False] * 10, True])


@given(st.sampled_from(POW_INTEGERS), st.sampled_from(POW_INTEGERS), st.data())
def test_integer_powers_are_exact(base_type, exponent_type, data):
    base = data.draw(st.one_of(st.integers(*base_type.limits), st.integers(base_type.limits[0] and -3, 3)))
    low, high = exponent_type.limits
    exponent = data.draw(st.one_of(st.integers(low, high), st.integers(max(low, -5), 40)))
    got = power(np.array([base], base_type.dtype), np.array([exponent], exponent_type.dtype))
    small = exponent if exponent >= -1000 else -1000 - exponent % 2
    value, known = integer_power(base, small, base_type)
    assert int(got.values[0]) == value
    assert bool(got.unspecified[0]) != known


@given(st.sampled_from(POW_INTEGERS), st.integers(-(2**24), 2**24), st.data())
def test_constant_powers_of_integers(data_type, exponent, data):
    base = data.draw(st.integers(*data_type.limits))
    got = unary("CONSTANT_POW", np.array([base], data_type.dtype), Exponent=exponent)
    small = exponent if exponent >= -1000 else -1000 - exponent % 2
    assert int(got.values[0]) == integer_power(base, small, data_type)[0]


def test_a_base_that_may_round_to_one_leaves_the_power_of_nan_open():
    """1 to the power of NaN is 1, a number beside it gives NaN; which of them FLOAT32 has is a matter of rounding."""
    x, exponent = np.array([1e-6, 0.5], np.float32), np.array([np.nan, np.nan], np.float32)
    got = power(x, exponent, ScaleBias=(1e-5, 1))
    assert list(got.unspecified) == [True, False]
    assert np.isnan(got.values[1])


def test_integers_scale_before_the_power():
    x = np.array([1, 2, -3], np.int16)
    np.testing.assert_array_equal(unary("CONSTANT_POW", x, ScaleBias=(2, 1), Exponent=3).values, [27, 125, -125])
    exponent = np.array([0, 2, 3], np.uint8)
    # the exponent scales as well (decision E18)
    np.testing.assert_array_equal(power(x, exponent, ScaleBias=(2, 1)).values, [3, 3125, -32768])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_float_powers_are_exponentials(dtype):
    numbers = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -3, np.inf, -np.inf, np.nan], dtype)
    x, exponent = (a.reshape(-1).copy() for a in np.broadcast_arrays(numbers[:, None], numbers))
    want = [exponential(*pair) for pair in zip(x.tolist(), exponent.tolist(), strict=True)]
    got = power(x, exponent)
    np.testing.assert_allclose(got.values, want, rtol=1e-3 if dtype == np.float16 else 1e-6)
    assert not got.unspecified.any()
    for e in numbers:
        want = [exponential(number, float(e)) for number in numbers.tolist()]
        got = unary("CONSTANT_POW", numbers, Exponent=e).values
        np.testing.assert_allclose(got, want, rtol=1e-3 if dtype == np.float16 else 1e-6)


def exponential(x, y):
    """``exp2(y * log2 |x|)`` with the sign of a whole power (decision E18)."""
    if x == 0:
        return 0.0
    logarithm = math.log2(abs(x)) if math.isfinite(x) else abs(x)
    product = y * logarithm
    size = math.inf if product > 1100 else 2.0**product if product == product else math.nan
    if x > 0 or math.isnan(x):
        return size
    whole = math.isfinite(y) and y == math.floor(y)
    return (-size if y % 2 else size) if whole else math.nan


def test_float_base_with_integer_exponent():
    x = np.array([-2, -2, 0.5, -1], np.float32)
    exponent = np.array([3, -2, 10, 2**24 + 1], np.int32)
    got = power(x, exponent)
    np.testing.assert_array_equal(got.values, [-8, 0.25, 2**-10, -1])
    # FLOAT32 does not hold the last exponent
    np.testing.assert_array_equal(got.unspecified, [False, False, False, True])


def test_integer_base_with_float_exponent():
    x = np.array([9, 10, 2, -8, 2, 0], np.int16)
    got = power(x, np.array([0.5, 0.5, 3, 0.5, 20, -1], np.float32))
    np.testing.assert_array_equal(got.values[:3], [3, 3, 8])
    np.testing.assert_array_equal(got.error[:3], [1, 0, 1])
    np.testing.assert_array_equal(got.unspecified, [False, False, False, True, True, True])
    constant = unary("CONSTANT_POW", x[:2], Exponent=0.5)
    np.testing.assert_array_equal(constant.values, [3, 3])


@pytest.mark.parametrize("data_type", CLIPPED, ids=lambda t: t.name)
def test_clip_grad_bounds_are_exclusive(data_type):
    x = np.array([0, 1, 2, 3, 4, 5], data_type.dtype)
    gradient = np.arange(10, 16).astype(data_type.dtype)
    arrays = {"InputTensor": x, "InputGradientTensor": gradient}
    op = describe("ELEMENT_WISE_CLIP_GRAD", **arrays, OutputGradientTensor=x, Min=1, Max=4)
    op1 = describe(
        "ELEMENT_WISE_CLIP_GRAD1", **arrays, OutputGradientTensor=x, MinMaxDataType=data_type.name, Min=1, Max=4
    )
    for each in (op, op1):
        (got,) = operator_results(each, arrays)["OutputGradientTensor"]
        np.testing.assert_array_equal(got.values, np.array([0, 0, 12, 13, 0, 0], data_type.dtype))
        assert got.unspecified is None


def test_clip_grad_bounds_convert():
    x = np.array([1, 2, 3], np.uint8)
    arrays = {"InputTensor": x, "InputGradientTensor": x}
    op = describe("ELEMENT_WISE_CLIP_GRAD", **arrays, OutputGradientTensor=x, Min=1.9, Max=1e9)
    np.testing.assert_array_equal(operator_results(op, arrays)["OutputGradientTensor"][0].values, [0, 2, 3])


def test_clip_grad1_is_exact_in_64_bits():
    x = np.array([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3], np.int64)
    arrays = {"InputTensor": x, "InputGradientTensor": x}
    op = describe(
        "ELEMENT_WISE_CLIP_GRAD1",
        **arrays,
        OutputGradientTensor=x,
        MinMaxDataType="INT64",
        Min=2**53,
        Max=2**53 + 3,
    )
    got = operator_results(op, arrays)["OutputGradientTensor"][0].values
    np.testing.assert_array_equal(got, [0, 2**53 + 1, 2**53 + 2, 0])


def test_clip_grad_of_nan_is_nothing():
    x, gradient = np.array([np.nan, 0], np.float32), np.array([1, np.nan], np.float32)
    arrays = {"InputTensor": x, "InputGradientTensor": gradient}
    op = describe("ELEMENT_WISE_CLIP_GRAD", **arrays, OutputGradientTensor=x, Min=-1, Max=1)
    (got,) = operator_results(op, arrays)["OutputGradientTensor"]
    np.testing.assert_array_equal(got.values, [0, np.nan])
    np.testing.assert_array_equal(got.open, [True, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_value_scale_2d(dtype):
    x = np.arange(2 * 3 * 2 * 2).reshape(2, 3, 2, 2).astype(dtype)
    op = describe("VALUE_SCALE_2D", InputTensor=x, OutputTensor=x, Scale=0.5, Bias=[1, 2, 3])
    (got,) = operator_results(op, {"InputTensor": x})["OutputTensor"]
    np.testing.assert_array_equal(got.values, x * dtype(0.5) + np.array([1, 2, 3], dtype).reshape(3, 1, 1))


@given(st.sampled_from(INTEGERS), st.data())
def test_integer_modulus(data_type, data):
    a, b = data.draw(integers(data_type)), data.draw(integers(data_type))
    arrays = (np.array([a], data_type.dtype), np.array([b], data_type.dtype))
    floor, truncate = (binary(f"ELEMENT_WISE_MODULUS_{name}", *arrays) for name in ("FLOOR", "TRUNCATE"))
    if b == 0:
        want = [0 if data_type.is_signed else data_type.limits[1]] * 2
    else:
        want = [a % b, a % b if (a < 0) == (b < 0) or a % b == 0 else a % b - b]
    assert [int(floor.values[0]), int(truncate.values[0])] == want
    assert bool(floor.unspecified[0]) == bool(truncate.unspecified[0]) == (b == 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_float_modulus(dtype):
    numbers = np.array([0.0, -0.0, 1.5, -3, 7, -7, 1e-7, 3e4, np.inf, -np.inf, np.nan], dtype)
    a, b = (array.copy() for array in np.broadcast_arrays(numbers[:, None], numbers))
    with np.errstate(all="ignore"):
        remainder = np.where(np.isinf(b), np.nan, np.fmod(a, b))
        floor = np.where((remainder != 0) & (np.signbit(remainder) != np.signbit(b)), remainder + b, remainder)
    truncated = binary("ELEMENT_WISE_MODULUS_TRUNCATE", a, b)
    assert truncated.error is None
    np.testing.assert_array_equal(truncated.values, remainder)
    np.testing.assert_array_equal(binary("ELEMENT_WISE_MODULUS_FLOOR", a, b).values, floor)


def test_modulus_of_far_numbers_is_exact():
    a, b = np.array([1e30, -1e30], np.float32), np.array([7, 7], np.float32)
    exact = [int(value) % 7 for value in a.tolist()]
    np.testing.assert_array_equal(binary("ELEMENT_WISE_MODULUS_FLOOR", a, b).values, exact)
    np.testing.assert_array_equal(
        binary("ELEMENT_WISE_MODULUS_TRUNCATE", a, b).values, [exact[0], exact[1] - 7 if exact[1] else 0]
    )


@given(st.sampled_from(INTEGERS), st.data())
def test_integer_extrema(data_type, data):
    a = data.draw(integers(data_type))
    low, high = data_type.limits
    b = data.draw(st.one_of(integers(data_type), st.integers(max(low, a - 1), min(high, a + 1))))
    arrays = (np.array([a], data_type.dtype), np.array([b], data_type.dtype))
    assert int(binary("ELEMENT_WISE_MAX", *arrays).values[0]) == max(a, b)
    assert int(binary("ELEMENT_WISE_MIN", *arrays).values[0]) == min(a, b)


def test_extrema_pass_over_nan():
    a, b = np.array([1, np.nan, 1, -np.inf], np.float16), np.array([2, 2, np.nan, np.inf], np.float16)
    for name, want in (("MAX", [2, 2, 1, np.inf]), ("MIN", [1, 2, 1, -np.inf])):
        got = binary(f"ELEMENT_WISE_{name}", a, b)
        np.testing.assert_array_equal(got.values, want)
        assert got.unspecified is None


@given(st.sampled_from([DataType.INT32, DataType.UINT32]), st.data())
def test_mean_and_square_of_integers_wrap(data_type, data):
    a, b = data.draw(integers(data_type)), data.draw(integers(data_type))
    arrays = (np.array([a], data_type.dtype), np.array([b], data_type.dtype))
    total = wrapped(a + b, data_type)
    assert int(binary("ELEMENT_WISE_MEAN", *arrays).values[0]) == abs(total) // 2 * (1 if total >= 0 else -1)
    assert int(binary("ELEMENT_WISE_DIFFERENCE_SQUARE", *arrays).values[0]) == wrapped((a - b) ** 2, data_type)


def test_mean_and_square_of_floats():
    a, b = np.array([1.5, -2, np.inf, 3e38], np.float32), np.array([2, 5, -np.inf, 3e38], np.float32)
    mean = binary("ELEMENT_WISE_MEAN", a, b)
    np.testing.assert_array_equal(mean.values[:3], [1.75, 1.5, np.nan])
    # the sum is beyond FLOAT32
    np.testing.assert_array_equal(mean.unspecified, [False, False, False, True])
    np.testing.assert_array_equal(binary("ELEMENT_WISE_DIFFERENCE_SQUARE", a, b).values, [0.25, 49, np.inf, 0])


@pytest.mark.parametrize("data_type", [t for t in INTEGERS if t.is_signed], ids=lambda t: t.name)
def test_the_lowest_integer_is_left_to_the_driver(data_type):
    low, high = data_type.limits
    x = np.array([low, low + 1, -1, 0, 1, high], data_type.dtype)
    seen = high if data_type.bits < 32 else low
    positive, opposite = unary("ABS", x), unary("NEGATE", x)
    np.testing.assert_array_equal(positive.values, [seen, high, 1, 0, 1, high])
    np.testing.assert_array_equal(opposite.values, [seen, high, 1, 0, -1, low + 1])
    for result in (positive, opposite):
        np.testing.assert_array_equal(result.unspecified, [True, *[False] * 5])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_signs_of_floats(dtype):
    x = np.array([0.0, -0.0, 2.5, -3, 1e-7, -1e-7, np.inf, -np.inf, np.nan], dtype)
    np.testing.assert_array_equal(unary("ABS", x).values, np.abs(x))
    negated = unary("NEGATE", x).values
    np.testing.assert_array_equal(negated, -x)
    np.testing.assert_array_equal(np.signbit(negated), ~np.signbit(x))
    sign = unary("SIGN", x)
    np.testing.assert_array_equal(sign.values, [0, 0, 1, -1, 1, -1, 1, -1, 0])
    np.testing.assert_array_equal(sign.unspecified, np.isnan(x))


@pytest.mark.parametrize("data_type", INTEGERS, ids=lambda t: t.name)
def test_signs_of_integers(data_type):
    low, high = data_type.limits
    x = np.array([low, 0, 1, high], data_type.dtype)
    np.testing.assert_array_equal(unary("SIGN", x).values, [-1 if low else 0, 0, 1, 1])


def test_abs_scales_first():
    x = np.array([1, 2, 3], np.int8)
    np.testing.assert_array_equal(unary("ABS", x, ScaleBias=(-2, 3)).values, [1, 1, 3])
    np.testing.assert_array_equal(unary("ABS", x.astype(np.float16), ScaleBias=(-2, 3)).values, [1, 1, 3])


def test_threshold():
    x = np.array([-5, 0, 5], np.int32)
    np.testing.assert_array_equal(unary("THRESHOLD", x, Min=-1.9).values, [-1, 0, 5])
    np.testing.assert_array_equal(unary("THRESHOLD", x, ScaleBias=(2, 1), Min=-1e30).values, [-9, 1, 11])
    np.testing.assert_array_equal(unary("THRESHOLD", x.astype(np.uint8), Min=3).values, [251, 3, 5])
    floats = unary("THRESHOLD", np.array([-5, 0.25, np.inf, np.nan], np.float16), Min=0.125)
    np.testing.assert_array_equal(floats.values, [0.125, 0.25, np.inf, 0.125])
