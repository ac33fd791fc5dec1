"""Graphs as native models: round trips, and readability of the text."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import dml2onnx
from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType
from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.execution import execute
from dml2onnx.exporters import convert
from dml2onnx.exporters.descriptors import number
from dml2onnx.frontends import LoadOptions
from dml2onnx.frontends.numbers import to_element
from dml2onnx.ir.data import ArrayData, Data, FillData
from dml2onnx.ir.graph import Constant, Effect, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias
from dml2onnx.ir.tensor import DataType, TensorDesc
from tests.checks.build import one, op, t
from tests.frontends.models import NATIVE, edited, f32, load_model
from tests.lowering.harness import operator

from .same import compare, compiled, round_trip

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SCHEMA = Draft202012Validator(json.loads((catalog.schemas_directory() / "graph.schema.json").read_text("utf-8")))


def document(graph: Graph, directory: Path) -> dict[str, Any]:
    """Checks the round trip of a graph; returns the decoded native model."""
    files = round_trip(graph, directory, compiles=False)
    model: dict[str, Any] = json.loads(files["model.json"])
    SCHEMA.validate(model)
    return model


def exact(desc: OperatorDesc) -> OperatorDesc:
    """An example with the values that a front end would read: bools, and floats that are exact in FLOAT32."""

    def value(field: FieldSchema, item: Any) -> Any:
        if field.type is FieldType.BOOL:
            return bool(item)
        return tuple(float(np.float32(x)) for x in item) if field.type is FieldType.FLOAT_ARRAY else item

    return OperatorDesc(desc.schema, tuple(None if x is None else value(field, x) for field, x in desc.items()))


# --- Programs ---------------------------------------------------------------------------------------------------------

RELU = {"type": "ACTIVATION_RELU", "desc": {"InputTensor": f32(4), "OutputTensor": f32(4)}}
X = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueStart": -3, "valueDelta": 1, "valueCount": 16}}


def program(*commands: dict[str, Any], **resources: dict[str, Any]) -> dict[str, Any]:
    return {"resources": {"x": X, **resources}, "dispatchables": {"relu": RELU}, "commands": list(commands)}


def relu(source: Any, target: Any) -> dict[str, Any]:
    return {"type": "dispatch", "dispatchable": "relu", "bindings": {"InputTensor": source, "OutputTensor": target}}


def part(name: str, offset: int) -> dict[str, Any]:
    """A binding of four elements at a byte offset."""
    return {"name": name, "elementOffset": offset // 4, "elementCount": 4, "elementSizeInBytes": 4}


PROGRAMS = {
    "parts of one buffer": program(relu(part("x", 16), part("x", 0)), relu(part("x", 0), part("x", 32))),
    "shown between": program(
        {"type": "print", "resource": "x", "verbose": True},
        relu(part("x", 0), part("x", 16)),
        {"type": "print", "resource": "x"},
        relu(part("x", 16), part("x", 32)),
        {"type": "writeFile", "resource": "x", "targetPath": "a/x.npy", "dimensions": [4, 4]},
        {"type": "writeFile", "resource": "x", "targetPath": "x.bin"},
    ),
    "never written": program({"type": "print", "resource": "x"}),
    "other sizes": program(
        relu("s", "y"),
        s={**X, "initialValues": [1, -2, 3, -4], "sizeInBytes": 22},
        y={"initialValuesDataType": "FLOAT16", "initialValues": {"valueCount": 9, "value": 1}},
    ),
    "names of versions": {
        **program(relu("x#1", "x"), relu("x", "y"), relu("y", "x#1"), **{"x#1": X, "y": X}),
    },
}


def test_a_program_runs_as_before(tmp_path: Path) -> None:
    graph = load_model(tmp_path, PROGRAMS["shown between"])
    convert(graph, tmp_path / "native.json")
    before, after = execute(graph, {}), execute(dml2onnx.load(tmp_path / "native.json"), {})
    assert [effect.kind for effect, _ in after.shown] == ["print", "print", "writeFile", "writeFile"]
    for (_, expected), (_, actual) in zip(before.shown, after.shown, strict=True):
        np.testing.assert_array_equal(actual, expected)
    assert before.results.keys() == after.results.keys() == {"x"}
    np.testing.assert_array_equal(after.results["x"], before.results["x"])


def test_a_version_of_a_buffer_reads_well(tmp_path: Path) -> None:
    model = document(load_model(tmp_path, PROGRAMS["parts of one buffer"]), tmp_path)
    assert model["inputs"] == {"x": {"DataType": "FLOAT32", "bytes": 64, "values": list(range(-3, 13))}}
    first, second = model["nodes"]
    assert first["inputs"] == {"InputTensor": {"value": "x", "offset": 16}}
    assert first["outputs"] == {"OutputTensor": {"value": "x#1", "base": "x"}}
    assert second["inputs"] == {"InputTensor": "x#1"}
    assert second["outputs"] == {"OutputTensor": {"value": "x#2", "offset": 32, "base": "x#1"}}
    assert model["outputs"] == {"x": {"value": "x#2", **f32(16)}}


# --- Descriptors and numbers ------------------------------------------------------------------------------------------


def test_every_part_of_a_descriptor(tmp_path: Path) -> None:
    desc = TensorDesc(DataType.FLOAT32, (2, 2), (1, 4), True, 64, 32)
    out = TensorDesc(DataType.FLOAT32, (2, 2), None, False, 48, 16)
    node = one(operator("ACTIVATION_RELU", InputTensor=desc, OutputTensor=out))
    (entry,) = document(node, tmp_path)["nodes"]
    assert entry["desc"]["OutputTensor"] == f32(2, 2, TotalTensorSizeInBytes=48, GuaranteedBaseOffsetAlignment=16)


FLOATS = [0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, 0.1, 1e-45, 3.4028234663852886e38, -16777217.5, 1 / 3]


@pytest.mark.parametrize("value", FLOATS)
def test_float_attributes(value: float, tmp_path: Path) -> None:
    (single,) = struct.unpack("<f", struct.pack("<f", value))
    attributes: dict[str, Any] = {"Min": single, "Max": single, "ScaleBias": ScaleBias(single, single)}
    document(one(op("ELEMENT_WISE_CLIP", InputTensor=t(2), OutputTensor=t(2), **attributes)), tmp_path)


def test_float32_values_are_short(tmp_path: Path) -> None:
    single = float(np.float32(0.1))
    desc = op("ACTIVATION_LEAKY_RELU", InputTensor=t(2), OutputTensor=t(2), Alpha=single)
    assert document(one(desc), tmp_path)["nodes"][0]["desc"]["Alpha"] == 0.1 != single


def test_every_float32(tmp_path: Path) -> None:
    patterns = np.random.default_rng(0).integers(0, 1 << 32, 20000, np.uint32)
    for dtype, data_type in ((np.float32, DataType.FLOAT32), (np.float16, DataType.FLOAT16)):
        values = patterns.view(dtype)
        for value in values[np.isfinite(values)].tolist():
            read = to_element(json.loads(json.dumps(number(value, data_type))), data_type, truncate=False)
            assert struct.pack("<d", read) == struct.pack("<d", value)


SCALARS = [
    ("INT64", -(2**63)),
    ("INT64", 2**53 + 1),
    ("UINT64", 2**64 - 1),
    ("UINT8", 255),
    ("INT8", -128),
    ("FLOAT64", 0.1),
    ("FLOAT64", 5e-324),
    ("FLOAT64", math.inf),
    ("FLOAT16", 65504.0),
    ("FLOAT16", -0.0),
    ("FLOAT16", math.nan),
    ("FLOAT16", -math.nan),
    ("FLOAT32", -math.inf),
]


@pytest.mark.parametrize(("data_type", "value"), SCALARS)
def test_scalars(data_type: str, value: float, tmp_path: Path) -> None:
    scalar = Scalar(DataType[data_type], value)
    out = t(2, type=data_type)
    document(one(op("FILL_VALUE_CONSTANT", OutputTensor=out, ValueDataType=data_type, Value=scalar)), tmp_path)


def test_an_attribute_named_type(tmp_path: Path) -> None:
    """A field of an activation with the name of another member of its object."""
    activation = operator("RANDOM_GENERATOR", Type="PHILOX_4X32_10")
    desc = operator("ELEMENT_WISE_ADD1", ATensor=t(2), BTensor=t(2), OutputTensor=t(2), FusedActivation=activation)
    round_trip(one(desc), tmp_path, compiles=False)


# --- Contents ---------------------------------------------------------------------------------------------------------


def constant(data: Data, desc: TensorDesc, nbytes: int = 0) -> Graph:
    """A graph that reads a constant."""
    out = TensorDesc(desc.data_type, desc.sizes)
    value, result = Value("w", nbytes or desc.total_bytes), Value("y", out.total_bytes)
    identity = operator("ELEMENT_WISE_IDENTITY", InputTensor=desc, OutputTensor=out)
    node = Node("copy", identity, {"InputTensor": (Read(value),)}, {"OutputTensor": (Write(result),)})
    return Graph((node,), (), (GraphOutput("y", result, out),), (Constant(value, data),))


def padded(array: np.ndarray, nbytes: int) -> ArrayData:
    raw = np.zeros(nbytes, np.uint8)
    raw[: array.nbytes] = array.reshape(-1).view(np.uint8)
    return ArrayData(raw)


@pytest.mark.parametrize("data_type", DataType)
@pytest.mark.parametrize("count", [1, 3, 7, 64, 65, 1000])
@pytest.mark.parametrize("kind", ["random", "equal", "bits"])
def test_contents(data_type: DataType, count: int, kind: str, tmp_path: Path) -> None:
    desc = TensorDesc(data_type, (1, count))
    rng = np.random.default_rng(count)
    used = data_type.bytes_for(count)
    raw = np.zeros(desc.total_bytes, np.uint8)
    if kind == "bits":  # padding, and the half of the last byte, may hold anything
        raw[:] = rng.integers(0, 256, raw.size)
    elif kind == "equal":
        raw[:used] = np.tile(rng.integers(0, 64, data_type.bits // 8 or 1, np.uint8), count)[:used]
    elif data_type.is_float:
        raw[:used] = rng.normal(size=count).astype(data_type.dtype).view(np.uint8)
    else:
        raw[:used] = rng.integers(0, 256, used)
    (members,) = document(constant(ArrayData(raw), desc), tmp_path)["constants"].values()
    if kind == "equal" and not data_type.is_packed_nibbles and count % 4 == 0:
        assert "fill" in members
    if kind == "random" and not data_type.is_packed_nibbles:
        assert ("values" if count <= 64 else "file") in members


def test_a_constant_larger_than_its_tensor(tmp_path: Path) -> None:
    desc = TensorDesc(DataType.FLOAT32, (2, 2), (4, 1))
    data = ArrayData.of(np.arange(10, dtype=np.float32))
    assert document(constant(data, desc, 40), tmp_path)["constants"] == {
        "w": {"DataType": "FLOAT32", "bytes": 40, "values": list(range(10))}
    }


def test_a_constant_with_trailing_zeros(tmp_path: Path) -> None:
    data = padded(np.arange(1, 5, dtype=np.float32), 40)
    assert document(constant(data, TensorDesc(DataType.FLOAT32, (4,)), 40), tmp_path)["constants"] == {
        "w": {**f32(4), "bytes": 40, "values": [1, 2, 3, 4]}
    }


def test_a_large_fill_is_not_materialized(tmp_path: Path) -> None:
    count = 1 << 31
    desc = TensorDesc(DataType.FLOAT32, (count,))
    data = FillData(np.float32(0.5).tobytes(), count * 4)
    graph = constant(data, desc)
    assert convert(graph, tmp_path / "model.json") == [tmp_path / "model.json"]
    (back,) = dml2onnx.load(tmp_path / "model.json").constants
    assert isinstance(back.data, FillData)
    assert (back.data.pattern, back.data.nbytes) == (data.pattern, data.nbytes)


def test_constants_share_one_file(tmp_path: Path) -> None:
    graph = load_model(tmp_path, NATIVE | {"constants": {"w": f32(4, values=[1, 2, 3, 4])}})
    assert [path.name for path in convert(graph, tmp_path / "small.json")] == ["small.json"]
    files = round_trip(dml2onnx.load(SAMPLES / "digits" / "model.json", LoadOptions(freeze=True)), tmp_path)
    assert sorted(files) == ["model.json", "model.json.data"]


# --- Names ------------------------------------------------------------------------------------------------------------


def test_values_of_one_name(tmp_path: Path) -> None:
    """Two constants and an output of a node have the name of the input."""
    desc = TensorDesc(DataType.FLOAT32, (2,))
    x, first, second, sum_, result = (Value("x", 8) for _ in range(5))
    add = operator("ELEMENT_WISE_ADD", ATensor=desc, BTensor=desc, OutputTensor=desc)

    def node(name: str, a: Value, b: Value, y: Value) -> Node:
        return Node(name, add, {"ATensor": (Read(a),), "BTensor": (Read(b),)}, {"OutputTensor": (Write(y),)})

    ones, twos = (ArrayData.of(np.full(2, item, np.float32)) for item in (1, 2))
    graph = Graph(
        (node("a", x, first, sum_), node("b", sum_, second, result)),
        (GraphInput("x", x, None, desc),),
        (GraphOutput("x", result, desc),),
        (Constant(first, ones), Constant(second, twos)),
    )
    model = document(graph, tmp_path)
    assert model["constants"]["x_2"]["name"] == "x"
    assert model["nodes"][1]["outputs"] == {"OutputTensor": {"value": "x_5", "name": "x"}}
    compare(graph, dml2onnx.load(tmp_path / "once" / "model.json"))
    assert compiled(dml2onnx.load(tmp_path / "once" / "model.json")) == compiled(graph)


def test_unused_outputs_need_no_name(tmp_path: Path) -> None:
    graph = load_model(tmp_path, NATIVE)
    assert document(graph, tmp_path)["nodes"][2]["outputs"] == {"OutputTensors": ["a", None]}


def test_odd_names(tmp_path: Path) -> None:
    for name in ("", "a/b~c", '"', "\x00", "\u2028", "𝄞", " "):
        model = edited(NATIVE, ("/inputs", {name: f32(4)}), ("/nodes/0/inputs/ATensor", name))
        model = edited(model, ("/nodes/1/inputs/InputTensors/1", name), ("/nodes/0/name", name))
        directory = tmp_path / str(ord(name[:1] or "e"))
        directory.mkdir()
        round_trip(load_model(directory, model), directory, compiles=False)


# --- Refusals ---------------------------------------------------------------------------------------------------------


def refused(graph: Graph, directory: Path) -> list[str]:
    with pytest.raises(DmlError) as caught:
        convert(graph, directory / "out.json")
    assert not (directory / "out.json").exists()
    return [item.code for item in caught.value.diagnostics]


def test_errors_of_reading_are_repeated(tmp_path: Path) -> None:
    graph = load_model(tmp_path, edited(NATIVE, ("/nodes/0/desc/Alpha", 1), ("/outputs/0", "q")))
    with pytest.raises(DmlError) as caught:
        convert(graph, tmp_path / "out.json")
    assert caught.value.diagnostics == graph.findings


def test_refused(tmp_path: Path) -> None:
    desc = TensorDesc(DataType.FLOAT32, (2,))
    x = Value("x", 8)
    inputs = (GraphInput("x", x, None, desc),)
    lost = GraphOutput("lost", Value("lost", 8), desc)
    with pytest.raises(DmlError, match='Nothing provides "lost", which the output "lost" uses'):
        convert(Graph((), inputs, (lost,)), tmp_path / "out.json")
    assert refused(Graph((), inputs, (), effects=(Effect("print", lost),)), tmp_path) == [codes.NO_SOURCE.id]
    twice = (GraphOutput("y", x, desc), GraphOutput("y", x, desc))
    assert refused(Graph((), inputs, twice), tmp_path) == [codes.UNSUITABLE_NAME.id]
    half = GraphOutput("\ud800", x, desc)
    assert refused(Graph((), inputs, (half,)), tmp_path) == [codes.UNSUITABLE_NAME.id]
    (odd,) = struct.unpack("<f", struct.pack("<I", 0xFFC00001))
    leaky: OperatorDesc = operator("ACTIVATION_LEAKY_RELU", InputTensor=desc, OutputTensor=desc, Alpha=odd)
    assert refused(one(leaky), tmp_path) == [codes.SPECIAL_NAN.id]
