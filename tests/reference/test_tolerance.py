from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import Result, allowed_error, disagreements

F16, F32 = DataType.FLOAT16, DataType.FLOAT32


def test_exact_results_must_be_equal():
    want = Result(np.array([1, np.nan, np.inf, 0], np.float32))
    got = np.array([1, np.nan, np.inf, -0.0], np.float32)
    assert not disagreements(got, want, F32).any()
    assert disagreements(np.nextafter(got, np.float32(9)), want, F32).tolist() == [True, False, True, True]


@pytest.mark.parametrize("data_type", [F16, F32, DataType.FLOAT64])
def test_one_last_place_for_the_rounding(data_type):
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
    # the unit in the last place is 32 here, and infinity begins half of it above 65504
    assert disagreements(np.array([got], np.float16), result, F16).tolist() == [bad]


def test_unspecified_elements_never_disagree():
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
