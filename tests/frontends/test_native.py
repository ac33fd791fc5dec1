"""Valid models in the native format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from dml2onnx.catalog import schemas_directory
from dml2onnx.checks import check as check_graph
from dml2onnx.codes import checking
from dml2onnx.codes import reading as codes
from dml2onnx.frontends import LoadOptions, native
from dml2onnx.ir.data import ArrayData, padded
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import DataType, TensorDesc

from .models import NATIVE, REMOVE, Model, edited, f32, load_model, load_text
from .test_native_rejected import BUFFER, D0, N0, PRINT, H


def data_of(graph: Graph, name: str) -> bytes:
    return next(item.data.read().tobytes() for item in graph.constants if item.value.name == name)


def loaded(directory: Path, *changes: tuple[str, Any], options: LoadOptions | None = None) -> Graph:
    graph = load_model(directory, edited(NATIVE, *changes), options)
    assert graph.findings == ()
    return graph


def test_a_graph(tmp_path: Path) -> None:
    graph = loaded(tmp_path)
    assert (graph.format, graph.name, graph.feature_level) == ("native", "tiny", "5_0")
    (x,) = graph.inputs
    assert (x.name, x.value.nbytes, x.default, str(x.desc)) == ("x", 16, None, "FLOAT32 [4]")
    assert data_of(graph, "w") == np.array([1, 2.5, np.inf, -1], np.float32).tobytes()
    add, join, split = graph.nodes
    assert [node.source for node in graph.nodes] == ["/nodes/0/desc", "/nodes/1/desc", "/nodes/2/desc"]
    assert add.reads["ATensor"][0].value is x.value
    assert add.operator.tensor("ATensor") == TensorDesc(DataType.FLOAT32, (4,))
    assert add.operator.has("FusedActivation")
    h = add.writes["OutputTensor"][0].value
    assert [read.value for read in join.reads["InputTensors"]] == [h, x.value]
    assert join.operator.uint("InputCount") == 2
    assert [write.value.name for write in split.writes["OutputTensors"]] == ["a", "split.OutputTensors"]
    assert [write.value.nbytes for write in split.writes["OutputTensors"]] == [12, 20]
    assert [(item.name, item.value, str(item.desc)) for item in graph.outputs] == [
        ("h", h, "FLOAT32 [4]"),
        ("a", split.writes["OutputTensors"][0].value, "FLOAT32 [3]"),
    ]
    assert graph.sorted_nodes() == graph.nodes


def test_the_documented_example(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(bytes(range(256)) * 3)
    assert native.__doc__ is not None
    text = native.__doc__.split(".. code-block:: json")[1].split("``dml2onnx`` (the version)")[0]
    graph = load_text(tmp_path, text)
    assert graph.findings == ()
    assert data_of(graph, "w")[:4] == bytes([64, 65, 66, 67])
    assert len(data_of(graph, "w")) == 4 * 3 * 3 * 3 * 4
    Draft202012Validator(json.loads((schemas_directory() / "graph.schema.json").read_text())).validate(json.loads(text))


def test_nodes_in_any_order(tmp_path: Path) -> None:
    graph = loaded(tmp_path, ("/nodes", NATIVE["nodes"][::-1]))
    assert [node.name for node in graph.nodes] == ["split", "join", "add"]
    assert [node.name for node in graph.sorted_nodes()] == ["add", "join", "split"]


def test_a_node_that_reads_itself(tmp_path: Path) -> None:
    """The checks report cycles, not the front end."""
    graph = loaded(tmp_path, (N0 + "/inputs/ATensor", "h"))
    assert graph.nodes[0].reads["ATensor"][0].value is graph.nodes[0].writes["OutputTensor"][0].value


def test_public_names_of_outputs(tmp_path: Path) -> None:
    graph = loaded(tmp_path, ("/outputs", {"first": "h", "second": "h", "weights": "w", "input": "x"}))
    assert [(item.name, item.value.name) for item in graph.outputs] == [
        ("first", "h"),
        ("second", "h"),
        ("weights", "w"),
        ("input", "x"),
    ]


def test_names_are_optional(tmp_path: Path) -> None:
    graph = loaded(tmp_path, ("/name", REMOVE), (N0 + "/name", REMOVE), ("/feature_level", REMOVE))
    assert (graph.name, graph.feature_level, graph.nodes[0].name) == ("graph", None, "element_wise_add1_0")


def test_offsets(tmp_path: Path) -> None:
    graph = loaded(
        tmp_path, (N0 + "/inputs/ATensor", {"value": "y", "offset": 16}), (D0 + "/ATensor", f32(2, 2, Strides=[1, 2]))
    )
    assert graph.nodes[0].reads["ATensor"][0].offset == 16
    assert graph.nodes[0].operator.tensor("ATensor").strides == (1, 2)


@pytest.mark.parametrize("level", ["5_0", "5.0", "DML_FEATURE_LEVEL_5_0"])
def test_feature_levels(level: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, ("/feature_level", level)).feature_level == "5_0"


W = "/constants/w"


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        ({"DataType": "INT16", "Sizes": [3], "values": [1, -2, 3]}, np.array([1, -2, 3, 0], np.int16).tobytes()),
        (
            {"DataType": "INT16", "Sizes": [2, 2], "values": [[1, 2], [3, 4]]},
            np.array([1, 2, 3, 4], np.int16).tobytes(),
        ),
        ({"DataType": "INT8", "Sizes": [2, 2], "Strides": [1, 2], "values": [1, 2, 3, 4]}, bytes([1, 2, 3, 4])),
        ({"DataType": "INT8", "Sizes": [2, 2], "Strides": [0, 1], "values": [1, 2]}, bytes([1, 2, 0, 0])),
        ({"DataType": "UINT4", "Sizes": [5], "values": [1, 2, 3, 4, 5]}, bytes([0x21, 0x43, 0x05, 0])),
        ({"DataType": "INT4", "Sizes": [3], "values": [-1, -8, 7]}, bytes([0x8F, 0x07, 0, 0])),
        ({"DataType": "INT4", "Sizes": [8], "fill": -2}, bytes([0xEE] * 4)),
        ({"DataType": "FLOAT16", "Sizes": [2], "values": [1.2, "nan"]}, np.array([1.2, np.nan], np.float16).tobytes()),
        ({"DataType": "FLOAT64", "Sizes": [2], "fill": "-inf"}, np.full(2, -np.inf).tobytes()),
        ({"DataType": "UINT64", "Sizes": [1], "values": [2**64 - 1]}, b"\xff" * 8),
        ({"DataType": "UINT8", "Sizes": [3], "file": "data.bin", "offset": 2}, bytes([2, 3, 4, 0])),
        ({"DataType": "UINT8", "Sizes": [3], "file": "data.bin", "length": 4}, bytes([0, 1, 2, 3])),
        ({"DataType": "UINT8", "Sizes": [3], "file": r"sub\..\data.bin", "length": 3}, bytes([0, 1, 2, 0])),
        ({"file": "f32.npy"}, np.arange(4, dtype=np.float32).tobytes()),
        ({"DataType": "FLOAT32", "Sizes": [2, 2], "file": "f32.npy"}, np.arange(4, dtype=np.float32).tobytes()),
        ({"file": "bool.npy"}, bytes([1, 0, 1, 0])),
        ({"file": "scalar.NPY"}, np.float64(7).tobytes()),
        ({"file": "long_header.npy"}, np.arange(2, dtype=np.uint32).tobytes()),
    ],
)
def test_contents(constant: Model, expected: bytes, directory: Path) -> None:
    np.save(directory / "bool.npy", np.array([True, False, True]))
    np.save(directory / "scalar.npy", np.float64(7))
    (directory / "scalar.npy").rename(directory / "scalar.NPY")
    with (directory / "long_header.npy").open("wb") as file:
        np.lib.format.write_array(file, np.arange(2, dtype=np.uint32), version=(3, 0))
    graph = loaded(directory, (W, constant), (D0 + "/BTensor", f32(4)))
    assert data_of(graph, "w") == expected
    value = next(item.value for item in graph.constants if item.value.name == "w")
    assert value.nbytes == len(expected)


def test_large_contents_are_not_materialized(directory: Path) -> None:
    with (directory / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    sizes = [2**10, 2**20]
    graph = loaded(
        directory,
        ("/constants/fill", {"DataType": "FLOAT32", "Sizes": [2**32 - 1], "fill": 1}),
        ("/constants/file", {"DataType": "UINT8", "Sizes": sizes, "file": "huge.bin", "offset": 0}),
    )
    by_name = {item.value.name: item for item in graph.constants}
    assert by_name["fill"].data.nbytes == 4 * (2**32 - 1)
    assert by_name["file"].data.nbytes == 2**30
    assert by_name["fill"].data.read(2**33, 8).tobytes() == np.ones(2, np.float32).tobytes()


def test_inputs_with_default_contents(tmp_path: Path) -> None:
    sample = ("/inputs/x", f32(4, fill=1))
    (x,) = loaded(tmp_path, sample).inputs
    assert x.default is not None
    assert x.default.nbytes == 16
    for options in (LoadOptions(constants=frozenset({"x"})), LoadOptions(freeze=True)):
        frozen = loaded(tmp_path, sample, options=options)
        assert frozen.inputs == ()
        assert data_of(frozen, "x") == np.ones(4, np.float32).tobytes()
    assert load_model(tmp_path, edited(NATIVE, sample), LoadOptions(freeze=True, inputs=frozenset({"x"}))).inputs
    assert not loaded(tmp_path, ("/inputs/x", f32(4, fill=1, Flags="OWNED_BY_DML"))).inputs


def test_allowed_paths(directory: Path) -> None:
    change = (W, {"DataType": "UINT8", "Sizes": [16], "file": "../outside.bin"}), (D0 + "/BTensor", f32(4))
    graph = loaded(directory, *change, options=LoadOptions(allow_paths=(directory.parent,)))
    assert data_of(graph, "w") == bytes(16)


def test_reading_parts_of_padded_data() -> None:
    data = padded(ArrayData(np.arange(1, 4, dtype=np.uint8)), 8)
    whole = bytes([1, 2, 3, 0, 0, 0, 0, 0])
    assert data.read().tobytes() == whole
    for offset in range(10):
        for length in range(10):
            assert data.read(offset, length).tobytes() == whole[offset : offset + length]


def test_readers_of_an_invalid_node_have_no_findings(tmp_path: Path) -> None:
    graph = load_model(tmp_path, edited(NATIVE, (N0 + "/type", "ADD")))
    assert [item.code for item in graph.findings] == [codes.UNKNOWN_OPERATOR.id]
    assert [node.name for node in graph.nodes] == ["join", "split"]


# --- Parts of buffers, views, commands --------------------------------------------------------------------------------


def test_versions_of_a_buffer(tmp_path: Path) -> None:
    """A value has the size of its base, in any order of nodes."""
    split = [{"value": "a", "base": "b", "offset": 16}, None]
    changes = [("/nodes/2/outputs/OutputTensors", split), (H, {"value": "h", "base": "x#1", "offset": 32})]
    changes.append(("/nodes/1/outputs/OutputTensor", {"value": "y", "offset": 16, "bytes": 80, "name": "x#1"}))
    second: Model = {"name": "second", "type": "ACTIVATION_RELU", "desc": {"OutputTensor": f32(4)}}
    second |= {"inputs": {"InputTensor": "x"}, "outputs": {"OutputTensor": {"value": "b", "base": "y"}}}
    third = {**second, "name": "third", "outputs": {"OutputTensor": {"value": "x#1", "offset": 16}}}
    graph = loaded(tmp_path, *changes, ("/nodes/-", second), ("/nodes/-", third))
    writes = {write.value: write for node in graph.nodes for items in node.writes.values() for write in items}
    y, b = graph.nodes[1].targets[0], graph.nodes[3].targets[0]
    assert (y.name, y.nbytes, writes[y].offset, writes[y].base) == ("x#1", 80, 16, None)
    assert (b.name, b.nbytes, writes[b].base) == ("b", 80, y)
    a, unnamed = graph.nodes[2].targets
    assert (a.nbytes, writes[a].offset, writes[a].base, unnamed.nbytes) == (80, 16, b, 20)
    h, x1 = graph.nodes[0].targets[0], graph.nodes[4].targets[0]
    assert (x1.nbytes, h.nbytes, writes[h].base) == (32, 32, x1)


def test_the_checks_report_cycles_of_versions(tmp_path: Path) -> None:
    join: Model = {"value": "y", "base": "h", "offset": 64}
    graph = loaded(tmp_path, (H, {"value": "h", "base": "y"}), ("/nodes/1/outputs/OutputTensor", join))
    assert {item.code for item in check_graph(graph)} == {checking.CYCLE.id}


def test_outputs_of_one_node_in_one_buffer(tmp_path: Path) -> None:
    split = [{"value": "a", "bytes": 64}, {"value": "b", "base": "a", "offset": 16}]
    graph = loaded(tmp_path, ("/nodes/2/outputs/OutputTensors", split))
    first, second = graph.nodes[2].writes["OutputTensors"]
    assert (second.base, second.value.nbytes, first.base) == (first.value, 64, None)


def test_buffers(tmp_path: Path) -> None:
    (tmp_path / "two.bin").write_bytes(bytes([1, 2]))
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.int16))
    for contents, data in (
        ({"values": list(range(16))}, bytes(range(16))),
        ({"DataType": "INT16", "fill": -2}, b"\xfe\xff" * 8),
        ({"DataType": "UINT4", "fill": 3}, b"\x33" * 16),
        ({"file": "x.npy"}, np.arange(3, dtype=np.int16).tobytes() + bytes(10)),
    ):
        (x,) = loaded(tmp_path, *BUFFER, ("/inputs/x", {"bytes": 16, "name": "z", **contents})).inputs
        assert x.default is not None
        assert (x.name, x.value.name, x.value.nbytes, x.desc) == ("z", "z", 16, None)
        assert x.default.read().tobytes() == data
    graph = loaded(tmp_path, *BUFFER, ("/inputs/x", {"bytes": 16, "fill": 7}), options=LoadOptions(freeze=True))
    assert data_of(graph, "x") == b"\x07" * 16
    short = ("/inputs/x", {"bytes": 16, "file": "two.bin", "length": 2})
    graph = load_model(tmp_path, edited(NATIVE, *BUFFER, short))
    assert [item.code for item in graph.findings] == [codes.FILE_TOO_SHORT.id]


def test_larger_buffers(tmp_path: Path) -> None:
    graph = loaded(tmp_path, ("/inputs/x/bytes", 40), ("/constants/w/bytes", 19))
    assert (graph.inputs[0].value.nbytes, graph.inputs[0].desc) == (40, TensorDesc(DataType.FLOAT32, (4,)))
    assert data_of(graph, "w") == np.array([1, 2.5, np.inf, -1], np.float32).tobytes() + bytes(3)


def test_views_results_and_commands(tmp_path: Path) -> None:
    commands: list[Model] = [
        {**PRINT, "name": "shown", "verbose": True},
        {"type": "writeFile", "value": "h", **f32(2), "targetPath": "a/h.npy", "dimensions": [1, 2]},
    ]
    outputs = {"first": {"value": "h", **f32(2, 2)}, "second": "h"}
    graph = loaded(
        tmp_path, ("/outputs", outputs), ("/results", ["y", {"value": "x", **f32(1)}]), ("/commands", commands)
    )
    assert [(item.name, item.value.name, str(item.desc)) for item in (*graph.outputs, *graph.results)] == [
        ("first", "h", "FLOAT32 [2, 2]"),
        ("second", "h", "FLOAT32 [4]"),
        ("y", "y", "FLOAT32 [8]"),
        ("x", "x", "FLOAT32 [1]"),
    ]
    shown, written = graph.effects
    assert (shown.kind, shown.output.name, str(shown.output.desc), shown.verbose) == (
        "print",
        "shown",
        "FLOAT32 [8]",
        True,
    )
    assert (written.kind, written.path, written.dimensions, str(written.output.desc)) == (
        "writeFile",
        "a/h.npy",
        (1, 2),
        "FLOAT32 [2]",
    )


def test_members_of_values_are_listed_in_a_fixed_order(tmp_path: Path) -> None:
    """The order of a set would differ between processes."""
    (finding,) = load_model(tmp_path, edited(NATIVE, ("/inputs/x/of", 1))).findings
    assert finding.expected.endswith(", GuaranteedBaseOffsetAlignment, file, fill, length, offset, values, bytes, name")


def test_a_model_with_every_member_reports_an_unknown_value(tmp_path: Path) -> None:
    members = {"$schema": "native.schema.json", "name": "n", "feature_level": "5_0", "names": {}, "commands": []}
    model = {**NATIVE, **members, "results": {"r": "q"}}
    assert model.keys() == set(native.ROOT_MEMBERS)
    assert [item.code for item in load_model(tmp_path, model).findings] == [codes.UNKNOWN_VALUE]
