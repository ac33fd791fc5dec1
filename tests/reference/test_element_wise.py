from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.testing.descriptors import describe
from tests.reference.numbers import INTEGERS, binary, integers, unary, wrapped


@given(st.sampled_from(INTEGERS), st.data())
def test_integers_wrap(data_type, data):
    a, b = data.draw(integers(data_type)), data.draw(integers(data_type))
    arrays = (np.array([a], data_type.dtype), np.array([b], data_type.dtype))
    for name, exact in (("ADD", a + b), ("SUBTRACT", a - b), ("MULTIPLY", a * b)):
        assert int(binary(f"ELEMENT_WISE_{name}", *arrays).values[0]) == wrapped(exact, data_type)
    result = binary("ELEMENT_WISE_DIVIDE", *arrays)
    if b == 0:
        signed = 0 if data_type is DataType.INT64 else 1 if a < 0 else -1
        assert int(result.values[0]) == (signed if data_type.is_signed else data_type.limits[1])
    else:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        assert int(result.values[0]) == wrapped(quotient, data_type)
    lowest_by_minus_one = data_type.is_signed and (a, b) == (data_type.limits[0], -1)
    assert bool(result.unspecified[0]) == (b == 0 or lowest_by_minus_one)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("name", "function"),
    [("ADD", np.add), ("ADD1", np.add), ("SUBTRACT", np.subtract), ("MULTIPLY", np.multiply), ("DIVIDE", np.divide)],
)
def test_floats_are_ieee(dtype, name, function):
    numbers = np.array([0.0, -0.0, 1.5, -3, 1e-7, 3e4, np.inf, -np.inf, np.nan], dtype)
    a, b = (array.copy() for array in np.broadcast_arrays(numbers[:, None], numbers))
    with np.errstate(all="ignore"):
        want = function(a, b)
    np.testing.assert_array_equal(binary(f"ELEMENT_WISE_{name}", a, b).values, want)


def test_add1_activates_the_unrounded_sum():
    a, b = np.array([2048], np.float16), np.array([1], np.float16)
    fused = describe("ACTIVATION_LINEAR", Alpha=1.0, Beta=-2048.0)
    assert binary("ELEMENT_WISE_ADD1", a, b, FusedActivation=fused).values[0] == 1


@given(st.sampled_from(INTEGERS), st.integers(-(2**24), 2**24), st.integers(-(2**24), 2**24), st.data())
def test_whole_scale_and_bias_are_exact_where_float32_is(data_type, scale, bias, data):
    x = data.draw(integers(data_type))
    got = unary("ELEMENT_WISE_IDENTITY", np.array([x], data_type.dtype), ScaleBias=(scale, bias))
    want, (low, high) = x * scale + bias, data_type.limits
    is_told = got.unspecified is None or not got.unspecified.any()
    if is_told:
        assert int(got.values[0]) == want
    # beyond the type the driver says what is stored
    assert is_told == (low <= want <= high) or max(abs(x), abs(x * scale), abs(want)) > 1 << 24


def test_fractional_scale_goes_through_float32():
    x = np.array([3, -3, 100, -100], np.int8)
    np.testing.assert_array_equal(unary("ELEMENT_WISE_IDENTITY", x, ScaleBias=(0.5, 0)).values, [1, -1, 50, -50])
    np.testing.assert_array_equal(unary("ELEMENT_WISE_IDENTITY", x, ScaleBias=(1.5, 0.5)).values, [5, -4, 127, -128])
    large = np.array([2**24 + 1, 2**63], np.uint64)
    got = unary("ELEMENT_WISE_IDENTITY", large, ScaleBias=(1.5, 0)).values
    np.testing.assert_array_equal(got, np.array([3 * 2**23, 3 * 2**62], np.uint64))


@pytest.mark.parametrize("data_type", [t for t in DataType if t.bits >= 8], ids=lambda t: t.name)
def test_identity_copies_bits(data_type):
    raw = np.random.default_rng(0).integers(0, 256, 8 * 16).astype(np.uint8).view(data_type.dtype)
    got = unary("ELEMENT_WISE_IDENTITY", raw).values
    np.testing.assert_array_equal(got.view(np.uint8), raw.view(np.uint8))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_float_scale_and_bias(dtype):
    x = np.array([1.5, -2, 1000], dtype)
    np.testing.assert_array_equal(unary("ELEMENT_WISE_IDENTITY", x, ScaleBias=(2, 0.5)).values, x * 2 + dtype(0.5))


@pytest.mark.parametrize("data_type", INTEGERS, ids=lambda t: t.name)
def test_clip_bounds_truncate_and_saturate(data_type):
    low, high = data_type.limits
    x = np.array([low, 0, 1, 2, 3, high], data_type.dtype)
    np.testing.assert_array_equal(
        unary("ELEMENT_WISE_CLIP", x, Min=1.9, Max=2.9).values, np.array([1, 1, 1, 2, 2, 2], data_type.dtype)
    )
    np.testing.assert_array_equal(unary("ELEMENT_WISE_CLIP", x, Min=-1e30, Max=float("inf")).values, x)


def test_min_wins():
    x = np.array([0, 5, 10], np.float32)
    np.testing.assert_array_equal(unary("ELEMENT_WISE_CLIP", x, Min=7, Max=3).values, [7, 7, 7])
    ints = x.astype(np.int32)
    got = unary("ELEMENT_WISE_CLIP1", ints, MinMaxDataType="INT32", Min=7, Max=3).values
    np.testing.assert_array_equal(got, [7, 7, 7])


def test_clip1_bounds_are_exact():
    x = np.array([0, 2**63, 2**64 - 1], np.uint64)
    got = unary("ELEMENT_WISE_CLIP1", x, MinMaxDataType="UINT64", Min=2**53 + 1, Max=2**64 - 2).values
    np.testing.assert_array_equal(got, np.array([2**53 + 1, 2**63, 2**64 - 2], np.uint64))


def test_clip_scales_before_it_clips():
    x = np.array([1, 2, 3], np.int16)
    np.testing.assert_array_equal(unary("ELEMENT_WISE_CLIP", x, ScaleBias=(10, 1), Min=0, Max=25).values, [11, 21, 25])
    floats = x.astype(np.float16)
    got = unary("ELEMENT_WISE_CLIP", floats, ScaleBias=(10, 1), Min=0, Max=25).values
    np.testing.assert_array_equal(got, [11, 21, 25])


def test_clip_of_nan_is_the_upper_bound():
    got = unary("ELEMENT_WISE_CLIP", np.array([np.nan, 1], np.float32), Min=0, Max=2)
    np.testing.assert_array_equal(got.values, [2, 1])


def test_float16_bounds_round_to_nearest():
    x = np.array([0], np.float16)
    got = unary("ELEMENT_WISE_CLIP", x, Min=1 + 2**-11 + 2**-20, Max=2).values
    assert got[0] == np.float16(1 + 2**-10)
