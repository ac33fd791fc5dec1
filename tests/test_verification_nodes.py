"""``verify`` node by node: correct networks pass however deep they are, and a wrong node is named."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.builder import Expression
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph
from dml2onnx.verification import CONTENTS, check_nodes, contents, nodes, whole

CHANNELS = 16


def residual(blocks: int, seed: int) -> Graph:
    """Blocks of convolution 16x16x3x3, sum and RELU."""
    random = np.random.default_rng(seed)
    g = GraphBuilder(feature_level="5_0")
    x = g.input("x", "FLOAT32", [1, CHANNELS, 8, 8])
    for index in range(blocks):
        weights = random.normal(0, 0.3 * np.sqrt(2 / 144), (CHANNELS, CHANNELS, 3, 3)).astype(np.float32)
        filters = g.constant(weights, name=f"w{index}")
        h = g.convolution(x, filters, start_padding=[1, 1], end_padding=[1, 1], name=f"convolution{index}")
        x = g.activation_relu(x + h)
    return g.build({"y": x})


@pytest.mark.parametrize(("blocks", "seed"), [(20, 0), (20, 1), (30, 2), (40, 3), (50, 4)])
def test_deep_networks_pass(blocks: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none of numpy's reaches the user
        found = dml2onnx.verify(residual(blocks, seed), seed=seed)
    assert found.passed
    assert len(found.nodes) == 3 * blocks
    assert all(item.worst_of_bound < 1 for item in found.nodes)


def test_two_hundred_blocks_pass() -> None:
    found = dml2onnx.verify(residual(200, 0), rounds=1)
    assert found.passed
    assert found.first_wrong_node is None


def changed(graph: Graph, name: str, factor: float) -> Graph:
    """The graph with one element of one constant a little different."""
    constants = []
    for item in graph.constants:
        data = item.data
        if item.value.name == name:
            array = np.array(data.read().view(np.float32))
            array[np.argmax(np.abs(array))] *= factor
            data = ArrayData.of(array)
        constants.append(Constant(item.value, data))
    values = {old.value: new for old, new in zip(graph.constants, constants, strict=True)}
    return replace(graph, constants=tuple(values[item.value] for item in graph.constants))


Network = Callable[[GraphBuilder, np.random.Generator], Expression]


def _weights(g: GraphBuilder, random: np.random.Generator, *sizes: int, name: str = "w") -> Expression:
    return g.constant(random.normal(1, 0.2, sizes).astype(np.float32), name=name)


def convolution(g: GraphBuilder, r: np.random.Generator) -> Expression:
    return g.convolution(g.input("x", "FLOAT32", [1, 3, 8, 8]), _weights(g, r, 4, 3, 3, 3), name="wrong")


def gemm(g: GraphBuilder, r: np.random.Generator) -> Expression:
    return g.gemm(g.input("x", "FLOAT32", [1, 1, 4, 8]), _weights(g, r, 1, 1, 8, 5), name="wrong")


def sum_(g: GraphBuilder, r: np.random.Generator) -> Expression:
    return g.add(g.input("x", "FLOAT32", [3, 4]), _weights(g, r, 3, 4), name="wrong")


def parameterized(g: GraphBuilder, r: np.random.Generator) -> Expression:
    x = g.input("x", "FLOAT32", [3, 4])
    return g.activation_parameterized_relu(x, _weights(g, r, 3, 4), name="wrong")


def normalization(g: GraphBuilder, r: np.random.Generator) -> Expression:
    x = g.input("x", "FLOAT32", [2, 3, 4, 4])
    mean, variance, bias = (_weights(g, r, 1, 3, 1, 1, name=name) for name in ("mean", "variance", "bias"))
    return g.batch_normalization(x, mean, variance, _weights(g, r, 1, 3, 1, 1), bias, True, 1e-5, name="wrong")


def join(g: GraphBuilder, r: np.random.Generator) -> Expression:
    return g.join([g.input("x", "FLOAT32", [3, 4]), _weights(g, r, 3, 4)], 0, name="wrong")


def gather(g: GraphBuilder, r: np.random.Generator) -> Expression:
    indices = g.input("x", "UINT32", [1, 6])
    return g.gather(
        _weights(g, r, 1, 2), g.bit_and(indices, g.constant(np.ones((1, 6), np.uint32))), 1, 1, name="wrong"
    )


def resampled(g: GraphBuilder, r: np.random.Generator) -> Expression:
    scaled = g.multiply(g.input("x", "FLOAT32", [1, 1, 4, 4]), _weights(g, r, 1, 1, 4, 4), name="wrong")
    return g.resample(scaled, [1, 1, 8, 8], "LINEAR", scales=[1, 1, 2, 2])


@pytest.mark.parametrize("network", [convolution, gemm, sum_, parameterized, normalization, join, gather, resampled])
def test_a_changed_weight_is_found_in_its_node(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """One weight of one node off by 1 %, with nodes before and behind it that are right."""
    g = GraphBuilder(feature_level="5_0")
    y = network(g, np.random.default_rng(0))
    y = g.activation_tanh(y * 0.25)
    graph = g.build({"y": y})
    assert dml2onnx.verify(graph).passed

    def compiling(given: Graph, *arguments: Any, **options: Any) -> CompiledModel:
        return compile_outputs(changed(given, "w", 1.01), *arguments, **options)

    for module in (nodes, whole):
        monkeypatch.setattr(module, "compile_outputs", compiling)
    found = dml2onnx.verify(graph, rounds=7)
    assert not found.passed
    first = found.first_wrong_node
    assert first is not None
    assert first.node == "wrong"
    assert abs(first.got - first.expected) > first.bound
    assert {item.node for item in found.nodes if item.wrong} == {"wrong"}


def test_what_is_said_of_a_node() -> None:
    g = GraphBuilder(feature_level="5_0")
    x = g.input("x", "FLOAT32", [4])
    graph = g.build({"y": g.tanh(g.identity(x), name="tanh")})
    copied, tanh = check_nodes(graph, {"x": np.array([0.1, -0.5, 2, 30], np.float32)})
    assert (copied.exact, copied.worst, copied.elements) == (True, 0, 4)
    assert (tanh.node, tanh.operator, tanh.exact) == ("tanh", "ELEMENT_WISE_TANH", False)
    assert tanh.worst_ulps < 20
    assert tanh.worst_of_bound <= 1


def test_a_round_that_says_nothing_is_no_agreement() -> None:
    found = dml2onnx.verify(residual(4, 0))
    silent = [item.round for item in found.comparisons if item.says_nothing]
    assert silent == ["3 (extreme values)"]
    # of single nodes, with their own inputs, much can be said even then
    assert all(item.unspecified < item.elements / 2 for item in found.nodes)


def test_contents_of_rounds() -> None:
    g = GraphBuilder()
    (port,) = dml2onnx.compile(g.build({"y": g.identity(g.input("x", "INT8", [5, 50]))})).inputs
    made = {kind: [contents(port, np.random.default_rng(seed), kind) for seed in range(40)] for kind in CONTENTS}
    assert all(array.shape == (5, 50) and array.dtype == np.int8 for several in made.values() for array in several)
    structured = {array.tobytes() for array in made["structured"]}
    assert {np.zeros(250, np.int8).tobytes(), np.ones(250, np.int8).tobytes()} <= structured
    assert any(np.count_nonzero(array) == 1 for array in made["structured"])
