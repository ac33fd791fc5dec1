"""``verify`` node by node: correct networks of any depth pass."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.ir.graph import Graph, Value, Write
from dml2onnx.verification import CONTENTS, check_nodes, contents
from tests.checks.build import graph, node, t, unary

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
        warnings.simplefilter("error")  # users see no warnings of numpy
        found = dml2onnx.verify(residual(blocks, seed), seed=seed)
    assert found.passed
    assert len(found.nodes) == 3 * blocks
    assert all(item.worst_of_bound < 1 for item in found.nodes)


def test_two_hundred_blocks_pass() -> None:
    found = dml2onnx.verify(residual(200, 0), rounds=1)
    assert found.passed
    assert found.first_wrong_node is None


def test_facts_of_a_node() -> None:
    g = GraphBuilder(feature_level="5_0")
    x = g.input("x", "FLOAT32", [4])
    graph = g.build({"y": g.tanh(g.identity(x), name="tanh")})
    copied, tanh = check_nodes(graph, {"x": np.array([0.1, -0.5, 2, 30], np.float32)})
    assert (copied.exact, copied.worst, copied.elements) == (True, 0, 4)
    assert (tanh.node, tanh.operator, tanh.exact) == ("tanh", "ELEMENT_WISE_TANH", False)
    assert tanh.worst_ulps < 20
    assert tanh.worst_of_bound <= 1


@pytest.mark.parametrize(
    ("data_type", "count", "nbytes", "offset", "keeps"),
    [("FLOAT32", 2, 32, 8, False), ("FLOAT32", 2, 32, 0, True), ("INT64", 1, 12, 4, True), ("UINT4", 2, 8, 1, True)],
)
def test_nodes_that_write_and_read_parts_of_a_buffer(
    data_type: str, count: int, nbytes: int, offset: int, keeps: bool
) -> None:
    x, before, after, end = (Value(name, nbytes) for name in ("x", "before", "after", "end"))
    view, whole = t(count, type=data_type), t(nbytes // 4, type="UINT32")
    writes = {"OutputTensor": [Write(after, offset, before if keeps else None)]}
    nodes = [
        node(unary("ELEMENT_WISE_IDENTITY", view), {"InputTensor": [x]}, writes, "first"),
        node(unary("ELEMENT_WISE_IDENTITY", whole), {"InputTensor": [after]}, {"OutputTensor": [end]}, "second"),
    ]
    feeds = {item.name: np.arange(1, 1 + nbytes, dtype=np.uint8) for item in (x, before)}
    found = check_nodes(graph(nodes, [x, before], [(end, whole)]), feeds)
    assert [(item.elements, item.wrong) for item in found] == [(view.element_count, 0), (whole.element_count, 0)]


def test_rounds_without_comparable_elements() -> None:
    found = dml2onnx.verify(residual(4, 0))
    silent = [item.round for item in found.comparisons if item.is_unspecified]
    assert silent == ["3 (extreme values)"]
    # single nodes, with their own inputs, are still compared
    assert all(item.unspecified < item.elements / 2 for item in found.nodes)


def test_contents_of_rounds() -> None:
    g = GraphBuilder()
    (port,) = dml2onnx.compile(g.build({"y": g.identity(g.input("x", "INT8", [5, 50]))})).inputs
    made = {kind: [contents(port, np.random.default_rng(seed), kind) for seed in range(40)] for kind in CONTENTS}
    assert all(array.shape == (5, 50) and array.dtype == np.int8 for several in made.values() for array in several)
    structured = {array.tobytes() for array in made["structured"]}
    assert {np.zeros(250, np.int8).tobytes(), np.ones(250, np.int8).tobytes()} <= structured
    assert any(np.count_nonzero(array) == 1 for array in made["structured"])
