"""Serialized graphs: a file of ONNX Runtime, and every feature of the format."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import Code, DmlError, UnreadableError
from dml2onnx.frontends import LoadOptions, load
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

from .models import Model, edited
from .partitions import (
    FLOAT,
    INT,
    PARTITION,
    RELU,
    UINT,
    attribute,
    build,
    load_partition,
    node,
    real,
    tensor,
    uint,
    write,
)
from .test_serialized_rejected import F4

# --- The file of ONNX Runtime -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(shared: Path) -> Path:
    return shared / "models" / "serialized_matmul_add"


def test_sample(sample: Path) -> None:
    graph = load(sample / "Partition_0.bin")
    assert (graph.findings, graph.format, graph.name) == ((), "serialized", "Partition_0")
    assert [(item.name, item.value.nbytes) for item in graph.inputs] == [("model_input", 20)]
    assert [(item.name, item.desc) for item in graph.outputs] == [("model_output", _row())]
    assert [(item.value.name, item.value.nbytes) for item in graph.constants] == [
        ("matmul_b_tensor", 100),
        ("add_b_tensor", 20),
    ]
    (node,) = graph.nodes
    assert (node.name, node.source) == ("model_output_dmlEp_0", "/nodes/2/desc")
    assert node.operator == OperatorDesc(
        catalog.operator("GEMM"),
        (
            _row(),
            TensorDesc(DataType.FLOAT32, (1, 1, 5, 5), owned_by_dml=True),
            TensorDesc(DataType.FLOAT32, (1, 1, 1, 5), owned_by_dml=True),
            _row(),
            "NONE",
            "NONE",
            1.0,
            1.0,
            None,
        ),
    )
    assert [read.value.name for _, _, read, _ in node.views_in()] == ["model_input", "matmul_b_tensor", "add_b_tensor"]
    assert dml2onnx.check(graph) == []


def _row() -> TensorDesc:
    return TensorDesc(DataType.FLOAT32, (1, 1, 1, 5))


def test_sample_runs_as_its_onnx_model(sample: Path) -> None:
    graph = load(sample / "Partition_0.bin")
    assert run(graph, model_input=np.full((1, 1, 1, 5), 1.5)) == {"model_output": [12.25] * 5}
    x = np.random.default_rng(0).standard_normal((1, 5), np.float32)
    session = onnxruntime.InferenceSession(sample / "matmul_add.onnx", providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"model_input": x})
    result: np.ndarray = dml2onnx.run(graph, {"model_input": x.reshape(1, 1, 1, 5)})["model_output"]
    np.testing.assert_allclose(result.reshape(1, 5), expected, rtol=1e-6)


def test_sample_without_its_constants(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "renamed.partition"
    path.write_bytes((sample / "Partition_0.bin").read_bytes())
    graph = load(path)
    assert [(item.code, item.pointer) for item in graph.findings] == [
        (codes.MISSING_CONTENTS.id, "/nodes/0/desc/data/name"),
        (codes.MISSING_CONTENTS.id, "/nodes/1/desc/data/name"),
    ]
    assert [item.expected for item in graph.findings] == ["a file of 100 bytes", "a file of 20 bytes"]
    assert dml2onnx.check(graph) == list(graph.findings)
    for needed in (dml2onnx.compile, dml2onnx.run, dml2onnx.verify):
        with pytest.raises(DmlError) as caught:
            needed(graph)
        assert [item.code for item in caught.value.diagnostics if item.severity.value == "error"] == [
            codes.FILE_UNREADABLE.id
        ] * 2
        assert all(name in str(caught.value) for name in ("matmul_b_tensor.bin", "add_b_tensor.bin"))


# --- Edges and constants ----------------------------------------------------------------------------------------------


def run(graph: Graph, **inputs: Any) -> dict[str, list[Any]]:
    assert dml2onnx.check(graph) == []
    arrays = {name: np.array(value, np.float32) for name, value in inputs.items()}
    return {name: array.reshape(-1).tolist() for name, array in dml2onnx.run(graph, arrays).items()}


def test_both_kinds_of_constants(tmp_path: Path) -> None:
    graph = load_partition(tmp_path, PARTITION)
    assert [node.name for node in graph.nodes] == ["add", "mul"]
    assert graph.nodes[0].operator.tensor("BTensor").owned_by_dml
    assert not graph.nodes[1].operator.tensor("BTensor").owned_by_dml
    assert run(graph, x=[1, 2, 3, 4]) == {"y": [4.0, 0.0, 12.0, 0.0]}


def test_ends_of_other_types(tmp_path: Path) -> None:
    """An edge is a buffer: XOR negates floats by their sign bits, and reads only half of its input."""
    column, word = tensor("FLOAT32", 2, 1, 1), tensor("UINT32", 2, strides=[0], total=4)
    nodes = [
        PARTITION["nodes"][0],
        {**PARTITION["nodes"][1], "attributes": [attribute(None, 1)]},
        {"name": "sign", "raw": UINT(0x80000000), "outputNames": ["sign"]},
        node(
            "ELEMENT_WISE_BIT_XOR",
            [tensor("UINT32", 2), word],
            [tensor("UINT32", 2)],
            reads=["nodeIdx:1-outputIdx:0", "sign"],
            writes=["bits"],
        ),
        node("ELEMENT_WISE_IDENTITY", [column], [column], [attribute(None, 10)], reads=["bits"], writes=["y"]),
    ]
    graph = load_partition(tmp_path, {**PARTITION, "nodes": nodes})
    assert run(graph, x=[1, 2, 3, 4]) == {"y": [-2.0, 0.0]}


def test_one_input_of_several_nodes_and_shadowed_names(tmp_path: Path) -> None:
    """The output ``x`` of the first node: nodes read the input of that name, the graph's outputs the node's."""
    model = edited(
        PARTITION,
        ("/nodes/1/outputNames/0", "x"),
        ("/nodes/3/inputNames/0", "x"),
        ("/nodes/3/name", "add"),
        ("/outputs", ["", "y", "", "x"]),
    )
    graph = load_partition(tmp_path, model)
    assert [node.name for node in graph.nodes] == ["add", "add#2"]
    assert [item.name for item in graph.inputs] == ["x"]
    assert [item.name for item in graph.outputs] == ["y", "x"]
    assert run(graph, x=[1, 2, 3, 4]) == {"y": [2.0, 4.0, 6.0, 8.0], "x": [2.0, 0.0, 6.0, 0.0]}


def test_absent_tensors_and_arrays(tmp_path: Path) -> None:
    """JOIN takes all descriptors; a required output without a name takes a descriptor as well."""
    join = node(
        "JOIN",
        [tensor("FLOAT32", 2, 2), tensor("FLOAT32", 1, 2)],
        [tensor("FLOAT32", 3, 2)],
        [uint("InputCount", 2), uint("Axis", 0)],
        reads=["y", "y", "", ""],
        writes=["j"],
    )
    top = node(
        "TOP_K",
        [tensor("FLOAT32", 3, 2)],
        [tensor("FLOAT32", 3, 1), tensor("UINT32", 3, 1)],
        [uint("Axis", 1), uint("K", 1)],
        reads=["j"],
        writes=["top"],
    )
    graph = load_partition(tmp_path, edited(PARTITION, ("/nodes/-", join), ("/nodes/-", top), ("/outputs", ["top"])))
    assert run(graph, x=[1, 2, 3, 4]) == {"top": [4.0, 12.0, 4.0]}


def test_a_constant_with_two_views(tmp_path: Path) -> None:
    """Read as four FLOAT32 elements, and as a transposed matrix of UINT16 elements."""
    halves = tensor("UINT16", 2, 4, strides=[1, 2], total=16)
    cast = node("CAST", [halves], [tensor("UINT32", 2, 4)], reads=["w-nodeIdx:0-outputIdx:0"], writes=["halves"])
    graph = load_partition(tmp_path, edited(PARTITION, ("/nodes/-", cast), ("/outputs", ["y", "halves"])))
    assert graph.nodes[0].operator.tensor("BTensor").owned_by_dml
    assert run(graph, x=[0, 0, 0, 0])["halves"] == [0, 0, 0, 0, 0x3F80, 0xC000, 0x4040, 0xC080]


def test_files_of_an_allowed_directory(tmp_path: Path) -> None:
    directory = tmp_path / "model"
    directory.mkdir()
    (tmp_path / "outside.bin").write_bytes(np.zeros(4, np.float32).tobytes())
    model = edited(PARTITION, ("/nodes/0/constant", "..\\outside"))
    assert load_partition(directory, model).findings
    graph = load_partition(directory, model, LoadOptions(allow_paths=(tmp_path,)))
    assert run(graph, x=[1, 2, 3, 4]) == {"y": [2.0, 4.0, 6.0, 8.0]}


def test_a_file_of_an_odd_length(tmp_path: Path) -> None:
    """A FLOAT16 tensor of five elements, in a file of 10 bytes instead of 12."""
    half = tensor("FLOAT16", 5, total=12)
    add = {**PARTITION["nodes"][1], "inputs": [half, half], "outputs": [half], "outputNames": ["y"]}
    path = write(tmp_path, {**PARTITION, "nodes": [PARTITION["nodes"][0], add]})
    (tmp_path / "w.bin").write_bytes(np.arange(5, dtype=np.float16).tobytes())
    graph = load(path)
    assert graph.findings == ()
    assert dml2onnx.run(graph, {"x": np.ones(5, np.float16)})["y"].tolist() == [1, 2, 3, 4, 5]


def test_recurrent_weights_are_not_owned(tmp_path: Path) -> None:
    """DirectML refuses the flag on these tensors, so the reader does not add it."""
    small, weights = tensor("FLOAT32", 1, 1, 1, 1), tensor("FLOAT32", 1, 1, 3, 1)
    activations = [{**RELU, "type": "DML_OPERATOR_ACTIVATION_SIGMOID"}, RELU]
    gru = node(
        "GRU",
        [small, weights, weights],
        [small],
        [
            uint("ActivationDescCount", 2),
            attribute("ActivationDescs", 2, activations),
            uint("Direction", 0),
            uint("LinearBeforeReset", 0),
        ],
        reads=["x", "w-nodeIdx:0-outputIdx:0", "w-nodeIdx:0-outputIdx:0", "", "", ""],
        writes=["y", ""],
    )
    path = write(tmp_path, {**PARTITION, "nodes": [PARTITION["nodes"][0], gru]})
    (tmp_path / "w.bin").write_bytes(bytes(12))
    graph = load(path)
    assert dml2onnx.check(graph) == []
    operator = graph.nodes[0].operator
    assert not operator.tensor("WeightTensor").owned_by_dml
    assert [item.type for item in operator.activations()] == ["ACTIVATION_SIGMOID", "ACTIVATION_RELU"]


def test_an_empty_graph(tmp_path: Path) -> None:
    """Missing vectors are not damage."""
    graph = load_partition(tmp_path, {"nodes": [], "inputs": None, "outputs": None})
    assert (graph.nodes, graph.inputs, graph.outputs, graph.findings) == ((), (), (), ())


# --- Attributes -------------------------------------------------------------------------------------------------------


def described(tmp_path: Path, operator: str, inputs: int, attributes: list[Model]) -> OperatorDesc:
    """Reads the descriptor of an operator with these attributes and arbitrary tensors."""
    op = node(operator, [F4] * inputs, [F4], attributes, reads=["x"] * inputs, writes=["y"])
    graph = load_partition(tmp_path, {"nodes": [op], "inputs": ["x"], "outputs": ["y"]})
    assert [str(item) for item in graph.findings] == []
    return graph.nodes[0].operator


def test_numbers(tmp_path: Path) -> None:
    desc = described(
        tmp_path,
        "RESAMPLE2",
        1,
        [
            uint("InterpolationMode", 1),
            uint("RoundingDirection", 0),
            uint("DimensionCount", 3),
            attribute("Scales", 9, [0.5, math.inf, -0.0]),
            attribute("InputPixelOffsets", 9, [0.1, -math.inf, 1e-45]),
            attribute("OutputPixelOffsets", 9, [math.nan, 2.0, 3.0]),
        ],
    )
    assert desc.enum("InterpolationMode") == "LINEAR"
    assert repr(desc.floats("Scales")) == "(0.5, inf, -0.0)"
    assert desc.floats("InputPixelOffsets") == (float(np.float32(0.1)), -math.inf, float(np.float32(1e-45)))
    assert math.isnan(desc.floats("OutputPixelOffsets")[0])


def test_signed_arrays_and_counts(tmp_path: Path) -> None:
    desc = described(
        tmp_path,
        "SLICE1",
        1,
        [
            uint("DimensionCount", 2),
            attribute("InputWindowOffsets", 7, [0, 2**32 - 1]),
            attribute("InputWindowSizes", 7, [1, 2]),
            attribute("InputWindowStrides", 8, [-(2**31), 2**31 - 1]),
        ],
    )
    assert desc.uints("InputWindowOffsets") == (0, 2**32 - 1)
    assert desc.uints("InputWindowStrides") == (-(2**31), 2**31 - 1)


@pytest.mark.parametrize("axes", [attribute("Axes", 7, []), attribute(None, 7)])
def test_no_elements(axes: Model, tmp_path: Path) -> None:
    desc = described(tmp_path, "REDUCE", 1, [uint("Function", 10), uint("AxisCount", 0), axes])
    assert (desc.enum("Function"), desc.uints("Axes")) == ("SUM", ())


def test_small_structures(tmp_path: Path) -> None:
    desc = described(
        tmp_path,
        "ELEMENT_WISE_CLIP",
        1,
        [attribute("ScaleBias", 10, FLOAT(4.25) + FLOAT(-1.5)), real("Min", -math.inf), real("Max", 6.0)],
    )
    assert desc.scale_bias() == ScaleBias(4.25, -1.5)
    assert (desc.float("Min"), desc.float("Max")) == (-math.inf, 6.0)
    name, index = next(
        (name, item.name)
        for name in catalog.operator_names()
        for item in catalog.operator(name).attribute_fields
        if item.type is catalog.FieldType.SIZE_2D
    )
    schema = catalog.operator(name)
    attributes = [
        attribute(item.name, 11, UINT(7) + UINT(9)) if item.name == index else _any(item)
        for item in schema.attribute_fields
    ]
    desc = described(tmp_path, schema.short_name, len(schema.input_fields), attributes)
    assert desc.size_2d(index) == Size2D(7, 9)


def _any(item: catalog.FieldSchema) -> Model:
    assert item.type in (catalog.FieldType.UINT, catalog.FieldType.ENUM, catalog.FieldType.FLOAT), item
    return real(item.name, 1.0) if item.type is catalog.FieldType.FLOAT else uint(item.name, 1)


@pytest.mark.parametrize(
    ("data_type", "number", "content", "value"),
    [
        (DataType.FLOAT32, 1, FLOAT(1.5) + b"\xff" * 4, 1.5),
        (DataType.FLOAT16, 2, b"\x00\x3e" + b"\xff" * 6, 1.5),
        (DataType.FLOAT64, 9, struct.pack("<d", 0.1), 0.1),
        (DataType.FLOAT64, 9, struct.pack("<d", -math.inf), -math.inf),
        (DataType.UINT8, 5, b"\xfe" + bytes(7), 254),
        (DataType.INT8, 8, b"\xfe" + b"\xff" * 7, -2),
        (DataType.UINT16, 4, b"\x01\x80" + bytes(6), 0x8001),
        (DataType.INT16, 7, b"\x01\x80" + bytes(6), 0x8001 - 0x10000),
        (DataType.UINT32, 3, UINT(2**32 - 1) + bytes(4), 2**32 - 1),
        (DataType.INT32, 6, INT(-5) + bytes(4), -5),
        (DataType.UINT64, 10, struct.pack("<Q", 2**64 - 1), 2**64 - 1),
        (DataType.INT64, 11, struct.pack("<q", -(2**63)), -(2**63)),
    ],
)
def test_scalars(data_type: DataType, number: int, content: bytes, value: int | float, tmp_path: Path) -> None:
    attributes = [
        attribute(None, 10),
        uint("MinMaxDataType", number),
        attribute("Min", 12, {"bytes": content}),
        attribute("Max", 12, {"bytes": content}),
    ]
    desc = described(tmp_path, "ELEMENT_WISE_CLIP1", 1, attributes)
    assert desc.scalar("Min") == desc.scalar("Max") == Scalar(data_type, value)
    assert desc.scale_bias() is None


@pytest.mark.parametrize(
    ("number", "member", "expected"),
    [
        (0, 1, [codes.FIELD_KIND] * 2),
        (13, 1, [codes.FIELD_KIND] * 2),
        (14, 1, [codes.ENUMERATOR]),
        (1, 10, [codes.ATTRIBUTE_KIND] * 2),
    ],
)
def test_scalars_that_cannot_be_read(number: int, member: int, expected: list[Code], tmp_path: Path) -> None:
    scalars = [attribute(name, 12, {"bytes": bytes(8), "code": member}) for name in ("ValueStart", "ValueDelta")]
    fill = node("FILL_VALUE_SEQUENCE", [], [F4], [uint("ValueDataType", number), *scalars], reads=[], writes=["y"])
    graph = load_partition(tmp_path, {"nodes": [fill], "inputs": [], "outputs": ["y"]})
    assert [item.code for item in graph.findings] == [code.id for code in expected]


@pytest.mark.parametrize("value", [0, 1, 2])
def test_bools(value: int, tmp_path: Path) -> None:
    """CrossChannel of the gradient is the only field that is stored as a BOOL; others are numbers."""
    rest = [uint("LocalSize", 3), real("Alpha", 1), real("Beta", 1), real("Bias", 1)]
    for operator, inputs, stored in (
        ("LOCAL_RESPONSE_NORMALIZATION_GRAD", 2, attribute("CrossChannel", 13, bytes([value]))),
        ("LOCAL_RESPONSE_NORMALIZATION", 1, uint("CrossChannel", value)),
    ):
        if value < 2:
            assert described(tmp_path, operator, inputs, [stored, *rest]).flag("CrossChannel") is bool(value)
        else:
            with pytest.raises(AssertionError, match="CrossChannel is 2, not true or false"):
                described(tmp_path, operator, inputs, [stored, *rest])


# --- Detection of the format ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Partition_0.bin", "graph", "model.json", "model.onnx"])
def test_detected_by_content(name: str, tmp_path: Path) -> None:
    assert load(write(tmp_path, PARTITION, name)).format == "serialized"


def test_json_in_a_file_of_this_name(tmp_path: Path) -> None:
    path = tmp_path / "Partition_0.bin"
    path.write_text(' {"dml2onnx": 1, "nodes": [], "outputs": []}', encoding="utf-8")
    assert load(path).format == "native"


@pytest.mark.parametrize("content", [b"\x10\0\0\0", b"\x10", b"junk", bytes(64), b"\xff" * 64])
def test_damaged(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "Partition_0.bin"
    path.write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        load(path)
    (finding,) = caught.value.diagnostics
    assert finding.code == unreadable.DAMAGED_FILE.id
    assert "Partition_0.bin" in finding.message


def test_damage_has_a_place(tmp_path: Path) -> None:
    data = bytearray(build(PARTITION))
    data[data.index(b"mul\0") + 3] = 1
    path = tmp_path / "Partition_0.bin"
    path.write_bytes(data)
    with pytest.raises(UnreadableError, match="a string does not end with a zero") as caught:
        load(path)
    (finding,) = caught.value.diagnostics
    assert finding.pointer == "/nodes/3/name"
    assert finding.found == f"byte {data.index(b'mul') + 3}"
