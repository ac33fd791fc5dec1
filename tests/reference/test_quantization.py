from __future__ import annotations

import numpy as np
import pytest

from tests.reference.numbers import result_of, results_of

FLOATS = [np.float32, np.float16]


def quantize(x, scale, zero_point=None, dtype=np.uint8):
    fields = {"InputTensor": x, "ScaleTensor": scale, "ZeroPointTensor": zero_point}
    return result_of("ELEMENT_WISE_QUANTIZE_LINEAR", np.zeros(x.shape, dtype), **fields)


def dequantize(x, scale):
    return result_of("ELEMENT_WISE_DEQUANTIZE_LINEAR", np.zeros(x.shape, scale.dtype), InputTensor=x, ScaleTensor=scale)


def add(a, b, out):
    """Operands and output are (array or type, scale, zero point)."""
    fields = {}
    for name, (array, scale, zero_point) in (("A", a), ("B", b), ("Output", out)):
        dtype = array if name == "Output" else array.dtype
        fields[f"{name}ScaleTensor"] = np.full((1,) * a[0].ndim, scale, np.float32)
        if zero_point is not None:
            fields[f"{name}ZeroPointTensor"] = np.full((1,) * a[0].ndim, zero_point, dtype)
    output = np.zeros(a[0].shape, out[0])
    return result_of("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", output, ATensor=a[0], BTensor=b[0], **fields)


def test_halves_round_to_even_and_may_be_off_by_one():
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 3.4999, 1], np.float32)
    result = quantize(x, np.ones(9, np.float32), dtype=np.int8)
    np.testing.assert_array_equal(result.values, [-2, -2, 0, 0, 2, 2, 4, 3, 1])
    np.testing.assert_array_equal(result.error, [1, 1, 1, 1, 1, 1, 1, 0, 0])
    by_reciprocal = np.array([2.5 * 0.1, 3.5 * 0.3, 2.0 * 0.1], np.float32)
    result = quantize(by_reciprocal, np.array([0.1, 0.3, 0.1], np.float32))
    np.testing.assert_array_equal(result.error, [1, 1, 0])


def test_the_zero_point_is_added_after_rounding_and_before_clamping():
    x = np.array([0.5, 1.5, 300, -300, -3, 254.5], np.float32)
    result = quantize(x, np.ones(6, np.float32), np.array([1, 1, 200, 200, 2, 1], np.uint8))
    np.testing.assert_array_equal(result.values, [1, 3, 255, 0, 0, 255])
    # both neighbours of the last half saturate
    np.testing.assert_array_equal(result.error, [1, 1, 0, 0, 0, 0])
    result = quantize(x, np.ones(6, np.float32), np.array([-1, 1, -100, 100, -126, -128], np.int8), np.int8)
    np.testing.assert_array_equal(result.values, [-1, 3, 127, -128, -128, 126])
    np.testing.assert_array_equal(result.error, [1, 1, 0, 0, 0, 1])


def test_quantized_infinities_saturate_and_nan_is_unspecified():
    x = np.array([np.inf, -np.inf, np.nan, 1, 1, 0, np.inf, 1, 3e38], np.float32)
    scale = np.array([1, 1, 1, 0, np.nan, 0, np.inf, np.inf, 1e-30], np.float32)
    result = quantize(x, scale, np.full(9, -5, np.int8), np.int8)
    np.testing.assert_array_equal(result.unspecified, [0, 0, 1, 1, 1, 1, 1, 0, 0])
    np.testing.assert_array_equal(result.values[~result.unspecified], [127, -128, -5, 127])
    assert not result.error[~result.unspecified].any()


def test_subnormal_reciprocals():
    x = np.array([2.0**-129, 2.0**127, 2.0**127, np.inf, 2.0**-127], np.float32)
    scale = np.array([2.0**-131, 2.0**127, 2.0**125, 2.0**127, 2.0**-126], np.float32)
    result = quantize(x, scale)
    # subnormals are flushed, and 0 / 0 is unspecified
    np.testing.assert_array_equal(result.values[1:], [1, 4, 255, 0])
    np.testing.assert_array_equal(result.unspecified, [1, 0, 0, 1, 0])
    # a reciprocal flushed to 0 gives 0 instead of 1
    np.testing.assert_array_equal(result.error[[1, 2, 4]], [2, 0, 1])


def test_large_int32_is_not_rounded_first():
    x = np.array([2**24 + 1, 2**31 - 1, -(2**31)], np.int32)
    scale = np.array([2.0**24, 2.0**24, 2.0**24], np.float32)
    result = quantize(x, scale, dtype=np.int8)
    np.testing.assert_array_equal(result.values, [1, 127, -128])
    # just below 127.5 or, in FLOAT32, 128
    halves = quantize(np.array([2**23 * 3 - 1], np.int32), scale[:1])
    np.testing.assert_array_equal((halves.values, halves.error), ([1], [1]))


def test_only_wide_differences_are_rounded_twice():
    x, scale = np.array([2**24, 2**24 + 1, -(2**24) - 1], np.int32), np.full(3, 3, np.float32)
    np.testing.assert_array_equal(dequantize(x, scale).error > 0, [0, 1, 1])
    # the product is rounded to FLOAT32 before FLOAT16
    tenth = np.array([0.1], np.float16)
    assert dequantize(np.array([3], np.int8), tenth).error[0] == 2.0**-24 * 3 * float(tenth[0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_dequantized_specials(dtype):
    scale = np.array([np.inf, -np.inf, np.inf, np.nan, -1, 0, 60000], dtype)
    result = dequantize(np.array([3, 3, 0, 1, 0, 7, 2], np.int8), scale)
    with np.errstate(over="ignore"):
        overflow = np.float64(120000).astype(dtype)
    np.testing.assert_array_equal(result.values, [np.inf, -np.inf, np.nan, np.nan, 0, 0, overflow])
    np.testing.assert_array_equal(result.unspecified, [0, 0, 0, 0, 0, 1, 0])
    assert np.signbit(result.values[4])


def test_add_by_hand():
    a, b = np.array([[10, 20, 255]], np.uint8), np.array([[-1, -8, 127]], np.int8)
    result = add((a, 0.5, 2), (b, 2, None), (np.int8, 1, -3))
    # 4 - 2, 9 - 16, and 126.5 + 254, which saturates
    np.testing.assert_array_equal(result.values, [[-1, -10, 127]])
    assert not result.error.any()
    halves = add((np.array([1, 3, 5], np.uint8), 0.5, None), (np.zeros(3, np.int8), 1, None), (np.uint8, 1, None))
    np.testing.assert_array_equal(halves.values, [0, 2, 2])
    np.testing.assert_array_equal(halves.error, [1, 1, 1])


def test_add_beyond_float32():
    a, b = np.array([100, 2, 0], np.int8), np.array([0, 1, 0], np.int8)
    np.testing.assert_array_equal(add((a, 1e37, None), (b, 1, None), (np.int8, 1e37, None)).unspecified, [1, 0, 0])
    infinite = add((a, np.inf, None), (b, 1, None), (np.int8, 1, 3))
    np.testing.assert_array_equal(infinite.values[:2], [127, 127])
    np.testing.assert_array_equal(infinite.unspecified, [0, 0, 1])
    assert add((a, 1, None), (b, 1, None), (np.int8, 0, None)).unspecified.all()
    assert add((a, 1, None), (b, 1, None), (np.int8, np.nan, None)).unspecified.all()
    # cancelling terms have large errors
    cancelling = add((a, 1e6, None), (a, -1e6, None), (np.int8, 1, None))
    np.testing.assert_array_equal(cancelling.values, [0, 0, 0])
    assert cancelling.error[0] > 1 > cancelling.error[2]


def dynamic(x, dtype=np.uint8):
    """The results for output, scale and zero point."""
    one = np.zeros((1,) * x.ndim)
    outputs = {
        "OutputTensor": np.zeros(x.shape, dtype),
        "OutputScaleTensor": one.astype(np.float32),
        "OutputZeroPointTensor": one.astype(dtype),
    }
    return results_of("DYNAMIC_QUANTIZE_LINEAR", InputTensor=x, **outputs).values()


def test_unspecified_dynamic_ranges():
    for x in ([0, 0], [np.nan, 1], [np.inf, 1], [3e38, -3e38], [1e-38, 0]):
        y, _, z = dynamic(np.array(x, np.float32))
        assert y.unspecified.all(), x
        assert z.unspecified.all(), x
    y, s, z = dynamic(np.zeros(3, np.float32), np.int8)
    np.testing.assert_array_equal(y.values, [-128] * 3)
    assert (s.values.item(), z.values.item()) == (0, -128)
