"""Graphs that a serialized file cannot express."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import flatbuffers
import pytest

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Code, DmlError
from dml2onnx.exporters import left_out
from dml2onnx.exporters.serialized import serialized
from dml2onnx.ir.data import FillData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from tests.checks.build import graph as make
from tests.checks.build import node, op, t, value
from tests.exporters.test_serialized import X, adding
from tests.frontends.models import NATIVE, edited, f32, load_model
from tests.frontends.partitions import PARTITION, load_partition


def refused(graph: Graph) -> list[tuple[str, str, str]]:
    with pytest.raises(DmlError) as caught:
        serialized(graph)
    assert all(item.message.endswith(".") for item in caught.value.diagnostics)
    return [(item.code, item.node, item.field) for item in caught.value.diagnostics]


IN, OUT, CONST, LOOP = (Value(name, 16) for name in ("x", "y", "c", "loop"))
BIG = Value("big", 32)
READ, WRITE = Read(IN), Write(OUT)
X_IN, Y_OUT = GraphInput("x", IN), GraphOutput("y", OUT, X)
ZEROS = Constant(CONST, FillData(b"\0", 16))
RELU = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)


def relu(
    *outputs: GraphOutput,
    read: Read = READ,
    write: Write = WRITE,
    inputs: tuple[GraphInput, ...] = (X_IN,),
    constants: tuple[Constant, ...] = (),
) -> Graph:
    """``y = relu(x)``, with replacements for some of its parts."""
    single = Node("relu", RELU, {"InputTensor": (read,)}, {"OutputTensor": (write,)}, "/nodes/0")
    return Graph((single,), inputs, outputs or (Y_OUT,), constants)


def hidden() -> Graph:
    """The first node's output, which the second one reads, has the name of the input."""
    first = node(RELU, {"InputTensor": [IN]}, {"OutputTensor": [OUT]})
    second = node(RELU, {"InputTensor": [OUT]}, {"OutputTensor": [CONST]}, name="second")
    return Graph((first, second), (X_IN,), (GraphOutput("x", OUT, X), GraphOutput("y", CONST, X)))


REFUSED: dict[str, tuple[Code, str, str, Graph]] = {
    "read-offset": (
        codes.INNER_OFFSET,
        "relu",
        "InputTensor",
        relu(read=Read(CONST, 16), inputs=(), constants=(ZEROS,)),
    ),
    "write-offset": (codes.INNER_OFFSET, "relu", "OutputTensor", relu(GraphOutput("y", BIG, X), write=Write(BIG, 16))),
    "partial": (codes.PARTIAL_WRITE, "relu", "OutputTensor", relu(write=Write(OUT, 0, IN))),
    "large-output": (codes.BUFFER_SIZE, "relu", "OutputTensor", relu(GraphOutput("y", BIG, X), write=Write(BIG))),
    "large-input": (codes.BUFFER_SIZE, "relu", "InputTensor", relu(read=Read(BIG), inputs=(GraphInput("x", BIG),))),
    "input-as-output": (codes.NO_NODE_OUTPUT, "", "", relu(Y_OUT, GraphOutput("z", IN, X))),
    "constant-as-output": (
        codes.NO_NODE_OUTPUT,
        "",
        "",
        relu(GraphOutput("z", CONST, X), read=Read(CONST), inputs=(), constants=(ZEROS,)),
    ),
    "two-outputs": (codes.TWO_OUTPUTS, "", "", relu(Y_OUT, GraphOutput("z", OUT, X))),
    "hidden": (codes.HIDDEN_VALUE, "second", "", hidden()),
    "unread": (codes.UNREAD_INPUT, "", "", relu(inputs=(X_IN, GraphInput("z", Value("z", 16))))),
    "empty-name": (codes.UNSUITABLE_NAME, "", "", relu(inputs=(GraphInput("", IN),))),
    "surrogate": (codes.UNSUITABLE_NAME, "", "", relu(GraphOutput("\udc80", OUT, X))),
    "cycle": (
        codes.NOT_SORTABLE,
        "",
        "",
        relu(GraphOutput("y", LOOP, X), read=Read(LOOP), write=Write(LOOP), inputs=()),
    ),
    "nothing-makes": (codes.NO_SOURCE, "relu", "InputTensor", relu(inputs=())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    code, node_name, field, graph = REFUSED[name]
    assert refused(graph) == [(code.id, node_name, field)]


def test_duplicate_names() -> None:
    second = GraphInput("x", Value("x", 16))
    desc = op("ELEMENT_WISE_ADD", ATensor=X, BTensor=X, OutputTensor=X)
    both = {"ATensor": (Read(IN),), "BTensor": (Read(second.value),)}
    graph = Graph((Node("add", desc, both, {"OutputTensor": (Write(OUT),)}),), (X_IN, second), (Y_OUT,))
    assert [code for code, _, _ in refused(graph)] == [codes.UNSUITABLE_NAME.id]


def test_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dml2onnx.exporters.serialized_tables.MAX_BYTES", 1000)
    desc = t(200, type="INT64")
    assert refused(adding(FillData(b"\1", 1600), "w", desc))[0][0] == codes.TOO_LARGE_TO_WRITE.id
    monkeypatch.setattr(flatbuffers.Builder, "MAX_BUFFER_SIZE", 1 << 12)
    values = [value(f"v{index}", X) for index in range(40)]
    nodes = [
        node(RELU, {"InputTensor": [before]}, {"OutputTensor": [after]}, name=after.name)
        for before, after in pairwise(values)
    ]
    assert refused(make(nodes, values[:1], [(values[-1], X)]))[0][0] == codes.TOO_LARGE_TO_WRITE.id


def test_sizes_beyond_64_bits() -> None:
    """Front ends read such tensors, but the format has only 64 bits for them."""
    huge = TensorDesc(DataType.FLOAT32, (2**32 - 1,) * 3)
    x, y = value("x", huge), value("y", huge)
    huge_relu = op("ACTIVATION_RELU", InputTensor=huge, OutputTensor=huge)
    graph = make([node(huge_relu, {"InputTensor": [x]}, {"OutputTensor": [y]})], [x], [(y, huge)])
    assert codes.TOO_LARGE_TO_WRITE.id in {code for code, _, _ in refused(graph)}


def test_descriptors_that_are_not_stored(tmp_path: Path) -> None:
    """An input gets the descriptor of its first reader, an output that of its writer; others cause a warning."""
    square = f32(2, 2)
    first = ("/nodes/0/desc/ATensor", f32(4)), ("/nodes/1/desc/InputTensors", [f32(4), f32(4)])
    changes: list[tuple[list[tuple[str, Any]], str]] = [
        ([("/inputs/x", square), *first], 'input "x"'),
        ([("/outputs/0", {"value": "h", **square})], 'output "h"'),
        ([("/inputs/x/GuaranteedBaseOffsetAlignment", 64)], 'input "x"'),
    ]
    for change, what in changes:
        graph = load_model(tmp_path, edited(NATIVE, *change))
        (message,) = [item.message for item in left_out(graph, tmp_path / "p.bin") if "descriptors" in item.message]
        assert what in message
    assert not any("descriptors" in str(item) for item in left_out(load_model(tmp_path, NATIVE), tmp_path / "p.bin"))


def test_graphs_with_errors(tmp_path: Path) -> None:
    graph = load_partition(tmp_path, {**PARTITION, "outputs": ["z"]})
    with pytest.raises(DmlError, match="DML1008"):
        serialized(graph)


def test_every_reason_has_an_example() -> None:
    reached = {code.id for code, _, _, _ in REFUSED.values()} | {codes.TOO_LARGE_TO_WRITE.id}
    assert reached >= {f"DML{number}" for number in range(1901, 1912)} - {codes.EFFECT.id}
