"""Reports of graphs that compile and of those that do not, and their JSON Schema."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.report.directml import _tensor
from dml2onnx.report.form import as_json
from dml2onnx.report.gathering import gather
from dml2onnx.report.records import Report
from dml2onnx.report.verified import Wrong
from dml2onnx.test_cases.descriptors import plain, sized
from dml2onnx.test_cases.single_node import single_node
from tests.report.models import SAMPLES, broken, hostile, small, wrong

SCHEMA = json.loads((catalog.schemas_directory() / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def full() -> Report:
    return gather(small(), rounds=3, profile=True)


def test_every_node_has_its_onnx_nodes(full: Report) -> None:
    assert full.onnx is not None
    became = {node.name: [full.onnx.nodes[place].operator for place in node.onnx] for node in full.nodes}
    assert became["convolution"] == ["Conv"]
    assert became["activation_relu"] == ["Relu"]
    assert became["same"] == became["unused"] == []
    assert set(became["block_largest"]) == {"Transpose", "Cast", "Max"}
    for place, node in enumerate(full.onnx.nodes):
        if node.node is not None:
            assert place in full.nodes[node.node].onnx


def test_dead_nodes_are_marked(full: Report) -> None:
    assert [node.name for node in full.nodes if not node.is_live] == ["unused"]
    (unused,) = (node for node in full.nodes if not node.is_live)
    assert [full.diagnostics[place].code for place in unused.findings] == ["DML1216"]
    assert (full.errors, full.warnings) == (0, 1)


def test_values_connect_nodes_and_ports(full: Report) -> None:
    by_name = {node.name: node for node in full.nodes}
    (written,) = by_name["activation_relu"].outputs
    (read,) = by_name["same"].inputs
    assert written.value == read.value == full.outputs[1].value
    kinds = {full.values[item.value].kind for item in by_name["convolution"].inputs}
    assert kinds == {"input", "constant"}
    x, picture = full.inputs
    assert (x.onnx_name, x.shape) == ("x", (3, 2))
    assert x.tensor is not None
    assert (full.tensors[x.tensor].layout, full.tensors[x.tensor].strides) == ("permuted", (1, 2))
    assert full.values[picture.value].kind == "input"


def test_equal_records_are_shared(full: Report) -> None:
    assert len(set(full.tensors)) == len(full.tensors)
    report = gather(dml2onnx.load(SAMPLES / "picture" / "model.json"))
    assert len(report.descriptors) < len(report.nodes)


def test_nodes_have_results_of_verification_and_profile(full: Report) -> None:
    assert full.verification is not None
    assert full.verification.passed
    assert full.profile is not None
    assert {item.output for item in full.verification.outputs} == {"y", "z", "same"}
    assert len(full.verification.outputs) == 9  # in three rounds
    assert full.onnx is not None
    for node in full.nodes:
        assert bool(node.verified) is node.is_live
        times = [full.onnx.nodes[place].microseconds for place in node.onnx]
        assert (node.microseconds is not None) is any(item is not None for item in times)
    spent = sum(node.microseconds or 0 for node in full.onnx.nodes)
    assert spent > 0
    assert full.profile.microseconds == pytest.approx(spent + full.profile.unplaced)
    assert {node.provider for node in full.onnx.nodes if node.microseconds is not None} == {"CPUExecutionProvider"}


def test_times_of_nodes_in_blocked_layouts_are_assigned() -> None:
    """ONNX Runtime names a convolution in the blocked layout after its output."""
    report = gather(dml2onnx.load(SAMPLES / "digits" / "model.json"), profile=True)
    assert report.profile is not None
    timed = {node.name for node in report.nodes if node.microseconds is not None}
    assert {"conv1", "conv2", "pool1"} <= timed


def test_the_first_wrong_element_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dml2onnx.report.gathering.verify_graph", wrong)
    report = gather(small(), rounds=3)
    assert report.verification is not None
    assert (report.verification.passed, report.verification.rounds, report.verification.finished) == (False, 3, 1)
    (found,) = (item.first_wrong for node in report.nodes for item in node.verified if item.wrong)
    assert found == Wrong("1 (ordinary values)", (0, 0, 1, 1), 1.5, "nan", 0.25)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(as_json(report), allow_nan=False)))


def test_levels_have_reasons() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "INT8", [1, 1, 4, 4])
    report = gather(g.build({"y": g.resample1(x, [1, 1, 8, 8], "NEAREST_NEIGHBOR", [1, 1, 2, 2], [0] * 4, [0] * 4)}))
    (descriptor,) = report.descriptors
    assert descriptor.level == report.minimum_feature_level
    assert descriptor.level is not None
    reason = descriptor.level_reasons[0]
    assert reason["field"] == "InputTensor/DataType"
    assert reason["since"] == descriptor.level
    assert "FLOAT32" in str(reason["expected"])


def test_a_graph_with_errors_has_a_report() -> None:
    graph = broken()
    report = gather(graph, rounds=1, profile=True)
    assert [item.code for item in report.diagnostics] == [item.code for item in dml2onnx.check(graph)]
    assert (report.onnx, report.verification, report.profile, report.minimum_feature_level) == (None, None, None, None)
    wrong = {node.name: [report.diagnostics[place].code for place in node.findings] for node in report.nodes}
    assert wrong["border"] == ["DML1108"]
    border = report.descriptors[report.nodes[0].descriptor]
    assert border.attributes["PaddingMode"] is None  # it could not be read
    assert border.level is None


def test_obstacles_to_compiling_are_findings(tmp_path: Path) -> None:
    """A graph without the files of its constants can be checked but not compiled: one finding for each file."""
    _, *weights = dml2onnx.convert(dml2onnx.load(SAMPLES / "digits" / "model.json"), tmp_path / "model.bin")
    for path in weights:
        path.unlink()
    graph = dml2onnx.load(tmp_path / "model.bin")
    assert len(dml2onnx.check(graph)) == len(weights)
    report = gather(graph)
    assert report.onnx is None
    assert (report.errors, report.warnings) == (len(weights), 0)
    assert weights[0].name in report.diagnostics[0].message
    assert report.minimum_feature_level == "1_0"


def test_obstacles_to_verifying_are_findings() -> None:
    """The reference refuses graphs that would take it hours; the rest is reported."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 8192, 8192])
    report = gather(g.build({"y": g.gemm(x, x)}), rounds=1)
    assert report.onnx is not None
    assert report.verification is None
    assert [item.code for item in report.diagnostics] == ["DML3015"]


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize("make", [small, hostile, broken])
def test_json_matches_its_schema(make: Callable[[], dml2onnx.Graph], verified: bool) -> None:
    document = json.loads(json.dumps(as_json(gather(make(), rounds=int(verified), profile=verified)), allow_nan=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["report"] == 2


def test_unusual_nans_are_texts() -> None:
    (odd,) = struct.unpack("<f", struct.pack("<I", 0xFFC00001))
    report = gather(single_node(plain("ACTIVATION_LEAKY_RELU", InputTensor=sized(2), OutputTensor=sized(2), Alpha=odd)))
    assert report.descriptors[0].attributes == {"Alpha": "nan"}


@pytest.mark.parametrize(
    ("sizes", "strides", "layout"),
    [
        ((2, 3), None, "packed"),
        ((2, 3), (1, 2), "permuted"),
        ((2, 3), (0, 1), "broadcast"),
        ((2, 3), (4, 1), "padded"),
        ((3, 3), (1, 1), "overlapping"),
        ((2, 0), None, "invalid"),
        ((1 << 20, 1 << 20), None, "invalid"),
        ((2, 3), (1,), "invalid"),
    ],
)
def test_layouts_in_memory(sizes: tuple[int, ...], strides: tuple[int, ...] | None, layout: str) -> None:
    tensor = _tensor(TensorDesc(DataType.FLOAT32, sizes, strides))
    assert tensor.layout == layout
    assert (tensor.bytes == 0) is (layout == "invalid")
