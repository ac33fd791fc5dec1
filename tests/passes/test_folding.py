"""Passes merge nodes only if no bit changes, also for NaN, infinities, zeros of both signs and wrapping integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest

from dml2onnx.builder import Expression, GraphBuilder
from dml2onnx.compiler import CompiledModel
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array
from dml2onnx.passes import PASSES
from dml2onnx.verification import CONTENTS, contents
from tests.passes import folding
from tests.passes.examples import EXAMPLES, Example
from tests.passes.running import compiled, computed

BY_NAME = {item.name: item for item in PASSES}
Form = Callable[[GraphBuilder, Expression], Expression]


def kinds(model: CompiledModel) -> list[str]:
    return [node.op_type for node in model.lowered.nodes]


def require_same_bits(literal: CompiledModel, passed: CompiledModel, feeds: dict[str, Array]) -> None:
    for optimized in (False, True):
        one, other = (computed(model, feeds, optimized=optimized) for model in (literal, passed))
        for port, a, b in zip(literal.outputs, one, other, strict=True):
            np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8), f"{port.name}, optimised: {optimized}")


@pytest.mark.parametrize("opset", [17, 21, 23])
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_extreme_numbers(example: Example, opset: int) -> None:
    graph, random = example.build(), np.random.default_rng(opset)
    literal, passed = compiled(graph, opset=opset), compiled(graph, BY_NAME[example.name], opset=opset)
    for kind in CONTENTS:
        require_same_bits(literal, passed, {port.onnx_name: contents(port, random, kind) for port in literal.inputs})


# --- padding ---------------------------------------------------------------------------------------------------------


def convolved(weights: Array) -> Form:
    return lambda g, x: g.convolution(folding.around(g, x), g.constant(weights))


def infinite() -> Array:
    weights = np.ones((3, 4, 3, 3), np.float32)
    weights[1, 2, 0, 0] = np.inf
    return weights


KEPT: dict[str, tuple[Form, str]] = {
    "convolution padded with 1": (lambda g, x: folding.filtered(g, folding.around(g, x, 1)), "FLOAT32"),
    "convolution padded with -0.0": (lambda g, x: folding.filtered(g, folding.around(g, x, -0.0)), "FLOAT32"),
    "infinite weights": (convolved(infinite()), "FLOAT32"),
    "padded channels": (
        lambda g, x: folding.filtered(
            g, g.padding(x, "CONSTANT", 0, (0, 1, 0, 0), (0, 0, 0, 0)), start_padding=(1, 1), end_padding=(1, 1)
        ),
        "FLOAT32",
    ),
    "edge padding": (
        lambda g, x: folding.filtered(g, g.padding(x, "EDGE", 0, (0, 0, 1, 1), (0, 0, 1, 1))),
        "FLOAT32",
    ),
    "another reader of the padded tensor": (
        lambda g, x: g.reduce(folding.filtered(g, p := folding.around(g, x)), "SUM", axes=[1, 2, 3]) + g.reduce(
            p, "SUM", axes=[1, 2, 3]
        ),
        "FLOAT32",
    ),
    "a mean that excludes padding": (
        lambda g, x: g.average_pooling(
            folding.around(g, x, 0, (1, 1)), (1, 1), (3, 4), (1, 1), (1, 1), include_padding=False
        ),
        "FLOAT32",
    ),
    "mean padded with 1": (
        lambda g, x: g.average_pooling(folding.around(g, x, 1, (1, 1)), (1, 1), (3, 4)),
        "FLOAT32",
    ),
    "mean with asymmetric padding": (
        lambda g, x: g.average_pooling(folding.around(g, x, 0, (1, 0)), (1, 1), (3, 4)),
        "FLOAT32",
    ),
    "padding as large as the window": (
        lambda g, x: g.average_pooling(folding.around(g, x, 0, (3, 3)), (1, 1), (3, 4)),
        "FLOAT32",
    ),
    "maximum of integers padded with 0": (lambda g, x: g.max_pooling0(folding.around(g, x, 0), (3, 4)), "INT8"),
    "a window in the padding": (lambda g, x: g.max_pooling0(folding.around(g, x, -128, (3, 1)), (3, 4)), "INT8"),
    "another zero point": (
        lambda g, x: g.convolution_integer(
            folding.around(g, x, 3), None, g.constant(np.full((3, 4, 3, 3), 200, np.uint8))
        ),
        "UINT8",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_other_paddings_are_kept(name: str) -> None:
    form, data_type = KEPT[name]
    g = GraphBuilder()
    graph = g.build({"y": form(g, g.input("x", data_type, folding.IMAGE))})
    literal, passed = compiled(graph), compiled(graph, BY_NAME["fold-pads"])
    assert {"Concat", "Pad"} & set(kinds(literal))
    assert kinds(literal) == kinds(passed)


def test_a_padded_output_is_kept() -> None:
    g = GraphBuilder()
    x = folding.around(g, g.input("x", "FLOAT32", folding.IMAGE))
    graph = g.build({"p": x, "y": folding.filtered(g, x)})
    assert "Pad" in kinds(compiled(graph, BY_NAME["fold-pads"]))


# --- casts -----------------------------------------------------------------------------------------------------------

TYPES = ("FLOAT32", "FLOAT16", "INT32", "INT8", "UINT8", "INT16", "UINT32", "INT64", "FLOAT64")


def test_chains_of_casts() -> None:
    """All chains of three types: the same bits, and fewer casts."""
    before = after = 0
    for first in TYPES:
        g = GraphBuilder()
        x = g.input("x", first, (1, 400))
        chains = {f"{b} {c}": g.cast(g.cast(x, b), c) for b, c in permutations(TYPES, 2)}
        graph = g.build(chains)
        literal, passed = compiled(graph), compiled(graph, BY_NAME["merge-moves"])
        before, after = before + kinds(literal).count("Cast"), after + kinds(passed).count("Cast")
        for kind in ("ordinary", "extreme"):
            feeds = {"x": contents(literal.inputs[0], np.random.default_rng(2), kind)}
            if first.startswith("FLOAT"):  # casts of numbers out of range are unspecified
                feeds["x"] = np.nan_to_num(feeds["x"], posinf=100, neginf=-100)
            require_same_bits(literal, passed, feeds)
    assert (before, after) == (1428, 1317)


def test_truth_values_stay_bool_between_nodes() -> None:
    """Only outputs and values that are read as numbers are cast, once each."""
    g = GraphBuilder()
    x, y = (g.input(name, "FLOAT32", (1, 53)) for name in ("x", "y"))
    above = g.greater_than(x, y)
    chosen = g.if_(g.logical_and(above, g.logical_not(g.equals(x, y))), x, y)
    graph = g.build({"chosen": chosen, "counted": x + g.cast(above, "FLOAT32"), "above": above})
    literal, passed = compiled(graph), compiled(graph, BY_NAME["merge-moves"])
    assert (kinds(literal).count("Cast"), kinds(passed).count("Cast")) == (9, 2)
    require_same_bits(literal, passed, {port.name: np.arange(53, dtype=np.float32)[None] for port in literal.inputs})


# --- bounds ----------------------------------------------------------------------------------------------------------

BOUNDS = (-np.inf, -3.0, -1.0, -0.0, 0.0, 1.0, 2.0, np.inf)


@pytest.mark.parametrize(("data_type", "counts"), [("FLOAT32", (2516, 1360)), ("INT32", (450, 225))])
def test_bounds_within_bounds(data_type: str, counts: tuple[int, int]) -> None:
    """All pairs of intervals, including disjoint ones and single numbers."""
    numbers = BOUNDS if data_type == "FLOAT32" else (-3.0, -1.0, 0.0, 1.0, 2.0)
    pairs = [(low, high) for low in numbers for high in numbers if low <= high]
    g = GraphBuilder()
    x = g.input("x", data_type, (1, 53))
    outer = {
        f"{i} {j}": g.clip(g.clip(x, *inner), *last) for i, inner in enumerate(pairs) for j, last in enumerate(pairs)
    }
    graph = g.build(outer)
    literal, passed = (compiled(graph, *passes, exact=False) for passes in ((), [BY_NAME["merge-activations"]]))
    assert (kinds(literal).count("Clip"), kinds(passed).count("Clip")) == counts
    random = np.random.default_rng(4)
    for kind in ("ordinary", "extreme"):
        require_same_bits(literal, passed, {"x": contents(literal.inputs[0], random, kind)})


# --- slices ----------------------------------------------------------------------------------------------------------


def test_slices_of_slices() -> None:
    """Random windows with random steps; some are read backwards."""
    random = np.random.default_rng(6)
    g = GraphBuilder()
    x = g.input("x", "INT32", (23, 31))
    outputs = {}
    for index in range(40):
        y = x
        for _ in range(2):
            starts = [int(random.integers(0, (size + 1) // 2)) for size in y.sizes]
            wide = [int(random.integers(1, size - start + 1)) for size, start in zip(y.sizes, starts, strict=True)]
            y = g.slice1(y, starts, wide, [int(step) for step in random.choice([-2, 1, 1, 2, 3], 2)])
        outputs[f"y{index}"] = y
    graph = g.build(outputs)
    literal, passed = compiled(graph), compiled(graph, BY_NAME["merge-moves"])
    assert (kinds(literal).count("Slice"), kinds(passed).count("Slice")) == (80, 61)
    require_same_bits(literal, passed, {"x": contents(literal.inputs[0], random, "ordinary")})


# --- quantised products ----------------------------------------------------------------------------------------------


def quantised(data_type: str, most: int, scale: float, point: int) -> Graph:
    """A convolution with sums far beyond 8 bits, some of them halfway between two steps."""
    g, dtype = GraphBuilder(), np.dtype(data_type.lower())
    random = np.random.default_rng(most)
    weights = random.integers(-most, most + 1, (6, 4, 3, 3)).astype(np.int8)
    one = (1, 1, 1, 1)
    bias = random.integers(-(2**31), 2**31, (1, 6, 1, 1)).astype(np.int32)
    bias[0, :3] = [[[1]], [[2]], [[5]]]
    return g.build(
        {
            "y": g.quantized_linear_convolution(
                g.input("x", data_type, folding.IMAGE), g.constant(np.full(one, 0.5, np.float32)),
                g.constant(np.full(one, point, dtype)), g.constant(weights),
                g.constant(np.full((1, 6, 1, 1), scale, np.float32)), None, g.constant(bias),
                g.constant(np.full(one, 1, np.float32)), g.constant(np.full(one, point, dtype)), data_type,
            )
        }
    )  # fmt: skip


@pytest.mark.parametrize("most", [64, 127])
@pytest.mark.parametrize("scale", [1.0, 1 / 1024, 0.0, 3e38])
@pytest.mark.parametrize(("data_type", "point"), [("UINT8", 0), ("UINT8", 255), ("INT8", -128), ("INT8", 5)])
def test_small_weights(data_type: str, point: int, scale: float, most: int) -> None:
    """Small weights become INT8; a scale of 0 has another form."""
    graph = quantised(data_type, most, scale, point)
    literal, passed = compiled(graph), compiled(graph, BY_NAME["sign-weights"])
    fused = [node for node in passed.lowered.nodes if node.op_type == "QLinearConv"]
    if most == 64 and scale:
        assert [node.inputs[3] is not None and node.inputs[3].dtype for node in fused] == [np.int8]
    for kind in ("ordinary", "extreme"):
        feeds = {"x": contents(literal.inputs[0], np.random.default_rng(8), kind)}
        require_same_bits(literal, passed, feeds)


# --- shapes ----------------------------------------------------------------------------------------------------------


def random_outputs(
    random: np.random.Generator, g: GraphBuilder, shapes: Sequence[tuple[int, ...]]
) -> dict[str, Expression]:
    """Random sums, products and activations of tensors that are read in several shapes."""
    values = [g.input("x", "FLOAT32", shapes[0]), g.input("z", "FLOAT32", shapes[1])]
    for _ in range(14):
        a, b = (values[int(random.integers(max(0, len(values) - 4), len(values)))] for _ in range(2))
        shape = shapes[int(random.integers(len(shapes)))]
        a, b = (g.reinterpret(item, sizes=shape) for item in (a, b))
        row = g.broadcast(
            g.constant(random.normal(0, 1, (1,) * (len(shape) - 1) + shape[-1:]).astype(np.float32)), shape
        )
        match int(random.integers(6)):
            case 0:
                values.append(g.add(a, b))
            case 1:
                values.append(g.multiply(a, row))
            case 2:
                values.append(g.tanh(a))
            case 3:
                values.append(g.clip(a, -1, 1))
            case 4:
                matrix = g.constant(random.normal(0, 0.3, (1, 1, 6, 6)).astype(np.float32))
                values.append(g.gemm(g.reinterpret(a, sizes=(1, 1, 20, 6)), matrix))
            case _:
                values.append(g.activation_relu(g.subtract(a, b)))
    return {f"y{index}": value for index, value in enumerate(values[-2:])}


def test_dropped_reshapes_change_no_bit() -> None:
    before = after = 0
    for seed in range(40):
        random, g = np.random.default_rng(seed), GraphBuilder()
        graph = g.build(random_outputs(random, g, [(1, 1, 20, 6), (1, 4, 5, 6), (1, 2, 10, 6), (1, 1, 1, 120)]))
        literal, passed = compiled(graph), compiled(graph, BY_NAME["drop-reshapes"])
        require_same_bits(
            literal, passed, {port.onnx_name: contents(port, random, "extreme") for port in literal.inputs}
        )
        before, after = before + kinds(literal).count("Reshape"), after + kinds(passed).count("Reshape")
    assert (before, after) == (392, 288)
