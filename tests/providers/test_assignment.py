"""Tests where nodes ran, and fallbacks."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import onnxruntime
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.execution import Execution, execute
from dml2onnx.options import CompileOptions
from dml2onnx.providers.choice import Providers
from dml2onnx.providers.table import AUTO
from dml2onnx.report.gathering import gather
from dml2onnx.runtime import NodeAssignment, NodeTime, assignments, fell_back, placed

SAMPLE = Path(__file__).parent.parent.parent / "samples" / "digits" / "model.json"
SCHEMA = json.loads((Path(__file__).parent.parent.parent / "schemas" / "report.schema.json").read_text())
CPU = "CPUExecutionProvider"


@pytest.fixture(scope="module")
def execution() -> Execution:
    return execute(dml2onnx.load(SAMPLE), {}, assignment=True)


def test_every_node_of_the_model_is_there(execution: Execution) -> None:
    found = execution.assignment
    assert [item.name for item in found] == [node.name for node in execution.model.lowered.nodes]
    assert {item.provider for item in found} <= {CPU, ""}
    convolutions = [item for item in found if item.operator == "Conv"]
    assert [(item.node, item.directml, item.provider) for item in convolutions] == [
        ("conv1", "CONVOLUTION", CPU),
        ("conv2", "CONVOLUTION", CPU),
    ]
    assert execution.fell_back == ()
    assert execution.times == ()


def test_the_record_goes_before_the_profile_and_names_get_lost_in_neither() -> None:
    """Some providers do not record their nodes; layout changes and merged reshapes rename nodes."""
    model = dml2onnx.compile(SAMPLE, optimize=0).lowered
    names = [node.name for node in model.nodes]
    times = [
        NodeTime("conv1/Conv_token_2", "Conv", 1.0, "Webgpu"),
        NodeTime("classify/Reshape_new_reshape", "Reshape", 1.0, "Webgpu"),
        NodeTime("softmax/Softmax", "Softmax", 1.0, "Webgpu"),
        NodeTime("Transpose_token_13", "Transpose", 1.0, "Webgpu"),
    ]
    found = {item.name: item.provider for item in assignments(model, {"softmax/Softmax": CPU, "scale/Mul": CPU}, times)}
    assert {name: provider for name, provider in found.items() if provider} == {
        "scale/Mul": CPU,
        "conv1/Conv": "Webgpu",
        "classify/Reshape": "Webgpu",
        "softmax/Softmax": CPU,
    }
    assert list(found) == names
    _, others = placed(times, model.nodes)
    assert [item.name for item in others] == ["Transpose_token_13"]


def test_merged_nodes_have_their_time_where_the_work_is() -> None:
    """ONNX Runtime names a fused convolution after its RELU."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, [1, 1, 4, 4])
    y = g.activation_relu(g.convolution(x, np.ones((1, 1, 3, 3), np.float32), name="conv"), name="relu")
    model = dml2onnx.compile(g.build({"y": g.abs(y, name="abs")}), optimize=0).lowered
    for name, operator in (("relu/Relu", "FusedConv"), ("relu_nchwc", "Conv")):
        value = next(node.outputs[0] for node in model.nodes if node.name == "relu/Relu")
        assert value is not None
        profiled = name if name.endswith("Relu") else f"{value.name}_nchwc"
        times = [NodeTime(profiled, operator, 7.0), NodeTime("abs/Abs", "Abs", 1.0)]
        found, others = placed(times, model.nodes)
        assert {name: item.microseconds for name, item in found.items()} == {"conv/Conv": 7.0, "abs/Abs": 1.0}
        assert not others


NODES = (
    NodeAssignment("up/Resize", "Resize", "Webgpu", "up", "RESAMPLE1"),
    NodeAssignment("sum/Add", "Add", CPU, "sum", "ELEMENT_WISE_ADD"),
    NodeAssignment("same/Identity", "Identity", "", "same", "ELEMENT_WISE_IDENTITY"),
)


def test_what_fell_back_is_named_with_its_node() -> None:
    nodes = (*NODES, NodeAssignment("big/Conv", "Conv", "WebGpuExecutionProvider", "big", "CONVOLUTION"))
    first, second = fell_back(nodes, Providers("webgpu"), ["WebGpuExecutionProvider", CPU])
    assert (first.node, first.found) == ("up", "Webgpu")
    assert (second.code, second.node, second.operator, second.found) == ("DML3023", "sum", "ELEMENT_WISE_ADD", CPU)
    assert 'the ONNX node "sum/Add" (Add) ran on CPUExecutionProvider' in second.message


@pytest.mark.parametrize(
    ("providers", "there", "expected"),
    [
        (Providers("cpu"), [CPU], ["up"]),
        (Providers("openvino", "cpu"), ["OpenVINOExecutionProvider", CPU], ["up"]),
        (Providers(AUTO), ["Webgpu", CPU], ["sum"]),
        (Providers(AUTO), [CPU], ["up"]),
    ],
)
def test_the_cpu_is_no_fallback_where_it_was_asked_for(
    providers: Providers, there: list[str], expected: list[str]
) -> None:
    assert [item.node for item in fell_back(NODES, providers, there)] == expected


def test_the_command_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(SAMPLE), "--assignment", "--no-fallback"]) == 0
    shown = capsys.readouterr().out
    assert "ONNX node" in shown
    (line,) = (line.split() for line in shown.splitlines() if "conv2/Conv" in line)
    assert line == [CPU, "Conv", "conv2/Conv", "conv2"]
    assert main(["run", str(SAMPLE), "--assignment", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    assert answer["assignment"][2] == {"name": "conv1/Conv", "operator": "Conv", "provider": CPU, "node": "conv1"}
    assert "profile" not in answer or answer["profile"] == []


def test_no_fallback_is_an_exit_code(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates a fallback by requesting a provider that is not in the session."""
    monkeypatch.setattr(
        "dml2onnx.execution.fell_back", lambda found, providers, there: fell_back(found, Providers("webgpu"), there)
    )
    assert main(["run", str(SAMPLE)]) == 0
    capsys.readouterr()
    assert main(["run", str(SAMPLE), "--no-fallback"]) == 1
    streams = capsys.readouterr()
    assert "probabilities" in streams.out
    assert 'DML3023 error: node "conv1" (CONVOLUTION): the ONNX node "conv1/Conv" (Conv) ran on' in streams.err
    assert main(["run", str(SAMPLE), "--no-fallback", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert "DML3023" in {item["code"] for item in answer["diagnostics"]}


@pytest.mark.skipif(
    "OpenVINOExecutionProvider" not in onnxruntime.get_available_providers(), reason="needs onnxruntime-openvino"
)
def test_openvino_takes_what_it_knows() -> None:
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 1, 4, 4])
    y = g.activation_relu(g.add(x, x, name="sum"), name="relu")
    graph = g.build({"y": y, "n": g.is_nan(y, name="nan")})
    execution = execute(
        graph, {"x": np.ones((1, 1, 4, 4), np.float32)}, "openvino", CompileOptions(target="cpu"), assignment=True
    )
    ran = {item.node: item.provider for item in execution.assignment if item.operator in ("Add", "Relu")}
    assert set(ran.values()) == {"OpenVINOExecutionProvider"}
    assert {item.node for item in execution.fell_back} <= {"nan"}


def test_the_report_has_it_too() -> None:
    report = gather(dml2onnx.load(SAMPLE), profile=True)
    assert report.onnx is not None
    ran = {node.operator: node.provider for node in report.onnx.nodes}
    assert ran["Conv"] == ran["Relu"] == CPU  # though Relu is fused into Conv and has no time of its own
