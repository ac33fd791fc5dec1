"""Graphs as a DML_GRAPH_DESC: round trips, and refusals of graphs that the format cannot express."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Code, DmlError
from dml2onnx.exporters import convert, left_out
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.test_cases.valid import EASILY_DOUBTED
from tests.checks.build import one
from tests.frontends.models import DX, GRAPH, NATIVE, edited, f32, load_model

from .same import bits, described
from .test_native import PROGRAMS


def without_flags(node: Node, values: set[Value]) -> OperatorDesc:
    """The operator without ownership of the tensors that read these values."""
    operator = node.operator
    changed: dict[str, Any] = {}
    for name, reads in node.reads.items():
        descs = tuple(
            replace(desc, owned_by_dml=desc.owned_by_dml and read.value not in values)
            for read, desc in zip(reads, operator.tensors(name), strict=True)
        )
        changed[name] = descs if isinstance(operator.get(name), tuple) else descs[0]
    return OperatorDesc(operator.schema, tuple(changed.get(field.name, value) for field, value in operator.items()))


def connections(graph: Graph) -> dict[str, Any]:
    """Everything that the format stores: without inner names and the ownership of tensors that read constants."""
    owned = {item.value for item in graph.constants}
    numbers: dict[Value, int] = {}
    for item in graph.inputs:
        numbers[item.value] = len(numbers)
    for constant in graph.constants:
        numbers[constant.value] = len(numbers)
    for node in graph.nodes:
        for value in node.targets:
            numbers[value] = len(numbers)
    return {
        "inputs": [(item.name, numbers[item.value]) for item in graph.inputs],
        "outputs": [(item.name, numbers[item.value], item.desc) for item in graph.outputs],
        "constants": [(item.value.name, item.data.read().tobytes()) for item in graph.constants],
        "nodes": [
            (
                node.name,
                bits(without_flags(node, owned)),
                {name: [numbers[read.value] for read in reads] for name, reads in node.reads.items()},
                {name: [numbers[write.value] for write in writes] for name, writes in node.writes.items()},
            )
            for node in graph.nodes
        ],
    }


def round_trip(graph: Graph, directory: Path) -> Graph:
    files = convert(graph, directory / "graph.json", "dml_graph")
    back = dml2onnx.load(directory / "graph.json")
    assert [str(item) for item in back.findings] == []
    assert back.format == "dml_graph"
    assert connections(back) == connections(graph)
    again = directory / "again"
    again.mkdir()
    twice = convert(back, again / "graph.json", "dml_graph")
    assert [path.read_bytes() for path in twice] == [path.read_bytes() for path in files]
    return back


def refusals(graph: Graph, directory: Path) -> set[str]:
    with pytest.raises(DmlError) as caught:
        convert(graph, directory / "graph.json", "dml_graph")
    assert not (directory / "graph.json").exists()
    return {item.code for item in caught.value.diagnostics}


def test_round_trip_of_its_own_graphs(tmp_path: Path) -> None:
    graph = load_model(tmp_path, GRAPH)
    assert described(round_trip(graph, tmp_path)) == described(graph)


def test_a_native_graph(tmp_path: Path) -> None:
    back = round_trip(load_model(tmp_path, NATIVE), tmp_path)
    document = json.loads((tmp_path / "graph.json").read_text())
    assert [document[name] for name in ("NodeCount", "InputEdgeCount", "IntermediateEdgeCount")] == [4, 2, 3]
    join = document["Nodes"][1]["Desc"]["Operator"]
    assert (join["Type"], join["Desc"]["InputCount"]) == ("JOIN", 2)
    assert document["Nodes"][0]["Desc"]["Operator"]["Desc"]["FusedActivation"]["Type"] == "ACTIVATION_RELU"
    assert back.constants[0].data.read().view(np.float32).tolist() == [1, 2.5, np.inf, -1]


@pytest.mark.parametrize("format", ["dml_graph", "serialized"])
@pytest.mark.parametrize("shown", [["y"], ["x", "y"]])
def test_warnings_about_omitted_commands(format: str, shown: list[str], tmp_path: Path) -> None:
    commands: list[Any] = [{"type": "print", "resource": name} for name in shown]
    commands.append({"type": "writeFile", "resource": "y", "targetPath": "y.npy"})
    graph = load_model(tmp_path, {**DX, "commands": [*DX["commands"][:1], *commands]})
    convert(graph, tmp_path / "graph", format)
    assert any("does not store commands" in item.message for item in left_out(graph, tmp_path / "graph", format))
    inputs = {"x": np.array([1, -2, 3, 4], np.float32)}
    back = dml2onnx.load(tmp_path / "graph")
    assert dml2onnx.compile(back).run(inputs)["y"].tolist() == dml2onnx.compile(graph).run(inputs)["y"].tolist()


def test_programs_are_refused(tmp_path: Path) -> None:
    graph = load_model(tmp_path, PROGRAMS["shown between"])
    expected = {codes.INNER_OFFSET, codes.PARTIAL_WRITE, codes.BUFFER_SIZE, codes.OTHER_VIEW}
    assert refusals(graph, tmp_path) == {code.id for code in expected}


OFFSET = (("/nodes/0/inputs/ATensor", {"value": "y", "offset": 16}), ("/nodes/0/desc/ATensor", f32(4)))
SQUARE = (
    ("/inputs/x", f32(2, 2)),
    ("/nodes/0/desc/ATensor", f32(4)),
    ("/nodes/1/desc/InputTensors", [f32(4), f32(4)]),
)
REFUSED: dict[str, tuple[dict[str, Any], Code]] = {
    "input as output": (edited(NATIVE, ("/outputs/-", "x")), codes.NO_NODE_OUTPUT),
    "constant as output": (edited(NATIVE, ("/outputs/-", "w")), codes.NO_NODE_OUTPUT),
    "unread input": (edited(NATIVE, ("/inputs/z", f32(4))), codes.UNREAD_INPUT),
    "large input": (edited(NATIVE, ("/inputs/x/bytes", 32)), codes.BUFFER_SIZE),
    "offset": (edited(NATIVE, *OFFSET), codes.INNER_OFFSET),
    "view of an input": (edited(NATIVE, *SQUARE), codes.OTHER_VIEW),
    "view of an output": (edited(NATIVE, ("/outputs/0", {"value": "h", **f32(2, 2)})), codes.OTHER_VIEW),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    model, code = REFUSED[name]
    graph = load_model(tmp_path, model)
    assert graph.findings == ()
    assert code.id in refusals(graph, tmp_path)


def test_invalid_graphs(tmp_path: Path) -> None:
    desc = TensorDesc(DataType.FLOAT32, (2,))
    graph = one(EASILY_DOUBTED["broadcast input"])
    lost = replace(graph, inputs=graph.inputs[1:])
    assert codes.NO_SOURCE.id in refusals(lost, tmp_path)
    odd = (GraphInput("\ud800", graph.inputs[0].value, None, graph.inputs[0].desc), *graph.inputs[1:])
    assert refusals(replace(graph, inputs=odd), tmp_path) == {codes.UNSUITABLE_NAME.id}
    output = GraphOutput("y", Value("y", 8), desc)
    assert refusals(Graph((), (), (output,)), tmp_path) == {codes.NO_NODE_OUTPUT.id}
