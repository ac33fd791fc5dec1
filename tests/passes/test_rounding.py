"""Passes of ``-O2`` fold scales and padding, and stay within the error bounds of the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from dml2onnx.builder import Expression, GraphBuilder, ScaleBias
from dml2onnx.compiler import compile
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import OnnxNode
from dml2onnx.passes import ROUNDING, chosen, scales
from dml2onnx.passes.draft import Draft
from dml2onnx.verification import verify
from tests.passes.folding import around

RANDOM = np.random.default_rng(21)
IMAGE = (2, 4, 9, 11)
Form = Callable[[GraphBuilder, Expression], Expression]


def numbers(*sizes: int) -> np.ndarray:
    return RANDOM.uniform(0.5, 2, sizes).astype(np.float32)


def by_channel(g: GraphBuilder, x: Expression) -> Expression:
    return g.broadcast(g.constant(numbers(1, x.sizes[1], 1, 1)), x.sizes)


def convolved(g: GraphBuilder, x: Expression, *, pads: int = 1, bias: bool = False, group: int = 1) -> Expression:
    b = g.constant(numbers(1, 6, 1, 1)) if bias else None
    weights = g.constant(numbers(6, x.sizes[1] // group, 3, 3))
    return g.convolution(x, weights, b, start_padding=[pads] * 2, end_padding=[pads] * 2, group_count=group)


def scaled(g: GraphBuilder, x: Expression) -> Expression:
    """All four operations, with one number and with one for each channel."""
    return g.identity((x - by_channel(g, x)) / by_channel(g, x), scale_bias=ScaleBias(3, -1))


def after(g: GraphBuilder, x: Expression) -> Expression:
    return scaled(g, convolved(g, x, bias=True))


def after_groups(g: GraphBuilder, x: Expression) -> Expression:
    return scaled(g, convolved(g, x, group=2))


def after_transposed(g: GraphBuilder, x: Expression) -> Expression:
    weights = g.constant(numbers(4, 3, 3, 3))
    return scaled(g, g.convolution(x, weights, direction="BACKWARD", strides=[2, 2], group_count=2))


def normalised(g: GraphBuilder, x: Expression) -> Expression:
    """A mean so large that it is subtracted separately."""
    y = convolved(g, x)
    mean, variance, scale, bias = (g.constant(size * numbers(1, 6, 1, 1)) for size in (1000, 1, 1, 1))
    return g.batch_normalization(y, mean, variance, scale, bias, True, 1e-5)


def before(g: GraphBuilder, x: Expression) -> Expression:
    """An image that is scaled to the range of the network."""
    return convolved(g, g.identity(x, scale_bias=ScaleBias(2 / 255, -1)), pads=0, bias=True)


def before_padding(g: GraphBuilder, x: Expression) -> Expression:
    """Padding gets no term, so that only the factors are folded."""
    return convolved(g, g.identity(g.multiply(x, by_channel(g, x)), scale_bias=ScaleBias(0.5, 0)))


def padding_with_term(g: GraphBuilder, x: Expression) -> Expression:
    return convolved(g, g.identity(x, scale_bias=ScaleBias(2, -1)))


def product(g: GraphBuilder, x: Expression) -> Expression:
    a = g.identity(g.reinterpret(x, sizes=(1, 1, 72, 11)), scale_bias=ScaleBias(0.5, 1))
    c = g.broadcast(g.constant(numbers(1, 1, 1, 5)), (1, 1, 72, 5))
    y = g.gemm(a, g.constant(numbers(1, 1, 5, 11)), c, trans_b="TRANSPOSE", alpha=0.5, beta=2)
    return g.gemm(g.identity(y, scale_bias=ScaleBias(4, 2)), g.constant(numbers(1, 1, 5, 3)))


def plain_products(g: GraphBuilder, x: Expression) -> Expression:
    """Products without a bias, before and after factors and terms of their columns."""
    a = g.identity(g.reinterpret(x, sizes=(1, 2, 36, 11)), scale_bias=ScaleBias(0.5, 1))
    y = g.gemm(a, g.broadcast(g.constant(numbers(1, 1, 11, 5)), (1, 2, 11, 5)))
    scaled = g.identity(
        g.multiply(y, g.broadcast(g.constant(numbers(1, 1, 1, 5)), y.sizes)), scale_bias=ScaleBias(1, 2)
    )
    y = g.gemm(g.tanh(scaled), g.broadcast(g.constant(numbers(1, 1, 5, 3)), (1, 2, 5, 3)))
    return g.identity(y, scale_bias=ScaleBias(4, 2))


def before_product(g: GraphBuilder, x: Expression) -> Expression:
    """A term before a product without a bias, whose result is not an output."""
    a = g.identity(g.reinterpret(x, sizes=(1, 1, 72, 11)), scale_bias=ScaleBias(1, 1))
    return g.gemm(a, g.constant(numbers(1, 1, 11, 5)), fused_activation="TANH")


def alone(g: GraphBuilder, x: Expression) -> Expression:
    return scaled(g, g.tanh(x))


FORMS: dict[Form, tuple[dict[str, int], dict[str, int]]] = {
    after: ({"Conv": 1, "Sub": 1, "Div": 1, "Mul": 1, "Add": 1}, {"Conv": 1}),
    after_groups: ({"Conv": 1, "Sub": 1, "Div": 1, "Mul": 1, "Add": 1}, {"Conv": 1}),
    after_transposed: ({"ConvTranspose": 1, "Sub": 1, "Div": 1, "Mul": 1, "Add": 1}, {"ConvTranspose": 1}),
    normalised: ({"Conv": 1, "BatchNormalization": 1}, {"Conv": 1}),
    before: ({"Mul": 1, "Add": 1, "Conv": 1}, {"Conv": 1}),
    before_padding: ({"Mul": 2, "Conv": 1}, {"Conv": 1}),
    padding_with_term: ({"Mul": 1, "Add": 1, "Conv": 1}, {"Mul": 1, "Add": 1, "Conv": 1}),
    product: (
        {"Reshape": 3, "Mul": 2, "Add": 2, "Gemm": 1, "MatMul": 1},
        {"Reshape": 2, "Gemm": 1, "MatMul": 1, "Add": 1},
    ),
    plain_products: (
        {"Reshape": 1, "MatMul": 2, "Tanh": 1, "Mul": 3, "Add": 3},
        {"Reshape": 1, "MatMul": 2, "Tanh": 1, "Add": 2},
    ),
    before_product: (
        {"Reshape": 1, "Add": 1, "MatMul": 1, "Tanh": 1},
        {"Reshape": 1, "MatMul": 1, "Add": 1, "Tanh": 1},
    ),
    alone: ({"Tanh": 1, "Sub": 1, "Div": 1, "Mul": 1, "Add": 1}, {"Tanh": 1, "Mul": 1, "Add": 1}),
}


def graph_of(form: Form) -> Graph:
    g = GraphBuilder()
    return g.build({"y": form(g, g.input("x", "FLOAT32", IMAGE))})


def counts(graph: Graph, level: int) -> dict[str, int]:
    return dict(Counter(node.op_type for node in compile(graph, optimize=level).lowered.nodes))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_factors_and_terms_become_weights(form: Form) -> None:
    graph, (literal, folded) = graph_of(form), FORMS[form]
    assert counts(graph, 0) == literal
    assert counts(graph, 2) == folded
    assert verify(graph, rounds=3, optimize=2).passed
    model = compile(graph, optimize=2)
    kept = compile(graph, optimize=2, without_passes=["fold-scales"])
    assert Counter(node.op_type for node in kept.lowered.nodes) == Counter(counts(graph, 1))
    assert [item.node for item in model.traces] == [item.node for item in kept.traces]
    assert [item.node for item in model.traces if not item.nodes and not item.notes] == []
    x = RANDOM.normal(0, 1, IMAGE).astype(np.float32)
    one, other = (compile(graph, optimize=level).run({"x": x})["y"].astype(np.float64) for level in (0, 2))
    np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4 * float(np.abs(one).max()))


def test_terms_pass_products_in_few_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each term moves behind its product, and so before the next one."""
    g, count, tried = GraphBuilder(), 60, list[OnnxNode]()
    weights, y = g.constant(np.full((1, 1, 2, 2), 0.3, np.float32)), g.input("x", "FLOAT32", (1, 1, 2, 2))
    for _ in range(count):
        y = g.gemm(g.identity(y, scale_bias=ScaleBias(1, 1)), weights)
    graph, fold = g.build({"y": y}), scales._fold

    def counted(draft: Draft, node: OnnxNode) -> bool:
        tried.append(node)
        return fold(draft, node)

    monkeypatch.setattr(scales, "_fold", counted)
    assert counts(graph, 2) == {"MatMul": count, "Add": 1}
    assert len(tried) < 5 * count


@pytest.mark.parametrize(("factors", "terms"), [((2, 0.5), (0, 0)), ((1, 1), (3, -3))])
def test_steps_that_cancel_are_kept(factors: tuple[float, float], terms: tuple[float, float]) -> None:
    """The merged factor is 1 and the merged term 0, for which there is no node."""
    g = GraphBuilder()
    y = g.input("x", "FLOAT32", (2, 3))
    for factor, term in zip(factors, terms, strict=True):
        y = g.activation_linear(y, alpha=factor, beta=term)
    graph = g.build({"y": y})
    assert counts(graph, 2) == counts(graph, 1)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(compile(graph, optimize=2).run({"x": values})["y"], values)


def test_single_numbers_become_one_factor_and_one_term() -> None:
    """Products of constants without dimensions are scalars and not arrays in numpy."""
    g = GraphBuilder()
    x = g.activation_linear(g.input("x", "FLOAT32", (2, 3)), alpha=2, beta=1)
    graph = g.build({"y": g.activation_linear(x, alpha=3, beta=0.5)})
    assert counts(graph, 2) == {"Mul": 1, "Add": 1}
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(compile(graph, optimize=2).run({"x": values})["y"], 6 * values + 3.5)


MOST, LEAST = (float(x) for x in (np.finfo(np.float32).max, np.finfo(np.float32).tiny))


@pytest.mark.parametrize(
    ("weight", "factor", "is_folded"),
    [(LEAST * 2, 0.5, True), (LEAST, 0.5, False), (MOST / 2, 2, True), (MOST, 2, False), (0, 2, True)],
)
def test_weights_that_would_overflow_or_underflow_are_kept(weight: float, factor: float, is_folded: bool) -> None:
    g = GraphBuilder()
    weights = g.constant(np.array([weight, 1], np.float32).reshape(2, 1, 1, 1))
    y = g.identity(g.convolution(g.input("x", "FLOAT32", (1, 1, 3, 3)), weights), scale_bias=ScaleBias(factor, 0))
    assert counts(g.build({"y": y}), 2) == ({"Conv": 1} if is_folded else {"Conv": 1, "Mul": 1})


def test_a_result_with_other_readers_is_not_scaled() -> None:
    g = GraphBuilder()
    y = convolved(g, g.input("x", "FLOAT32", IMAGE))
    assert counts(g.build({"y": y, "z": g.identity(y, scale_bias=ScaleBias(3, 0))}), 2) == {"Conv": 1, "Mul": 1}


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_zero_padding_after_relu_is_folded(data_type: str) -> None:
    g = GraphBuilder()
    x = g.activation_relu(g.input("x", data_type, IMAGE))
    graph = g.build({"y": g.max_pooling0(around(g, x, 0, (1, 1)), [3, 3], [2, 2])})
    assert {"Concat", "Pad"} & set(counts(graph, 1))
    assert not {"Concat", "If", "Pad"} & set(counts(graph, 2))
    assert verify(graph, rounds=3, optimize=2).passed
    without = compile(graph, optimize=2, without_passes=["fold-pads-behind-relu"])
    assert {"Concat", "Pad"} & {node.op_type for node in without.lowered.nodes}


def test_zero_padding_after_a_clip_at_zero_is_folded() -> None:
    g = GraphBuilder()
    x = g.clip(g.input("x", "FLOAT32", IMAGE), 0, 6)
    graph = g.build({"y": g.max_pooling0(around(g, x, 0, (1, 1)), [3, 3], [2, 2])})
    assert counts(graph, 2) == {"Clip": 1, "MaxPool": 1}


@pytest.mark.parametrize(("data_type", "is_folded"), [("FLOAT32", True), ("INT8", False)])
def test_a_cast_that_wraps_may_give_negative_numbers(data_type: str, is_folded: bool) -> None:
    g = GraphBuilder()
    x = g.cast(g.input("x", "UINT8", IMAGE), data_type)
    graph = g.build({"y": g.max_pooling0(around(g, x, 0, (1, 1)), [3, 3], [2, 2])})
    assert {"Concat", "Pad"}.isdisjoint(counts(graph, 2)) is is_folded


@pytest.mark.parametrize(("data_type", "is_folded"), [("FLOAT32", True), ("INT8", False)])
def test_the_magnitude_of_the_lowest_integer_is_negative(data_type: str, is_folded: bool) -> None:
    g = GraphBuilder()
    x = g.abs(g.input("x", data_type, IMAGE))
    graph = g.build({"y": g.max_pooling0(around(g, x, 0, (1, 1)), [3, 3], [2, 2])})
    assert {"Concat", "Pad"}.isdisjoint(counts(graph, 2)) is is_folded


def test_level_2_has_all_rounding_passes() -> None:
    assert chosen(2)[-len(ROUNDING) :] == ROUNDING
    assert [item.description for item in ROUNDING if not item.description.endswith(".")] == []


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("term", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_convolutions_of_any_channels_take_factors(
    first: bool, term: bool, bias: bool, group: int, direction: Literal["FORWARD", "BACKWARD"]
) -> None:
    """Four channels become two or six, with the factors before or after."""
    for channels in (2, 6):
        g = GraphBuilder()
        x = g.input("x", "FLOAT32", (1, 4, 3, 3))
        of_input, of_filter = (4, channels // group) if direction == "BACKWARD" else (channels, 4 // group)
        weights = g.constant(numbers(of_input, of_filter, 2, 2))
        added = g.constant(numbers(1, channels, 1, 1)) if bias else None

        def changed(x: Expression, g: GraphBuilder = g) -> Expression:
            y = g.multiply(x, by_channel(g, x))
            return g.add(y, by_channel(g, y)) if term else y

        y = g.convolution(changed(x) if first else x, weights, added, direction=direction, group_count=group)
        graph = g.build({"y": y if first else changed(y)})
        values = RANDOM.normal(0, 1, (1, 4, 3, 3)).astype(np.float32)
        one, other = (compile(graph, optimize=level).run({"x": values})["y"] for level in (0, 2))
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4 * float(np.abs(one).max()))


@pytest.mark.parametrize(
    ("operator", "first", "second", "count"),
    [
        ("Mul", MOST / 2, 2, 1),
        ("Mul", MOST, 2, 2),
        ("Mul", LEAST * 2, 0.5, 1),
        ("Mul", LEAST, 0.5, 2),
        ("Mul", 2, 0.5, 2),
        ("Add", MOST / 2, MOST / 2, 1),
        ("Add", MOST, MOST, 2),
    ],
)
def test_factors_and_terms_in_range_are_folded(operator: str, first: float, second: float, count: int) -> None:
    g = GraphBuilder()
    y = g.input("x", "FLOAT32", (2, 3))
    for value in (first, second):
        constant = g.broadcast(g.constant(np.full((1, 1), value, np.float32)), y.sizes)
        y = g.multiply(y, constant) if operator == "Mul" else g.add(y, constant)
    model = compile(g.build({"y": y}), optimize=2, exact=False)
    assert [node.op_type for node in model.lowered.nodes] == [operator] * count
