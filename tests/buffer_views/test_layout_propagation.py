"""Networks whose memory is NHWC cost one Transpose for each graph input that is read so, and one for each output.

Nodes in the middle see that memory as it lies, or as one row; where most operators say what they do by dimension, or do
the same to each element, nothing is transposed for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pytest

from dml2onnx.builder import Expression, GraphBuilder, policies
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.ir.graph import Graph
from dml2onnx.passes import LAYOUT_PROPAGATION
from dml2onnx.verification import verify

N, C, H, W = 2, 3, 4, 5
SIZES = (N, C, H, W)
LYING = (N, H, W, C)
Change = Callable[[GraphBuilder, Expression], Expression]


def interleaved(g: GraphBuilder, x: Expression, sizes: Sequence[int] = SIZES) -> Expression:
    """Memory seen with the strides of NHWC."""
    _, c, h, w = sizes
    return g.reinterpret(x, sizes=sizes, strides=(c * h * w, 1, w * c, c))


def between(change: Change, data_type: str = "FLOAT32") -> Graph:
    """``change`` of the memory that one operator has written as NHWC, and that another reads as such."""
    g = GraphBuilder()
    x = g.input("x", data_type, LYING)
    with g.tensor_policy(policies.interleaved_channel):
        stored = g.abs(interleaved(g, x))
    changed = change(g, stored)
    n, h, w, c = changed.sizes if changed.rank == 4 and changed.sizes[0] == N else LYING
    with g.tensor_policy(policies.interleaved_channel):
        return g.build({"y": g.abs(interleaved(g, changed, (n, c, h, w)))})


def lying(g: GraphBuilder, x: Expression) -> Expression:
    return g.reinterpret(x, sizes=LYING)


def row(g: GraphBuilder, x: Expression) -> Expression:
    return g.reinterpret(x, sizes=(1, 1, 1, N * C * H * W))


def with_bias(g: GraphBuilder, x: Expression) -> Expression:
    """A number for each channel, which comes last in memory."""
    bias = g.constant(np.arange(C, dtype=np.float32).reshape(1, 1, 1, C))
    return g.multiply(lying(g, x), g.broadcast(bias, LYING))


def with_table(g: GraphBuilder, x: Expression) -> Expression:
    """A constant for each element, in the order of memory, which the compiler lays out again."""
    table = np.random.default_rng(0).normal(size=LYING).astype(np.float32)
    return g.add(lying(g, x), g.constant(table))


def with_gate(g: GraphBuilder, x: Expression) -> Expression:
    """A factor for each channel and picture, computed from a row of its own."""
    gate = g.activation_sigmoid(g.input("gate", "FLOAT32", (N, 1, 1, C)))
    return g.multiply(lying(g, x), g.broadcast(gate, LYING))


def joined(g: GraphBuilder, x: Expression) -> Expression:
    return g.join([lying(g, x), g.activation_relu(lying(g, x))], 3)


def reduced(g: GraphBuilder, x: Expression) -> Expression:
    return g.reduce(lying(g, x), "MAX", [1, 2])


def padded(g: GraphBuilder, x: Expression) -> Expression:
    return g.padding(lying(g, x), "REFLECTION", 0, (0, 1, 2, 0), (0, 2, 1, 0))


def sliced(g: GraphBuilder, x: Expression) -> Expression:
    return g.slice(lying(g, x), (0, 1, 0, 0), (N, 3, 5, 2), (1, 2, 3, 1))


def divided(g: GraphBuilder, x: Expression) -> Expression:
    first, second = g.split(lying(g, x), 2, [2, 3])
    return g.join([second, first], 2)


def gathered(g: GraphBuilder, x: Expression) -> Expression:
    return g.gather(lying(g, x), g.constant(np.array([4, 0, 2], np.uint32).reshape(1, 1, 1, 3)), 2, 1)


def gathered_elements(g: GraphBuilder, x: Expression) -> Expression:
    """As many places as elements along one dimension, which vary along all."""
    places = np.random.default_rng(0).integers(0, W, (N, H, 2, C)).astype(np.uint32)
    return g.gather_elements(lying(g, x), g.constant(places), 2)


def reversed_rows(g: GraphBuilder, x: Expression) -> Expression:
    lengths = np.random.default_rng(0).integers(1, W + 1, (N, H, 1, C)).astype(np.uint32)
    return g.reverse_subsequences(lying(g, x), g.constant(lengths), 2)


def normalized(g: GraphBuilder, x: Expression, scaled: bool = False) -> Expression:
    """Over each picture's rows and columns, with a scale for each channel."""
    row = np.arange(1, C + 1, dtype=np.float32).reshape(1, 1, 1, C)
    scale, bias = (g.broadcast(g.constant(row), LYING) for _ in range(2)) if scaled else (None, None)
    return g.mean_variance_normalization1(lying(g, x), scale, bias, [1, 2], True, 1e-5)


def in_steps(g: GraphBuilder, x: Expression) -> Expression:
    """By one scale for each channel."""
    scales = g.constant(np.array([0.25, 0.5, 1], np.float32).reshape(1, 1, 1, C))
    zeros = g.constant(np.array([3, 0, 7], np.int8).reshape(1, 1, 1, C))
    steps = g.quantize(lying(g, x), [scales, zeros], "SCALE_ZERO_POINT", "INT8")
    return g.dequantize(steps, [scales, zeros], "SCALE_ZERO_POINT")


def trained(g: GraphBuilder, x: Expression) -> Expression:
    moments = g.abs(lying(g, x))
    step = g.constant(np.full((1, 1, 1, 1), 3, np.uint32))
    return g.adam_optimizer(lying(g, x), moments, moments, moments, step, 0.01, 0.9, 0.999, 1e-7).parameters


def summed_steps(g: GraphBuilder, x: Expression) -> Expression:
    one = g.constant(np.full((1, 1, 1, 1), 0.25, np.float32))
    steps = g.dynamic_quantize_linear(lying(g, x), "UINT8", "UINT8").output
    return g.cast(g.quantized_linear_add(steps, one, steps, one, one, "UINT8"), "FLOAT32")


def scattered(g: GraphBuilder, x: Expression) -> Expression:
    """Two to a line along one dimension, at times in one place, which the later one gets."""
    places = np.random.default_rng(0).integers(0, W, (N, H, 2, C)).astype(np.uint32)
    updates = g.slice(lying(g, x), (0, 0, 0, 0), (N, H, 2, C), (1, 1, 1, 1))
    return g.scatter_elements(lying(g, x), g.constant(places), updates, 2)


def resampled(mode: Literal["NEAREST_NEIGHBOR", "LINEAR"]) -> Change:
    return lambda g, x: g.resample3(lying(g, x), (N, 2 * H, 3 * W, C), mode, "DECREASING")


def resampled_back(g: GraphBuilder, x: Expression) -> Expression:
    return g.resample_grad1(lying(g, x), (N, 2, W, C), "LINEAR", "INCREASING")


CHANGES: dict[str, Change] = {
    "as it lies": lambda g, x: g.activation_relu(lying(g, x)),
    "as a row": lambda g, x: g.activation_relu(row(g, x)),
    "as two dimensions": lambda g, x: g.sqrt(g.reinterpret(x, sizes=(N, 1, H * W, C))),
    "residual": lambda g, x: g.add(row(g, x), g.activation_tanh(row(g, x))),
    "to another type": lambda g, x: g.cast(g.cast(row(g, x), "FLOAT16"), "FLOAT32"),
    "fused": lambda g, x: g.add(row(g, x), row(g, x), fused_activation="RELU"),
    "bias": with_bias,
    "table": with_table,
    "gate": with_gate,
    "join": joined,
    "reduce": reduced,
    "pad": padded,
    "slice": sliced,
    "split": divided,
    "softmax": lambda g, x: g.activation_softmax(lying(g, x), [3]),
    "tile": lambda g, x: g.tile(lying(g, x), (1, 2, 1, 3)),
    "argmax": lambda g, x: g.cast(g.argmax(lying(g, x), "UINT32", [2], "DECREASING"), "FLOAT32"),
    "top k": lambda g, x: g.top_k1(lying(g, x), 2, 2, "DECREASING").value,
    "running sum": lambda g, x: g.cumulative_summation(lying(g, x), 1, "DECREASING", True),
    "running product": lambda g, x: g.cumulative_product(lying(g, x), 2, "INCREASING", False),
    "gather": gathered,
    "gather elements": gathered_elements,
    "reverse": reversed_rows,
    "normalise": normalized,
    "normalise and scale": lambda g, x: normalized(g, x, scaled=True),
    "norm": lambda g, x: g.lp_normalization(lying(g, x), 3, 1e-5, 2),
    "quantise": in_steps,
    "optimise": trained,
    "quantise by range": summed_steps,
    "scatter": scattered,
    "nearest": resampled("NEAREST_NEIGHBOR"),
    "linear": resampled("LINEAR"),
    "gradient of linear": resampled_back,
}


def count(model: CompiledModel) -> int:
    return sum(node.op_type == "Transpose" for node in model.lowered.nodes)


ROUNDED = {"softmax", "normalise", "normalise and scale", "norm"}
"""Sums whose order depends on the dimension."""


def require(graph: Graph, transposes: int, *, rounded: bool = False) -> None:
    """So few, the numbers of the reference, and the bits of a model that is read as it is written."""
    model = compile(graph, optimize=0)
    assert count(model) == transposes, [node.op_type for node in model.lowered.nodes]
    assert verify(graph).passed
    other = compile(graph, optimize=0, without_passes=[LAYOUT_PROPAGATION])
    assert count(other) > transposes
    random = np.random.default_rng(1)
    feeds = {port.name: random.normal(size=port.shape).astype(port.dtype) for port in model.inputs}
    for name, want in other.run(feeds).items():
        if rounded:
            np.testing.assert_allclose(model.run(feeds)[name].astype(float), want.astype(float), rtol=1e-5, atol=1e-6)
        else:
            assert model.run(feeds)[name].tobytes() == want.tobytes()


@pytest.mark.parametrize("name", CHANGES)
def test_only_ports_are_transposed(name: str) -> None:
    # what has one element for each channel lies alike in any order
    require(between(CHANGES[name]), 1 if name == "reduce" else 2, rounded=name in ROUNDED)


@pytest.mark.parametrize("data_type", ["FLOAT16", "INT8", "INT32", "INT64"])
def test_all_types_alike(data_type: str) -> None:
    require(between(lambda g, x: g.multiply(row(g, x), lying_row(g, x)), data_type), 2)


def lying_row(g: GraphBuilder, x: Expression) -> Expression:
    return row(g, g.abs(lying(g, x)))


def test_packed_inputs_outvote_one_that_is_not() -> None:
    """Of three inputs two were written as they lie: one Transpose, as the graph has it."""
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", LYING)
    with g.tensor_policy(policies.interleaved_channel):
        stored = g.abs(interleaved(g, x))
    ordinary, other = g.abs(x), g.sqrt(g.abs(x))
    graph = g.build({"y": g.if_(g.cast(ordinary, "UINT8"), lying(g, stored), other)})
    assert count(compile(graph, optimize=0)) == 2
    assert verify(graph).passed


COUNTED: dict[str, Change] = {
    "reduce": lambda g, x: g.reduce(lying(g, x), "ARGMAX", [1, 2, 3]),
    "argmin": lambda g, x: g.argmin(lying(g, x), "UINT32", [1, 2, 3], "INCREASING"),
    "gather": lambda g, x: g.gather(
        g.reinterpret(x, sizes=(1, N * H, W, C)), g.constant(np.array([[[[4, 0], [2, 1]]]], np.uint32)), 2, 2
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_what_counts_over_several_dimensions_keeps_their_order(name: str) -> None:
    g = GraphBuilder()
    with g.tensor_policy(policies.interleaved_channel):
        stored = g.abs(interleaved(g, g.input("x", "FLOAT32", LYING)))
    graph = g.build({"y": COUNTED[name](g, stored)})
    assert count(compile(graph, optimize=0)) == 2
    assert verify(graph).passed
