"""Models have the bytes that protobuf writes for the same message."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dml2onnx
from dml2onnx import wire, writer
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.onnx_model import ELEMENT_TYPES, Body, OnnxGraph, OnnxNode, OnnxPort, OnnxValue, Origin
from tests.lowering.harness import make_case, operator, t

FLOAT = np.dtype(np.float32)
SAMPLES = Path(__file__).parent.parent / "samples"


def reserialized(data: bytes) -> bytes:
    return onnx.ModelProto.FromString(data).SerializeToString(deterministic=True)


def model_of_node(**attributes: Any) -> bytes:
    """Returns a model of one node, whose names need two bytes for their lengths."""
    x, y = OnnxValue("x" * 200, FLOAT, (2, 300)), OnnxValue("y", FLOAT, ())
    node = OnnxNode("n" * 128, "Test", (x, None, x), (None, y), attributes)
    ports = [OnnxPort(v.name, v.name, v.dtype, v.shape, TensorDesc(DataType.FLOAT32, (1,))) for v in (x, y)]
    graph = OnnxGraph((Origin("ñ", "TEST", [node]),), {}, (ports[0],), (ports[1],))
    return writer.model_bytes(graph, writer.Header("g", 21, 10, {"b": "2", "a": "1"}))


def attribute(value: object) -> Any:
    data = model_of_node(value=value)
    assert data == reserialized(data)
    (node,) = onnx.ModelProto.FromString(data).graph.node
    return onnx.helper.get_node_attr_value(node, "value")


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_integers(value: int) -> None:
    assert attribute(value) == value


@given(st.floats(width=32))
def test_floats(value: float) -> None:
    found = attribute(value)
    assert isinstance(found, float)
    assert found == value or (math.isnan(found) and math.isnan(value))
    assert math.copysign(1, found) == math.copysign(1, value) or math.isnan(value)


@given(st.text(max_size=300))
def test_strings(value: str) -> None:
    assert attribute(value) == value.encode()


def test_headers_of_unusual_sizes_are_not_cached() -> None:
    for size in (2, 5000, 70_000):
        assert attribute("x" * size) == b"x" * size
    assert wire._NODE
    assert max(wire._NODE) < 5000


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1))
def test_lists_of_integers(value: list[int]) -> None:
    assert attribute(tuple(value)) == value


def test_equal_keys_of_different_types_are_different_attributes() -> None:
    assert [type(attribute(value)) for value in (1, 1.0, True)] == [int, float, int]
    assert math.copysign(1, attribute(-0.0)) == -1
    assert math.copysign(1, attribute(0.0)) == 1
    assert attribute((1.0, -2.5)) == [1.0, -2.5]
    assert attribute(("a", "b")) == [b"a", b"b"]
    assert attribute(()) == []


def test_bodies() -> None:
    a, b = OnnxValue("a", FLOAT, (3,)), OnnxValue("b", FLOAT, (3,))
    data = model_of_node(body=Body("step", [OnnxNode("neg", "Neg", (a,), (b,))], [a], [b]))
    assert data == reserialized(data)
    (node,) = onnx.ModelProto.FromString(data).graph.node
    body = onnx.helper.get_node_attr_value(node, "body")
    assert [item.op_type for item in body.node] == ["Neg"]
    assert [item.name for item in (*body.input, *body.output)] == ["a", "b"]


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 300)])
def test_initializers_and_element_types(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    data = writer.model_bytes(OnnxGraph((), {"w": array}, (), ()), writer.Header("g", 17, 8, {}))
    assert data == reserialized(data)
    (tensor,) = onnx.ModelProto.FromString(data).graph.initializer
    found = onnx.numpy_helper.to_array(tensor)
    if dtype.names:  # 4-bit integers, one to a byte on our side
        (name,) = dtype.names
        assert tensor.data_type == onnx.TensorProto.DataType.Value(name.upper())
        assert len(tensor.raw_data) == (array.size + 1) // 2
        found, array = found.astype(np.int64) & 15, array[name].astype(np.int64) & 15
    np.testing.assert_array_equal(found, array)


def test_varints() -> None:
    octets = {0: b"\0", 127: b"\x7f", 128: b"\x80\x01", 300: b"\xac\x02", -1: b"\xff" * 9 + b"\1"}
    assert {value: wire.varint(value) for value in octets} == octets


def compiled() -> list[CompiledModel]:
    graphs = [dml2onnx.load(path) for path in (SAMPLES / "digits" / "model.json", SAMPLES / "picture" / "model.json")]
    gru = operator(
        "RNN",
        InputTensor=t("FLOAT32", [1, 3, 2, 4]),
        WeightTensor=t("FLOAT32", [1, 1, 5, 4]),
        RecurrenceTensor=t("FLOAT32", [1, 1, 5, 5]),
        OutputSequenceTensor=t("FLOAT32", [3, 1, 2, 5]),
        ActivationDescs=[operator("ACTIVATION_TANH")],
        Direction="FORWARD",
    )
    return [compile_outputs(graph, graph.outputs) for graph in [*graphs, make_case(gru).graph]]


@pytest.mark.parametrize("model", compiled(), ids=lambda model: model.name)
@pytest.mark.parametrize("external", [False, True])
def test_whole_models(model: CompiledModel, external: bool, tmp_path: Path) -> None:
    """With a Scan, attributes of all kinds, and external data."""
    path = model.save(tmp_path / "model.onnx", external_data=external)[0]
    assert path.read_bytes() == reserialized(path.read_bytes())
    onnx.checker.check_model(str(path), full_check=True)


def test_every_value_has_its_type_and_shape() -> None:
    for model in compiled():
        graph = model.model_proto.graph
        made = {name for node in graph.node for name in node.output if name}
        assert made == {item.name for item in (*graph.value_info, *graph.output)}
        inferred = onnx.shape_inference.infer_shapes(model.model_proto, strict_mode=True, data_prop=True)
        assert {item.name: item for item in inferred.graph.value_info} == {v.name: v for v in graph.value_info}
