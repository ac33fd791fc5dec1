"""DxDispatch programs that dispatch serialized graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

import dml2onnx
from dml2onnx.codes import reading as codes
from dml2onnx.codes import unreadable
from dml2onnx.frontends import LoadOptions

from .models import REMOVE, Model, edited, f32, load_model
from .partitions import FLOAT, PARTITION, attribute, node, tensor, write
from .rejections import changes_of, rejecting

VALUES = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]}
PROGRAM: Model = {
    "resources": {"a": VALUES, "b": {**VALUES, "initialValues": [0, 0, 0, 0]}},
    "dispatchables": {"net": {"type": "dmlSerializedGraph", "sourcePath": "net/Partition_0.bin"}},
    "commands": [
        {"type": "dispatch", "dispatchable": "net", "bindings": {"x": "a", "y": "b"}},
        {"type": "print", "resource": "b"},
    ],
}
NET, BINDINGS = "/dispatchables/net", "/commands/0/bindings"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A model directory, with the graph ``y = 2 * relu(x + [1, -2, 3, -4])`` in its ``net``."""
    model = tmp_path / "model"
    (model / "net").mkdir(parents=True)
    write(model / "net", PARTITION)
    (model / "damaged.bin").write_bytes(bytes(64))
    write(model, edited(PARTITION, ("/nodes/1/inputNames/0", "z"), ("/nodes/1/inputs/0/total", 0)), "wrong.bin")
    return model


changed, net, bound = changes_of(PROGRAM), changes_of(PROGRAM, NET), changes_of(PROGRAM, BINDINGS)


REJECTED = [
    net(codes.MISSING_KEY, ("/sourcePath", REMOVE)),
    net(codes.WRONG_KIND, ("/sourcePath", 1)),
    net(codes.FILE_UNREADABLE, ("/sourcePath", "none.bin")),
    net(codes.FILE_OUTSIDE, ("/sourcePath", "../../Partition_0.bin")),
    net(codes.FILE_UNREADABLE, ("/sourcePath", "net")),
    net(unreadable.DAMAGED_FILE, ("/sourcePath", "damaged.bin")),
    net(codes.IGNORED_KEY, ("/executionFlag", [])),
    net(codes.ENUMERATOR, ("/executionFlags", "FAST")),
    changed(
        [
            (codes.FIELD_RANGE, "/dispatchables/net/sourcePath/nodes/1/desc/ATensor/TotalTensorSizeInBytes"),
            (codes.UNUSED_GRAPH_INPUT, "/dispatchables/net/sourcePath/graphInputNames/0"),
            (codes.UNKNOWN_VALUE, "/dispatchables/net/sourcePath/nodes/1/inputNames/0"),
        ],
        ("/dispatchables/net/sourcePath", "wrong.bin"),
        ("/commands/0/bindings/x", REMOVE),
    ),
    net(
        [
            (codes.IGNORED_BINDING, "/bindings/x"),
            (codes.UNKNOWN_RESOURCE, "/bindings/w"),
            (codes.IGNORED_BINDING, "/bindings/w"),
        ],
        ("/bindings", {"x": "a", "w": "c"}),
    ),
    net(codes.WRONG_KIND, ("/bindings", 1)),
    bound(codes.UNCONNECTED_TENSOR, ("/x", REMOVE)),
    bound(codes.UNCONNECTED_TENSOR, ("/y", REMOVE)),
    bound(codes.IGNORED_BINDING, ("/w", "a")),
    bound(codes.UNKNOWN_RESOURCE, ("/x", "c")),
    bound(codes.CONNECTION_COUNT, ("/x", ["a", "a"])),
    bound(codes.GRAPH_BOUND_WITH_OFFSET, ("/x", {"name": "a", "elementOffset": 1})),
    bound(codes.GRAPH_BOUND_BYTES, ("/x", {"name": "a", "elementCount": 3})),
    changed(
        codes.GRAPH_BOUND_BYTES,
        ("/resources/b/initialValues", [0, 0, 0]),
        ("/resources/b/sizeInBytes", 64),
        at="/commands/0/bindings/y",
    ),
    changed(codes.WRONG_KIND, ("/resources/a/initialValues", "x")),
]


test_rejected = rejecting(REJECTED)


def run(directory: Path, model: Model, options: LoadOptions | None = None) -> dict[str, list[float]]:
    graph = load_model(directory, model, options)
    assert [str(item) for item in dml2onnx.check(graph)] == []
    return {name: array.reshape(-1).tolist() for name, array in dml2onnx.run(graph).items()}


def test_runs(directory: Path) -> None:
    graph = load_model(directory, PROGRAM)
    assert [node.name for node in graph.nodes] == ["net.add", "net.mul"]
    assert [node.source for node in graph.nodes] == [
        "/dispatchables/net/sourcePath/nodes/1/desc",
        "/dispatchables/net/sourcePath/nodes/3/desc",
    ]
    assert [item.name for item in graph.inputs] == ["a"]
    assert [item.name for item in graph.outputs] == ["b"]
    assert sorted(item.value.name for item in graph.constants) == ["two", "w"]
    assert run(directory, PROGRAM) == {"b": [4.0, 0.0, 12.0, 0.0]}
    assert run(directory, edited(PROGRAM, (NET + "/type", "DMLSERIALIZEDGRAPH"))) == {"b": [4.0, 0.0, 12.0, 0.0]}


def test_twice_and_in_place(directory: Path) -> None:
    """Each dispatch reads the current contents of the buffers; all share the constants."""
    again = {"type": "dispatch", "dispatchable": "net", "bindings": {"x": "b", "y": {"name": "b", "elementCount": 4}}}
    model = edited(PROGRAM, ("/commands/-", again), ("/commands/-", again))
    graph = load_model(directory, model)
    assert [node.name for node in graph.nodes][2:] == ["net#2.add", "net#2.mul", "net#3.add", "net#3.mul"]
    assert len(graph.constants) == 2
    assert run(directory, model) == {"b": [22.0, 0.0, 66.0, 0.0]}


def test_among_operators_and_larger_buffers(directory: Path) -> None:
    """The bytes of the buffer after the graph's output keep their contents."""
    negate = {"type": "ELEMENT_WISE_NEGATE", "desc": {"InputTensor": f32(6), "OutputTensor": f32(6)}}
    command = {"type": "dispatch", "dispatchable": "negate", "bindings": {"InputTensor": "b", "OutputTensor": "b"}}
    model = edited(
        PROGRAM,
        ("/resources/b/initialValues", [1, 2, 3, 4, 5, 6]),
        ("/dispatchables/negate", negate),
        ("/commands/-", command),
    )
    assert run(directory, model) == {"b": [-4.0, -0.0, -12.0, -0.0, -5.0, -6.0]}


def test_frozen(directory: Path) -> None:
    graph = load_model(directory, PROGRAM, LoadOptions(freeze=True))
    assert graph.inputs == ()
    assert run(directory, PROGRAM, LoadOptions(constants=frozenset({"a"}))) == {"b": [4.0, 0.0, 12.0, 0.0]}


def outputs_in_one_buffer() -> Model:
    """A chain of two nodes; the graph's outputs are the results of both, in reverse order."""
    row, scale = [tensor("FLOAT32", 4)], [attribute("ScaleBias", 10, FLOAT(2) + FLOAT(1))]
    nodes = [
        node("ELEMENT_WISE_IDENTITY", row, row, scale, reads=[source], writes=[result], name=f"to {result}")
        for source, result in (("x", "first"), ("first", "second"))
    ]
    return {"nodes": nodes, "inputs": ["x"], "outputs": ["second", "first"]}


def test_outputs_that_share_a_buffer(directory: Path) -> None:
    """The second node writes last, and reads the result of the first, whatever the order of the outputs."""
    write(directory / "net", outputs_in_one_buffer())
    model = edited(PROGRAM, (BINDINGS, {"x": "a", "first": "b", "second": "b"}))
    assert run(directory, model) == {"b": [7.0, 11.0, 15.0, 19.0]}


def test_an_input_and_an_output_of_one_name(directory: Path) -> None:
    """One binding applies to both."""
    write(directory / "net", edited(PARTITION, ("/nodes/3/outputNames/0", "x"), ("/outputs", ["x"])))
    model = edited(PROGRAM, (BINDINGS, {"x": "a"}), ("/commands/1/resource", "a"))
    assert run(directory, model) == {"a": [4.0, 0.0, 12.0, 0.0]}


def test_unnamed_bytes(directory: Path) -> None:
    """A resource without a data type is bound as a whole."""
    words = [{"type": "FLOAT32", "value": value} for value in (1, 2, 3, 4)]
    assert run(directory, edited(PROGRAM, ("/resources/a", {"initialValues": words}))) == {"b": [4.0, 0.0, 12.0, 0.0]}


def test_name_collisions(directory: Path) -> None:
    identity = {"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": f32(4), "OutputTensor": f32(4)}}
    command = {"type": "dispatch", "dispatchable": "net.add", "bindings": {"InputTensor": "b", "OutputTensor": "b"}}
    model = edited(PROGRAM, ("/dispatchables/net.add", identity), ("/commands/-", command))
    graph = load_model(directory, model)
    assert len({node.name for node in graph.nodes}) == 3
    assert run(directory, model) == {"b": [4.0, 0.0, 12.0, 0.0]}


def test_the_sample_program(shared: Path, tmp_path: Path) -> None:
    sample = shared / "models" / "serialized_matmul_add"
    for file in sample.glob("*.bin"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    constant = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 5, "value": 1.5}}
    model = {
        "resources": {"in": constant, "out": {**constant, "initialValues": {"valueCount": 5, "value": 0}}},
        "dispatchables": {"model": {"type": "dmlSerializedGraph", "sourcePath": "Partition_0.bin"}},
        "commands": [
            {"type": "dispatch", "dispatchable": "model", "bindings": {"model_input": "in", "model_output": "out"}},
            {"type": "print", "resource": "out"},
        ],
    }
    assert run(tmp_path, model) == {"out": [12.25] * 5}
