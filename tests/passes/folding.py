"""Graphs with nodes that passes merge, as in DirectML programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.ir.graph import Graph

RANDOM = np.random.default_rng(11)
IMAGE = (2, 4, 9, 11)


def around(g: GraphBuilder, x: Expression, value: float = 0, wide: Sequence[int] = (1, 2)) -> Expression:
    """Pads the spatial axes with one value."""
    margin = (0, 0, *wide)
    return g.padding1(x, "CONSTANT", x.data_type.name, value, margin, margin[:2] + margin[:1:-1])


def filtered(
    g: GraphBuilder, x: Expression, start_padding: Sequence[int] = (0, 0), end_padding: Sequence[int] = (0, 0)
) -> Expression:
    weights = g.constant(RANDOM.normal(0, 1, (3, x.sizes[1], 3, 3)).astype(np.float32))
    return g.convolution(x, weights, start_padding=start_padding, end_padding=end_padding)


def padded_convolution() -> Graph:
    """Two convolutions of one padded tensor; one has pads of its own."""
    g = GraphBuilder()
    x = around(g, g.input("x", "FLOAT32", IMAGE))
    return g.build({"y": filtered(g, x), "z": filtered(g, x, start_padding=(0, 1), end_padding=(1, 0))})


def padded_half_convolution() -> Graph:
    """FLOAT16, which exact models compute in FLOAT between casts."""
    g = GraphBuilder()
    x = around(g, g.input("x", "FLOAT16", IMAGE))
    return g.build({"y": g.convolution(x, g.constant(RANDOM.normal(0, 1, (3, 4, 3, 3)).astype(np.float16)))})


def padded_integer_convolution() -> Graph:
    """Padded with the zero point."""
    g = GraphBuilder()
    x = around(g, g.input("x", "UINT8", IMAGE), 7)
    weights = g.constant(RANDOM.integers(0, 256, (3, 4, 3, 3)).astype(np.uint8))
    return g.build({"y": g.convolution_integer(x, g.constant(np.full((1, 1, 1, 1), 7, np.uint8)), weights)})


def padded_average() -> Graph:
    """A mean that includes symmetric padding."""
    g = GraphBuilder()
    x = around(g, g.input("x", "FLOAT32", IMAGE), wide=(1, 1))
    return g.build({"y": g.average_pooling(x, (2, 1), (3, 4))})


def padded_maximum() -> Graph:
    """Maxima with a padding of the lowest number."""
    g = GraphBuilder()
    lowest = (("x", "INT8", -128), ("y", "FLOAT32", -np.inf))
    padded = {name: around(g, g.input(name, data_type, IMAGE), value) for name, data_type, value in lowest}
    return g.build({f"max_{name}": g.max_pooling0(x, (3, 4), (2, 1)) for name, x in padded.items()})


def padded_twice() -> Graph:
    g = GraphBuilder()
    x = around(g, around(g, g.input("x", "FLOAT32", IMAGE), 3), 3, (2, 0))
    return g.build({"y": g.abs(x)})


def transposed_back() -> Graph:
    """Two copies of a tensor; each swaps the last two axes."""
    g = GraphBuilder()
    x = g.abs(g.input("x", "FLOAT32", (2, 3, 4)))
    swapped = g.activation_identity(g.reinterpret(x, sizes=(2, 4, 3), strides=(12, 1, 4)))
    restored = g.activation_identity(g.reinterpret(swapped, sizes=(2, 3, 4), strides=(12, 1, 3)))
    return g.build({"y": g.sqrt(restored)})


def sliced_twice() -> Graph:
    g = GraphBuilder()
    x = g.slice(g.input("x", "FLOAT32", (2, 30, 40)), (0, 3, 5), (2, 26, 33), (1, 2, 3))
    return g.build({"y": g.slice(x, (0, 2, 1), (1, 10, 8), (1, 3, 2))})


def joined_twice() -> Graph:
    g = GraphBuilder()
    a, b, c = (g.input(name, "FLOAT32", (2, size, 3)) for name, size in (("a", 1), ("b", 2), ("c", 3)))
    return g.build({"y": g.join([g.join([a, b], 1), c, g.join([c, a], 1)], 1)})


def directions_joined() -> Graph:
    """Concatenates the results of two directions of a recurrent operator."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", (3, 2, 4, 5))
    return g.build({"y": g.join([x[:, 0:1], x[:, 1:2]], axis=3)})


def split_and_joined() -> Graph:
    """The axis of the split is after the axis of the join."""
    g = GraphBuilder()
    x = g.input("x", "INT32", (2, 4, 3))
    return g.build({"y": g.join(g.split(x, 2, [1, 1, 1]), axis=0)})


def cast_twice() -> Graph:
    """INT8 to UINT32 to INT8, INT64 to UINT32 to INT32, and UINT8 to INT32 to FLOAT32."""
    g = GraphBuilder()
    x, i, z = (g.input(name, kind, (2, 300)) for name, kind in (("x", "INT8"), ("i", "INT64"), ("z", "UINT8")))
    same, low = g.cast(g.cast(g.bit_not(x), "UINT32"), "INT8"), g.cast(g.cast(i, "UINT32"), "INT32")
    return g.build({"y": g.bit_not(same), "v": low, "w": g.cast(g.cast(z, "INT32"), "FLOAT32")})


def clipped_twice() -> Graph:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", (3, 50))
    return g.build({"y": g.clip(g.clip(x, -1, 4), 0, 6), "z": g.clip(g.clip(x, 3, 4), -2, 2)})


def repeated_activations() -> Graph:
    g = GraphBuilder()
    x, i = g.input("x", "FLOAT32", (3, 50)), g.input("i", "INT32", (3, 50))
    rounded = g.floor(g.floor(g.activation_relu(g.activation_relu(x))))
    return g.build({"y": g.sqrt(rounded), "z": g.abs(g.bit_not(g.bit_not(i)))})


def quantised_layers(data_type: str = "UINT8", most: int = 127) -> Graph:
    """Two quantised convolutions with a maximum between them, and a product, all with INT8 weights."""
    g = GraphBuilder()
    dtype = np.dtype(data_type.lower())

    def number(value: float, kind: type[np.generic] | np.dtype[np.generic] = np.float32) -> Expression:
        return g.constant(np.full((1, 1, 1, 1), value, kind))

    def weights(*sizes: int) -> Expression:
        return g.constant(RANDOM.integers(-most, most + 1, sizes).astype(np.int8))

    x = g.input("x", data_type, (1, 4, 12, 12))
    for _ in range(2):
        scales = g.constant(RANDOM.uniform(0.001, 0.02, (1, 4, 1, 1)).astype(np.float32))
        bias = g.constant(RANDOM.integers(-500, 500, (1, 4, 1, 1)).astype(np.int32))
        x = g.quantized_linear_convolution(
            x, number(0.3), number(3, dtype), weights(4, 4, 3, 3), scales, None, bias, number(0.2), number(9, dtype),
            data_type, start_padding=[1, 1], end_padding=[1, 1],
        )  # fmt: skip
        x = g.max_pooling0(x, [2, 2], strides=[2, 2])
    rows = g.reinterpret(x, sizes=(1, 1, 4, 9))
    y = g.quantized_linear_matrix_multiply(
        rows, number(0.2), weights(1, 1, 9, 5), number(0.01), number(0.1), data_type, number(9, dtype), None,
        number(4, dtype),
    )  # fmt: skip
    return g.build({"y": y})


def quantised_signed_layers() -> Graph:
    return quantised_layers("INT8")


def quantised_small_layers() -> Graph:
    """Weights so small that the sum of two products fits into 16 bits."""
    return quantised_layers(most=64)


def dequantised_weights() -> Graph:
    """A convolution of INT8 weights with scales of filters, and a product of UINT8 weights, between quantisations."""
    g = GraphBuilder()

    def along_first(x: Expression, value: ArrayLike, dtype: str) -> Expression:
        return g.broadcast(g.constant(np.reshape(value, (-1,) + (1,) * (x.rank - 1)).astype(dtype)), x.sizes)

    def numbers(x: Expression, scale: ArrayLike, zero_point: int) -> Expression:
        point = along_first(x, zero_point, x.data_type.name.lower())
        return g.dequantize_linear(x, along_first(x, scale, "float32"), point)

    def weights(scale: ArrayLike, *sizes: int, dtype: str = "int8", point: int = 0) -> Expression:
        return numbers(g.constant((point + RANDOM.integers(-100, 128, sizes)).astype(dtype)), scale, point)

    def steps(x: Expression) -> Expression:
        scale, point = along_first(x, 0.25, "float32"), along_first(x, 4, "uint8")
        return g.quantize_linear(x, scale, point, output_data_type="UINT8")

    by_filter = 2.0 ** -RANDOM.integers(5, 8, 8)
    x = steps(g.convolution(numbers(g.input("x", "UINT8", (1, 8, 6, 6)), 0.5, 4), weights(by_filter, 8, 8, 3, 3)))
    filters = weights(2**-6, 1, 1, 16, 5, dtype="uint8", point=100)
    y = steps(g.gemm(numbers(g.reinterpret(x, sizes=(1, 1, 8, 16)), 0.25, 4), filters))
    return g.build({"y": y})


def products_and_sums() -> Graph:
    """Residual blocks with sums in four dimensions and products in two."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", (1, 1, 5, 8))
    for _ in range(2):
        up, down = (g.constant(RANDOM.normal(0, 0.3, (1, 1, 8, 8)).astype(np.float32)) for _ in range(2))
        scale = g.broadcast(g.constant(RANDOM.normal(0, 1, (1, 1, 1, 8)).astype(np.float32)), x.sizes)
        x = x + g.gemm(g.clip(g.multiply(g.gemm(x, up, scale), scale), -1, 1), down, scale)
    return g.build({"y": x})
