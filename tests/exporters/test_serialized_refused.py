"""What a serialized graph cannot say."""

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


def relu_of(read: Read, write: Write, outputs: list[GraphOutput], inputs: list[GraphInput], **more: Any) -> Graph:
    desc = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)
    only = Node("relu", desc, {"InputTensor": (read,)}, {"OutputTensor": (write,)}, "/nodes/0")
    return Graph((only,), tuple(inputs), tuple(outputs), **more)


IN, BIG, OUT, CONST = Value("x", 16), Value("big", 32), Value("y", 16), Value("c", 16)
X_IN, Y_OUT = GraphInput("x", IN), GraphOutput("y", OUT, X)
LOOP = Value("loop", 16)
ZEROS = FillData(b"\0", 16)

REFUSED: dict[str, tuple[Code, str, str, Graph]] = {
    "read-offset": (
        codes.INNER_OFFSET,
        "relu",
        "InputTensor",
        relu_of(Read(CONST, 16), Write(OUT), [Y_OUT], [], constants=(Constant(CONST, ZEROS),)),
    ),
    "write-offset": (
        codes.INNER_OFFSET,
        "relu",
        "OutputTensor",
        relu_of(Read(IN), Write(BIG, 16), [GraphOutput("y", BIG, X)], [X_IN]),
    ),
    "partial": (
        codes.PARTIAL_WRITE,
        "relu",
        "OutputTensor",
        relu_of(Read(IN), Write(OUT, 0, IN), [Y_OUT], [X_IN]),
    ),
    "large-output": (
        codes.BUFFER_SIZE,
        "relu",
        "OutputTensor",
        relu_of(Read(IN), Write(BIG), [GraphOutput("y", BIG, X)], [X_IN]),
    ),
    "large-input": (
        codes.BUFFER_SIZE,
        "relu",
        "InputTensor",
        relu_of(Read(BIG), Write(OUT), [Y_OUT], [GraphInput("x", BIG)]),
    ),
    "input-as-output": (
        codes.NO_NODE_OUTPUT,
        "",
        "",
        relu_of(Read(IN), Write(OUT), [Y_OUT, GraphOutput("z", IN, X)], [X_IN]),
    ),
    "constant-as-output": (
        codes.NO_NODE_OUTPUT,
        "",
        "",
        relu_of(Read(CONST), Write(OUT), [GraphOutput("z", CONST, X)], [], constants=(Constant(CONST, ZEROS),)),
    ),
    "two-outputs": (
        codes.TWO_OUTPUTS,
        "",
        "",
        relu_of(Read(IN), Write(OUT), [Y_OUT, GraphOutput("z", OUT, X)], [X_IN]),
    ),
    "hidden": (
        codes.HIDDEN_VALUE,
        "second",
        "",
        Graph(
            (
                node(
                    op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X), {"InputTensor": [IN]}, {"OutputTensor": [OUT]}
                ),
                node(
                    op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X),
                    {"InputTensor": [OUT]},
                    {"OutputTensor": [CONST]},
                    name="second",
                ),
            ),
            (X_IN,),
            (GraphOutput("x", OUT, X), GraphOutput("y", CONST, X)),
        ),
    ),
    "unread": (
        codes.UNREAD_INPUT,
        "",
        "",
        relu_of(Read(IN), Write(OUT), [Y_OUT], [X_IN, GraphInput("z", Value("z", 16))]),
    ),
    "empty-name": (codes.UNSUITABLE_NAME, "", "", relu_of(Read(IN), Write(OUT), [Y_OUT], [GraphInput("", IN)])),
    "surrogate": (
        codes.UNSUITABLE_NAME,
        "",
        "",
        relu_of(Read(IN), Write(OUT), [GraphOutput("\udc80", OUT, X)], [X_IN]),
    ),
    "cycle": (
        codes.NOT_SORTABLE,
        "",
        "",
        relu_of(Read(LOOP), Write(LOOP), [GraphOutput("y", LOOP, X)], []),
    ),
    "nothing-makes": (codes.NO_SOURCE, "relu", "InputTensor", relu_of(Read(IN), Write(OUT), [Y_OUT], [])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    code, node_name, field, graph = REFUSED[name]
    assert refused(graph) == [(code.id, node_name, field)]


def test_names_given_twice() -> None:
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
    relu = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)
    values = [value(f"v{index}", X) for index in range(40)]
    nodes = [
        node(relu, {"InputTensor": [before]}, {"OutputTensor": [after]}, name=after.name)
        for before, after in pairwise(values)
    ]
    assert refused(make(nodes, values[:1], [(values[-1], X)]))[0][0] == codes.TOO_LARGE_TO_WRITE.id


def test_sizes_beyond_64_bits() -> None:
    """Such a tensor is read as it stands, for checks to refuse it, and there is no number to write."""
    huge = TensorDesc(DataType.FLOAT32, (2**32 - 1,) * 3)
    values = value("x", huge), value("y", huge)
    relu = node(
        op("ACTIVATION_RELU", InputTensor=huge, OutputTensor=huge),
        {"InputTensor": [values[0]]},
        {"OutputTensor": [values[1]]},
    )
    found = refused(make([relu], values[:1], [(values[1], huge)]))
    assert codes.TOO_LARGE_TO_WRITE.id in {code for code, _, _ in found}


def test_descriptors_that_are_not_stored(tmp_path: Path) -> None:
    """An input is seen as its first reader sees it, an output as it was written; other views are told."""
    square = f32(2, 2)
    first = ("/nodes/0/desc/ATensor", f32(4)), ("/nodes/1/desc/InputTensors", [f32(4), f32(4)])
    changes: list[tuple[list[tuple[str, Any]], str]] = [
        ([("/inputs/x", square), *first], 'input "x"'),
        ([("/outputs/0", {"value": "h", **square})], 'output "h"'),
        ([("/inputs/x/GuaranteedBaseOffsetAlignment", 64)], 'input "x"'),
    ]
    for change, what in changes:
        graph = load_model(tmp_path, edited(NATIVE, *change))
        told = [item.message for item in left_out(graph, tmp_path / "p.bin") if "descriptors" in item.message]
        assert len(told) == 1
        assert what in told[0]
    assert not any("descriptors" in str(item) for item in left_out(load_model(tmp_path, NATIVE), tmp_path / "p.bin"))


def test_graphs_with_errors(tmp_path: Path) -> None:
    graph = load_partition(tmp_path, {**PARTITION, "outputs": ["z"]})
    with pytest.raises(DmlError, match="DML1008"):
        serialized(graph)


def test_every_reason_has_an_example() -> None:
    reached = {code.id for code, _, _, _ in REFUSED.values()} | {codes.TOO_LARGE_TO_WRITE.id}
    assert reached >= {f"DML{number}" for number in range(1901, 1912)} - {codes.EFFECT.id}
