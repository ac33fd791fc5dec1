from __future__ import annotations

import numpy as np

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import marks, result_of


def gradient(g, x, **values):
    return result_of("MAX_POOLING_GRAD", x, InputTensor=x, InputGradientTensor=g, **values)


def test_maxima_of_equal_elements_nan_and_padding():
    inf, nan = np.inf, np.nan
    x = np.array([7, 7, -inf, -inf, nan, nan, nan, 1], np.float32).reshape(1, 1, 1, 8)
    g = np.array([1, 2, 4, 8, 16], np.float32).reshape(1, 1, 1, 5)
    values = {"WindowSize": (1, 2), "Strides": (1, 2), "EndPadding": (0, 2)}
    result = gradient(g, x, **values)
    np.testing.assert_array_equal(result.values.reshape(-1)[:6], [1, 0, 2, 0, 4, 0])
    assert result.values.sum() == 15  # padding drops its gradient
    np.testing.assert_array_equal(result.unspecified.reshape(-1), [False] * 6 + [True] * 2)


def test_sums_of_float16_are_rounded_once():
    g = np.full((1, 1, 1, 3), 1, np.float16)
    g[..., 0] = 2048
    x = np.array([0, 0, 9, 0, 0], np.float16).reshape(1, 1, 1, 5)
    result = gradient(g, x, WindowSize=(1, 3))
    np.testing.assert_array_equal(result.values.reshape(-1), [0, 0, 2050, 0, 0])


def test_error_and_order():
    x = np.array([0, 9, 0], np.float32).reshape(1, 1, 1, 3)
    g = np.array([3e38, 3e38], np.float32).reshape(1, 1, 1, 2)
    assert not gradient(g, x, WindowSize=(1, 2)).unspecified.any()
    g = np.array([3e38, -1e38], np.float32).reshape(1, 1, 1, 2)
    marks = gradient(g, x, WindowSize=(1, 2)).unspecified
    assert marks.reshape(-1).tolist() == [False, True, False]
    g = np.array([1, 1e-7], np.float32).reshape(1, 1, 1, 2)
    result = gradient(g, x, WindowSize=(1, 2))
    assert not disagreements(np.array([0, 1, 0], np.float32).reshape(x.shape), result, DataType.FLOAT32).any()
    assert disagreements(np.array([0, 1.000002, 0], np.float32).reshape(x.shape), result, DataType.FLOAT32).any()


def test_different_values_with_equal_indices_are_unspecified():
    x, indices = np.array([[[[1, 2, 3, 3]]]], np.float32), np.array([[[[0, 0, 2, 2]]]], np.uint32)
    assert marks(result_of("MAX_UNPOOLING", InputTensor=x, IndicesTensor=indices)) == [True, False, False, False]
