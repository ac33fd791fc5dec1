from __future__ import annotations

from collections.abc import Callable
from functools import reduce as fold
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe

INTEGERS = [t for t in DataType if not t.is_float and t.bits >= 8]
SUMMED = [t for t in INTEGERS if t.bits >= 32]
FLOAT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "AVERAGE": lambda x, **a: x.mean(**a),
    "L1": lambda x, **a: np.abs(x).sum(**a),
    "L2": lambda x, **a: np.sqrt((x * x).sum(**a)),
    "LOG_SUM": lambda x, **a: np.log(x.sum(**a)),
    "LOG_SUM_EXP": lambda x, **a: scipy.special.logsumexp(x, **a),
    "MAX": lambda x, **a: x.max(**a),
    "MIN": lambda x, **a: x.min(**a),
    "MULTIPLY": lambda x, **a: x.prod(**a),
    "SUM": lambda x, **a: x.sum(**a),
    "SUM_SQUARE": lambda x, **a: (x * x).sum(**a),
}
AXES = [axes for count in range(4) for axes in combinations(range(3), count)]


def reduce(function, x, axes, output=None, name="REDUCE", **values):
    sizes = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    fields = {"Function": function} if name == "REDUCE" else {}
    op = describe(
        name, InputTensor=x, OutputTensor=np.zeros(sizes, output or x.dtype), Axes=list(axes), **fields, **values
    )
    return operator_results(op, {"InputTensor": x})["OutputTensor"][0]


def row(*numbers, dtype=np.float32):
    return np.array([numbers], dtype)


def wrapped(value, data_type):
    low = data_type.limits[0]
    return (value - low) % 2**data_type.bits + low


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("function", FLOAT_FUNCTIONS)
def test_floats(function, dtype, axes):
    x = np.random.default_rng(1).uniform(0.5, 2, (3, 2, 4)).astype(dtype)
    wide = x.astype(np.float64)
    want = FLOAT_FUNCTIONS[function](wide, axis=axes, keepdims=True) if axes else one_by_one(function, wide)
    got = reduce(function, x, axes)
    np.testing.assert_allclose(got.values, want, rtol=2e-3 if dtype == np.float16 else 1e-6)
    assert got.unspecified is None or not got.unspecified.any()
    order = tuple(reversed(axes))
    np.testing.assert_array_equal(reduce(function, x, order).values, got.values)


def one_by_one(function, x):
    """Without axes nothing is reduced (decision R5)."""
    functions: dict[str, Callable[..., Any]] = {"L1": abs, "L2": abs, "LOG_SUM": np.log, "SUM_SQUARE": np.square}
    return functions.get(function, lambda same: same)(x)


@given(st.sampled_from(SUMMED), st.data())
def test_integers_wrap(data_type, data):
    low, high = data_type.limits
    number = st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1]))
    numbers = data.draw(st.lists(number, min_size=1, max_size=6))
    x = np.array([numbers], data_type.dtype)
    exact = {
        "SUM": sum(numbers),
        "L1": sum(map(abs, numbers)),
        "SUM_SQUARE": sum(n * n for n in numbers),
        "MULTIPLY": fold(lambda a, b: a * b, numbers),
        "MIN": min(numbers),
        "MAX": max(numbers),
    }
    for function, want in exact.items():
        got = reduce(function, x, (1,))
        assert int(got.values[0, 0]) == wrapped(want, data_type), function
        assert got.error is None


@pytest.mark.parametrize("data_type", INTEGERS, ids=lambda t: t.name)
def test_integer_extrema(data_type):
    low, high = data_type.limits
    x = np.array([[high - 1, high, low], [low + 1, low, low + 2]], data_type.dtype)
    np.testing.assert_array_equal(reduce("MAX", x, (1,)).values, np.array([[high], [low + 2]], data_type.dtype))
    np.testing.assert_array_equal(reduce("MIN", x, (0,)).values, np.array([[low + 1, low, low]], data_type.dtype))
    np.testing.assert_array_equal(reduce("ARGMAX", x, (1,), np.uint32).values, [[1], [2]])
    np.testing.assert_array_equal(reduce("ARGMIN", x, (1,), np.int64).values, [[2], [1]])


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("function", "numbers", "want"),
    [
        ("SUM", (INF, 1), INF),
        ("SUM", (INF, -INF), NAN),
        ("AVERAGE", (-INF, 1), -INF),
        ("LOG_SUM", (INF, -INF), NAN),
        ("LOG_SUM", (INF, 1), INF),
        ("LOG_SUM", (-1, 0), NAN),
        ("LOG_SUM", (0, 0), -INF),
        ("LOG_SUM_EXP", (-INF, 2), 2),
        ("LOG_SUM_EXP", (-INF, -INF), -INF),
        ("LOG_SUM_EXP", (INF, 2), INF),
        ("LOG_SUM_EXP", (INF, NAN), NAN),
        ("L1", (-INF, 1), INF),
        ("L2", (-INF, 1), INF),
        ("SUM_SQUARE", (NAN, 1), NAN),
        ("MULTIPLY", (NAN, 1), NAN),
        ("MULTIPLY", (-INF, 2), -INF),
        ("MAX", (-INF, INF), INF),
        ("MIN", (-INF, INF), -INF),
    ],
)
def test_infinities(function, numbers, want):
    got = reduce(function, row(*numbers), (1,))
    np.testing.assert_array_equal(got.values, row(want))
    assert got.unspecified is None or not got.unspecified.any()


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
    assert reduce(function, row(*numbers), (1,)).unspecified.all()


@pytest.mark.parametrize("function", ["SUM", "AVERAGE", "L1", "L2", "SUM_SQUARE", "MULTIPLY", "LOG_SUM", "LOG_SUM_EXP"])
def test_float32_in_any_order_agrees(function):
    random = np.random.default_rng(2)
    x = np.exp(random.normal(size=(1, 500)) / 4).astype(np.float32)
    result = reduce(function, x, (1,))
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
    result = reduce("L2", row(1e-30, 1e-30), (1,))
    assert not disagreements(row(0), result, DataType.FLOAT32).any()
    result = reduce("MULTIPLY", row(1e-25, 1e-25, 1e30), (1,))
    assert not disagreements(row(0), result, DataType.FLOAT32).any()


@pytest.mark.parametrize("output", [np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("name", ["ARGMIN", "ARGMAX"])
def test_ties(name, output):
    x = np.array([[2, 3, 3, 2], [1, 1, 1, 1]], np.float16)
    first, last = (
        reduce(None, x, (1,), output, name, AxisDirection=way).values for way in ("INCREASING", "DECREASING")
    )
    assert first.dtype == output
    np.testing.assert_array_equal(first, [[0 if name == "ARGMIN" else 1], [0]])
    np.testing.assert_array_equal(last, [[3 if name == "ARGMIN" else 2], [3]])
    np.testing.assert_array_equal(reduce(name, x, (1,), output).values, first)


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_indices_count_over_the_reduced_dimensions(axes):
    x = np.random.default_rng(4).permutation(24).reshape(3, 2, 4).astype(np.int32)
    got = reduce(None, x, tuple(reversed(axes)), np.uint32, "ARGMAX", AxisDirection="INCREASING").values
    kept = [axis for axis in range(3) if axis not in axes]
    want = np.zeros(got.shape, np.uint32)
    for place in np.ndindex(*(x.shape[axis] for axis in kept)):
        where = [slice(None)] * 3
        at = [0] * 3
        for axis, index in zip(kept, place, strict=True):
            where[axis] = at[axis] = index
        want[tuple(at)] = np.argmax(x[tuple(where)])
    np.testing.assert_array_equal(got, want)


def test_indices_pass_over_nan():
    x = np.array([[NAN, -INF, NAN], [NAN, NAN, NAN], [1, NAN, 2], [3, 1, 2]], np.float32)
    for way, want in (("INCREASING", [1, 0, 2, 0]), ("DECREASING", [1, 0, 2, 0])):
        got = reduce(None, x, (1,), np.uint32, "ARGMAX", AxisDirection=way)
        np.testing.assert_array_equal(got.values[:, 0], want)
        np.testing.assert_array_equal(got.unspecified[:, 0], [True, True, True, False])


def test_exponentials_overflow_and_vanish():
    """Nothing is subtracted before; a kernel that does so is right as well."""
    for numbers, want in (((100, 1), np.inf), ((-200, -200), -np.inf), ((88, 0), 88)):
        got = reduce("LOG_SUM_EXP", row(*numbers), (1,))
        np.testing.assert_allclose(got.values, row(want))
        assert bool(got.unspecified is not None and got.unspecified.any()) == np.isinf(want)
