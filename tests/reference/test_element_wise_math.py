from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import INTEGERS, result_of
from tests.reference.test_element_wise import binary, unary

POW_INTEGERS = [t for t in DataType if not t.is_float and 8 <= t.bits <= 32]


def power(x, exponent, **values):
    return result_of("ELEMENT_WISE_POW", InputTensor=x, ExponentTensor=exponent, **values)


def integer_power(base, exponent, data_type):
    """A power, clamped to its type, and whether it was inside."""
    if exponent < 0:
        return (int(Fraction(base) ** exponent) if base else 0), base != 0
    if abs(base) <= 1 or exponent < 64:
        value = base**exponent
    else:
        value = 2**64 * (-1 if base < 0 and exponent % 2 else 1)
    low, high = data_type.limits
    # the lowest number counts as outside
    return min(max(value, low), high), abs(value) <= high


def test_the_error_of_scaling_propagates():
    x = np.full(1, 0.1, np.float32)
    scaled = x.astype(np.float64) * np.float64(np.float32(1e4)) - 1e3
    steep = unary("TAN", x, ScaleBias=(1e4, -1e3))
    # x * Scale + Bias cancels: the difference has the error of the product
    assert steep.error[0] > 1000 * 2**-24
    assert not disagreements(np.tan(scaled + 6e-5).astype(np.float32), steep, DataType.FLOAT32).any()
    assert disagreements(np.tan(scaled + 1e-3).astype(np.float32), steep, DataType.FLOAT32).all()


def test_uncertain_domain_limits_are_unspecified():
    x = np.array([0.1, 3], np.float32)
    # -3e-9 in exact arithmetic, -1 + 1 in FLOAT32
    np.testing.assert_array_equal(unary("SQRT", x, ScaleBias=(-10, 1)).unspecified, [True, False])
    np.testing.assert_array_equal(unary("LOG", x, ScaleBias=(3e38, 1e38)).unspecified, [False, True])


@pytest.mark.parametrize("name", ["SIN", "COS", "TAN"])
def test_infinite_angles_are_unspecified(name):
    got = unary(name, np.array([np.inf, -np.inf, 0, np.nan], np.float32))
    np.testing.assert_array_equal(got.unspecified, [True, True, False, False])


def test_angles_with_large_rounding_errors_are_unspecified():
    # FLOAT32 represents angles of 3e10 to a thousand radians, those of 3e3 to a thousandth
    x = np.array([0.3, math.pi / 2 - 1e-4, 1], np.float32)
    for name in ("SIN", "COS"):
        np.testing.assert_array_equal(unary(name, x[:1], ScaleBias=(1e11, 1)).unspecified, [True])
        np.testing.assert_array_equal(unary(name, x, ScaleBias=(3e3, 1)).unspecified, [False] * 3)
    np.testing.assert_array_equal(unary("TAN", x, ScaleBias=(3001, 0)).unspecified, [False, False, False])
    np.testing.assert_array_equal(unary("TAN", x, ScaleBias=(1, 1e-4)).unspecified, [False, True, False])


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


def test_a_base_that_may_round_to_one_is_unspecified_with_an_exponent_of_nan():
    """1 ** NaN is 1, but NaN for any other base."""
    x, exponent = np.array([1e-6, 0.5], np.float32), np.array([np.nan, np.nan], np.float32)
    got = power(x, exponent, ScaleBias=(1e-5, 1))
    assert list(got.unspecified) == [True, False]
    assert np.isnan(got.values[1])


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


def test_clip_grad_of_nan_is_zero():
    x, gradient = np.array([np.nan, 0], np.float32), np.array([1, np.nan], np.float32)
    fields = {"InputTensor": x, "InputGradientTensor": gradient, "Min": -1, "Max": 1}
    got = result_of("ELEMENT_WISE_CLIP_GRAD", **fields)
    np.testing.assert_array_equal(got.values, [0, np.nan])
    np.testing.assert_array_equal(got.open, [True, False])


def test_modulus_of_large_quotients_is_exact():
    a, b = np.array([1e30, -1e30], np.float32), np.array([7, 7], np.float32)
    exact = [int(value) % 7 for value in a.tolist()]
    np.testing.assert_array_equal(binary("MODULUS_FLOOR", a, b).values, exact)
    np.testing.assert_array_equal(binary("MODULUS_TRUNCATE", a, b).values, [exact[0], exact[1] - 7 if exact[1] else 0])


def test_a_mean_whose_sum_overflows_is_unspecified():
    a, b = np.array([1.5, -2, np.inf, 3e38], np.float32), np.array([2, 5, -np.inf, 3e38], np.float32)
    assert binary("MEAN", a, b).unspecified.tolist() == [False, False, False, True]


@pytest.mark.parametrize("data_type", [t for t in INTEGERS if t.is_signed], ids=lambda t: t.name)
def test_the_opposite_of_the_lowest_integer_is_unspecified(data_type):
    low, high = data_type.limits
    x = np.array([low, low + 1, -1, 0, 1, high], data_type.dtype)
    seen = high if data_type.bits < 32 else low
    positive, opposite = unary("ABS", x), unary("NEGATE", x)
    np.testing.assert_array_equal(positive.values, [seen, high, 1, 0, 1, high])
    np.testing.assert_array_equal(opposite.values, [seen, high, 1, 0, -1, low + 1])
    for found in (positive, opposite):
        np.testing.assert_array_equal(found.unspecified, [True, *[False] * 5])


def test_the_sign_of_nan_is_unspecified():
    x = np.array([0.0, -0.0, 2.5, -np.inf, np.nan], np.float16)
    np.testing.assert_array_equal(unary("SIGN", x).unspecified, np.isnan(x))


def test_the_angle_of_the_origin_is_unspecified():
    y, x = np.array([1, 0, 0, -np.inf, 0], np.float32), np.array([-1, 2, -2, np.inf, 0], np.float32)
    assert binary("ATAN_YX", y, x).unspecified.tolist() == [False] * 4 + [True]
