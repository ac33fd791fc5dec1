"""Omitted sizes of outputs in native models are inferred as in the builder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import dml2onnx
from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.codes import checking
from dml2onnx.codes import reading as codes
from dml2onnx.exporters import convert
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.rules.inference import infer_outputs
from dml2onnx.test_cases.valid import EASILY_DOUBTED
from tests.checks.build import one
from tests.exporters.test_native import exact

from .models import CONVOLUTION, NATIVE, REMOVE, Model, edited, f32, load_model
from .test_native_rejected import FILL

SCHEMA = Draft202012Validator(json.loads((catalog.schemas_directory() / "graph.schema.json").read_text("utf-8")))
D0, D1 = "/nodes/0/desc/OutputTensor", "/nodes/1/desc/OutputTensor"


def same(tmp_path: Path, *changes: tuple[str, Any], model: Model = NATIVE) -> None:
    """Loads the model with and without changes, and checks that both are the same graph."""
    partial = edited(model, *changes)
    SCHEMA.validate(partial)
    expected, actual = load_model(tmp_path, model), load_model(tmp_path, partial)
    assert actual.findings == ()
    assert [node.operator for node in actual.nodes] == [node.operator for node in expected.nodes]
    assert [node.writes.keys() for node in actual.nodes] == [node.writes.keys() for node in expected.nodes]
    assert [item.desc for item in actual.outputs] == [item.desc for item in expected.outputs]
    sizes = [[value.nbytes for value in node.targets] for node in actual.nodes]
    assert sizes == [[value.nbytes for value in node.targets] for node in expected.nodes]


@pytest.mark.parametrize("output", [REMOVE, None, {}, {"DataType": "FLOAT32"}, {"Sizes": "infer"}, {"Type": "BUFFER"}])
def test_omitted_sizes(output: Any, tmp_path: Path) -> None:
    same(tmp_path, (D0, output), (D1, output))


def test_nodes_in_any_order(tmp_path: Path) -> None:
    reverse = {**NATIVE, "nodes": NATIVE["nodes"][::-1]}
    same(tmp_path, ("/nodes/1/desc/OutputTensor", REMOVE), ("/nodes/2/desc/OutputTensor", REMOVE), model=reverse)


def test_a_long_chain_in_reverse(tmp_path: Path) -> None:
    count = 3000
    nodes = [
        {"type": "ACTIVATION_RELU", "inputs": {"InputTensor": f"v{i}"}, "outputs": {"OutputTensor": f"v{i + 1}"}}
        for i in reversed(range(count))
    ]
    graph = load_model(tmp_path, {"dml2onnx": 1, "inputs": {"v0": f32(2, 3)}, "nodes": nodes, "outputs": [f"v{count}"]})
    assert graph.findings == ()
    assert str(graph.outputs[0].desc) == "FLOAT32 [2, 3]"


def test_an_empty_desc_is_left_out(tmp_path: Path) -> None:
    plain = edited(NATIVE, ("/nodes/0/desc/FusedActivation", REMOVE))
    same(tmp_path, ("/nodes/0/desc", {"FusedActivation": None}), model=plain)
    same(tmp_path, ("/nodes/0/desc", REMOVE), model=plain)


def one_node(kind: str, desc: Model, inputs: dict[str, Model], **fields: str) -> Model:
    """A model with one node; ``fields`` are the inputs of its tensors."""
    node = {"type": kind, "desc": desc, "inputs": fields, "outputs": {"OutputTensor": "y"}}
    return {"dml2onnx": 1, "inputs": inputs, "nodes": [node], "outputs": ["y"]}


def test_another_data_type(tmp_path: Path) -> None:
    """A stated data type is not inferred."""
    model = one_node("CAST", {"OutputTensor": {"DataType": "INT32"}}, {"x": f32(4)}, InputTensor="x")
    assert str(load_model(tmp_path, model).outputs[0].desc) == "INT32 [4]"


def test_stated_strides(tmp_path: Path) -> None:
    square = edited(NATIVE, ("/inputs/x", f32(2, 2)), ("/constants/w", f32(2, 2, fill=1)))
    turned = edited(square, (D0, f32(2, 2, Strides=[1, 2])), ("/nodes/2", REMOVE), ("/nodes/1", REMOVE))
    same(tmp_path, (D0, {"Strides": [1, 2]}), model=edited(turned, ("/outputs", ["h"])))


def test_a_convolution(tmp_path: Path) -> None:
    desc = {name: value for name, value in CONVOLUTION.items() if not name.endswith("Tensor")}
    inputs = {"x": f32(1, 3, 8, 8), "w": f32(4, 3, 3, 3)}
    graph = load_model(tmp_path, one_node("CONVOLUTION", desc, inputs, InputTensor="x", FilterTensor="w"))
    assert str(graph.outputs[0].desc) == "FLOAT32 [1, 4, 6, 6]"
    assert dml2onnx.check(graph) == []


def test_parts_of_buffers(tmp_path: Path) -> None:
    target = {"value": "h2", "base": "x", "offset": 0}
    model = edited(NATIVE, ("/nodes/2", REMOVE), ("/nodes/0/outputs/OutputTensor", target), ("/outputs", ["y"]))
    model = edited(model, ("/nodes/1/inputs/InputTensors/0", "h2"))
    same(tmp_path, (D0, REMOVE), (D1, {"Sizes": "infer"}), model=model)


@pytest.mark.parametrize("name", EASILY_DOUBTED)
def test_every_operator(name: str, tmp_path: Path) -> None:
    """Omitted sizes are those of ``infer_outputs``; DML1103 reports outputs that it cannot infer."""
    graph = one(exact(EASILY_DOUBTED[name]))
    convert(graph, tmp_path / "whole.json")
    model = json.loads((tmp_path / "whole.json").read_text())
    desc = graph.nodes[0].operator
    fields = [item for item in desc.schema.output_fields if item.type is FieldType.TENSOR and desc.get(item.name)]
    names = [item.name for item in fields]
    bare = OperatorDesc(desc.schema, tuple(None if item.name in names else value for item, value in desc.items()))
    types = {item: desc.tensor(item).data_type for item in names}
    inferred = infer_outputs(bare, {}, types, names)
    for item in names:
        model["nodes"][0]["desc"][item] = {"DataType": types[item].name}
    SCHEMA.validate(model)
    loaded = load_model(tmp_path, model)
    assert all(item.code == codes.MISSING_FIELD.id for item in loaded.findings)
    assert bool(loaded.findings) == any(item not in inferred.outputs for item in names)
    for item in inferred.outputs:
        read = loaded.nodes[0].operator.tensor(item)
        assert (read.data_type, read.sizes) == inferred.outputs[item]


# --- Sizes that cannot be inferred ------------------------------------------------------------------------------------


def found(tmp_path: Path, *changes: tuple[str, Any], model: Model = NATIVE) -> list[tuple[str, str]]:
    return [(item.code, item.pointer) for item in load_model(tmp_path, edited(model, *changes)).findings]


def test_operators_with_free_output_sizes(tmp_path: Path) -> None:
    model: Model = {"dml2onnx": 1, "nodes": [FILL], "outputs": ["a"]}
    assert found(tmp_path, model=model) == [(codes.MISSING_FIELD.id, "/nodes/0/desc/OutputTensor")]
    assert "OutputTensor.Sizes" in load_model(tmp_path, model).findings[0].message
    cast = {"type": "CAST", "inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": "y"}}
    model = {"dml2onnx": 1, "inputs": {"x": f32(2, 3)}, "nodes": [cast], "outputs": ["y"]}
    (finding,) = load_model(tmp_path, model).findings
    assert finding.message.endswith('; write them, such as "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]}')


def test_a_cycle(tmp_path: Path) -> None:
    nodes = [
        {"type": "ACTIVATION_RELU", "inputs": {"InputTensor": a}, "outputs": {"OutputTensor": b}}
        for a, b in (("p", "q"), ("q", "r"), ("r", "p"))
    ]
    model = {"dml2onnx": 1, "nodes": nodes, "outputs": ["p"]}
    assert found(tmp_path, model=model) == [(checking.CYCLE.id, "/nodes/0/inputs/InputTensor")]


def test_windows_larger_than_the_input(tmp_path: Path) -> None:
    desc = {"Strides": [1, 1], "WindowSize": [9, 9], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    pool = {"type": "MAX_POOLING", "desc": desc, "inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": "y"}}
    model = {"dml2onnx": 1, "inputs": {"x": f32(1, 1, 4, 4)}, "nodes": [pool], "outputs": ["y"]}
    findings = load_model(tmp_path, model).findings
    assert findings
    assert {item.code for item in findings} <= {value.id for value in vars(checking).values() if hasattr(value, "id")}


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        (("/inputs/x/DataType", "FLOAT33"), codes.ENUMERATOR, "/inputs/x/DataType"),
        (("/nodes/0/inputs/ATensor", "nothing"), codes.UNKNOWN_VALUE, "/nodes/0/inputs/ATensor"),
        (("/nodes/0/inputs/BTensor", REMOVE), codes.MISSING_FIELD, "/nodes/0/inputs/BTensor"),
        (("/nodes/1/desc/Axis", "0"), codes.FIELD_KIND, "/nodes/1/desc/Axis"),
        (
            ("/nodes/0/desc/OutputTensor", {"DataType": "FLOAT33"}),
            codes.ENUMERATOR,
            "/nodes/0/desc/OutputTensor/DataType",
        ),
        (("/nodes/0/desc/OutputTensor", {"Sizes": "auto"}), codes.FIELD_KIND, "/nodes/0/desc/OutputTensor/Sizes"),
    ],
)
def test_one_mistake_is_one_finding(change: tuple[str, Any], code: Any, place: str, tmp_path: Path) -> None:
    """Outputs that cannot be inferred because of it are not reported."""
    assert found(tmp_path, (D0, REMOVE), (D1, REMOVE), change) == [(code.id, place)]


def test_other_formats_need_all_sizes(tmp_path: Path) -> None:
    relu = {
        "Type": "ACTIVATION_RELU",
        "Desc": {"InputTensor": f32(4), "OutputTensor": {"DataType": "FLOAT32", "Sizes": "infer"}},
    }
    model = {"Nodes": [{"Type": "OPERATOR", "Desc": {"Operator": relu}}], "OutputEdges": []}
    (first, *_) = load_model(tmp_path, model).findings
    assert (first.code, first.pointer) == (codes.FIELD_KIND.id, "/Nodes/0/Desc/Operator/Desc/OutputTensor/Sizes")


def test_comments(tmp_path: Path) -> None:
    text = json.dumps(edited(NATIVE, (D0, REMOVE)), indent=1).replace('"nodes"', '/* the nodes */ "nodes"') + "// end"
    (tmp_path / "model.json").write_text(text)
    assert dml2onnx.load(tmp_path / "model.json").findings == ()


@pytest.mark.parametrize("word", ["Infer", "INFER", "auto", ""])
def test_other_words_than_infer(word: str, tmp_path: Path) -> None:
    graph = load_model(tmp_path, edited(NATIVE, (D0, {"Sizes": word})))
    (finding,) = graph.findings
    assert (finding.code, finding.pointer) == (codes.FIELD_KIND.id, f"{D0}/Sizes")
    assert f'Sizes is "{word}"; the only word for sizes to be inferred is "infer"' in finding.message
