from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import marks, result_of


def reduce(function, x):
    return result_of("REDUCE", (len(x), 1), InputTensor=x, Function=function, Axes=[1])


def row(*numbers, dtype=np.float32):
    return np.array([numbers], dtype)


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        ("MAX", (NAN, 1)),
        ("MIN", (NAN, 1)),
        ("SUM", (3e38, 3e38, -3e38)),
        ("AVERAGE", (3e38, 3e38)),
        ("L2", (1e30, 1)),
        ("LOG_SUM", (1e8, 1, -1e8)),
        ("MULTIPLY", (1e30, 1e30, 1e-30)),
        ("MULTIPLY", (1e30, 1e30, 0)),
        ("MULTIPLY", (1e-30, 1e-30, INF)),
    ],
)
def test_order_dependent_results_are_unspecified(function, numbers):
    assert reduce(function, row(*numbers)).unspecified.all()


# cumsum and cumprod, unlike sum and prod, go from element to element
IN_FLOAT32 = {
    "SUM": lambda x: np.cumsum(x)[-1],
    "L1": lambda x: np.cumsum(x)[-1],
    "AVERAGE": lambda x: np.cumsum(x)[-1] / np.float32(len(x)),
    "L2": lambda x: np.sqrt(np.cumsum(x * x)[-1]),
    "SUM_SQUARE": lambda x: np.cumsum(x * x)[-1],
    "MULTIPLY": lambda x: np.cumprod(x)[-1],
    "LOG_SUM": lambda x: np.log(np.cumsum(x)[-1]),
    "LOG_SUM_EXP": lambda x: np.log(np.cumsum(np.exp(x - x.max()))[-1]) + x.max(),
}


@pytest.mark.parametrize("function", IN_FLOAT32)
def test_float32_in_any_order_is_within_the_error(function):
    random = np.random.default_rng(2)
    x = np.exp(random.normal(size=(1, 500)) / 4).astype(np.float32)
    result = reduce(function, x)
    for _ in range(5):
        got = IN_FLOAT32[function](random.permutation(x[0]))
        assert not disagreements(row(got), result, DataType.FLOAT32).any()
        assert disagreements(row(got * np.float32(1.001)), result, DataType.FLOAT32).all()


def test_products_may_underflow():
    result = reduce("L2", row(1e-30, 1e-30))
    assert not disagreements(row(0), result, DataType.FLOAT32).any()
    result = reduce("MULTIPLY", row(1e-25, 1e-25, 1e30))
    assert not disagreements(row(0), result, DataType.FLOAT32).any()


def test_indices_ignore_nan():
    x = np.array([[NAN, -INF, NAN], [NAN, NAN, NAN], [1, NAN, 2], [3, 1, 2]], np.float32)
    for way, want in (("INCREASING", [1, 0, 2, 0]), ("DECREASING", [1, 0, 2, 0])):
        got = result_of("ARGMAX", np.zeros((4, 1), np.uint32), InputTensor=x, Axes=[1], AxisDirection=way)
        np.testing.assert_array_equal(got.values[:, 0], want)
        np.testing.assert_array_equal(got.unspecified[:, 0], [True, True, True, False])


def test_exponentials_overflow_and_underflow():
    """DirectML does not subtract the maximum first; kernels that do are also correct."""
    for numbers, want in (((100, 1), np.inf), ((-200, -200), -np.inf), ((88, 0), 88)):
        got = reduce("LOG_SUM_EXP", row(*numbers))
        np.testing.assert_allclose(got.values, row(want))
        assert marks(got) == [np.isinf(want)]
