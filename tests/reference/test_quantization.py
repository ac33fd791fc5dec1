from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe, tensor

QUANTIZED = [np.int8, np.uint8]
DEQUANTIZED = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]
FLOATS = [np.float32, np.float16]


def evaluate(name, output, **arrays):
    op = describe(name, OutputTensor=output, **arrays)
    given = {key: array for key, array in arrays.items() if array is not None}
    (result,) = operator_results(op, given)["OutputTensor"]
    return result


def quantize(x, scale, zero_point=None, dtype=np.uint8):
    output = np.zeros(x.shape, dtype)
    return evaluate(
        "ELEMENT_WISE_QUANTIZE_LINEAR", output, InputTensor=x, ScaleTensor=scale, ZeroPointTensor=zero_point
    )


def dequantize(x, scale, zero_point=None):
    output = np.zeros(x.shape, scale.dtype)
    return evaluate(
        "ELEMENT_WISE_DEQUANTIZE_LINEAR", output, InputTensor=x, ScaleTensor=scale, ZeroPointTensor=zero_point
    )


def add(a, b, out):
    """Operands and result as (array or type, scale, zero point); scalars become tensors of one element."""

    def one(dtype, value):
        return None if value is None else np.full((1,) * a[0].ndim, value, dtype)

    return evaluate(
        "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
        np.zeros(a[0].shape, out[0]),
        ATensor=a[0],
        AScaleTensor=one(np.float32, a[1]),
        AZeroPointTensor=one(a[0].dtype, a[2]),
        BTensor=b[0],
        BScaleTensor=one(np.float32, b[1]),
        BZeroPointTensor=one(b[0].dtype, b[2]),
        OutputScaleTensor=one(np.float32, out[1]),
        OutputZeroPointTensor=one(out[0], out[2]),
    )


def saturated(value, dtype):
    limits = np.iinfo(dtype)
    return min(max(value, int(limits.min)), int(limits.max))


def to_a_half(quotient):
    """The distance to the nearest number in the middle of two integers."""
    return abs(quotient - math.floor(quotient) - Fraction(1, 2))


def width(dtype) -> Any:
    return np.finfo(dtype).bits


def finite(dtype):
    return st.floats(width=width(dtype), allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("dtype", QUANTIZED)
@pytest.mark.parametrize("source", [*FLOATS, np.int32])
@given(data=st.data())
def test_quantize(source, dtype, data):
    scales = np.float32 if source is np.int32 else source
    smallest = float(np.finfo(scales).smallest_normal)
    usual = st.floats(smallest, 60000, width=width(scales))
    scale = scales(data.draw(usual) * data.draw(st.sampled_from([1, -1])))
    zero_point = data.draw(st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)))
    multiple = st.integers(-600, 600).map(lambda halves: halves / 2 * float(scale))
    if source is np.int32:
        number = data.draw(st.integers(-(2**31), 2**31 - 1) | multiple.map(lambda n: saturated(int(n), np.int32)))
    else:
        number = data.draw(finite(source) | multiple)
    with np.errstate(over="ignore"):
        x = np.array([number], source)
    if not np.isfinite(x[0]) or (source is np.float32 and 0 < abs(x[0]) < np.finfo(np.float32).smallest_normal):
        return
    result = quantize(x, np.array([scale]), np.array([zero_point], dtype), dtype)
    quotient = Fraction(x[0].item()) / Fraction(float(scale))
    want, got = saturated(round(quotient) + zero_point, dtype), int(result.values[0])
    near = to_a_half(quotient) <= abs(quotient) * Fraction(1, 2**20)
    # a half of float64 numbers may be the half of the exact quotient's neighbour
    assert got == want or (near and abs(got - want) == 1)
    assert not result.unspecified[0]
    if abs(quotient) < 1000:
        assert int(result.error[0]) in ((0, 1) if near else (0,))
    with np.errstate(over="ignore"):
        for other in (np.float32(x[0]) / np.float32(scale), np.float32(x[0]) * (np.float32(1) / np.float32(scale))):
            evaluated = saturated(int(np.rint(np.clip(other, -1000, 1000))) + zero_point, dtype)
            assert not disagreements(np.array([evaluated], dtype), result, tensor(result.values).data_type)[0]


def test_halves_go_to_even_and_may_be_one_off():
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
    # on either side of that half lies what saturates
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


def test_reciprocals_that_float32_does_not_have():
    x = np.array([2.0**-129, 2.0**127, 2.0**127, np.inf, 2.0**-127], np.float32)
    scale = np.array([2.0**-131, 2.0**127, 2.0**125, 2.0**127, 2.0**-126], np.float32)
    result = quantize(x, scale)
    # subnormal numbers are 0, and 0 / 0 is nothing that anybody says
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


@pytest.mark.parametrize("scales", FLOATS)
@pytest.mark.parametrize("dtype", DEQUANTIZED)
@given(data=st.data())
def test_dequantize(dtype, scales, data):
    whole = st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    q, z, scale = data.draw(whole), data.draw(whole), scales(data.draw(finite(scales)))
    result = dequantize(np.array([q], dtype), np.array([scale]), np.array([z], dtype))
    if scales is np.float32 and abs(scale) < np.finfo(np.float32).smallest_normal:
        scale = np.float32(0)
    exact = (q - z) * Fraction(float(scale))
    # the middle of the largest number and the power of two beyond it
    edge = 65520 if scales is np.float16 else 2**128 - 2**103
    if abs(exact) >= edge:
        assert np.isinf(result.values[0])
    else:
        with np.errstate(over="ignore", under="ignore"):
            value = Fraction(float(result.values[0]))
            spacing = Fraction(float(np.spacing(np.abs(result.values[0]))))
        # half a unit, and what float64 has lost of 57 digits
        assert abs(value - exact) <= spacing / 2 + abs(exact) / 2**52
    assert bool(result.unspecified[0]) == (scale == 0)
    with np.errstate(all="ignore"):
        in_float32 = (np.float32(q - z) * np.float32(scale)).astype(scales)
    assert not disagreements(np.array([in_float32]), result, tensor(result.values).data_type)[0]


@pytest.mark.parametrize("dtype", DEQUANTIZED)
def test_differences_are_exact(dtype):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    x, z = np.array([low, high, low, high], dtype), np.array([high, low, 0, 0], dtype)
    result = dequantize(x, np.full(4, 0.5, np.float32), z)
    np.testing.assert_array_equal(result.values, np.array([low - high, high - low, low, high], np.float32) / 2)
    np.testing.assert_array_equal(dequantize(x, np.ones(4, np.float32)).values, x.astype(np.float32))


def test_only_wide_differences_are_rounded_twice():
    x, scale = np.array([2**24, 2**24 + 1, -(2**24) - 1], np.int32), np.full(3, 3, np.float32)
    np.testing.assert_array_equal(dequantize(x, scale).error > 0, [0, 1, 1])
    # the product in FLOAT32 comes before the rounding to FLOAT16
    assert dequantize(np.array([3], np.int8), np.array([0.1], np.float16)).error[0] == 2.0**-24 * 3 * float(
        np.float16(0.1)
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_dequantized_specials(dtype):
    scale = np.array([np.inf, -np.inf, np.inf, np.nan, -1, 0, 60000], dtype)
    result = dequantize(np.array([3, 3, 0, 1, 0, 7, 2], np.int8), scale)
    with np.errstate(over="ignore"):
        overflow = np.float64(120000).astype(dtype)
    np.testing.assert_array_equal(result.values, [np.inf, -np.inf, np.nan, np.nan, 0, 0, overflow])
    np.testing.assert_array_equal(result.unspecified, [0, 0, 0, 0, 0, 1, 0])
    assert np.signbit(result.values[4])


@pytest.mark.parametrize("a_type", QUANTIZED)
@pytest.mark.parametrize("b_type", QUANTIZED)
@pytest.mark.parametrize("dtype", QUANTIZED)
def test_add(a_type, b_type, dtype):
    random = np.random.default_rng(0)
    whole = [random.integers(np.iinfo(t).min, np.iinfo(t).max, 400, endpoint=True).astype(t) for t in (a_type, b_type)]
    for a_scale, b_scale, scale, zero_points in (
        (0.1, 0.03, 0.2, (5, 7, 11)),
        (0.5, -0.25, 1.0, (None, 3, None)),
        (1e-3, 1e3, 700.0, (100, None, 64)),
        (1.0, -1.0, 1e-3, (None, None, 1)),
    ):
        za, zb, zo = zero_points
        result = add((whole[0], a_scale, za), (whole[1], b_scale, zb), (dtype, scale, zo))
        sa, sb, so = (Fraction(float(np.float32(s))) for s in (a_scale, b_scale, scale))
        assert not result.unspecified.any()
        for a, b, got, error in zip(*(array.tolist() for array in (*whole, result.values, result.error)), strict=True):
            first, second = (a - (za or 0)) * sa, (b - (zb or 0)) * sb
            quotient = (first + second) / so
            reach = (abs(first) + abs(second)) / abs(so) / 2**20
            low, want, high = (
                saturated(round(q) + (zo or 0), dtype) for q in (quotient - reach, quotient, quotient + reach)
            )
            assert low <= got <= high
            assert got == want or error
            assert error <= high - low
        # as it is documented, in FLOAT32 all along
        a, b = (
            np.float32(s) * (q.astype(np.float32) - np.float32(z or 0))
            for q, s, z in zip(whole, (a_scale, b_scale), (za, zb), strict=True)
        )
        y = np.rint((a + b) * (np.float32(1) / np.float32(scale))) + np.float32(zo or 0)
        evaluated = np.clip(y, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
        assert not disagreements(evaluated, result, tensor(result.values).data_type).any()


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
    # cancelling terms leave little that is sure
    cancelling = add((a, 1e6, None), (a, -1e6, None), (np.int8, 1, None))
    np.testing.assert_array_equal(cancelling.values, [0, 0, 0])
    assert cancelling.error[0] > 1 > cancelling.error[2]


def test_documented_shapes_of_scales():
    x = np.arange(-4, 4, dtype=np.float32).reshape(2, 1, 4)
    scale = np.broadcast_to(np.array([1, 2, 0.5, 4], np.float32), x.shape)
    zero_point = np.broadcast_to(np.array([[[0]], [[10]]], np.uint8), x.shape)
    result = quantize(x, scale, zero_point)
    np.testing.assert_array_equal(result.values, [[[0, 0, 0, 0]], [[10, 10, 14, 11]]])
    back = dequantize(result.values, scale, zero_point)
    np.testing.assert_array_equal(back.values, [[[0, 0, 0, 0]], [[0, 0, 2, 4]]])
    assert tensor(back.values).data_type is DataType.FLOAT32


# --- QUANTIZE, DEQUANTIZE --------------------------------------------------------------------------------------------


def in_blocks(name, x, data_type, *parameters):
    """The result for logical arrays; ``data_type`` is that of the integers, the zero point's with it."""
    desc = TensorDesc(data_type, x.shape)
    scale, *zero_points = parameters
    tensors = [tensor(scale), *(TensorDesc(data_type, item.shape) for item in zero_points)]
    floats = TensorDesc(tensor(scale).data_type, x.shape)
    source, target = (floats, desc) if name == "QUANTIZE" else (desc, floats)
    kind = "SCALE_ZERO_POINT" if zero_points else "SCALE"
    op = describe(name, InputTensor=source, OutputTensor=target, QuantizationType=kind, QuantizationTensors=tensors)
    (result,) = operator_results(op, {"InputTensor": x, "QuantizationTensors": list(parameters)})["OutputTensor"]
    return result


def test_a_missing_zero_point_is_the_middle_of_unsigned_types():
    x, scale = np.array([-3, 0, 3], np.float32), np.array([1], np.float32)
    for data_type, middle in (
        (DataType.UINT4, 8),
        (DataType.UINT8, 128),
        (DataType.INT4, 0),
        (DataType.INT8, 0),
    ):
        y = in_blocks("QUANTIZE", x, data_type, scale)
        np.testing.assert_array_equal(y.values.astype(int), [middle - 3, middle, middle + 3])
        np.testing.assert_array_equal(in_blocks("DEQUANTIZE", y.values, data_type, scale).values, x)


def test_four_bits_saturate():
    x, scale, zero_point = np.array([-100, -7, 6, 100], np.float32), np.array([1], np.float32), np.array([2], np.int8)
    np.testing.assert_array_equal(in_blocks("QUANTIZE", x, DataType.INT4, scale, zero_point).values, [-8, -5, 7, 7])
    unsigned = in_blocks("QUANTIZE", x, DataType.UINT4, scale, zero_point.astype(np.uint8))
    np.testing.assert_array_equal(unsigned.values, [0, 0, 8, 15])


def test_blocks_along_every_dimension():
    x = np.arange(24, dtype=np.int8).reshape(4, 6)
    scale = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    zero_point = np.array([[0, 1, 2], [3, 4, 5]], np.int8)
    result = in_blocks("DEQUANTIZE", x, DataType.INT8, scale, zero_point)
    for i, j in np.ndindex(4, 6):
        assert result.values[i, j] == (int(x[i, j]) - zero_point[i // 2, j // 2]) * scale[i // 2, j // 2]
    y = in_blocks("QUANTIZE", result.values, DataType.INT8, scale, zero_point)
    np.testing.assert_array_equal(y.values, x)


# --- DYNAMIC_QUANTIZE_LINEAR -----------------------------------------------------------------------------------------


def dynamic(x, dtype=np.uint8):
    """Output, scale and zero point as results."""
    one = np.zeros((1,) * x.ndim)
    op = describe(
        "DYNAMIC_QUANTIZE_LINEAR",
        InputTensor=x,
        OutputTensor=np.zeros(x.shape, dtype),
        OutputScaleTensor=one.astype(np.float32),
        OutputZeroPointTensor=one.astype(dtype),
    )
    results = operator_results(op, {"InputTensor": x})
    return [results[f"Output{name}Tensor"][0] for name in ("", "Scale", "ZeroPoint")]


@pytest.mark.parametrize("source", FLOATS)
def test_dynamic_by_hand(source):
    # the range is widened to 0 on either side
    for x, scale, zero_point, want in (
        ([51, 102, 255], 1, 0, [51, 102, 255]),
        ([-510, -52, -2], 2, 255, [0, 229, 254]),
        ([-1, 0, 254], 1, 1, [0, 1, 255]),
    ):
        for dtype, offset in ((np.uint8, 0), (np.int8, 128)):
            y, s, z = dynamic(np.array(x, source), dtype)
            assert (s.values.item(), z.values.item()) == (scale, zero_point - offset)
            np.testing.assert_array_equal(y.values.astype(int) + offset, want)
            assert not any(item.unspecified.any() for item in (y, s, z))
            assert not y.error.any()
            assert not z.error.any()


@pytest.mark.parametrize("dtype", QUANTIZED)
def test_dynamic_in_float32_agrees(dtype):
    random, (low, high) = np.random.default_rng(1), (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for _ in range(300):
        x = (random.normal(random.normal(), 1, 20) * 10.0 ** random.integers(-8, 8)).astype(np.float32)
        y, s, z = dynamic(x, dtype)
        least, most = min(np.float32(0), x.min()), max(np.float32(0), x.max())
        scale = (most - least) / np.float32(255)
        zero_point = np.clip(np.rint(np.float32(low) - least / scale), low, high)
        whole = np.clip(np.rint(x / scale) + zero_point, low, high)
        for result, got in ((y, whole.astype(dtype)), (s, np.array([scale])), (z, np.array([zero_point], dtype))):
            assert not disagreements(got, result, tensor(got).data_type).any()
        assert y.error.max() <= 2


def test_what_dynamic_promises_nothing_of():
    for x in ([0, 0], [np.nan, 1], [np.inf, 1], [3e38, -3e38], [1e-38, 0]):
        y, _, z = dynamic(np.array(x, np.float32))
        assert y.unspecified.all(), x
        assert z.unspecified.all(), x
    y, s, z = dynamic(np.zeros(3, np.float32), np.int8)
    np.testing.assert_array_equal(y.values, [-128] * 3)
    assert (s.values.item(), z.values.item()) == (0, -128)
