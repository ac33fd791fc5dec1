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
from dml2onnx.targets import Target, target
from tests.optimizer_barriers.forms import FORMS, SIZES, chain_of

SINGLES = [(1, 1, 1, 1), (1, 1, 1), (1,)]
SHAPES = [(1, 1, 20, 6), (1, 4, 5, 6), (1, 2, 10, 6), (1, 1, 1, 120), (4, 5, 6), (120,)]
IMAGE = (1, 4, 6, 6)
TARGET = target("cpu", 21, exact=False)
PAIRS = target("cpu", 21, exact=False, quant_format="qdq")
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


QUANTISED = [
    *(name for name in FORMS if "quant" in name or "steps" in name),
    *("as FLOAT32", "as INT8", "as UINT8", "clip", "join", "max pool", "slice", "transpose", "weighted"),
]


def quantised(seed: int) -> Graph:
    """Quantizations and quantized products with movements and casts between them, and the parts of a tensor joined."""
    random, g = np.random.default_rng(seed), GraphBuilder()
    values = [g.input("x", str(random.choice(["FLOAT32", "INT8", "UINT8"])), SIZES)]
    for _ in range(NODES):
        x = values[-1] if random.random() < 0.9 else values[int(random.integers(len(values)))]
        made = chain_of(g, x, [str(random.choice(QUANTISED))])
        values += [] if made is None else [made]
    last, count = values[-1], values[-1].sizes[1]
    parts = random.permutation(count) if seed % 4 == 0 else range(count)
    kept = [last[:, at : at + 1] for at in parts if seed % 5 or at]
    return g.build({"y": g.join(kept, int(random.integers(4))), "z": values[len(values) // 2]})


FAMILIES = ((rows, TARGET), (pictures, TARGET), (quantised, TARGET), (quantised, PAIRS))
LEFT: dict[str, tuple[tuple[int, int, int], ...]] = {
    "": ((2740, 210, 1545), (2192, 148, 1528), (2613, 275, 2376), (2643, 221, 2341)),
    "share-moves": ((2692, 208, 1545), (2192, 148, 1528), (2613, 275, 2376), (2643, 221, 2341)),
    "turn-parts": ((2740, 210, 1545), (2192, 148, 1528), (2269, 275, 2030), (2299, 221, 1995)),
    "merge-moves": ((2590, 201, 1529), (2166, 146, 1539), (2580, 255, 2449), (2620, 211, 2414)),
    "merge-activations": ((2704, 210, 1545), (2159, 148, 1521), (2609, 275, 2378), (2639, 221, 2343)),
    "fold-pads": ((2740, 210, 1545), (2167, 148, 1502), (2613, 275, 2376), (2643, 221, 2341)),
    "keep-bytes": ((2740, 210, 1545), (2192, 148, 1528), (2607, 271, 2377), (2643, 191, 2341)),
    "drop-reshapes": ((2517, 210, 1451), (2192, 148, 1528), (2613, 275, 2376), (2643, 221, 2341)),
    "sign-weights": ((2740, 210, 1545), (2192, 148, 1528), (2850, 323, 2613), (2748, 242, 2446)),
    "fold-scales": ((2716, 210, 1529), (2161, 148, 1503), (2613, 275, 2376), (2643, 221, 2341)),
    "fold-pads-behind-relu": ((2740, 210, 1545), (2187, 148, 1524), (2613, 275, 2376), (2643, 221, 2341)),
    "all": ((2285, 199, 1409), (2073, 146, 1476), (2465, 301, 2295), (2375, 202, 2127)),
}
"""Nodes, Casts and initializers of all networks of each family, without passes and with each alone."""


@cache
def lowered(make: Callable[[int], Graph], place: Target) -> list[OnnxGraph]:
    graphs = map(make, range(NETWORKS))
    return [lower(graph, graph.outputs, place) for graph in graphs]


def sizes(graphs: list[OnnxGraph]) -> tuple[int, int, int]:
    kinds = [node.op_type for graph in graphs for node in graph.nodes]
    return len(kinds), kinds.count("Cast"), sum(len(graph.initializers) for graph in graphs)


@pytest.mark.parametrize("name", ["", *(item.name for item in (*PASSES, *ROUNDING)), "all"])
def test_nodes_that_a_pass_leaves(name: str) -> None:
    chosen = [item for item in (*PASSES, *ROUNDING) if name in (item.name, "all")]
    assert name in LEFT, f'LEFT has no row "{name}": the counts of the networks with this pass alone'
    assert LEFT[name] == tuple(
        sizes([apply(graph, (*ALWAYS, *chosen), place) for graph in lowered(make, place)]) for make, place in FAMILIES
    )
