"""How many nodes each pass leaves in random networks, so that firing less or more often is noticed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.ir.graph import Graph
from dml2onnx.lowering import lower
from dml2onnx.onnx_model import OnnxGraph
from dml2onnx.passes import ALWAYS, PASSES, ROUNDING, apply
from dml2onnx.targets import target

SINGLES = [(1, 1, 1, 1), (1, 1, 1), (1,)]
SHAPES = [(1, 1, 20, 6), (1, 4, 5, 6), (1, 2, 10, 6), (1, 1, 1, 120), (4, 5, 6), (120,)]
IMAGE = (1, 4, 6, 6)
TARGET = target("cpu", 21, exact=False)
NETWORKS = 200
NODES = 12
Step = Callable[[np.random.Generator, GraphBuilder, Expression, Expression], Expression]


def numbers(random: np.random.Generator, g: GraphBuilder, *sizes: int) -> Expression:
    """Random weights, among them 0, 1 and infinity."""
    values = random.normal(0, 1, sizes).astype(np.float32)
    special = random.choice(np.array([0, 1, -1, np.inf], np.float32), sizes)
    return g.constant(np.where(random.random(sizes) < 0.03, special, values))


def row(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    """A constant that broadcasts along one axis, along all, or along none."""
    axis = int(random.integers(-1, x.rank + 1))
    sizes = [1] * x.rank if axis < 0 else list(x.sizes) if axis == x.rank else [1] * x.rank
    if 0 <= axis < x.rank:
        sizes[axis] = x.sizes[axis]
    return g.broadcast(numbers(random, g, *sizes), x.sizes)


def seen_as(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    """The same elements in another shape."""
    shapes = SINGLES if math.prod(x.sizes) == 1 else SHAPES
    return g.reinterpret(x, sizes=shapes[int(random.integers(len(shapes)))])


def turned(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    """The last two axes exchanged by strides."""
    if x.rank < 2:
        return x
    *outer, rows, columns = x.sizes
    *steps, down, across = x.desc.effective_strides
    return g.reinterpret(x, sizes=(*outer, columns, rows), strides=(*steps, across, down))


def clipped(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    low = float(random.choice([-np.inf, -1, 0, np.nan]))
    return g.clip(x, low, float(random.choice([np.inf, 1, 0, 6])))


def padded(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    is_edge, value = random.random() < 0.3, float(random.choice([0, 0, 1, -np.inf]))
    start, end = random.integers(0, 2, (2, 4)) * [0, 0, 1, 1] + (random.random(4) < 0.05) * [0, 1, 0, 0]
    return g.padding(x, "EDGE" if is_edge else "CONSTANT", value, start.tolist(), end.tolist())


def convolved(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    return g.convolution(x, numbers(random, g, 4, x.sizes[1], 3, 3))


def normalized(random: np.random.Generator, g: GraphBuilder, x: Expression) -> Expression:
    mean, variance, scale, bias = (numbers(random, g, 1, x.sizes[1], 1, 1) for _ in range(4))
    return g.batch_normalization(x, mean, variance, scale, bias)


ELEMENT_WISE: list[Step] = [
    lambda random, g, a, b: g.add(a, b),
    lambda random, g, a, b: g.multiply(a, row(random, g, a)),
    lambda random, g, a, b: g.add(a, row(random, g, a)),
    lambda random, g, a, b: g.divide(a, row(random, g, a)),
    lambda random, g, a, b: g.subtract(row(random, g, a), a),
    lambda random, g, a, b: g.activation_linear(a, alpha=float(random.choice([1, 2])), beta=float(random.integers(2))),
    lambda random, g, a, b: clipped(random, g, a),
    lambda random, g, a, b: g.activation_relu(a),
    lambda random, g, a, b: g.floor(a),
    lambda random, g, a, b: g.abs(a),
    lambda random, g, a, b: g.tanh(a),
    lambda random, g, a, b: g.max(a, b),
    lambda random, g, a, b: g.activation_identity(turned(random, g, a)),
    lambda random, g, a, b: g.cast(g.cast(a, str(random.choice(["INT32", "FLOAT16"]))), "FLOAT32"),
]
PRODUCTS: list[Step] = [
    lambda random, g, a, b: g.gemm(
        g.reinterpret(a, sizes=(1, 1, 20, 6)),
        numbers(random, g, 1, 1, 6, 6),
        g.broadcast(numbers(random, g, 1, 1, 1, 6), (1, 1, 20, 6)),
    ),
    lambda random, g, a, b: g.gemm(g.reinterpret(a, sizes=(1, 1, 20, 6)), numbers(random, g, 1, 1, 6, 6)),
    lambda random, g, a, b: g.gemm(g.reinterpret(a, sizes=(1, 4, 5, 6)), numbers(random, g, 1, 4, 6, 6)),
    lambda random, g, a, b: g.activation_softmax1(a, axes=[a.rank - 1]),
]
PICTURES: list[Step] = [
    lambda random, g, a, b: padded(random, g, a),
    lambda random, g, a, b: convolved(random, g, padded(random, g, a)),
    lambda random, g, a, b: g.max_pooling(padded(random, g, a), [2, 2], strides=[1, 1]).values,
    lambda random, g, a, b: g.average_pooling(padded(random, g, a), [1, 1], [2, 2], include_padding=True),
    lambda random, g, a, b: g.convolution(
        a, numbers(random, g, a.sizes[1], a.sizes[1], 1, 1), numbers(random, g, 1, a.sizes[1], 1, 1),
        fused_activation=None if random.random() < 0.7 else "RELU",
    ),
    lambda random, g, a, b: convolved(random, g, a),
    lambda random, g, a, b: g.max_pooling(a, [2, 2], strides=[1, 1]).values,
    lambda random, g, a, b: g.average_pooling(a, [1, 1], [2, 2], include_padding=bool(random.integers(2))),
    lambda random, g, a, b: g.join([a, a[:, :1]], 1),
    lambda random, g, a, b: a[:, :, 1:],
    lambda random, g, a, b: g.join([g.fill_value_constant(a.sizes, "FLOAT32", 0)[:, :, :1], a], 2),
    lambda random, g, a, b: normalized(random, g, a),
]  # fmt: skip
"""Each keeps four axes of at least four elements, as long as these are there."""


def some(random: np.random.Generator, steps: list[Step]) -> list[Step]:
    """Few kinds in one network, so that the same ones often meet."""
    return [steps[index] for index in random.choice(len(steps), 4, replace=False)]


def rows(seed: int) -> Graph:
    """Element-wise operators and products of tensors that are seen in several shapes."""
    random, g = np.random.default_rng(seed), GraphBuilder()
    has_one = seed % 10 == 0
    values = [g.input(name, "FLOAT32", (SINGLES if has_one else SHAPES)[0]) for name in ("x", "z")]
    steps = some(random, ELEMENT_WISE if has_one else [*ELEMENT_WISE, *PRODUCTS])
    for _ in range(NODES):
        a, b = (values[int(random.integers(max(0, len(values) - 3), len(values)))] for _ in range(2))
        a = seen_as(random, g, a) if random.random() < 0.5 else a
        b = g.reinterpret(b, sizes=a.sizes)
        values.append(steps[int(random.integers(len(steps)))](random, g, a, b))
    return g.build({f"y{index}": value for index, value in enumerate(values[-2:])})


def pictures(seed: int) -> Graph:
    """Convolutions, pools and margins, with element-wise operators between them."""
    random, g = np.random.default_rng(seed), GraphBuilder()
    values = [g.input("x", "FLOAT32", IMAGE)]
    steps = [*some(random, ELEMENT_WISE), *some(random, PICTURES)]
    for _ in range(NODES):
        a = values[-1] if random.random() < 0.9 else values[int(random.integers(len(values)))]
        step = steps[int(random.integers(len(steps)))]
        if min(a.sizes[2:]) >= 4 or step not in PICTURES:
            values.append(step(random, g, a, a))
    return g.build({"y": values[-1], "z": values[-3]})


LEFT: dict[str, tuple[tuple[int, int], ...]] = {
    "": ((2740, 1545), (2192, 1528)),
    "share-moves": ((2692, 1545), (2192, 1528)),
    "turn-parts": ((2740, 1545), (2192, 1528)),
    "merge-moves": ((2590, 1529), (2166, 1539)),
    "merge-activations": ((2704, 1545), (2159, 1521)),
    "fold-pads": ((2740, 1545), (2167, 1502)),
    "keep-bytes": ((2740, 1545), (2192, 1528)),
    "drop-reshapes": ((2517, 1451), (2192, 1528)),
    "sign-weights": ((2740, 1545), (2192, 1528)),
    "fold-scales": ((2716, 1529), (2161, 1503)),
    "fold-pads-behind-relu": ((2740, 1545), (2187, 1524)),
    "all": ((2285, 1409), (2073, 1476)),
}
"""Nodes and initializers of all networks without passes and with each alone: :func:`rows`, :func:`pictures`."""


@cache
def lowered(make: Callable[[int], Graph]) -> list[OnnxGraph]:
    graphs = map(make, range(NETWORKS))
    return [lower(graph, graph.outputs, TARGET) for graph in graphs]


@pytest.mark.parametrize("name", ["", *(item.name for item in (*PASSES, *ROUNDING)), "all"])
def test_nodes_that_a_pass_leaves(name: str) -> None:
    chosen = [item for item in (*PASSES, *ROUNDING) if name in (item.name, "all")]
    found = [[apply(graph, (*ALWAYS, *chosen), TARGET) for graph in lowered(make)] for make in (rows, pictures)]
    assert LEFT[name] == tuple(
        (sum(graph.node_count for graph in graphs), sum(len(graph.initializers) for graph in graphs))
        for graphs in found
    )
