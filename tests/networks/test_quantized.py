"""The network of ``samples/digits`` in 8-bit integers: it reads as many of the bundled digits right as in FLOAT32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dml2onnx
from dml2onnx.builder import Expression, GraphBuilder

Array = npt.NDArray[Any]

DIGITS = Path(__file__).resolve().parents[2] / "samples" / "digits"
SHAPES = {
    "filter1": (16, 1, 3, 3),
    "bias1": (1, 16, 1, 1),
    "filter2": (32, 16, 3, 3),
    "bias2": (1, 32, 1, 1),
    "matrix": (1, 1, 128, 10),
    "offset": (1, 1, 1, 10),
}
ONE = (1, 1, 1, 1)


def weights() -> dict[str, Array]:
    """The sample's own: float32 numbers, one tensor after the other."""
    flat, result = np.fromfile(DIGITS / "weights.bin", np.float32), {}
    for name, shape in SHAPES.items():
        result[name], flat = flat[: np.prod(shape)].reshape(shape), flat[np.prod(shape) :]
    assert not flat.size
    return result


def layers(x: Array, w: dict[str, Array]) -> tuple[float, float, float]:
    """The largest numbers behind each layer, by which an integer's step is chosen; in NumPy."""

    def convolved(x: Array, filters: Array, bias: Array) -> Array:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        return np.asarray(np.maximum(np.einsum("nchwij,kcij->nkhw", windows, filters) + bias, 0))

    def pooled(x: Array) -> Array:
        n, c, h, v = x.shape
        return np.asarray(x.reshape(n, c, h // 2, 2, v // 2, 2).max((3, 5)))

    first = pooled(convolved(x, w["filter1"], w["bias1"]))
    second = pooled(convolved(first, w["filter2"], w["bias2"]))
    scores = second.reshape(len(x), -1) @ w["matrix"][0, 0]
    return float(first.max()), float(second.max()), float(np.abs(scores).max())


def in_integers(w: dict[str, Array], tops: tuple[float, float, float], count: int) -> dml2onnx.Graph:
    """UINT8 between the layers, where 0 is 0, so that saturation is the ReLU; INT8 filters with a scale per channel."""
    g = GraphBuilder()

    def number(value: float) -> Expression:
        return g.constant(np.full(ONE, value, np.float32))

    # a pixel of 0 to 16 is its own integer: (q - 8) / 16
    x, scale = g.input("images", "UINT8", (count, 1, 8, 8)), 1 / 16
    zero: Expression | None = g.constant(np.full(ONE, 8, np.uint8))
    for layer, top in ((1, tops[0]), (2, tops[1])):
        filters, bias = w[f"filter{layer}"], w[f"bias{layer}"]
        steps = np.abs(filters).max((1, 2, 3), keepdims=True).reshape(1, -1, 1, 1) / 127
        whole = np.round(filters / steps.reshape(-1, 1, 1, 1)).astype(np.int8)
        product = np.round(bias / (steps * scale)).astype(np.int32)
        x = g.quantized_linear_convolution(
            x, number(scale), zero, g.constant(whole), g.constant(steps.astype(np.float32)), None,
            g.constant(product), number(top / 255), g.constant(np.zeros(ONE, np.uint8)), "UINT8",
            start_padding=[1, 1], end_padding=[1, 1],
        )  # fmt: skip
        x = g.max_pooling0(x, [2, 2], strides=[2, 2])
        scale, zero = top / 255, None
    flat = g.reinterpret(x, sizes=[1, 1, count, 128])
    step = float(np.abs(w["matrix"]).max()) / 127
    matrix = g.constant(np.round(w["matrix"] / step).astype(np.int8))
    scores = g.quantized_linear_matrix_multiply(
        flat, number(scale), matrix, number(step), number(tops[2] / 127), "INT8"
    )  # fmt: skip
    everywhere = g.constant([tops[2] / 127], data_type="FLOAT32", sizes=scores.sizes, strides=[0] * 4)
    shown = g.dequantize_linear(scores, everywhere) + g.constant(w["offset"])
    return g.build({"probabilities": g.activation_softmax(shown)})


@pytest.fixture(scope="module")
def digits() -> tuple[Array, Array]:
    return np.load(DIGITS / "images.npy"), np.load(DIGITS / "labels.npy")


def test_integers_read_within_a_point_of_floats(digits: tuple[Array, Array]) -> None:
    images, labels = digits
    floats: np.ndarray = dml2onnx.compile(dml2onnx.load(DIGITS / "model.json")).run({"images": images})["probabilities"]
    w = weights()
    graph = in_integers(w, layers(images / 16 - np.float32(0.5), w), len(labels))
    assert dml2onnx.check(graph) == []
    model = dml2onnx.compile(graph)
    integers: np.ndarray = model.run({"images": images.astype(np.uint8)})["probabilities"]
    accuracy, other = (float((item.reshape(-1, 10).argmax(1) == labels).mean()) for item in (floats, integers))
    assert accuracy > 0.97
    assert abs(accuracy - other) <= 0.01
    assert np.abs(floats.reshape(-1) - integers.reshape(-1)).mean() < 0.01
    assert dml2onnx.verify(graph, inputs={"images": images.astype(np.uint8)}).passed
