"""Graphs in DirectML: whole, node by node, and compared with compiled models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError, Graph, GraphBuilder
from dml2onnx.cli import main
from dml2onnx.directml import graphs
from dml2onnx.directml.installation import PLACE_VARIABLE
from dml2onnx.ir.graph import GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.reference import disagreements, evaluate, evaluate_results
from dml2onnx.test_cases.descriptors import plain, sized
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.variations import with_value
from tests.directml.live import installed, needs_directml

RANDOM = np.random.default_rng(0)
WEIGHTS = RANDOM.normal(0, 1, (4, 3, 3, 3)).astype(np.float32)
DIGITS = Path(__file__).parent.parent.parent / "samples/digits/model.json"


def network(*, owned: bool = False) -> Graph:
    """A convolution with constant filters, whose result is read twice."""
    g = GraphBuilder(feature_level="5_0")
    x = g.input("x", "FLOAT32", [1, 3, 5, 5])
    y = g.tanh(g.convolution(x, g.constant(WEIGHTS)))
    graph = g.build({"y": y, "z": y + y})
    return replace(graph, nodes=tuple(map(with_owned_filter, graph.nodes))) if owned else graph


def with_owned_filter(node: Node) -> Node:
    """A convolution whose filter is OWNED_BY_DML."""
    if node.operator.type != "CONVOLUTION":
        return node
    filters = replace(node.operator.tensor("FilterTensor"), owned_by_dml=True)
    return Node(node.name, with_value(node.operator, "FilterTensor", filters), node.reads, node.writes)


def in_one_buffer() -> Graph:
    """Two nodes that write parts of one buffer, and one that reads across them."""
    four, eight = sized(1, 1, 1, 4), sized(1, 1, 1, 8)
    x, first, second, y = Value("x", 64), Value("both", 64), Value("both'", 64), Value("y", 32)
    negate, absolute = (
        plain(f"ELEMENT_WISE_{name}", InputTensor=four, OutputTensor=four) for name in ("NEGATE", "ABS")
    )
    nodes = (
        Node("first", negate, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(first, 0, None),)}),
        Node("second", absolute, {"InputTensor": (Read(x, 16),)}, {"OutputTensor": (Write(second, 32, first),)}),
        Node(
            "middle",
            plain("ELEMENT_WISE_SQRT", InputTensor=eight, OutputTensor=eight),
            {"InputTensor": (Read(second, 16),)},
            {"OutputTensor": (Write(y),)},
        ),
    )
    sixteen = sized(1, 1, 1, 16)
    return Graph(nodes, (GraphInput("x", x),), (GraphOutput("y", y, eight), GraphOutput("both", second, sixteen)))


@needs_directml
@pytest.mark.parametrize("owned", [False, True])
def test_a_graph_runs_whole(owned: bool) -> None:
    graph = network(owned=owned)
    feeds = {"x": RANDOM.normal(0, 1, (1, 3, 5, 5)).astype(np.float32)}
    found = graphs.evaluate(graph, graph.outputs, {"x": feeds["x"].tobytes()}, installed())
    assert found.way == graphs.WHOLE
    for name, want in evaluate(graph, feeds).items():
        value = next(output.value for output in graph.outputs if output.name == name)
        got = np.frombuffer(found.values[value], np.float32)
        np.testing.assert_allclose(got, np.asarray(want, np.float32).reshape(-1), 1e-4, 1e-5)


@needs_directml
def test_parts_of_buffers_run_node_by_node() -> None:
    graph = in_one_buffer()
    x = np.arange(-8, 8).astype(np.float32)
    found = graphs.evaluate(graph, graph.outputs, {"x": x.tobytes()}, installed())
    assert found.way == graphs.NODE_BY_NODE
    both = np.zeros(16, np.float32)
    both[:4], both[8:12] = -x[:4], abs(x[4:8])
    y, second = (np.frombuffer(found.values[output.value], np.float32) for output in graph.outputs)
    np.testing.assert_array_equal(second, both)
    np.testing.assert_allclose(y, np.sqrt(both[4:12]), 1e-6)


def test_graphs_with_parts_of_buffers_are_not_run_whole() -> None:
    whole, parts = network(), in_one_buffer()
    assert graphs._is_plain(whole.nodes, whole.outputs)
    assert not graphs._is_plain(parts.nodes, parts.outputs)


@needs_directml
def test_graphs_add_masks_in_float16() -> None:
    """In fully masked rows, adding -10000 rounds scores away, in DirectML and in ONNX Runtime's Attention."""
    half, mask = sized(1, 2, 4, type="FLOAT16"), sized(1, 1, 2, 2, type="INT32")
    tensors = dict.fromkeys(("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor"), half)
    how = {"MaskType": "BOOLEAN", "MaskFilterValue": -10000.0, "Scale": 1.0, "HeadCount": 1}
    graph = single_node(plain("MULTIHEAD_ATTENTION", **tensors, MaskTensor=mask, **how))
    random = np.random.default_rng(6)
    feeds = {port.name: random.normal(0, 1, (1, 2, 4)).astype(np.float16) for port in graph.inputs}
    feeds["MaskTensor0"] = np.array([[[[0, 0], [0, 1]]]], np.int32)
    contents = {name: array.tobytes() for name, array in feeds.items()}
    found, (output,) = graphs.evaluate(graph, graph.outputs, contents, installed()), graph.outputs
    assert found.way == graphs.WHOLE
    got = np.frombuffer(found.values[output.value], np.float16).reshape(1, 2, 4)
    want = evaluate_results(graph, feeds)[output.name]
    assert np.abs(np.subtract(got, want.values))[0, 0].max() > 0.05
    for values in (got, dml2onnx.compile(graph, opset=23).run(feeds)[output.name]):
        assert not disagreements(values, want, output.desc.data_type, True).any()


@needs_directml
def test_refused_nodes_are_named() -> None:
    broken = plain("ELEMENT_WISE_ABS", InputTensor=sized(1, 1, 1, 4), OutputTensor=sized(1, 1, 1, 2))
    x, y = Value("x", 16), Value("y", 8)
    node = Node("bad", broken, {"InputTensor": (Read(x),)}, {"OutputTensor": (Write(y),)})
    graph = Graph((node,), (GraphInput("x", x),), (GraphOutput("y", y, sized(1, 1, 1, 2)),))
    with pytest.raises(graphs.NodeFailedError, match=r"node bad .* CreateOperator gives 0x80070057"):
        graphs.evaluate(graph, graph.outputs, {"x": bytes(16)}, installed())


@needs_directml
def test_verify_runs_directml(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(DIGITS), "--against", "directml", "--cases", "2"]) == 0
    text = capsys.readouterr().out
    assert "DirectML itself, as one graph:" in text
    assert text.endswith("the compiled model and DirectML itself agree with the reference\n")


@needs_directml
def test_verify_reports_directml_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(DIGITS), "--against", "directml", "--cases", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["against"] == "directml"
    assert answer["directml_way"] == graphs.WHOLE
    assert [(item["elements"], item["wrong"]) for item in answer["directml"]] == [(3600, 0)]


@needs_directml
def test_a_difference_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    real = graphs.evaluate

    def changed(*arguments: object) -> graphs.Evaluated:
        found = real(*arguments)  # type: ignore[arg-type]
        return graphs.Evaluated({value: bytes(len(data)) for value, data in found.values.items()}, found.way)

    monkeypatch.setattr(graphs, "evaluate", changed)
    result = dml2onnx.verify(network(), rounds=1, against="directml")
    assert all(item.wrong == 0 for item in result.comparisons)
    assert all(item.wrong == item.elements for item in result.directml)
    assert not result.passed


def test_verify_without_directml_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLACE_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(DmlError, match="not installed") as caught:
        dml2onnx.verify(network(), against="directml")
    (finding,) = caught.value.diagnostics
    assert finding.code == "DML3025"


def test_absent_tensors_have_a_slot() -> None:
    op = plain("GEMM", ATensor=sized(1, 1, 2, 3), BTensor=sized(1, 1, 3, 4), OutputTensor=sized(1, 1, 2, 4))
    found = [(slot.field, slot.desc is None) for slot in graphs.slots(op, outputs=False)]
    assert found == [("ATensor", False), ("BTensor", False), ("CTensor", True)]
