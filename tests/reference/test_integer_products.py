from __future__ import annotations

from fractions import Fraction
from itertools import product
from operator import mul

import numpy as np
import pytest

from dml2onnx.reference import disagreements
from dml2onnx.test_cases.descriptors import tensor
from tests.reference.numbers import result_of

WIDE = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]


def random(dtype, shape, seed=0):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def multiply(a, b, za=None, zb=None, *, output, **more):
    name = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT" if np.dtype(output).kind == "f" else "QUANTIZED_LINEAR_MATRIX_MULTIPLY"
    tensors = {"ATensor": a, "AZeroPointTensor": za, "BTensor": b, "BZeroPointTensor": zb, **more}
    return result_of(name, np.zeros((*a.shape[:-1], b.shape[-1]), output), **tensors)


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
    found = multiply(a, b, za, zb, output=floats, **scales)
    assert not found.unspecified.any()
    for row, column in np.ndindex(2, 4):
        # integers of more than 8 bits are rounded to FLOAT32 (decision Q16)
        total = sum(map(mul, less_in_float32(a[row], za[row]), less_in_float32(b[:, column], zb[0])))
        exact = total * Fraction(float(sa[row])) * Fraction(float(sb[column])) + Fraction(float(bias[row, column]))
        with np.errstate(over="ignore"):
            want = np.array(float(exact)).astype(floats)
            in_float32 = np.float32(float(total)) * np.float32(sa[row]) * np.float32(sb[column]) + np.float32(
                bias[row, column]
            )
            narrow = in_float32.astype(floats)
        assert found.values[row, column] == want
        one = type(found)(*(item[row, column] for item in (found.values, found.error, found.unspecified)))
        assert not disagreements(np.asarray(narrow), one, tensor(found.values).data_type)


def test_halves_may_be_off_by_one():
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
def test_unusable_scales_are_unspecified(a, b, out):
    scales = {"AScaleTensor": a, "BScaleTensor": b, "OutputScaleTensor": out}
    given = {name: np.array([[value]], np.float32) for name, value in scales.items()}
    x = np.ones((2, 2), np.uint8)
    assert multiply(x, x, output=np.uint8, **given).unspecified.all()
    if out == 1:
        del given["OutputScaleTensor"]
        assert multiply(x, x, output=np.float32, **given).unspecified.all()
