from __future__ import annotations

from itertools import accumulate
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe

INTEGERS = [t for t in DataType if not t.is_float and t.bits >= 8]
ACCUMULATED = [t for t in INTEGERS if t.bits >= 32]
INF, NAN = np.inf, np.nan


def top_k(x, k, axis, name="TOP_K1", index_type=np.uint32, **values):
    sizes = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    op = describe(
        name,
        InputTensor=x,
        OutputValueTensor=np.zeros(sizes, x.dtype),
        OutputIndexTensor=np.zeros(sizes, index_type),
        Axis=axis,
        K=k,
        **values,
    )
    results = operator_results(op, {"InputTensor": x})
    return results["OutputValueTensor"][0], results["OutputIndexTensor"][0]


def running(name, x, axis=0, way="INCREASING", exclusive=False):
    flag = f"HasExclusive{'Sum' if name == 'SUMMATION' else 'Product'}"
    values = {"Axis": axis, "AxisDirection": way, flag: exclusive}
    op = describe(f"CUMULATIVE_{name}", InputTensor=x, OutputTensor=x, **values)
    return operator_results(op, {"InputTensor": x})["OutputTensor"][0]


def wrapped(value, data_type):
    low = data_type.limits[0]
    return (value - low) % 2**data_type.bits + low


@given(st.sampled_from(INTEGERS), st.booleans(), st.data())
def test_integers_sort_as_python_sorts(data_type, increasing, data):
    low, high = data_type.limits
    number = st.one_of(st.integers(low, high), st.sampled_from([low, low + 1, high - 1, high]))
    numbers = data.draw(st.lists(number, min_size=1, max_size=8))
    k = data.draw(st.integers(1, len(numbers)))
    way = "INCREASING" if increasing else "DECREASING"
    values, indices = top_k(np.array(numbers, data_type.dtype), k, 0, AxisDirection=way)
    order = sorted(range(len(numbers)), key=lambda i: numbers[i] if increasing else -numbers[i])
    assert indices.values.tolist() == order[:k]
    assert values.values.tolist() == [numbers[i] for i in order[:k]]


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_top_k_along_any_axis(axis, dtype):
    x = np.random.default_rng(6).permutation(60).reshape(3, 4, 5).astype(dtype)
    values, indices = top_k(x, 3, axis, "TOP_K", np.uint64)
    np.testing.assert_array_equal(values.values, np.flip(np.sort(x, axis), axis).take(range(3), axis))
    np.testing.assert_array_equal(np.take_along_axis(x, indices.values.astype(np.int64), axis), values.values)
    assert indices.values.dtype == np.uint64


@pytest.mark.parametrize("way", ["INCREASING", "DECREASING"])
def test_equal_elements_keep_their_order(way):
    x = np.array([1, 0.0, -0.0, 1, 0, 1], np.float32)
    values, indices = top_k(x, 6, 0, AxisDirection=way)
    zeros, ones = [1, 2, 4], [0, 3, 5]
    np.testing.assert_array_equal(indices.values, zeros + ones if way == "INCREASING" else ones + zeros)
    np.testing.assert_array_equal(np.signbit(values.values), indices.values == 2)


@pytest.mark.parametrize("way", ["INCREASING", "DECREASING"])
def test_nan_is_last_and_unspecified(way):
    x = np.array([[NAN, 1, INF, NAN, -INF], [1, 2, 3, 4, 5]], np.float32)
    values, indices = top_k(x, 5, 1, AxisDirection=way)
    numbers = [-INF, 1, INF] if way == "INCREASING" else [INF, 1, -INF]
    np.testing.assert_array_equal(values.values[0], [*numbers, NAN, NAN])
    np.testing.assert_array_equal(indices.values[0, 3:], [0, 3])
    for result in (values, indices):
        np.testing.assert_array_equal(result.unspecified, np.array([[True] * 5, [False] * 5]))


@given(st.sampled_from(ACCUMULATED), st.booleans(), st.booleans(), st.data())
def test_integers_wrap(data_type, decreasing, exclusive, data):
    low, high = data_type.limits
    number = st.one_of(st.integers(low, high), st.integers(max(low, -3), 3))
    numbers = data.draw(st.lists(number, min_size=1, max_size=8))
    way = "DECREASING" if decreasing else "INCREASING"
    ordered = numbers[::-1] if decreasing else numbers
    sums, products = list(accumulate(ordered, initial=0)), list(accumulate(ordered, mul, initial=1))
    for name, every in (("SUMMATION", sums), ("PRODUCT", products)):
        exact = every[:-1] if exclusive else every[1:]
        got = running(name, np.array(numbers, data_type.dtype), 0, way, exclusive)
        want = [wrapped(value, data_type) for value in exact]
        assert got.values.tolist() == (want[::-1] if decreasing else want)
        assert got.error is None


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("way", ["INCREASING", "DECREASING"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("name", "function", "start"), [("SUMMATION", np.cumsum, 0), ("PRODUCT", np.cumprod, 1)])
def test_floats_along_any_axis(name, function, start, dtype, axis, way, exclusive):
    x = np.random.default_rng(7).uniform(0.5, 2, (3, 2, 4)).astype(dtype)
    ordered = np.flip(x, axis) if way == "DECREASING" else x
    want = function(ordered.astype(np.float64), axis)
    if exclusive:
        want = np.roll(want, 1, axis)
        want[tuple(0 if i == axis else slice(None) for i in range(3))] = start
    want = np.flip(want, axis) if way == "DECREASING" else want
    result = running(name, x, axis, way, exclusive)
    np.testing.assert_allclose(result.values, want, rtol=1e-3 if dtype == np.float16 else 1e-6)
    assert not result.unspecified.any()


def test_nan_stays_from_the_first_on():
    x = np.array([1, INF, 2, NAN, 3], np.float32)
    np.testing.assert_array_equal(running("SUMMATION", x).values, [1, INF, INF, NAN, NAN])
    np.testing.assert_array_equal(running("PRODUCT", x).values, [1, INF, INF, NAN, NAN])
    np.testing.assert_array_equal(running("SUMMATION", x, exclusive=True).values, [0, 1, INF, INF, NAN])
    np.testing.assert_array_equal(running("PRODUCT", x, way="DECREASING").values, [NAN, NAN, NAN, NAN, 3])


def test_float32_along_the_axis_agrees():
    x = np.random.default_rng(8).normal(size=1000).astype(np.float32)
    sums, products = running("SUMMATION", x), running("PRODUCT", 1 + x / 100)
    assert not disagreements(np.cumsum(x), sums, DataType.FLOAT32).any()
    assert not disagreements(np.cumprod(1 + x / 100), products, DataType.FLOAT32).any()
    # the first element is a sum of one
    assert sums.error[0] < 1e-6 * abs(x[0])


def test_what_comes_back_from_overflow_is_unspecified():
    x = np.array([3e38, 3e38, -3e38, -1], np.float32)
    np.testing.assert_array_equal(running("SUMMATION", x).unspecified, [False, False, True, True])
    np.testing.assert_array_equal(
        running("PRODUCT", np.array([1e30, 1e30, 1e-30, 2], np.float32)).unspecified, [False, False, True, True]
    )
