"""Numbers and arrays as tensors, and dimensions counted from the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError, GraphBuilder
from dml2onnx.builder import Expression
from dml2onnx.codes import building as codes
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from tests.refusals import refused

X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4) - 7
HALF = np.full((1, 2, 3, 4), 0.5)
Call = Callable[[Any, Any], Expression]


def computed(call: Call) -> np.ndarray[Any, Any]:
    g = GraphBuilder()
    y = call(g, g.input("x", np.float32, X.shape))
    return dml2onnx.run(g.build({"y": y}), {"x": X})["y"]


CASES: dict[str, tuple[Call, Any]] = {
    "an array of other floats": (lambda g, x: g.add(x, HALF), X + np.float32(0.5)),
    "a number": (lambda g, x: g.multiply(x, 3), X * 3),
    "a number in front": (lambda g, x: g.subtract(1.0, x), 1 - X),
    "a number of numpy's": (lambda g, x: g.max(x, np.float32(2)), np.maximum(X, 2)),
    "an array that repeats": (lambda g, x: g.min(x, np.arange(4)), np.minimum(X, np.arange(4, dtype=np.float32))),
    "one of two alternatives": (lambda g, x: g.if_(x > 0, x, -1), np.where(X > 0, X, np.float32(-1))),
    "parameters of one element": (lambda g, x: g.batch_normalization(x, 0.0, 1.0, 2.0, 1.0, True, 0.0), X * 2 + 1),
    "an array among several": (lambda g, x: g.join([x, HALF], 1), np.concatenate([X, HALF], 1, dtype=np.float32)),
    "indices in their own type": (lambda g, x: g.gather(x, np.array([[[[2, 0]]]], np.uint32), 3, 1), X[..., [2, 0]]),
    "an exponent for each": (lambda g, x: g.pow(x, np.full(X.shape, 2, np.float32)), X**2),
    "an array in front of all": (lambda g, x: g.add(g.slice(X, [0] * 4, X.shape, [1] * 4), x), X + X),
    "the last dimension": (lambda g, x: g.reduce(x, "SUM", [-1]), X.sum(-1, keepdims=True)),
    "dimensions from both ends": (lambda g, x: g.reduce(x, "MAX", [1, -1]), X.max((1, 3), keepdims=True)),
    "a join from the end": (lambda g, x: g.join([x, x], -2), np.concatenate([X, X], 2)),
    "a split from the end": (lambda g, x: g.split(x, -1, [1, 3])[1], X[..., 1:]),
    "a sum along the last": (lambda g, x: g.cumulative_summation(x, -1, "INCREASING", False), X.cumsum(-1)),
    "the largest along the last": (lambda g, x: g.top_k(x, -1, 1, "DECREASING").value, X[..., 3:]),
    "a one-hot from the end": (
        lambda g, x: g.one_hot(np.array([[[[1], [0]]]], np.uint32), np.array([[[[0, 5]]]], np.float32), 2, -1),
        np.array([[[[0, 5], [5, 0]]]], np.float32),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(name: str) -> None:
    call, expected = CASES[name]
    np.testing.assert_array_equal(computed(call), expected)


def test_numbers_of_other_types_are_converted_exactly_or_refused() -> None:
    g = GraphBuilder()
    whole = g.input("x", np.int32, [2])
    assert g.add(whole, np.array([1.0, 2.0])).data_type is DataType.INT32
    assert refused(g.add, whole, 0.5) == [codes.NOT_EXACT.id]


def test_refused_calls_add_no_constants() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 3, 8, 8])
    with pytest.raises(DmlError):
        g.convolution(x, np.ones((4, 2, 3, 3)))
    assert g.build(x).constants == ()


def test_invalid_axes_of_join() -> None:
    g = GraphBuilder()
    x, y = g.input("x", np.float32, [1, 3, 8, 8]), g.input("y", np.float32, [1, 3, 8, 9])
    with pytest.raises(DmlError, match=r"size 9 in dimension 3 .* only axis 1 may differ"):
        g.join([x, y], 1)
    with pytest.raises(DmlError, match=r"the axis 4 is none of 4 dimensions(.|\n)*expected: -4 to 3"):
        g.join([x, y], 4)
    with pytest.raises(DmlError, match="the axis -5 is none of 4 dimensions"):
        g.join([x, y], -5)


@pytest.mark.parametrize(("item", "expected"), [(np.float32, "FLOAT32"), (np.dtype("u1"), "UINT8"), ("int8", "INT8")])
def test_data_types_of_numpy(item: Any, expected: str) -> None:
    assert GraphBuilder().input("x", item, [1]).data_type.name == expected


def test_properties_with_names_of_numpy() -> None:
    x = GraphBuilder().input("x", "FLOAT32", [2, 3])
    assert (x.shape, x.ndim) == ((2, 3), 2)


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.float32])
def test_floor_division(dtype: Any) -> None:
    a, b = np.array([7, -7, 7, -7, 6, 0], np.int64).astype(dtype), np.array([2, 2, -2, -2, 3, 5]).astype(dtype)
    g = GraphBuilder()
    x, y = g.input("x", dtype, a.shape), g.input("y", dtype, b.shape)
    results = dml2onnx.run(g.build({"q": x // y, "r": 100 // y, "h": x // 2}), {"x": a, "y": b})
    np.testing.assert_array_equal(results["q"], a // b)
    np.testing.assert_array_equal(results["r"], dtype(100) // b)
    np.testing.assert_array_equal(results["h"], a // dtype(2))


@pytest.mark.parametrize("sizes", [[1, 1, 8, 8], [1, 1, 8, 8, 8]])
@pytest.mark.parametrize(
    ("number", "listed"),
    [
        (
            lambda g, x, n: g.max_pooling(x, 3, 2, 1, 1).values,
            lambda g, x, n: g.max_pooling(x, n(3), n(2), n(1), n(1)).values,
        ),
        (lambda g, x, n: g.max_pooling(x, np.int64(2)).values, lambda g, x, n: g.max_pooling(x, n(2)).values),
        (
            lambda g, x, n: g.max_pooling(x, n(2), dilations=3).values,
            lambda g, x, n: g.max_pooling(x, n(2), dilations=n(3)).values,
        ),
        (lambda g, x, n: g.average_pooling(x, 2, 2), lambda g, x, n: g.average_pooling(x, n(2), n(2))),
        (lambda g, x, n: g.convolution(x, x, strides=2), lambda g, x, n: g.convolution(x, x, strides=n(2))),
    ],
    ids=["max", "numpy", "dilated", "average", "convolution"],
)
def test_a_number_applies_to_all_spatial_dimensions(number: Any, listed: Any, sizes: list[int]) -> None:
    def recorded(call: Any) -> OperatorDesc:
        g = dml2onnx.GraphBuilder()
        y = call(g, g.input("x", "FLOAT32", sizes), lambda value: [value] * (len(sizes) - 2))
        return g.build({"y": y}).nodes[0].operator

    assert recorded(number) == recorded(listed)


def test_a_number_is_refused_for_other_lists() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 8, 8])
    for call in (lambda: g.padding(x, "CONSTANT", 0, 1, 1), lambda: g.tile(x, 2), lambda: g.max_pooling(x, True)):  # type: ignore[arg-type]
        with pytest.raises(DmlError):
            call()
