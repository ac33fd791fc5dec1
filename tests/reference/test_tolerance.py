from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import Result, allowed_error, disagreements
from dml2onnx.reference.numeric import BLOCK_ELEMENTS
from dml2onnx.reference.tolerance import TOP_POWER, spacing

F16, F32 = DataType.FLOAT16, DataType.FLOAT32


def test_exact_results_must_be_equal():
    want = Result(np.array([1, np.nan, np.inf, 0], np.float32))
    got = np.array([1, np.nan, np.inf, -0.0], np.float32)
    assert not disagreements(got, want, F32).any()
    assert disagreements(np.nextafter(got, np.float32(9)), want, F32).tolist() == [True, False, True, True]


@pytest.mark.parametrize("data_type", [F16, F32, DataType.FLOAT64])
def test_rounding_may_differ_by_one_last_place(data_type):
    one = np.ones(1, data_type.dtype)
    want = Result(one, np.zeros(1))
    above = np.nextafter(one, one + one)
    assert not disagreements(above, want, data_type).any()
    assert disagreements(np.nextafter(above, one + one), want, data_type).all()


def test_subnormals_may_be_flushed():
    want = Result(np.array([1e-39], np.float32), np.zeros(1))
    assert not disagreements(np.zeros(1, np.float32), want, F32).any()


@pytest.mark.parametrize(
    ("got", "want", "error", "bad"),
    [
        (np.inf, 65504, 0.0, False),
        (np.inf, 65472, 1.0, True),
        (np.inf, 65472, 16.0, False),
        (65504, np.inf, 1.0, False),
        (60000, np.inf, 100.0, True),
        (-np.inf, np.inf, 1e4, True),
        (np.nan, np.inf, 1e9, True),
        (1, np.nan, 1e9, True),
        (np.inf, np.inf, 0.0, False),
    ],
)
def test_infinities(got, want, error, bad):
    result = Result(np.array([want], np.float16), np.array([error]))
    # the unit in the last place is 32; numbers from 65504 + 16 on round to infinity
    assert disagreements(np.array([got], np.float16), result, F16).tolist() == [bad]


def test_unspecified_elements_always_match():
    want = Result(np.array([1, 2], np.int32), None, np.array([True, False]))
    assert disagreements(np.array([5, 5], np.int32), want, DataType.INT32).tolist() == [False, True]


def test_integers_compare_exactly_at_64_bits():
    want = Result(np.array([2**64 - 1], np.uint64))
    assert disagreements(np.array([2**64 - 2], np.uint64), want, DataType.UINT64).all()


def test_half_accumulation_scales_float16_only():
    for data_type, factor in ((F16, 2**13), (F32, 1)):
        result = Result(np.zeros(1, data_type.dtype), np.ones(1))
        difference = allowed_error(result, data_type, True) - allowed_error(result, data_type)
        np.testing.assert_array_equal(difference, factor - 1)


@pytest.mark.parametrize("data_type", [F16, F32, DataType.FLOAT64])
def test_spacing_matches_numpy(data_type):
    dtype, bits = data_type.dtype, np.dtype(f"u{data_type.dtype.itemsize}")
    limits = np.finfo(str(dtype))
    random = np.random.default_rng(0)
    numbers = np.abs(random.integers(0, np.iinfo(bits).max, 10000, bits, endpoint=True).view(dtype))
    ends = np.array([0, limits.smallest_subnormal, limits.smallest_normal, 1, limits.max, np.inf], dtype)
    numbers = np.concatenate([numbers[~np.isnan(numbers)], ends, np.nextafter(ends, dtype.type(1))])
    # numpy's spacing above the last power of two is infinite
    want = np.spacing(np.minimum(numbers, dtype.type(TOP_POWER[data_type])))
    np.testing.assert_array_equal(spacing(numbers, data_type), want.astype(np.float64))


def test_results_do_not_depend_on_blocks():
    random = np.random.default_rng(0)
    values = random.normal(size=(3, BLOCK_ELEMENTS + 5)).astype(np.float32)
    values[::2, ::7] = np.inf
    errors = np.abs(random.normal(size=values.shape)) * 1e-6
    got = np.nextafter(values, np.float32(0))
    got[2, -1] += 1
    want = Result(values, errors)
    rows = [Result(values[row], errors[row]) for row in range(3)]
    np.testing.assert_array_equal(allowed_error(want, F32), np.stack([allowed_error(row, F32) for row in rows]))
    wrong = np.stack([disagreements(got[row], rows[row], F32) for row in range(3)])
    np.testing.assert_array_equal(disagreements(got, want, F32), wrong)
    assert wrong[2, -1]
    assert wrong.sum() == 1
