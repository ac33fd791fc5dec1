"""Graphs as DxDispatch programs: round trips, and refusals of graphs that a program cannot express."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError
from dml2onnx.cli import main
from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import Code, Severity
from dml2onnx.exporters import convert, left_out
from dml2onnx.exporters.dx_buffers import kept
from dml2onnx.exporters.dxdispatch import dxdispatch, owned_constants
from dml2onnx.ir.data import FillData, MissingData
from dml2onnx.ir.graph import Constant, Effect, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from tests.checks.build import node, op, t
from tests.frontends.models import DX, GRAPH, NATIVE, edited, f32, load_model

from .same import bits, round_trip
from .test_dml_graph import without_flags

# --- Round trips ------------------------------------------------------------------------------------------------------


def expressible(graph: Graph) -> dict[str, Any]:
    """Everything that a program stores: names of nodes, inputs and outputs, contents, and connections."""
    homes: dict[Value, Any] = {item.value: ("input", item.name) for item in graph.inputs}
    contents = {item.value: item.data.read(0, item.value.nbytes).tobytes() for item in graph.constants}
    homes |= {value: ("constant", raw) for value, raw in contents.items()}
    for each in graph.nodes:
        for name, index, write, _ in each.views_out():
            homes[write.value] = (each.name, name, index)

    read = {item.value for each in graph.nodes for _, _, item, _ in each.views_in()}
    caches = {item.value for item in graph.inputs if item.value not in read and item.default is not None}

    def base(each: Node, name: str, write: Write, desc: Any) -> Any:
        value = kept(each, name, write, desc)
        if value is None or value in caches:  # caches become inputs
            return None
        is_new = value in contents and not any(contents[value])  # a new buffer contains zeros
        return None if is_new else homes[value]

    constants = {item.value for item in graph.constants} | {item.value for item in graph.inputs}
    return {
        "inputs": sorted((item.name, item.value.nbytes) for item in graph.inputs if item.value not in caches),
        "outputs": [(item.name, homes[item.value]) for item in graph.outputs],
        "nodes": {
            each.name: (
                bits(without_flags(each, constants)),
                sorted((name, index, homes[read.value], read.offset) for name, index, read, _ in each.views_in()),
                [
                    (name, index, write.offset, base(each, name, write, desc))
                    for name, index, write, desc in each.views_out()
                ],
            )
            for each in graph.nodes
        },
    }


def with_open_constants(graph: Graph) -> Graph:
    """Constants that DirectML must not own become inputs with contents."""
    captured = {read.value for each, name in owned_constants(graph) for read in each.reads[name]}
    read = {item.value for each in graph.nodes for _, _, item, _ in each.views_in()}
    opened = [item for item in graph.constants if item.value in read - captured]
    inputs = [GraphInput(item.value.name, item.value, item.data) for item in opened]
    constants = tuple(item for item in graph.constants if item not in opened)
    return replace(graph, inputs=(*graph.inputs, *inputs), constants=constants)


def program_round_trip(graph: Graph, directory: Path) -> Graph:
    """Writes and reads the graph as a program, and checks that the result stays the same in a second round trip."""
    path = directory / "program" / "model.json"
    path.parent.mkdir()
    convert(graph, path, "dxdispatch")
    back = dml2onnx.load(path)
    assert [str(item) for item in back.findings if item.severity is Severity.ERROR] == []
    assert expressible(back) == expressible(with_open_constants(graph))
    round_trip(back, directory / "again", "dxdispatch", compiles=False)
    return back


def test_special_numbers(tmp_path: Path) -> None:
    for data_type in ("FLOAT32", "FLOAT16", "FLOAT64"):
        output = {**f32(4), "DataType": data_type}
        desc = {"OutputTensor": output, "ValueDataType": data_type, "Value": "-inf"}
        fill = {"type": "FILL_VALUE_CONSTANT", "desc": desc, "outputs": {"OutputTensor": "y"}}
        graph = load_model(tmp_path, {"dml2onnx": 1, "nodes": [fill], "outputs": ["y"]})
        (tmp_path / data_type).mkdir()
        program_round_trip(graph, tmp_path / data_type)


# --- Outputs ----------------------------------------------------------------------------------------------------------


def printed(graph: Graph, directory: Path) -> list[str]:
    directory.mkdir()
    program_round_trip(graph, directory)
    model = json.loads((directory / "program" / "model.json").read_text())
    return [item["resource"] for item in model["commands"] if item["type"] == "print"]


def test_only_ambiguous_outputs_are_printed(tmp_path: Path) -> None:
    plain = load_model(tmp_path, edited(NATIVE, ("/outputs", ["a"]), ("/nodes/2/outputs/OutputTensors/1", "b")))
    assert printed(plain, tmp_path / "1") == ["a"]  # "b" is also written and not read
    chain = load_model(tmp_path, edited(DX, ("/commands/1", {"type": "print", "resource": "y"})))
    assert printed(replace(chain, effects=(), results=()), tmp_path / "2") == []


def test_a_program_that_prints_some_outputs(tmp_path: Path) -> None:
    graph = load_model(tmp_path, edited(NATIVE, ("/commands", [{"type": "print", "value": "h", "verbose": True}])))
    assert printed(graph, tmp_path / "1") == ["h", "a"]


# --- Omissions and refusals -------------------------------------------------------------------------------------------


def test_warnings_about_omitted_parts(tmp_path: Path) -> None:
    def warnings(graph: Graph) -> list[str]:
        return [item.message for item in left_out(graph, tmp_path / "p.json", "dxdispatch")]

    assert warnings(load_model(tmp_path, NATIVE)) == [
        "the format dxdispatch does not store the feature level 5_0",
        'the format dxdispatch has no inputs without contents; zeros are written for "x"',
    ]
    owned = warnings(load_model(tmp_path, GRAPH))[1]
    assert owned.endswith('OWNED_BY_DML of inputs whose contents are unknown at initialization: "input1"')
    mixed = edited(NATIVE, ("/nodes/0/inputs/BTensor", "x"), ("/nodes/1/inputs/InputTensors/0", "w"))
    graph = load_model(tmp_path, mixed)
    assert warnings(graph)[2].endswith('constants that DirectML must not own; inputs with contents replace "w"')
    convert(graph, tmp_path / "p.json", "dxdispatch")
    back = dml2onnx.load(tmp_path / "p.json")
    assert [item.name for item in back.inputs] == ["x", "w"]
    assert back.inputs[1].default is not None
    assert warnings(load_model(tmp_path, DX)) == []


X = t(2, 2)
IN, OUT, OTHER, CONST = Value("x", 16), Value("y", 16), Value("z", 16), Value("c", 16)
X_IN, Y_OUT = GraphInput("x", IN), GraphOutput("y", OUT, X)
RELU = op("ACTIVATION_RELU", InputTensor=X, OutputTensor=X)
DOWN = op("ACTIVATION_RELU", InputTensor=t(2), OutputTensor=t(2))


def relu(source: Value, target: Value, name: str = "relu") -> Node:
    return node(RELU, {"InputTensor": [source]}, {"OutputTensor": [target]}, name=name)


def half(source: Value, target: Value, base: Value, name: str) -> Node:
    return Node(name, DOWN, {"InputTensor": (Read(source),)}, {"OutputTensor": (Write(target, 0, base),)})


LOOP = Value("loop", 16)
FIRST, SECOND = Value("first", 16), Value("second", 16)
REFUSED: dict[str, tuple[Code, Graph]] = {
    "cycle": (codes.NOT_SORTABLE, Graph((relu(LOOP, LOOP),), (), (GraphOutput("y", LOOP, X),))),
    "no-source": (codes.NO_SOURCE, Graph((relu(IN, OUT),), (), (Y_OUT,))),
    "unread": (codes.UNREAD_INPUT, Graph((relu(IN, OUT),), (X_IN, GraphInput("z", OTHER)), (Y_OUT,))),
    "input-as-output": (codes.NO_NODE_OUTPUT, Graph((relu(IN, OUT),), (X_IN,), (Y_OUT, GraphOutput("z", IN, X)))),
    "two-outputs": (codes.TWO_OUTPUTS, Graph((relu(IN, OUT),), (X_IN,), (Y_OUT, GraphOutput("z", OUT, X)))),
    "names": (
        codes.UNSUITABLE_NAME,
        Graph((relu(IN, OUT), relu(IN, OTHER, "b")), (X_IN,), (Y_OUT, GraphOutput("y", OTHER, X))),
    ),
    "in-place": (codes.UNSUITABLE_NAME, Graph((half(IN, OUT, IN, "half"),), (X_IN,), (Y_OUT,))),
    "branches": (
        codes.BUFFER_VERSIONS,
        Graph(
            (relu(IN, LOOP), half(IN, FIRST, LOOP, "a"), half(IN, SECOND, LOOP, "b")),
            (X_IN,),
            (GraphOutput("p", FIRST, X), GraphOutput("q", SECOND, X)),
        ),
    ),
    "overwritten": (
        codes.BUFFER_VERSIONS,
        Graph((relu(IN, OUT), half(IN, FIRST, OUT, "a")), (X_IN,), (Y_OUT,)),
    ),
    "both-needed": (
        codes.BUFFER_VERSIONS,
        Graph(
            (
                relu(IN, LOOP, "a"),
                half(IN, FIRST, LOOP, "b"),
                node(
                    op("ELEMENT_WISE_ADD", ATensor=X, BTensor=X, OutputTensor=X),
                    {"ATensor": [LOOP], "BTensor": [FIRST]},
                    {"OutputTensor": [OUT]},
                    name="c",
                ),
            ),
            (X_IN,),
            (Y_OUT,),
        ),
    ),
    "shown": (
        codes.NO_SOURCE,
        Graph((relu(IN, OUT),), (X_IN,), (Y_OUT,), effects=(Effect("print", GraphOutput("z", OTHER, X)),)),
    ),
    "surrogate": (codes.UNSUITABLE_NAME, Graph((relu(IN, OUT),), (X_IN,), (GraphOutput("\udc80", OUT, X),))),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    code, graph = REFUSED[name]
    with pytest.raises(DmlError) as caught:
        dxdispatch(graph, "model")
    assert {item.code for item in caught.value.diagnostics} == {code.id}
    assert all(item.message.endswith(".") for item in caught.value.diagnostics)


def test_versions_are_read_before_they_are_overwritten(tmp_path: Path) -> None:
    nodes = (relu(IN, LOOP, "a"), half(IN, FIRST, LOOP, "b"), relu(LOOP, OUT, "late"))
    graph = Graph(nodes, (X_IN,), (Y_OUT, GraphOutput("first", FIRST, X)))
    back = program_round_trip(graph, tmp_path)
    assert [item.name for item in back.nodes] == ["a", "late", "b"]


def test_an_output_with_the_name_of_an_input(tmp_path: Path) -> None:
    """They share a resource, as in programs that work in place."""
    graph = Graph((relu(IN, OUT),), (X_IN,), (GraphOutput("x", OUT, X),))
    back = program_round_trip(graph, tmp_path)
    assert list(json.loads((tmp_path / "program" / "model.json").read_text())["resources"]) == ["x"]
    assert dml2onnx.run(back, {"x": np.full((2, 2), -1, np.float32)})["x"].max() == 0


# --- Files ------------------------------------------------------------------------------------------------------------


def test_long_contents_go_to_files(tmp_path: Path) -> None:
    big = np.arange(400, dtype=np.float32)
    model = edited(NATIVE, ("/inputs/x", f32(4, values=[1, 2, 3, 4])), ("/nodes/2", {
        "name": "add2", "type": "ELEMENT_WISE_ADD", "desc": {"OutputTensor": f32(400)},
        "inputs": {"ATensor": "p", "BTensor": "q"}, "outputs": {"OutputTensor": "a"},
    }), ("/inputs/p", f32(400, values=big.tolist())), ("/constants/q", f32(400, values=big.tolist())))  # fmt: skip
    graph = load_model(tmp_path, model)
    (tmp_path / "out").mkdir()
    files = convert(graph, tmp_path / "out" / "model.json", "dxdispatch")
    assert sorted(path.name for path in files) == ["model.json", "model.p.npy", "model.q.npy"]
    back = dml2onnx.load(tmp_path / "out" / "model.json")
    assert dml2onnx.run(back)["a"].tolist() == (big + big).tolist()
    resources = json.loads(files[0].read_text())["resources"]
    assert resources["x"] == {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]}
    assert resources["p"]["initialValues"] == {"sourcePath": "model.p.npy"}


def test_missing_files(tmp_path: Path) -> None:
    missing = Constant(CONST, MissingData((tmp_path / "w.bin").resolve(), 16))
    graph = Graph((relu(CONST, OUT),), (), (Y_OUT,), (missing,))
    convert(graph, tmp_path / "model.json", "dxdispatch")
    (tmp_path / "w.bin").write_bytes(np.full(4, 2, np.float32).tobytes())
    assert dml2onnx.run(tmp_path / "model.json")["y"].tolist() == [[2, 2], [2, 2]]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_model(tmp_path, NATIVE)
    source, target = str(tmp_path / "model.json"), tmp_path / "program.json"
    assert main(["convert", source, "--format", "dxdispatch", "-o", str(target)]) == 0
    assert "feature level 5_0" in "".join(capsys.readouterr())
    assert dml2onnx.load(target).format == "dxdispatch"
    assert main(["convert", source, "--format", "dxdispatch"]) == 0
    assert (tmp_path / "model.dxdispatch.json").exists()


def test_a_constant_that_nothing_reads(tmp_path: Path) -> None:
    graph = Graph((relu(IN, OUT),), (X_IN,), (Y_OUT,), (Constant(CONST, FillData(b"\1", 16)),))
    assert dml2onnx.load(convert(graph, tmp_path / "model.json", "dxdispatch")[0]).constants == ()
