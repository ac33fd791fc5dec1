"""Graphs as serialized files: round trips, names of files, and placement of constants."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import dml2onnx
from dml2onnx import catalog
from dml2onnx.codes import exporting as codes
from dml2onnx.exporters import left_out
from dml2onnx.exporters.serialized import serialized
from dml2onnx.frontends import load
from dml2onnx.ir.data import ArrayData, FillData
from dml2onnx.ir.graph import Constant, Effect, Graph, GraphInput, GraphOutput, Read, Value
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.test_cases.single_node import single_node
from tests.checks.build import graph as make
from tests.checks.build import node, op, t, value
from tests.drawing import Draw
from tests.frontends.partitions import PARTITION, load_partition

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def written(graph: Graph, directory: Path) -> Path:
    """Writes a graph with its files; returns the path of the graph."""
    data, files = serialized(graph, reserved={"Partition_0.bin"})
    path = directory / "Partition_0.bin"
    path.write_bytes(data)
    for name, content in files.items():
        assert content.nbytes % 4 == 0
        (directory / name).write_bytes(content.read().tobytes())
    return path


def back(graph: Graph, directory: Path) -> Graph:
    """Writes and reads a graph."""
    result = load(written(graph, directory))
    assert [str(item) for item in result.findings] == []
    return result


def stored(operator: OperatorDesc) -> OperatorDesc:
    """A descriptor without flags, alignments and minimal total sizes, which the format does not store."""

    def plain(item: Any) -> Any:
        if isinstance(item, TensorDesc):
            total = 0 if item.total_bytes == item.minimum_bytes else item.total_bytes
            return dataclasses.replace(item, owned_by_dml=False, alignment=0, total_size=total)
        return tuple(map(plain, item)) if isinstance(item, tuple) else item

    return OperatorDesc(operator.schema, tuple(map(plain, operator.values)))


def shape(graph: Graph) -> list[Any]:
    """The structure of a graph, with values identified by their writers; ``repr`` distinguishes -0.0 and NaN."""
    numbers: dict[Value, str] = {item.value: f"input {item.name}" for item in graph.inputs}
    contents = {item.value: item.data.read(0, item.value.nbytes).tobytes() for item in graph.constants}
    parts: list[Any] = []
    for index, each in enumerate(graph.sorted_nodes()):
        for field, number, write, _ in each.views_out():
            numbers[write.value] = f"{index} {field} {number} {write.value.nbytes}"
        reads = [
            (
                field,
                contents[read.value][: desc.total_bytes] if read.value in contents else numbers[read.value],
                read.offset,
            )
            for field, _, read, desc in each.views_in()
        ]
        parts.append((repr(stored(each.operator).values), sorted(map(repr, reads))))
    outputs = [(item.name, numbers[item.value]) for item in graph.outputs]
    return [[(item.name, item.value.nbytes) for item in graph.inputs], outputs, *parts]


def round_trip(graph: Graph, directory: Path) -> None:
    """Checks that a graph stays the same, or that ``left_out`` reports changes of descriptors."""
    result = back(graph, directory)
    assert shape(result) == shape(graph)
    is_reported = any("descriptors" in item.message for item in left_out(graph, directory / "Partition_0.bin"))
    ports = [(*graph.inputs, *graph.outputs), (*result.inputs, *result.outputs)]
    assert is_reported != all(before.desc in (None, after.desc) for before, after in zip(*ports, strict=True))


def compiled(graph: Graph) -> bytes:
    """The compiled model, under one name."""
    model = dml2onnx.compile(dataclasses.replace(graph, name="same", format="same", feature_level=None))
    return model.model_proto.SerializeToString(deterministic=True)


# --- Whole graphs -----------------------------------------------------------------------------------------------------


def test_read_from_a_file(tmp_path: Path) -> None:
    """Names, order and constants of a file stay the same; a second round trip does not change a byte."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = load_partition(tmp_path, PARTITION)
    second = back(first, tmp_path / "a")
    assert [item.operator for item in second.nodes] == [item.operator for item in first.nodes]
    assert [item.name for item in second.nodes] == [item.name for item in first.nodes]
    assert shape(second) == shape(first)
    assert compiled(second) == compiled(first)
    assert sorted(item.name for item in (tmp_path / "a").iterdir()) == ["Partition_0.bin", "w.bin"]
    assert (tmp_path / "a" / "w.bin").read_bytes() == (tmp_path / "w.bin").read_bytes()
    assert written(second, tmp_path / "b").read_bytes() == (tmp_path / "a" / "Partition_0.bin").read_bytes()


def test_sample(shared: Path, tmp_path: Path) -> None:
    """All names and values in a file of ONNX Runtime."""
    original = shared / "models" / "serialized_matmul_add" / "Partition_0.bin"
    first = load(original)
    second = back(first, tmp_path)
    assert [item.operator for item in second.nodes] == [item.operator for item in first.nodes]
    assert compiled(second) == compiled(first)
    assert texts((tmp_path / "Partition_0.bin").read_bytes()) == texts(original.read_bytes())


def texts(data: bytes) -> list[str]:
    """All strings in a file, sorted: a length with as many printable characters after it."""
    found = []
    for offset in range(4, len(data), 4):
        (length,) = struct.unpack_from("<I", data, offset)
        text = data[offset + 4 : offset + 4 + length]
        if 3 < length == len(text) and text.isascii() and text.decode().isprintable():
            found.append(text.decode())
    return sorted(found)


# --- Operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.operator_names())
def test_every_operator(name: str, tmp_path: Path) -> None:
    """Every field, with tensors present and absent."""
    draw = Draw(1)
    for optional in (lambda: True, lambda: False, draw.coin, draw.coin):
        graph = single_node(draw.operator(catalog.operator(name), optional))
        (node,) = back(graph, tmp_path).nodes
        assert repr(node.operator.values) == repr(stored(graph.nodes[0].operator).values)
        assert node.reads.keys() == graph.nodes[0].reads.keys()


# --- Names and constants ----------------------------------------------------------------------------------------------

X = t(2, 2)


def adding(data: Any, name: str = "w", desc: TensorDesc = X) -> Graph:
    """x + constant."""
    x, w, y = value("x", desc), Value(name, desc.total_bytes), value("y", desc)
    add = op("ELEMENT_WISE_ADD", ATensor=desc, BTensor=desc, OutputTensor=desc)
    return Graph(
        (node(add, {"ATensor": [x], "BTensor": [w]}, {"OutputTensor": [y]}, name="add"),),
        (GraphInput("x", x),),
        (GraphOutput("y", y, desc),),
        (Constant(w, data),),
    )


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("w", "w.bin"),
        ('layer/1\\w:"<x>|?*', "layer_1_w___x____.bin"),
        ("tab\there", "tab_here.bin"),
        ("", "constant0.bin"),
        ("ü" * 150, "ü" * 100 + ".bin"),
        ("PARTITION_0", "PARTITION_0_2.bin"),
        ("..", "...bin"),
        ("\ud800", "_.bin"),
    ],
)
def test_file_names(name: str, file: str, tmp_path: Path) -> None:
    graph = adding(FillData(struct.pack("<f", 2.0), 16), name)
    _, files = serialized(graph, reserved={"Partition_0.bin"})
    assert list(files) == [file]
    assert dml2onnx.run(back(graph, tmp_path), {"x": np.ones((2, 2), np.float32)})["y"].tolist() == [[3, 3], [3, 3]]


def test_files_of_one_name(tmp_path: Path) -> None:
    """Constants with names that differ only in case get different files."""
    x = value("x", X)
    ws, ys = [Value(name, 16) for name in ("w", "W", "w")], [value(f"y{index}", X) for index in range(3)]
    add = op("ELEMENT_WISE_ADD", ATensor=X, BTensor=X, OutputTensor=X)
    nodes = [
        node(add, {"ATensor": [x], "BTensor": [w]}, {"OutputTensor": [y]}, name=f"add{index}")
        for index, (w, y) in enumerate(zip(ws, ys, strict=True))
    ]
    graph = make(nodes, [x], [(y, X) for y in ys])
    data = [Constant(w, FillData(struct.pack("<f", index), 16)) for index, w in enumerate(ws)]
    result = back(dataclasses.replace(graph, constants=tuple(data)), tmp_path)
    outputs = dml2onnx.run(result, {"x": np.zeros((2, 2), np.float32)})
    assert [outputs[f"y{index}"].max() for index in range(3)] == [0, 1, 2]
    assert {item.name for item in tmp_path.iterdir()} == {"Partition_0.bin", "w.bin", "W_2.bin", "w_3.bin"}


@pytest.mark.parametrize(
    ("desc", "inside"),
    [
        (t(1), True),
        (t(2, strides=(0,)), True),
        (t(2), False),
        (t(3, type="FLOAT16"), False),
        (t(2, type="INT64"), True),
        (t(8, type="FLOAT64"), True),
        (t(40, type="UINT4"), True),
        (t(40, type="INT8"), False),
    ],
)
def test_placement_of_constants(desc: TensorDesc, inside: bool, tmp_path: Path) -> None:
    """The graph's file has constants below 8 bytes, and those that DxDispatch cannot upload."""
    content = np.arange(1, desc.total_bytes + 1, dtype=np.uint8)
    graph = adding(ArrayData(content), "w", desc)
    data, files = serialized(graph)
    assert (files == {}) is inside
    result = back(graph, tmp_path)
    assert result.constants[0].data.read().tobytes() == content.tobytes()
    assert result.nodes[0].operator.tensor("BTensor").owned_by_dml is not inside
    assert len(data) > 100


def test_constants_that_must_not_be_owned(tmp_path: Path) -> None:
    small = t(1, 1, 1, 1)
    weights, x, y = t(1, 1, 3, 1), value("x", small), value("y", small)
    desc = op(
        "GRU",
        InputTensor=small,
        WeightTensor=weights,
        RecurrenceTensor=weights,
        OutputSequenceTensor=small,
        ActivationDescs=(op("ACTIVATION_SIGMOID"), op("ACTIVATION_TANH")),
        ActivationDescCount=2,
        Direction="FORWARD",
        LinearBeforeReset=False,
    )
    w = Value("w", 12)
    reads: dict[str, Iterable[Value | Read]] = {"InputTensor": [x], "WeightTensor": [w], "RecurrenceTensor": [w]}
    graph = make([node(desc, reads, {"OutputSequenceTensor": [y]})], [x], [(y, small)], [w])
    assert serialized(graph)[1] == {}
    assert shape(back(graph, tmp_path)) == shape(graph)


def test_name_collisions(tmp_path: Path) -> None:
    """Inputs and outputs keep their names, and inner values get others."""
    x, h, y = value("nodeIdx:0-outputIdx:0", X), value("h", X), value("nodeIdx:1-outputIdx:0", X)
    relu = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)
    nodes = [
        node(relu, {"InputTensor": [x]}, {"OutputTensor": [h]}, name="a"),
        node(relu, {"InputTensor": [h]}, {"OutputTensor": [y]}, name=""),
    ]
    graph = make(nodes, [x], [(y, X)])
    result = back(graph, tmp_path)
    assert shape(result) == shape(graph)
    assert [item.name for item in result.nodes] == ["a", "activation_relu_1"]


def test_nodes_in_any_order(tmp_path: Path) -> None:
    x, h, y = value("x", X), value("h", X), value("y", X)
    relu = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)
    nodes = [
        node(relu, {"InputTensor": [h]}, {"OutputTensor": [y]}, name="last"),
        node(relu, {"InputTensor": [x]}, {"OutputTensor": [h]}, name="first"),
    ]
    assert [item.name for item in back(make(nodes, [x], [(y, X)]), tmp_path).nodes] == ["first", "last"]


def test_an_output_with_the_name_of_an_input(tmp_path: Path) -> None:
    """This is valid if no node reads the output."""
    x, y = value("x", X), Value("y", 16)
    relu = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)
    graph = make([node(relu, {"InputTensor": [x]}, {"OutputTensor": [y]})], [x])
    result = back(dataclasses.replace(graph, outputs=(GraphOutput("x", y, X),)), tmp_path)
    assert dml2onnx.run(result, {"x": np.full((2, 2), -1, np.float32)})["x"].max() == 0


def test_constants_that_nothing_reads(tmp_path: Path) -> None:
    graph = adding(FillData(b"\0", 16))
    more = dataclasses.replace(graph, constants=(*graph.constants, Constant(Value("u", 16), FillData(b"\0", 16))))
    assert serialized(more)[0] == serialized(graph)[0]


def test_commands_are_omitted(tmp_path: Path) -> None:
    """One warning is about all commands, another about one that prints a value before it is overwritten."""
    graph = adding(FillData(b"\0", 16))
    effects = (Effect("print", graph.outputs[0]), Effect("print", GraphOutput("z", Value("z", 16), X)))
    program = dataclasses.replace(graph, effects=effects)
    assert serialized(program)[0] == serialized(graph)[0]
    for form in ("serialized", "dml_graph"):
        warnings = [(item.code, item.severity.value) for item in left_out(program, tmp_path / "p", form)]
        assert warnings == [(codes.EFFECT.id, "warning"), (codes.LEFT_OUT.id, "warning")]
