"""`DML_GRAPH_DESC`: nodes and edges by index, valid and with every mistake."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx.checks import check as check_graph
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code
from dml2onnx.frontends import LoadOptions, load_bytes
from dml2onnx.ir.graph import Graph
from tests.newcomers.build import edit, text_of
from tests.newcomers.networks import GRAPH_OF_TWO

from .models import GRAPH, REMOVE, Model, edited, f32, inner_edge, input_edge, load_model, output_edge
from .rejections import changes_of, rejecting

changed = changes_of(GRAPH)


REJECTED = [
    changed(codes.UNKNOWN_KEY, ("/Edges", [])),
    changed(
        codes.MISSING_KEY,
        ("/Nodes", REMOVE),
        ("/NodeCount", REMOVE),
        ("/InputEdges", []),
        ("/IntermediateEdges", []),
        ("/OutputEdges", []),
        ("/InputCount", 0),
        ("/OutputCount", 0),
    ),
    changed(codes.COUNT_DIFFERS, ("/NodeCount", 2)),
    changed(codes.WRONG_KIND, ("/NodeCount", -2)),
    changed(codes.WRONG_KIND, ("/Nodes/-", 1), ("/NodeCount", 4), at="/Nodes/3"),
    changed(codes.WRONG_KIND, ("/Nodes/-", {"Type": 7, "Desc": {}}), ("/NodeCount", 4), at="/Nodes/3/Type"),
    changed(codes.WRONG_KIND, ("/Nodes/-", {"Type": None, "Desc": {}}), ("/NodeCount", 4), at="/Nodes/3/Type"),
    changed(codes.MISSING_KEY, ("/Nodes/-", {"Desc": {}}), ("/NodeCount", 4), at="/Nodes/3/Type"),
    changed(codes.MISSING_KEY, ("/Nodes/-", {"Type": 1}), ("/NodeCount", 4), at="/Nodes/3/Desc"),
    changed(codes.UNKNOWN_OPERATOR, ("/Nodes/0/Desc/Operator/Type", "ADD")),
    changed(codes.UNKNOWN_OPERATOR, ("/Nodes/0/Desc/Operator/Type", 0)),
    changed(codes.WRONG_KIND, ("/Nodes/0/Desc/Operator", 1)),
    changed(codes.WRONG_KIND, ("/Nodes/0/Desc/Operator/Desc", 1)),
    changed(codes.UNKNOWN_KEY, ("/Nodes/0/Desc/Operator/Flags", 1)),
    changed(codes.ENUMERATOR, ("/Nodes/0/Desc/Operator/Desc/ATensor/DataType", "FLOAT8")),
    changed(codes.COUNT_DIFFERS, ("/Nodes/1/Desc/DataSize", 15)),
    changed(codes.BAD_VALUE, ("/Nodes/1/Desc/Data/3", 256)),
    changed(codes.NO_DATA, ("/Nodes/1/Desc", {"Data": []}), at="/Nodes/1/Desc/Data"),
    changed(codes.WRONG_KIND, ("/Nodes/1/Desc/Data", 5)),
    *(
        changed(codes.BAD_VALUE, ("/Nodes/1/Desc/Data", text))
        for text in ["abc", "AACAPw=", "AAC APw==", "AACAPw==AA", "\u00e4\u00e4\u00e4=", "====", "A"]
    ),
    changed(codes.NO_DATA, ("/Nodes/1/Desc", {"Data": ""}), at="/Nodes/1/Desc/Data"),
    changed(
        [(codes.COUNT_DIFFERS, "/Nodes/1/Desc/DataSize"), (codes.EDGE_BYTES, "/IntermediateEdges/0")],
        ("/Nodes/1/Desc/Data", "AACAPw=="),
    ),
    changed(codes.WRONG_KIND, ("/Nodes/0/$comment", 1)),
    changed(codes.UNKNOWN_KEY, ("/Nodes/0/comment", "text")),
    changed(codes.MISSING_KEY, ("/Nodes/1/Desc/Data", REMOVE)),
    changed(codes.FILE_UNREADABLE, ("/Nodes/1/Desc/Data", {"file": "none.bin"}), at="/Nodes/1/Desc/Data/file"),
    changed(codes.FILE_TOO_LONG, ("/Nodes/1/Desc", {"Data": {"file": "more.bin"}}), at="/Nodes/1/Desc/Data/file"),
    changed(codes.MISSING_KEY, ("/Nodes/1/Desc/Data", {}), at="/Nodes/1/Desc/Data/file"),
    changed(codes.EDGE_BYTES, ("/Nodes/1/Desc", {"Data": [0] * 12}), at="/IntermediateEdges/0"),
    changed(codes.WRONG_KIND, ("/InputEdges/-", 1), at="/InputEdges/2"),
    changed(codes.WRONG_KIND, ("/InputEdges/1/Type", "OUTPUT")),
    changed(codes.MISSING_KEY, ("/InputEdges/-", {"Type": "INPUT"}), at="/InputEdges/2/Desc"),
    changed(codes.UNKNOWN_KEY, ("/InputEdges/0/ToNode", 1)),
    changed(codes.EDGE_INDEX, ("/InputEdges/-", input_edge(0, 3, 0)), at="/InputEdges/2/ToNodeIndex"),
    changed(codes.EDGE_INDEX, ("/InputEdges/-", input_edge(0, 0, 2)), at="/InputEdges/2/ToNodeInputIndex"),
    changed(
        codes.EDGE_INDEX,
        ("/InputCount", 1),
        ("/InputEdges/1/Desc/GraphInputIndex", 1),
        at="/InputEdges/1/Desc/GraphInputIndex",
    ),
    changed(codes.EDGE_INDEX, ("/InputEdges/-", input_edge(0, 1, 0)), at="/InputEdges/2/ToNodeInputIndex"),
    changed(codes.EDGE_INDEX, ("/IntermediateEdges/0/FromNodeOutputIndex", 1)),
    changed(codes.EDGE_INDEX, ("/IntermediateEdges/1/FromNodeOutputIndex", 1)),
    changed(codes.ABSENT_TENSOR, ("/InputEdges/-", input_edge(0, 2, 2)), at="/InputEdges/2/ToNodeInputIndex"),
    changed(codes.EDGE_INDEX, ("/OutputEdges/-", output_edge(2, 0, 1)), at="/OutputEdges/1/GraphOutputIndex"),
    changed(codes.CONNECTED_TWICE, ("/InputEdges/-", input_edge(0, 0, 1)), at="/InputEdges/2/ToNodeInputIndex"),
    changed(codes.CONNECTED_TWICE, ("/OutputEdges/-", output_edge(2, 0, 0)), at="/OutputEdges/1/GraphOutputIndex"),
    changed(codes.EDGE_BYTES, ("/Nodes/0/Desc/Operator/Desc/OutputTensor", f32(5)), at="/IntermediateEdges/1"),
    changed(
        codes.EDGE_BYTES,
        ("/IntermediateEdges/0", REMOVE),
        ("/Nodes/0/Desc/Operator/Desc/BTensor", f32(5)),
        ("/InputEdges/-", input_edge(0, 0, 1)),
        at="/InputEdges/2",
    ),
    changed(
        codes.OWNED_FLAGS_DIFFER,
        ("/IntermediateEdges/0", REMOVE),
        ("/Nodes/0/Desc/Operator/Desc/BTensor", f32(4, Flags=1)),
        ("/InputEdges/-", input_edge(0, 0, 1)),
        at="/InputEdges/2",
    ),
    changed(
        codes.OWNED_NOT_AN_INPUT, ("/Nodes/2/Desc/Desc/BTensor/Flags", ["OWNED_BY_DML"]), at="/IntermediateEdges/1"
    ),
    changed(codes.UNUSED_GRAPH_INPUT, ("/InputCount", 4)),
    changed(codes.UNFED_GRAPH_OUTPUT, ("/OutputCount", 2)),
    changed(codes.UNCONNECTED_TENSOR, ("/IntermediateEdges/0", REMOVE), at="/Nodes/0/Desc/Operator/Desc/BTensor"),
    changed(codes.CONSTANT_OUTPUT, ("/OutputEdges/0/FromNodeIndex", 1), at="/OutputEdges/0"),
    changed(codes.UNKNOWN_OPTION_NAME, at="", options=LoadOptions(inputs=frozenset({"z"}))),
    changed(codes.NOTHING_FROZEN, at="", options=LoadOptions(freeze=True)),
    changed(codes.NO_CONTENTS, at="", options=LoadOptions(constants=frozenset({"x"}))),
]


test_rejected = rejecting(REJECTED)


# --- Valid graphs -----------------------------------------------------------------------------------------------------


def loaded(directory: Path, *changes: tuple[str, Any]) -> Graph:
    graph = load_model(directory, edited(GRAPH, *changes))
    assert graph.findings == ()
    return graph


def test_a_graph(tmp_path: Path) -> None:
    graph = loaded(tmp_path)
    assert graph.format == "dml_graph"
    x, weights = graph.inputs
    assert (x.name, x.value.nbytes, str(x.desc)) == ("x", 16, "FLOAT32 [4]")
    assert (weights.name, weights.desc and weights.desc.owned_by_dml) == ("input1", True)
    (ones,) = graph.constants
    assert ones.value.name == "ones"
    assert ones.data.read().view(np.float32).tolist() == [1, 1, 1, 1]
    add, gemm = graph.nodes
    assert (add.name, add.source) == ("add", "/Nodes/0/Desc/Operator/Desc")
    assert (gemm.name, gemm.source) == ("gemm", "/Nodes/2/Desc/Desc")
    assert gemm.operator.enum("TransA") == "NONE"
    assert [add.reads[name][0].value for name in ("ATensor", "BTensor")] == [x.value, ones.value]
    assert gemm.reads["BTensor"][0].value is add.writes["OutputTensor"][0].value
    assert set(gemm.reads) == {"ATensor", "BTensor"}
    (y,) = graph.outputs
    assert (y.name, y.value) == ("y", gemm.writes["OutputTensor"][0].value)


def test_counts_may_be_left_out(tmp_path: Path) -> None:
    counts = [(f"/{name}", REMOVE) for name in ("InputCount", "OutputCount", "NodeCount")]
    graph = loaded(tmp_path, *counts)
    assert (len(graph.inputs), len(graph.outputs), len(graph.nodes)) == (2, 1, 2)


def test_absent_edges(tmp_path: Path) -> None:
    model: Model = {"Nodes": [], "OutputEdges": [], "InputEdges": None, "IntermediateEdges": None}
    assert load_model(tmp_path, model).findings == ()


@pytest.mark.parametrize("kind", ["OPERATOR", "DML_GRAPH_NODE_TYPE_OPERATOR", 1])
def test_kinds_of_nodes(kind: object, tmp_path: Path) -> None:
    assert loaded(tmp_path, ("/Nodes/0/Type", kind)).nodes[0].name == "add"


@pytest.mark.parametrize("kind", ["INPUT", "DML_GRAPH_EDGE_TYPE_INPUT", 1])
def test_kinds_of_edges(kind: object, tmp_path: Path) -> None:
    assert len(loaded(tmp_path, ("/InputEdges/1/Type", kind)).inputs) == 2


@pytest.mark.parametrize("number", [0, 94])
def test_operators_by_number(number: int, tmp_path: Path) -> None:
    """Numbers are those of DML_OPERATOR_TYPE, where 0 is invalid."""
    desc = {name: f32(1, 4) for name in ("InputTensor", "IndicesTensor", "UpdatesTensor", "OutputTensor")}
    node = {"Type": 1, "Desc": {"Operator": {"Type": number, "Desc": {**desc, "Axis": 0}}}}
    graph = load_model(tmp_path, {"Nodes": [node], "OutputEdges": []})
    assert [item.operator.type for item in graph.nodes] == (["SCATTER"] if number else [])


def test_indices_of_inputs(tmp_path: Path) -> None:
    """An absent optional tensor has an index; an array has one per element."""
    batch = {name: f32(1, 1, 1, 1) for name in ("InputTensor", "ScaleTensor", "OutputTensor")}
    normalize = {
        "Type": "MEAN_VARIANCE_NORMALIZATION1",
        "Desc": {**batch, "Axes": [0], "NormalizeVariance": 1, "Epsilon": 0},
    }
    sources = {"InputTensors": [f32(2), f32(3)], "OutputTensor": f32(5), "Axis": 0}
    attention = {
        "Type": "MULTIHEAD_ATTENTION",
        "Desc": {
            "KeyTensor": f32(4),
            "MaskTensor": f32(8),
            "OutputTensor": f32(4),
            "OutputPresentValueTensor": f32(12),
            "Scale": 1,
            "MaskFilterValue": "-inf",
            "HeadCount": 1,
            "MaskType": "NONE",
        },
    }
    descs = [normalize, {"Type": "JOIN", "Desc": sources}, attention]
    ends = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (2, 7)]
    model = {
        "Nodes": [{"Type": 1, "Desc": desc} for desc in descs],
        "InputEdges": [input_edge(index, *end) for index, end in enumerate(ends)],
        "OutputEdges": [output_edge(2, 2, 0)],
    }
    graph = load_model(tmp_path, model)
    assert graph.findings == ()
    assert [set(node.reads) for node in graph.nodes] == [
        {"InputTensor", "ScaleTensor"},
        {"InputTensors"},
        {"KeyTensor", "MaskTensor"},
    ]
    assert [read.value.name for read in graph.nodes[1].reads["InputTensors"]] == ["input2", "input3"]
    assert graph.outputs[0].value is graph.nodes[2].writes["OutputPresentValueTensor"][0].value


def test_one_input_of_several_nodes(tmp_path: Path) -> None:
    graph = loaded(tmp_path, ("/IntermediateEdges/0", REMOVE), ("/InputEdges/-", input_edge(0, 0, 1, Name="again")))
    add = graph.nodes[0]
    assert add.reads["ATensor"][0].value is add.reads["BTensor"][0].value


def test_names_are_unique(tmp_path: Path) -> None:
    taken = loaded(tmp_path, ("/InputEdges/0/Name", "input1"))
    assert [item.name for item in taken.inputs] == ["input1", "input1_"]
    graph = loaded(tmp_path, ("/InputEdges/1/Desc/Name", "x"))
    assert [item.name for item in graph.inputs] == ["x", "input1"]


NAMES = [None, "", "conv", "conv#2", "ELEMENT_WISE_ABS_1", "element_wise_abs_1"]


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_debug_names_may_be_anything(tmp_path: Path, names: list[tuple[str | None, str | None]]) -> None:
    """DirectML allows duplicate names and null pointers."""
    desc = {"Type": "ELEMENT_WISE_ABS", "Desc": {"InputTensor": f32(4), "OutputTensor": f32(4)}}
    model = {
        "Nodes": [{"Type": 1, "Desc": {"Operator": desc, "Name": name}} for name, _ in names],
        "InputEdges": [input_edge(0, 0, 0, Name=names[0][1])],
        "IntermediateEdges": [inner_edge(n, n + 1, 0, Name=name) for n, (_, name) in enumerate(names[:-1])],
        "OutputEdges": [output_edge(len(names) - 1, 0, 0, Name=names[-1][1])],
    }
    graph = load_model(tmp_path, model)
    assert graph.findings == ()
    assert check_graph(graph) == []
    assert len({node.name for node in graph.nodes}) == len(names)
    assert names[0][0] in (None, "", graph.nodes[0].name)


def test_duplicate_and_missing_names(tmp_path: Path) -> None:
    graph = loaded(tmp_path, ("/Nodes/2/Name", "add"))
    assert [node.name for node in graph.nodes] == ["add", "add#2"]
    constant = loaded(tmp_path, ("/Nodes/1/Desc/Name", None))
    assert constant.constants[0].value.name == "constant1"


def test_a_constant_of_odd_size(directory: Path) -> None:
    """Its buffer is rounded up to 4 bytes."""
    half = {"DataType": "FLOAT16", "Sizes": [3]}
    desc = {"Type": "ELEMENT_WISE_ABS", "Desc": {"InputTensor": half, "OutputTensor": half}}
    model = {
        "Nodes": [{"Type": 1, "Desc": desc}, {"Type": 2, "Desc": {"Data": {"file": "data.bin", "length": 6}}}],
        "IntermediateEdges": [inner_edge(1, 0, 0)],
        "OutputEdges": [output_edge(0, 0, 0)],
    }
    graph = load_model(directory, model)
    assert graph.findings == ()
    assert graph.constants[0].value.nbytes == 8
    assert graph.constants[0].data.read().tobytes() == bytes([0, 1, 2, 3, 4, 5, 0, 0])


# --- Extensions for programs that print their structures --------------------------------------------------------------


def commented(item: Any) -> Any:
    """Adds a comment to every object."""
    if isinstance(item, dict):
        return {"$comment": "from C++", **{name: commented(value) for name, value in item.items()}}
    return [commented(value) for value in item] if isinstance(item, list) else item


def test_comments_in_every_object(tmp_path: Path) -> None:
    graph = load_model(tmp_path, commented(GRAPH))
    assert graph.findings == ()
    assert [node.operator for node in graph.nodes] == [node.operator for node in loaded(tmp_path).nodes]


def test_data_in_base64(tmp_path: Path) -> None:
    data = np.arange(4, dtype=np.float32).tobytes()
    graph = loaded(tmp_path, ("/Nodes/1/Desc/Data", b64encode(data).decode()))
    assert graph.constants[0].data.read().tobytes() == data


def filled(value: Any, data_type: str = "FLOAT32") -> Model:
    """A graph of one FILL_VALUE_CONSTANT."""
    desc = {"OutputTensor": f32(4) | {"DataType": data_type}, "ValueDataType": data_type, "Value": value}
    operator = {"Type": "FILL_VALUE_CONSTANT", "Desc": desc}
    nodes = [{"Type": "OPERATOR", "Desc": {"Name": None, "Operator": operator}}]
    return {"Nodes": nodes, "OutputEdges": [output_edge(0, 0, 0, Name=None)]}


SCALARS: dict[str, float] = {
    "FLOAT32": 1.5, "FLOAT16": -2.5, "FLOAT64": 1e300, "INT8": -3, "UINT8": 200, "INT16": -300, "UINT16": 60000,
    "INT32": -70000, "UINT32": 1 << 31, "INT64": -(1 << 40), "UINT64": 1 << 63,
}  # fmt: skip


@pytest.mark.parametrize("data_type", SCALARS)
def test_bytes_of_a_union(data_type: str, tmp_path: Path) -> None:
    number = SCALARS[data_type]
    content = np.array([number], data_type.lower()).tobytes()
    expected = load_model(tmp_path, filled(number, data_type)).nodes[0].operator
    member = {"FLOAT16": "UInt16"}.get(data_type, data_type.title().replace("Uint", "UInt"))
    value = int.from_bytes(content, "little") if data_type == "FLOAT16" else number
    for form in ({"Bytes": [*content]}, {"Bytes": [*content.ljust(8, b"\x7f")]}, {"Bytes": [*content], member: value}):
        graph = load_model(tmp_path, filled(form, data_type))
        assert graph.findings == ()
        assert graph.nodes[0].operator == expected


VALUE = "/Nodes/0/Desc/Operator/Desc/Value"
UNIONS: list[tuple[Any, Code, str]] = [
    ({"Bytes": [0, 0]}, codes.SCALAR_MEMBER, VALUE + "/Bytes"),
    ({"Bytes": [0] * 9}, codes.SCALAR_MEMBER, VALUE + "/Bytes"),
    ({"Bytes": [0, 0, 0, 256]}, codes.FIELD_RANGE, VALUE + "/Bytes/3"),
    ({"Bytes": [0, 0, 0, 1.5]}, codes.FIELD_KIND, VALUE + "/Bytes/3"),
    ({"Bytes": "AAAA"}, codes.FIELD_KIND, VALUE + "/Bytes"),
    ({"Bytes": [0] * 8, "Float32": 1}, codes.SCALAR_MEMBER, VALUE + "/Float32"),
    ({"Bytes": [0] * 8, "Int8": 0}, codes.SCALAR_MEMBER, VALUE),
    ({"Bytes": [0] * 8, "Float32": 0, "Int8": 0}, codes.UNKNOWN_FIELD, VALUE + "/Int8"),
]


@pytest.mark.parametrize(("value", "code", "place"), UNIONS)
def test_invalid_bytes_of_a_union(value: Any, code: Code, place: str, tmp_path: Path) -> None:
    (finding,) = load_model(tmp_path, filled(value)).findings
    assert (finding.code, finding.pointer) == (code.id, place)


def test_the_native_format_has_no_bytes_of_a_union(tmp_path: Path) -> None:
    desc = filled({"Bytes": [0] * 8})["Nodes"][0]["Desc"]["Operator"]["Desc"]
    node = {"type": "FILL_VALUE_CONSTANT", "desc": desc, "outputs": {"OutputTensor": "y"}}
    model = {"dml2onnx": 1, "nodes": [node], "outputs": ["y"]}
    assert [item.code for item in load_model(tmp_path, model).findings] == [codes.SCALAR_MEMBER.id]


BIASES = np.full(8, 0.3, np.float32).tobytes()


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        (BIASES + bytes(32), []),
        (BIASES + b"\1" * 32, []),
        (BIASES * 2, []),
        (np.full(8, 0.3).tobytes(), ["DML1222"]),
        (np.full(8, 0.5).tobytes(), ["DML1222"]),
    ],
)
def test_a_constant_of_twice_the_bits(contents: bytes, found: list[str]) -> None:
    """A node reads eight biases: the rest is padding, or the constant has a wider data type."""
    data = b64encode(contents).decode()
    twice = edit(GRAPH_OF_TWO, {"Nodes/2/Desc": {"Name": "bias", "DataSize": 64, "Data": data}})
    graph = load_bytes(text_of(twice.model).encode(), "net.json")
    assert [item.code for item in check_graph(graph)] == found
