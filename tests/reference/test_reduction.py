from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import answer


def reduce(function, x):
    return answer("REDUCE", (len(x), 1), InputTensor=x, Function=function, Axes=[1])


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
def test_what_hangs_on_the_order_is_unspecified(function, numbers):
    assert reduce(function, row(*numbers)).unspecified.all()


@pytest.mark.parametrize("function", ["SUM", "AVERAGE", "L1", "L2", "SUM_SQUARE", "MULTIPLY", "LOG_SUM", "LOG_SUM_EXP"])
def test_float32_in_any_order_agrees(function):
    random = np.random.default_rng(2)
    x = np.exp(random.normal(size=(1, 500)) / 4).astype(np.float32)
    result = reduce(function, x)
    for _ in range(5):
        shuffled = random.permutation(x[0])
        match function:
            case "SUM" | "L1":
                got = np.cumsum(shuffled)[-1]
            case "AVERAGE":
                got = np.cumsum(shuffled)[-1] / np.float32(500)
            case "L2":
                got = np.sqrt(np.cumsum(shuffled * shuffled)[-1])
            case "SUM_SQUARE":
                got = np.cumsum(shuffled * shuffled)[-1]
            case "MULTIPLY":
                got = np.cumprod(shuffled)[-1]
            case "LOG_SUM":
                got = np.log(np.cumsum(shuffled)[-1])
            case "LOG_SUM_EXP":
                got = np.log(np.cumsum(np.exp(shuffled - x.max()))[-1]) + x.max()
        assert not disagreements(row(got), result, DataType.FLOAT32).any()
        assert disagreements(row(got * np.float32(1.001)), result, DataType.FLOAT32).all()


def test_small_numbers_may_vanish_in_products():
    result = reduce("L2", row(1e-30, 1e-30))
    assert not disagreements(row(0), result, DataType.FLOAT32).any()
    result = reduce("MULTIPLY", row(1e-25, 1e-25, 1e30))
    assert not disagreements(row(0), result, DataType.FLOAT32).any()


def test_indices_pass_over_nan():
    x = np.array([[NAN, -INF, NAN], [NAN, NAN, NAN], [1, NAN, 2], [3, 1, 2]], np.float32)
    for way, want in (("INCREASING", [1, 0, 2, 0]), ("DECREASING", [1, 0, 2, 0])):
        got = answer("ARGMAX", np.zeros((4, 1), np.uint32), InputTensor=x, Axes=[1], AxisDirection=way)
        np.testing.assert_array_equal(got.values[:, 0], want)
        np.testing.assert_array_equal(got.unspecified[:, 0], [True, True, True, False])


def test_exponentials_overflow_and_vanish():
    """Nothing is subtracted before; a kernel that does so is right as well."""
    for numbers, want in (((100, 1), np.inf), ((-200, -200), -np.inf), ((88, 0), 88)):
        got = reduce("LOG_SUM_EXP", row(*numbers))
        np.testing.assert_allclose(got.values, row(want))
        assert bool(got.unspecified is not None and got.unspecified.any()) == np.isinf(want)
