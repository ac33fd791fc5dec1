from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import result_of, results_of

INF, NAN = np.inf, np.nan


def running(name, x):
    flag = f"HasExclusive{'Sum' if name == 'SUMMATION' else 'Product'}"
    return result_of(f"CUMULATIVE_{name}", InputTensor=x, Axis=0, AxisDirection="INCREASING", **{flag: False})


@pytest.mark.parametrize("way", ["INCREASING", "DECREASING"])
def test_nan_is_last_and_unspecified(way):
    x = np.array([[NAN, 1, INF, NAN, -INF], [1, 2, 3, 4, 5]], np.float32)
    outputs = {"OutputValueTensor": x, "OutputIndexTensor": np.zeros(x.shape, np.uint32)}
    values, indices = results_of("TOP_K1", InputTensor=x, **outputs, Axis=1, K=5, AxisDirection=way).values()
    numbers = [-INF, 1, INF] if way == "INCREASING" else [INF, 1, -INF]
    np.testing.assert_array_equal(values.values[0], [*numbers, NAN, NAN])
    np.testing.assert_array_equal(indices.values[0, 3:], [0, 3])
    for result in (values, indices):
        np.testing.assert_array_equal(result.unspecified, np.array([[True] * 5, [False] * 5]))


def test_float32_sums_are_within_the_error():
    x = np.random.default_rng(8).normal(size=1000).astype(np.float32)
    sums, products = running("SUMMATION", x), running("PRODUCT", 1 + x / 100)
    assert not disagreements(np.cumsum(x), sums, DataType.FLOAT32).any()
    assert not disagreements(np.cumprod(1 + x / 100), products, DataType.FLOAT32).any()
    # the first element is a sum of one
    assert sums.error[0] < 1e-6 * abs(x[0])


def test_overflow_that_later_elements_undo_is_unspecified():
    x = np.array([3e38, 3e38, -3e38, -1], np.float32)
    np.testing.assert_array_equal(running("SUMMATION", x).unspecified, [False, False, True, True])
    np.testing.assert_array_equal(
        running("PRODUCT", np.array([1e30, 1e30, 1e-30, 2], np.float32)).unspecified, [False, False, True, True]
    )
