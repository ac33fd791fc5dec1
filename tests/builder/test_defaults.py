"""Unambiguous arguments that the builder completes: 1-D biases, numbers, sizes or scales; and its suggestions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.diagnostics import DmlError

LEVELS = ["5_0", "6_4"]


def run(builder: GraphBuilder, **outputs: object) -> dict[str, np.ndarray]:
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
    results = run(g, a=g.convolution(x, w, np.array([1, 2, 3])), b=g.convolution(x, w, bias))
    np.testing.assert_array_equal(results["a"], results["b"])
    np.testing.assert_array_equal(results["a"][0, :, 0, 0], [17, 18, 19])


@pytest.mark.parametrize("transpose", ["NONE", "TRANSPOSE"])
def test_a_row_added_to_a_product(transpose: Any) -> None:
    """The row has one element for each column."""
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    part = g.slice(x, [0, 0, 0, 0], [1, 2, 3, 4], [1, 1, 1, 1])
    w = np.ones((1, 2, 3 if transpose == "TRANSPOSE" else 4, 5))
    row = g.constant(np.arange(5, dtype=np.float32))
    results = run(g, a=g.gemm(part, w, np.arange(5), trans_a=transpose), b=g.gemm(part, w, row, trans_a=transpose))
    a = results["a"]
    np.testing.assert_array_equal(a, results["b"])
    np.testing.assert_array_equal(a - a[..., :1], np.broadcast_to(np.arange(5), a.shape))


def test_a_row_with_a_different_length_is_refused() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    with pytest.raises(DmlError, match=r"\[1, 2, 4, 3\]"):
        g.gemm(x, np.ones((1, 2, 4, 5)), np.ones(3))


def test_statistics_of_one_dimension() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    mean, variance = np.array([0.0, 16.0]), np.array([1.0, 4.0])
    y = run(g, y=g.batch_normalization(x, mean, variance, np.ones(2), np.zeros(2), True, 0.0))["y"]
    np.testing.assert_allclose(y[0, :, 0, 0], [0, 0])
    np.testing.assert_allclose(y[0, :, 0, 1], [1, 0.5])


def test_a_bias_with_a_different_length_is_refused() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    with pytest.raises(DmlError, match=r"\[1, 3, 1, 1\]"):
        g.convolution(x, np.ones((3, 2, 1, 1)), np.ones(5))


@pytest.mark.parametrize("level", LEVELS)
def test_default_axes_of_normalisation(level: str) -> None:
    g = GraphBuilder(feature_level=level)
    x = g.input("x", np.float32, [1, 2, 4, 4])
    y = run(g, y=g.mean_variance_normalization(x))["y"]
    np.testing.assert_allclose(y.mean((2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(y.var((2, 3)), 1, atol=1e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_resampling_by_scales_or_sizes(level: str) -> None:
    g = GraphBuilder(feature_level=level)
    x = g.input("x", np.float32, [1, 2, 4, 4])
    a, b, c = g.resample(x, scales=[1, 1, 2, 1.5]), g.resample(x, [1, 2, 8, 6]), g.resample(x, [1, 2, 8, 6], "LINEAR")
    results = run(g, a=a, b=b, c=c)
    assert results["a"].shape == (1, 2, 8, 6)
    np.testing.assert_array_equal(results["a"], results["b"])
    assert (results["a"] != results["c"]).any()


def test_resampling_by_neither() -> None:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 2, 4, 4])
    neither = "neither output_sizes nor 4 scales are given"
    for scales, message in ((None, neither), ([2, 2], "2 scales for 4 dimensions"), (["a"] * 4, neither)):
        with pytest.raises(DmlError, match=message):
            g.resample(x, scales=scales)  # type: ignore[arg-type]  # the mistake


def test_numbers_get_the_only_possible_type() -> None:
    g = GraphBuilder(feature_level="5_0")
    x = g.input("x", np.float32, [1, 1, 1, 4])
    q = g.quantize_linear(x, 0.5, 128)
    assert q.data_type.name == "UINT8"
    with pytest.raises(DmlError, match="has no data type"):
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
    for method, options, suggestion in calls:
        with pytest.raises(TypeError, match=f"did you mean {suggestion}"):
            method(x, **options)


def test_repr() -> None:
    g = GraphBuilder("net", feature_level="5_0")
    g.activation_relu(g.input("x", np.float32, [4]))
    assert repr(g) == '<GraphBuilder "net": 1 input, 0 constants, 1 node, feature level 5_0>'


def test_remedies_with_reinterpret_keep_the_number_of_elements() -> None:
    g = GraphBuilder()
    a, b = g.input("a", np.float32, [1, 1, 2, 3]), g.input("b", np.float32, [1, 1, 3, 4])
    with pytest.raises(DmlError) as caught:
        g.gemm(a, b, g.input("c", np.float32, [5]))
    words = [remedy.words for item in caught.value.diagnostics for remedy in item.remedies]
    assert words == ["CTensor of sizes [1, 1, 2, 4]"]
    with pytest.raises(DmlError, match=r"reinterpret\(\.\.\., sizes=\[1, 1, 2, 4\]\)"):
        g.gemm(a, b, g.input("d", np.float32, [1, 1, 4, 2]))


def test_a_view_that_would_drop_elements_is_not_offered() -> None:
    g = GraphBuilder()
    with pytest.raises(DmlError, match=r"BTensor of sizes \[16, 32\]") as caught:
        g.gemm(g.input("x", np.float32, [4, 16]), np.ones((17, 32), np.float32))
    assert "reinterpret" not in str(caught.value)


def test_remedy_for_a_picture_as_operand_of_gemm() -> None:
    g = GraphBuilder()
    with pytest.raises(DmlError, match=r"ATensor of sizes \[1, 1, 1, 12\]: reinterpret") as caught:
        g.gemm(g.input("x", np.float32, [1, 3, 2, 2]), np.ones((12, 5), np.float32))
    assert "BTensor of sizes" not in str(caught.value)
