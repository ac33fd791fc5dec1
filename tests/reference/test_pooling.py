from __future__ import annotations

import numpy as np
import pytest

from tests.reference.numbers import marks, results_of


def pool(name, x, shape, *, indices=False, **values):
    outputs = {"OutputTensor": np.zeros(shape, x.dtype)}
    if indices:
        outputs["OutputIndicesTensor"] = np.zeros(shape, np.uint32)
    found = results_of(name, InputTensor=x, **outputs, **values)
    return found["OutputTensor"], found.get("OutputIndicesTensor")


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "u8", "i1", "u1"])
@pytest.mark.parametrize("name", ["MAX_POOLING1", "MAX_POOLING2"])
def test_first_of_equal_elements_and_limits(dtype, name):
    dtype = np.dtype(dtype)
    low, high = (np.finfo(dtype).min, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = np.array([low, low, high, high, low], dtype).reshape(1, 1, 1, 5)
    got, index = pool(name, x, (1, 1, 1, 5), indices=True, WindowSize=(1, 2), EndPadding=(0, 1))
    np.testing.assert_array_equal(got.values.reshape(-1), np.array([low, high, high, high, low], dtype))
    np.testing.assert_array_equal(index.values.reshape(-1), [0, 2, 2, 3, 0])
    np.testing.assert_array_equal(index.unspecified.reshape(-1), [True, False, False, False, True])


def test_maxima_ignore_nan_and_start_at_the_lowest_number():
    x = np.array([np.nan, np.nan, 1, 2, -np.inf, -np.inf], np.float32).reshape(1, 1, 1, 6)
    got, index = pool("MAX_POOLING1", x, (1, 1, 1, 5), indices=True, WindowSize=(1, 2))
    lowest = np.finfo(np.float32).min
    np.testing.assert_array_equal(got.values.reshape(-1), [lowest, 1, 2, 2, lowest])
    np.testing.assert_array_equal(index.values.reshape(-1), [0, 2, 3, 3, 0])
    np.testing.assert_array_equal(index.unspecified.reshape(-1), [True, False, False, False, True])


@pytest.mark.parametrize("include", [False, True])
def test_average_of_padding_only(include):
    x = np.ones((1, 1, 1, 1), np.float32)
    window = {"WindowSize": (1, 1), "StartPadding": (0, 1)}
    got, _ = pool("AVERAGE_POOLING", x, (1, 1, 1, 2), IncludePadding=include, **window)
    np.testing.assert_array_equal(got.values.reshape(-1), [0 if include else np.nan, 1])
    np.testing.assert_array_equal(got.unspecified.reshape(-1), [not include, False])


def test_norm_is_unspecified_where_powers_overflow():
    x = np.array([1e30, 1e10, np.inf, -np.inf], np.float32).reshape(1, 1, 1, 4)
    got, _ = pool("LP_POOLING", x, (1, 1, 1, 4), P=2, WindowSize=(1, 1))
    np.testing.assert_array_equal(got.unspecified.reshape(-1), [True, False, False, False])
    np.testing.assert_array_equal(got.values.reshape(-1)[1:], np.array([1e10, np.inf, np.inf], np.float32))


def test_norm_of_tiny_numbers_may_be_zero():
    x = np.array([1e-25, 0], np.float32).reshape(1, 1, 1, 2)
    got, _ = pool("LP_POOLING", x, (1, 1, 1, 2), P=2, WindowSize=(1, 1))
    assert 1e-25 <= got.error[0, 0, 0, 0] < 1e-18
    assert got.values[0, 0, 0, 1] == got.error[0, 0, 0, 1] == 0


def test_mean_is_unspecified_where_its_sum_overflows():
    largest = np.finfo(np.float32).max
    x = np.array([[[largest, largest, 1, np.inf]]], np.float32)
    result, _ = pool("AVERAGE_POOLING", x, (1, 1, 3), WindowSize=(2,))
    assert marks(result) == [True, False, False]
