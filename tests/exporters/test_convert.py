"""Writing graphs: choice of the format, names of files, and protection of existing files."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.codes import exporting as codes
from dml2onnx.codes import reading, running
from dml2onnx.diagnostics import Code, DmlError
from dml2onnx.exporters import FORMATS, GRAPHS, convert, left_out
from dml2onnx.exporters.native import native
from dml2onnx.exporters.references import references
from dml2onnx.exporters.serialized import serialized
from dml2onnx.frontends import LoadOptions, load
from dml2onnx.ir.data import ArrayData, MissingData
from dml2onnx.ir.graph import Constant, Graph, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from tests.checks.build import op
from tests.checks.cases import Case
from tests.checks.test_cases import CASES
from tests.frontends.models import DX, NATIVE, edited, f32, load_model
from tests.frontends.partitions import PARTITION
from tests.frontends.partitions import write as write_partition
from tests.refusals import refusal

WEIGHTS = f32(4, 100, Strides=[0, 1], file="weights.bin")
LARGE = edited(NATIVE, ("/constants/w", WEIGHTS), ("/nodes/0/desc/BTensor", f32(4)))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model with a constant in a file."""
    (tmp_path / "weights.bin").write_bytes(np.arange(100, dtype=np.float32).tobytes())
    path = tmp_path / "model.json"
    path.write_text(json.dumps(LARGE))
    return path


def refused(model: Path | dml2onnx.Graph, path: Path, format: str | None = None) -> str:
    item = refusal(convert, model, path, format)
    return item.code


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("format", GRAPHS)
def test_every_format_can_be_read(format: str, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    written = dml2onnx.convert(model, out / "graph", format)
    assert written[0] == out / "graph"
    assert names(out) == sorted(path.name for path in written)
    graph = load(out / "graph")
    assert (graph.format, graph.findings) == (format, ())
    assert [node.operator.type for node in graph.nodes] == ["ELEMENT_WISE_ADD1", "JOIN", "SPLIT"]
    (constant,) = graph.constants
    read = 4 if format == "serialized" else 100
    assert constant.data.read().view(np.float32).tolist() == list(range(read))


def test_the_suffix_determines_the_format(model: Path, tmp_path: Path) -> None:
    convert(model, tmp_path / "a.JSON")
    convert(model, tmp_path / "a_serialized.bin")
    assert load(tmp_path / "a.JSON").format == "native"
    assert load(tmp_path / "a_serialized.bin").format == "serialized"
    assert refused(model, tmp_path / "a.onnx") == codes.UNKNOWN_TARGET.id
    assert refused(model, tmp_path / "a.json", "onnx") == codes.UNKNOWN_TARGET.id


def test_the_source_is_not_overwritten(model: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert refused(model, model) == running.OUTPUT_IS_SOURCE.id
    assert refused(model, tmp_path / "weights.bin") == running.OUTPUT_IS_SOURCE.id
    model.write_text(model.read_text().replace("weights.bin", "other.json.data"))
    (tmp_path / "weights.bin").rename(tmp_path / "other.json.data")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert refused(model, tmp_path / "other.json") == running.OUTPUT_IS_SOURCE.id
    assert refused(load(model), tmp_path / "other.json") == running.OUTPUT_IS_SOURCE.id
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_padded_source_is_not_overwritten(tmp_path: Path) -> None:
    """The file of a constant that is longer than the file."""
    (tmp_path / "w.json.data").write_bytes(bytes(300))
    constant = {"DataType": "UINT8", "Sizes": [300], "bytes": 400, "file": "w.json.data"}
    graph = load_model(tmp_path, edited(NATIVE, ("/constants/w", constant), ("/nodes/0/desc/BTensor", f32(4))))
    assert refused(graph, tmp_path / "w.json", "dml_graph") == running.OUTPUT_IS_SOURCE.id
    assert (tmp_path / "w.json.data").read_bytes() == bytes(300)


def test_foreign_files_are_not_overwritten(model: Path, tmp_path: Path) -> None:
    """A file beside the output is overwritten only together with an existing output."""
    (tmp_path / "out.json.data").write_bytes(b"precious")
    assert refused(model, tmp_path / "out.json") == codes.BESIDE_OUTPUT.id
    assert (tmp_path / "out.json.data").read_bytes() == b"precious"
    assert not (tmp_path / "out.json").exists()
    (tmp_path / "out.json").write_text("an older one")
    assert convert(model, tmp_path / "out.json") == [tmp_path / "out.json", tmp_path / "out.json.data"]


def test_constants_of_other_graphs_are_not_overwritten(tmp_path: Path) -> None:
    """A serialized graph names its files after its constants, independently of its own name."""

    def weighted(value: float) -> Graph:
        g = dml2onnx.GraphBuilder()
        x = g.input("x", "FLOAT32", [8])
        parts = [g.constant(np.full(8, value, np.float32), name=name) for name in ("w", "b")]
        return g.build({"y": g.add(g.multiply(x, parts[0]), parts[1])})

    one, other = tmp_path / "one.bin", tmp_path / "other.bin"
    assert len(convert(weighted(1), one)) == 3
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    item = refusal(convert, weighted(2), other)
    assert item.code == codes.BESIDE_OUTPUT.id
    assert 'would overwrite "b.bin", "w.bin", which do not belong to an earlier "other.bin"' in item.message
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    other.write_bytes(b"an older one, which names no such file")
    assert refused(weighted(2), other) == codes.BESIDE_OUTPUT.id
    assert len(convert(weighted(3), one)) == 3  # its own files are replaced with it
    assert [constant.data.read().view(np.float32)[0] for constant in load(one).constants] == [3, 3]


def test_nothing_half_written(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(tmp_path)
    assert refused(model, tmp_path / "nowhere" / "out.json") == running.OUTPUT_UNWRITABLE.id
    replace = os.replace

    def full(source: str, target: Path) -> None:
        if target.name == "out.json":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert refused(model, tmp_path / "out.json") == running.OUTPUT_UNWRITABLE.id
    assert names(tmp_path) == before


def test_a_directory_in_the_way_costs_nothing(model: Path, tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()
    (tmp_path / "out.json.data").write_bytes(b"precious")
    assert refused(model, tmp_path / "out.json") == running.OUTPUT_UNWRITABLE.id
    assert (tmp_path / "out.json.data").read_bytes() == b"precious"


@pytest.mark.parametrize("format", GRAPHS)
def test_deleted_constants(format: str, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    graph = load(model)
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"short")
    assert refused(graph, out / "graph", format) == reading.FILE_UNREADABLE.id
    weights.unlink()
    assert refused(graph, out / "graph", format) == reading.FILE_UNREADABLE.id
    assert names(out) == []


@pytest.mark.parametrize("format", GRAPHS)
@pytest.mark.parametrize("where", ["", "out"])
def test_missing_constants(format: str, where: str, tmp_path: Path) -> None:
    """A partition without its weights can be converted, and works once the weights are present."""
    path = write_partition(tmp_path, PARTITION)
    expected = dml2onnx.run(load(path), {"x": np.arange(4, dtype=np.float32)})
    weights = tmp_path / "w.bin"
    contents = weights.read_bytes()
    weights.unlink()
    graph = load(path)
    (tmp_path / "out").mkdir()
    target = tmp_path / where / "graph"
    assert convert(graph, target, format) == [target]
    warnings = [item for item in left_out(graph, target, format) if item.code == codes.FILE_TO_COME.id]
    assert len(warnings) == (where == "out")
    before = load(target)
    assert before.findings
    with pytest.raises(DmlError, match=r"w\.bin"):
        dml2onnx.run(before, {"x": np.arange(4, dtype=np.float32)})
    (target.parent / "w.bin").write_bytes(contents)
    after = load(target)
    assert after.findings == ()
    results = dml2onnx.run(after, {"x": np.arange(4, dtype=np.float32)})
    for name, array in expected.items():
        np.testing.assert_array_equal(results[name], array)
    assert format == "dxdispatch" or results.keys() == expected.keys()  # a program returns all of its buffers


def test_missing_files_have_unique_names(tmp_path: Path) -> None:
    """Two files with one name in two directories, and one with the name of the output."""
    desc = TensorDesc(DataType.FLOAT32, (3,))
    values = [Value(f"w{index}", 12) for index in range(3)]
    paths = [tmp_path / "a" / "w.bin", tmp_path / "b" / "w.bin", tmp_path / "b" / "out.bin"]
    constants = tuple(Constant(value, MissingData(path, 12)) for value, path in zip(values, paths, strict=True))
    adding = op("ELEMENT_WISE_ADD", ATensor=desc, BTensor=desc, OutputTensor=desc)
    h, y = Value("h", 12), Value("y", 12)
    nodes = tuple(
        Node(result.name, adding, {"ATensor": (Read(a),), "BTensor": (Read(b),)}, {"OutputTensor": (Write(result),)})
        for a, b, result in ((values[0], values[1], h), (h, values[2], y))
    )
    graph = Graph(nodes, (), (GraphOutput("y", y, desc),), constants)
    names = references(graph, tmp_path, ("out.bin", "out.bin.data"))
    assert list(names.values()) == ["a/w.bin", "b/w.bin", "b/out.bin"]
    (tmp_path / "c").mkdir()
    out = tmp_path / "c" / "out.bin"
    convert(graph, out)
    for name, value in (("w.bin", 1), ("w_2.bin", 2), ("out_2.bin", 4)):
        np.full(3, value, np.float32).tofile(out.with_name(name))
    assert dml2onnx.run(load(out))["y"].tolist() == [7, 7, 7]


@pytest.mark.parametrize("format", ["native", "serialized"])
def test_constants_of_one_name(format: str, tmp_path: Path) -> None:
    """Names are unique, and are found in linear time."""
    count = 12_000
    large = TensorDesc(DataType.FLOAT32, (3,))
    values = [Value("w", 12) for _ in range(count)]
    constants = tuple(Constant(value, ArrayData.of(np.array([1, 2, 3], np.float32))) for value in values)
    adding = op("ELEMENT_WISE_ADD", ATensor=large, BTensor=large, OutputTensor=large)
    writes = [Write(Value(f"y{index}", 12)) for index in range(count)]
    nodes = [
        Node(f"n{index}", adding, {"ATensor": (Read(value),), "BTensor": (Read(value),)}, {"OutputTensor": (write,)})
        for index, (value, write) in enumerate(zip(values, writes, strict=True))
    ]
    graph = Graph(tuple(nodes), (), (GraphOutput("y", writes[-1].value, large),), constants)
    start = time.process_time()
    if format == "native":
        document = json.loads(native(graph, "sidecar.bin")[0])
        given = list(document["constants"])
    else:
        given = [name.removesuffix(".bin") for name in serialized(graph)[1]]
    assert time.process_time() - start < 20
    assert given == ["w", *(f"w_{number}" for number in range(2, count + 1))]


def test_options_of_loading_apply(tmp_path: Path) -> None:
    graph = load_model(tmp_path, edited(NATIVE, ("/inputs/x", f32(4, fill=1))), LoadOptions(freeze=True))
    convert(graph, tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    assert "inputs" not in document
    assert list(document["constants"]) == ["x", "w"]
    assert document["constants"]["x"] == f32(4, fill=1)


def test_warnings_about_omitted_parts(tmp_path: Path) -> None:
    """Only the native format stores sample contents, feature levels and commands."""
    graph = load_model(tmp_path, {**DX, "commands": [*DX["commands"], {"type": "print", "resource": "y"}]})
    assert left_out(graph, tmp_path / "x.json") == []
    warnings = left_out(graph, tmp_path / "x.bin")
    assert {item.code for item in warnings} == {codes.LEFT_OUT.id}
    assert [item.severity.value for item in warnings] == ["warning"] * 2
    assert "sample contents" in warnings[0].message
    assert "does not store commands" in warnings[1].message
    level = load_model(tmp_path, edited(NATIVE, ("/feature_level", "4_0")))
    (item,) = left_out(level, tmp_path / "x.json", "dml_graph")
    assert "the feature level 4_0" in item.message


def test_every_code_is_reached() -> None:
    tests = "".join(
        path.read_text(encoding="utf-8")
        for package in ("exporters", "source_code")
        for path in (Path(__file__).parent.parent / package).glob("test_*.py")
    )
    assert [key for key, value in vars(codes).items() if isinstance(value, Code) and f"codes.{key}" not in tests] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_invalid_graphs_raise_nothing_but_their_errors(case: Case, tmp_path: Path) -> None:
    for format in FORMATS:
        with suppress(DmlError):  # where the format cannot express the graph
            dml2onnx.convert(case.graph, tmp_path / f"graph.{format}", format=format)
