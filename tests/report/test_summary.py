"""The summary of a report in three sentences."""

from __future__ import annotations

import importlib
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder
from dml2onnx.frontends import load_bytes
from dml2onnx.options import CompileOptions
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from dml2onnx.report.node_counts import VIEWS, NodeCounts, node_counts
from dml2onnx.report.records import Coverage
from dml2onnx.report.summary import summary
from dml2onnx.targets import PLACES, target
from tests.newcomers import native_data_types
from tests.newcomers.build import text_of
from tests.newcomers.networks import NETWORK

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_summary_of_a_valid_graph() -> None:
    what, became, look = summary(gather(load_bytes(text_of(NETWORK).encode(), "net.json"), rounds=1))
    assert what == (
        "From image (FLOAT32 1×3×32×32) to probabilities (FLOAT32 1×1×1×10) it takes 1 CONVOLUTION, 1 MAX_POOLING, "
        "1 GEMM and 1 other operator, 634,880 multiply-accumulates; "
        "it needs feature level 1_0 (Windows 10 1903 or DirectML 1.4.0)."
    )
    assert became == (
        "It became 6 ONNX nodes of opset 21: 1 for layouts and types, 5 that compute, "
        "no more than one for each operator and fused activation; it agrees with the reference; "
        "each of the 10 execution providers has kernels for all nodes."
    )
    assert look == "Nothing needs attention."


def test_summary_of_a_wrong_graph() -> None:
    case = next(case for case in native_data_types.CASES if case.name == "convolution: weights in FLOAT16")
    what, became, look = summary(gather(load_bytes(case.source.encode(), "net.json")))
    assert what.endswith("; no feature level of DirectML allows it.")
    assert became == "It cannot be compiled."
    assert look.startswith("Look at 1 error first, at conv: FilterTensor is FLOAT16")


def test_warnings_and_names() -> None:
    g = GraphBuilder("net")
    x = g.input("<b>\u202e", np.float32, [4])
    report = gather(g.build({"y": g.clip(x, 6.0, 0.0)}))
    assert summary(report)[2].startswith("Look at 1 warning, at element_wise_clip: Min is 6, above Max")
    text = page(report)
    assert "&lt;b&gt;\\u202e (FLOAT32 4)" in text
    assert "<b>\u202e" not in text


def test_providers_follow_the_tables_of_kernels() -> None:
    g = GraphBuilder("net")
    x = g.input("x", np.uint8, [1, 1, 4, 4])
    report = gather(
        g.build({"y": g.max_pooling(x, 2).values, "z": g.activation_softmax(g.input("f", np.float32, [4]))})
    )
    assert report.onnx is not None
    found = {item.target: item.without_kernel for item in report.onnx.coverage}
    assert set(found) == set(PLACES)
    for name, missing in found.items():
        has = target(name, report.onnx.opset).has_kernel("MaxPool", {"T": "uint8", "I": "int64"})
        assert missing == (not has), name
    assert summary(report)[1].endswith(
        "cpu, dml, openvino, openvino-npu and openvino-gpu have kernels for all nodes, "
        "webnn, qnn-npu, qnn-gpu and tensorrt-rtx when it is compiled for them, webgpu for all but 1 node."
    )


def test_quantized_networks_run_whole_on_their_target() -> None:
    g = GraphBuilder("net")
    x = g.input("x", np.uint8, [1, 4, 8, 8])
    scale, zero = np.full((1, 1, 1, 1), 0.5, np.float32), np.full((1, 1, 1, 1), 3, np.uint8)
    ones = np.ones((4, 4, 1, 1), np.uint8)
    made = g.quantized_linear_convolution(x, scale, zero, ones, scale, None, None, scale, zero, "UINT8")
    report = gather(g.build({"y": made}))
    assert report.onnx is not None
    npu = next(item for item in report.onnx.coverage if item.target == "qnn-npu")
    assert npu.without_kernel == 1
    assert npu.when_compiled == 0
    small = gather(g.build({"y": made}), CompileOptions.of(target="qnn-npu"))
    assert small.onnx is not None
    assert next(item for item in small.onnx.coverage if item.target == "qnn-npu") == Coverage("qnn-npu")


@pytest.mark.parametrize(("limit", "most"), [("MOST_NODES", 0), ("MOST_BYTES", -1)])
def test_large_networks_are_not_compiled_for_all(limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"dml2onnx.report.coverage.{limit}", most)
    g = GraphBuilder("net")
    report = gather(g.build({"y": g.max_pooling(g.input("x", np.uint8, [1, 1, 4, 4]), 2).values}))
    assert report.onnx is not None
    assert {item.when_compiled for item in report.onnx.coverage} == {None}
    assert summary(report)[1].endswith("webgpu, webnn, qnn-npu, qnn-gpu and tensorrt-rtx for all but 1 node.")


def test_targets_without_the_opset_are_left_out() -> None:
    g = GraphBuilder("net")
    report = gather(g.build({"y": g.abs(g.input("x", np.float32, [4]))}), CompileOptions.of(opset=26, target="cpu"))
    assert report.onnx is not None
    assert [item.target for item in report.onnx.coverage] == ["cpu"]
    assert summary(report)[1].endswith("; cpu has kernels for all nodes.")


def test_sentences_about_targets() -> None:
    report = gather(load_bytes(text_of(NETWORK).encode(), "net.json"))
    onnx = report.onnx
    assert onnx is not None

    def sentence(*counts: int) -> str:
        coverage = tuple(Coverage(f"p{number}", count) for number, count in enumerate(counts))
        became = summary(replace(report, onnx=replace(onnx, coverage=coverage)))[1]
        return became.removesuffix(".").rpartition("fused activation")[2]

    assert sentence() == ""
    assert sentence(0) == "; p0 has kernels for all nodes"
    assert sentence(2) == "; p0 has kernels for all but 2 nodes"
    assert sentence(3, 0, 0, 1) == (
        "; p1 and p2 have kernels for all nodes, p3 for all but 1 node, p0 for all but 3 nodes"
    )
    assert sentence(9, 4, 3, 2, 1, 0) == (
        "; p5 has kernels for all nodes, p4 for all but 1 node, p3 for all but 2 nodes, the other 3 for all but 3 to 9"
    )


def test_node_counts_match_networks_written_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule counts as many computing nodes as networks written by hand have."""
    monkeypatch.syspath_prepend(SCRIPTS)
    layouts = importlib.import_module("_layouts")
    for network in itertools.chain.from_iterable(layouts.networks()):
        found = node_counts(gather(network.graph))
        by_hand = sum(node.op_type not in VIEWS for node in network.by_hand.graph.node)
        assert found == NodeCounts(by_hand, by_hand, 0), network.name


def test_nodes_above_the_usual_count() -> None:
    g = GraphBuilder("net")
    x = g.input("x", np.float32, [1, 1, 4, 4])
    y = g.activation_scaled_tanh(g.add(x, x, fused_activation="RELU"), 2.0, 0.5)
    found = node_counts(gather(g.build({"y": g.identity(g.reinterpret(y, strides=[16, 16, 1, 4]))})))
    assert found == NodeCounts(5, 3, 1)  # Add and Relu are usual; Tanh between two products has two more nodes
