from __future__ import annotations

from fractions import Fraction
from itertools import product
from operator import mul

import numpy as np
import pytest

from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe, tensor

BYTES = [np.int8, np.uint8]
WIDE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]


def random(dtype, shape, seed=0):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def evaluate(name, output, attributes=None, **arrays):
    arrays = {key: array for key, array in arrays.items() if array is not None}
    op = describe(name, OutputTensor=output, **arrays, **(attributes or {}))
    (result,) = operator_results(op, arrays)["OutputTensor"]
    return result


def wrapped(value):
    return (value + 2**31) % 2**32 - 2**31


def convolve(x, w, zx=None, zw=None, *, strides=(1, 1), dilations=(1, 1), start=(0, 0), end=(0, 0), groups=1, **more):
    sizes = [
        (n + p + q - (k - 1) * d - 1) // s + 1
        for n, k, s, d, p, q in zip(x.shape[2:], w.shape[2:], strides, dilations, start, end, strict=True)
    ]
    attributes = {
        "DimensionCount": len(strides),
        "Strides": strides,
        "Dilations": dilations,
        "StartPadding": start,
        "EndPadding": end,
        "GroupCount": groups,
    }
    shape, output = (x.shape[0], w.shape[0], *sizes), more.pop("output", np.int32)
    name = "QUANTIZED_LINEAR_CONVOLUTION" if more else "CONVOLUTION_INTEGER"
    tensors = {"InputTensor": x, "InputZeroPointTensor": zx, "FilterTensor": w, "FilterZeroPointTensor": zw, **more}
    return evaluate(name, np.zeros(shape, output), attributes, **tensors)


def summed(x, w, zx, zw, at, strides, dilations, start, groups):
    """One output element as a loop in Python's integers; elements outside of the input add nothing."""
    n, o, *where = at
    first = o // (w.shape[0] // groups) * w.shape[1]
    total = 0
    for c, *tap in np.ndindex(*w.shape[1:]):
        place = [i * s + k * d - p for i, s, k, d, p in zip(where, strides, tap, dilations, start, strict=True)]
        if all(0 <= i < size for i, size in zip(place, x.shape[2:], strict=True)):
            total += (int(x[(n, first + c, *place)]) - zx) * (int(w[(o, c, *tap)]) - zw[o])
    return total


@pytest.mark.parametrize(("input_type", "filter_type"), list(product(BYTES, BYTES)))
def test_convolution_as_a_loop(input_type, filter_type):
    x, w = random(input_type, (2, 4, 5, 6)), random(filter_type, (6, 2, 2, 3), 1)
    zx, zw = np.array([7], input_type), random(filter_type, (6,), 2)
    steps = {"strides": (2, 1), "dilations": (1, 2), "start": (3, 1), "groups": 2}
    result = convolve(x, w, zx, zw, end=(0, 2), **steps)
    assert result.error is None
    for at in np.ndindex(*result.values.shape):
        assert result.values[at] == summed(x, w, 7, zw.tolist(), at, **steps)
    plain = convolve(x, w, **steps)
    assert plain.values[1, 5, 2, 1] == summed(x, w, 0, [0] * 6, (1, 5, 2, 1), **steps)


def test_zero_points_of_every_rank():
    x, w, zw = random(np.uint8, (1, 2, 4)), random(np.int8, (3, 2, 2)), np.array([1, -2, 3], np.int8)
    line = {"strides": (1,), "dilations": (1,), "start": (1,), "end": (0,)}
    zx = np.array([5], np.uint8)
    want = convolve(x, w, zx, zw, **line).values
    for shape in ((1, 3), (1, 3, 1), (1, 3, 1, 1)):
        one = zx.reshape((1,) * len(shape))
        np.testing.assert_array_equal(convolve(x, w, one, zw.reshape(shape), **line).values, want)


@pytest.mark.parametrize("output_type", BYTES)
@pytest.mark.parametrize(("input_type", "filter_type"), list(product(BYTES, BYTES)))
def test_quantized_convolution(input_type, filter_type, output_type):
    x, w = random(input_type, (1, 3, 4, 4)), random(filter_type, (2, 3, 2, 2), 1)
    zx, zw, zy = np.array([9], input_type), np.array([3, 100], filter_type), np.array([17], output_type)
    sx, sw, sy = np.array([0.013], np.float32), np.array([0.02, 0.5], np.float32), np.array([0.7], np.float32)
    bias = np.array([1000, -70000], np.int32).reshape(1, 2, 1, 1)
    scales = {"InputScaleTensor": sx, "FilterScaleTensor": sw, "OutputScaleTensor": sy}
    result = convolve(
        x, w, zx, zw, output=output_type, BiasTensor=bias, OutputZeroPointTensor=zy, start=(1, 0), **scales
    )
    steps = {"strides": (1, 1), "dilations": (1, 1), "start": (1, 0), "groups": 1}
    limits = np.iinfo(output_type)
    for at in np.ndindex(*result.values.shape):
        total = summed(x, w, 9, zw.tolist(), at, **steps) + bias[0, at[1], 0, 0].item()
        exact = total * Fraction(float(sx[0])) * Fraction(float(sw[at[1]])) / Fraction(float(sy[0]))
        want = min(max(round(exact) + 17, limits.min), limits.max)
        assert abs(int(result.values[at]) - want) <= result.error[at]
    assert result.error.mean() < 0.1
    assert not result.unspecified.any()


def multiply(a, b, za=None, zb=None, **more):
    shape, output = (*a.shape[:-1], b.shape[-1]), more.pop("output", np.int32)
    name = "MATRIX_MULTIPLY_INTEGER" if not more else "QUANTIZED_LINEAR_MATRIX_MULTIPLY"
    if np.dtype(output).kind == "f":
        name = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"
    tensors = {"ATensor": a, "AZeroPointTensor": za, "BTensor": b, "BZeroPointTensor": zb, **more}
    return evaluate(name, np.zeros(shape, output), **tensors)


def entry(a, b, za, zb, batch, row, column):
    columns = zip(a[(*batch, row)].tolist(), b[(*batch, slice(None), column)].tolist(), strict=True)
    return wrapped(sum((x - za[row]) * (y - zb[column]) for x, y in columns))


@pytest.mark.parametrize(("a_type", "b_type"), list(product(BYTES, BYTES)))
def test_matrices_as_a_loop(a_type, b_type):
    a, b = random(a_type, (2, 3, 5)), random(b_type, (2, 5, 4), 1)
    za, zb = random(a_type, (3,), 2), random(b_type, (4,), 3)
    result = multiply(a, b, za, zb)
    for batch, row, column in np.ndindex(2, 3, 4):
        assert result.values[batch, row, column] == entry(a, b, za.tolist(), zb.tolist(), (batch,), row, column)
    for rows, columns in (((3, 1), (1, 4)), ((1, 1, 3, 1), (1, 1, 1, 4))):
        np.testing.assert_array_equal(multiply(a, b, za.reshape(rows), zb.reshape(columns)).values, result.values)
    np.testing.assert_array_equal(multiply(a, b).values, np.matmul(a.astype(int), b.astype(int)))


def test_sums_wrap():
    a, b = np.full((1, 40000), 255, np.uint8), np.full((40000, 1), 255, np.uint8)
    assert multiply(a, b).values.item() == wrapped(40000 * 255 * 255) < 0


def less_in_float32(x, zero_point):
    return [Fraction(float(np.float32(number) - np.float32(zero_point))) for number in x]


@pytest.mark.parametrize(("a_type", "b_type"), list(product(WIDE, WIDE)))
@pytest.mark.parametrize("floats", [np.float32, np.float16])
def test_to_float(a_type, b_type, floats):
    a, b = random(a_type, (2, 3)), random(b_type, (3, 4), 1)
    za, zb = random(a_type, (2,), 2), random(b_type, (1,), 3)
    sa, sb = np.array([1e-3, 2e-3], floats), np.array([0.01, -0.02, 0.03, 0.04], floats)
    bias = np.arange(8).reshape(2, 4).astype(floats)
    scales = {"AScaleTensor": sa, "BScaleTensor": sb, "BiasTensor": bias}
    result = multiply(a, b, za, zb, output=floats, **scales)
    assert not result.unspecified.any()
    for row, column in np.ndindex(2, 4):
        total: int | Fraction = entry(a, b, za.tolist(), [zb.item()] * 4, (), row, column)
        if max(a.itemsize, b.itemsize) > 1:  # in FLOAT32 (decision Q16)
            total = sum(map(mul, less_in_float32(a[row], za[row]), less_in_float32(b[:, column], zb[0])))
        exact = total * Fraction(float(sa[row])) * Fraction(float(sb[column])) + Fraction(float(bias[row, column]))
        with np.errstate(over="ignore"):
            want = np.array(float(exact)).astype(floats)
            in_float32 = np.float32(float(total)) * np.float32(sa[row]) * np.float32(sb[column]) + np.float32(
                bias[row, column]
            )
            narrow = in_float32.astype(floats)
        assert result.values[row, column] == want
        one = type(result)(*(item[row, column] for item in (result.values, result.error, result.unspecified)))
        assert not disagreements(np.asarray(narrow), one, tensor(result.values).data_type)


def test_quantized_matrices():
    a, b = np.array([[1, 2], [3, 4]], np.uint8), np.array([[5, -6], [7, 8]], np.int8)
    scales = {
        "AScaleTensor": np.array([[1], [2]], np.float32),
        "BScaleTensor": np.array([[1, 0.5]], np.float32),
        "OutputScaleTensor": np.array([[4], [2]], np.float32),
        "OutputZeroPointTensor": np.array([[1], [-100]], np.int8),
    }
    za, zb = np.array([[1], [0]], np.uint8), np.array([[0, 2]], np.int8)
    result = multiply(a, b, za, zb, output=np.int8, **scales)
    # 7 / 4, 6 / 8, 43 * 2 / 2 and 0 / 2
    np.testing.assert_array_equal(result.values, [[3, 2], [-57, -100]])
    np.testing.assert_array_equal(result.error, np.zeros((2, 2)))
    halves = multiply(
        np.array([[1], [3], [5]], np.uint8),
        np.array([[1]], np.uint8),
        output=np.uint8,
        AScaleTensor=np.array([[0.5]], np.float32),
        BScaleTensor=np.array([[1]], np.float32),
        OutputScaleTensor=np.array([[1]], np.float32),
    )
    np.testing.assert_array_equal(halves.values, [[0], [2], [2]])
    np.testing.assert_array_equal(halves.error, [[1], [1], [1]])


@pytest.mark.parametrize(
    ("a", "b", "out"), [(0, 1, 1), (1, np.inf, 1), (1, 1, np.nan), (1e-30, 1e-30, 1), (1, 1, 1e-39)]
)
def test_scales_that_nothing_is_promised_of(a, b, out):
    scales = {"AScaleTensor": a, "BScaleTensor": b, "OutputScaleTensor": out}
    given = {name: np.array([[value]], np.float32) for name, value in scales.items()}
    x = np.ones((2, 2), np.uint8)
    assert multiply(x, x, output=np.uint8, **given).unspecified.all()
    if out == 1:
        del given["OutputScaleTensor"]
        assert multiply(x, x, output=np.float32, **given).unspecified.all()
