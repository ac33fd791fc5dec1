"""What the builder takes where one meaning is the only one: biases of one dimension, numbers, sizes or scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.diagnostics import DmlError

LEVELS = ["5_0", "6_4"]


def ran(builder: GraphBuilder, **outputs: object) -> dict[str, np.ndarray]:
    graph = builder.build(outputs)  # type: ignore[arg-type]  # expressions
    data = np.arange(1 * 2 * 4 * 4, dtype=np.float32).reshape(1, 2, 4, 4)
    assert dml2onnx.check(graph) == []
    return dml2onnx.compile(graph).run({"x": data})


@pytest.mark.parametrize("level", LEVELS)
def test_a_bias_of_one_dimension(level: str) -> None:
    g = GraphBuilder(feature_level=level)
    x = g.input("x", np.float32, [1, 2, 4, 4])
    w = np.ones((3, 2, 1, 1))
    bias = g.constant(np.array([1, 2, 3], np.float32))
    got = ran(g, a=g.convolution(x, w, np.array([1, 2, 3])), b=g.convolution(x, w, bias))
    np.testing.assert_array_equal(got["a"], got["b"])
    np.testing.assert_array_equal(got["a"][0, :, 0, 0], [17, 18, 19])


@pytest.mark.parametrize("transpose", ["NONE", "TRANSPOSE"])
def test_a_row_added_to_a_product(transpose: Any) -> None:
    """Of whose columns it has one element each."""
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    part = g.slice(x, [0, 0, 0, 0], [1, 2, 3, 4], [1, 1, 1, 1])
    w = np.ones((1, 2, 3 if transpose == "TRANSPOSE" else 4, 5))
    row = g.constant(np.arange(5, dtype=np.float32))
    got = ran(g, a=g.gemm(part, w, np.arange(5), trans_a=transpose), b=g.gemm(part, w, row, trans_a=transpose))
    np.testing.assert_array_equal(got["a"], got["b"])
    np.testing.assert_array_equal(got["a"] - got["a"][..., :1], np.broadcast_to(np.arange(5), got["a"].shape))


def test_a_row_of_another_length_is_still_wrong() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    with pytest.raises(DmlError, match=r"\[1, 2, 4, 3\]"):
        g.gemm(x, np.ones((1, 2, 4, 5)), np.ones(3))


def test_statistics_of_one_dimension() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    mean, variance = np.array([0.0, 16.0]), np.array([1.0, 4.0])
    got = ran(g, y=g.batch_normalization(x, mean, variance, np.ones(2), np.zeros(2), True, 0.0))["y"]
    np.testing.assert_allclose(got[0, :, 0, 0], [0, 0])
    np.testing.assert_allclose(got[0, :, 0, 1], [1, 0.5])


def test_a_bias_of_another_length_is_still_wrong() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    with pytest.raises(DmlError, match=r"\[1, 3, 1, 1\]"):
        g.convolution(x, np.ones((3, 2, 1, 1)), np.ones(5))


@pytest.mark.parametrize("level", LEVELS)
def test_normalisation_by_default(level: str) -> None:
    """Of each picture and channel."""
    g = GraphBuilder(feature_level=level)
    x = g.input("x", np.float32, [1, 2, 4, 4])
    got = ran(g, y=g.mean_variance_normalization(x))["y"]
    np.testing.assert_allclose(got.mean((2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(got.var((2, 3)), 1, atol=1e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_resampling_by_scales_or_sizes(level: str) -> None:
    g = GraphBuilder(feature_level=level)
    x = g.input("x", np.float32, [1, 2, 4, 4])
    got = ran(
        g,
        a=g.resample(x, scales=[1, 1, 2, 1.5]),
        b=g.resample(x, [1, 2, 8, 6]),
        c=g.resample(x, [1, 2, 8, 6], "LINEAR"),
    )
    assert got["a"].shape == (1, 2, 8, 6)
    np.testing.assert_array_equal(got["a"], got["b"])
    assert (got["a"] != got["c"]).any()


def test_resampling_by_neither() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    neither = "neither output_sizes nor 4 scales are given"
    for scales, said in ((None, neither), ([2, 2], "2 scales for 4 dimensions"), (["a"] * 4, neither)):
        with pytest.raises(DmlError, match=said):
            g.resample(x, scales=scales)  # type: ignore[arg-type]  # what is wrong


def test_numbers_of_which_one_type_is_possible() -> None:
    g = GraphBuilder(feature_level="5_0")
    x = g.input("x", np.float32, [1, 1, 1, 4])
    q = g.quantize_linear(x, 0.5, 128)
    assert q.data_type.name == "UINT8"
    with pytest.raises(DmlError, match="does not say of which data type it is"):
        g.add(1.0, 2.0)


def test_an_argument_of_another_library() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    calls: list[tuple[Any, dict[str, object], str]] = [
        (g.max_pooling, {"kernel_size": 2}, "window_sizes"),
        (g.convolution, {"filter": np.ones((3, 2, 1, 1)), "stride": 2}, "strides"),
        (g.convolution, {"filter": np.ones((3, 2, 1, 1)), "pads": 1}, "start_padding and end_padding"),
        (g.reduce, {"function": "SUM", "axis": [1]}, "axes"),
    ]
    for method, given, meant in calls:
        with pytest.raises(TypeError, match=f"did you mean {meant}"):
            method(x, **given)


def test_repr() -> None:
    g = GraphBuilder("net", feature_level="5_0")
    g.activation_relu(g.input("x", np.float32, [4]))
    assert repr(g) == '<GraphBuilder "net": 1 input, 0 constants, 1 node, feature level 5_0>'


def test_other_elements_are_no_view() -> None:
    """A remedy with more elements than there are is no call of reinterpret; one with as many is."""
    g = GraphBuilder()
    a, b = g.input("a", np.float32, [1, 1, 2, 3]), g.input("b", np.float32, [1, 1, 3, 4])
    with pytest.raises(DmlError) as caught:
        g.gemm(a, b, g.input("c", np.float32, [5]))
    words = [remedy.words for item in caught.value.diagnostics for remedy in item.remedies]
    assert words == ["CTensor of sizes [1, 1, 2, 4]"]
    with pytest.raises(DmlError, match=r"reinterpret\(\.\.\., sizes=\[1, 1, 2, 4\]\)"):
        g.gemm(a, b, g.input("d", np.float32, [1, 1, 4, 2]))


def test_features_of_a_picture_are_a_row() -> None:
    g = GraphBuilder()
    with pytest.raises(DmlError, match=r"ATensor of sizes \[1, 1, 1, 12\]: reinterpret") as caught:
        g.gemm(g.input("x", np.float32, [1, 3, 2, 2]), np.ones((12, 5), np.float32))
    assert "BTensor of sizes" not in str(caught.value)
