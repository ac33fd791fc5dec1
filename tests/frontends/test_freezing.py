"""Inputs that become constants with contents from the caller, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError, Graph, LoadOptions, UnreadableError
from dml2onnx.codes import reading as codes
from dml2onnx.exporters import convert
from dml2onnx.frontends.array_files import ContentsFile
from tests.refusals import refused

from .models import DX, GRAPH, NATIVE, REMOVE, Model, edited, f32, load_model
from .rejections import changes_of, rejecting

VALUES = np.array([1.5, -2, 3, 4], np.float32)


def with_contents(**constants: Any) -> LoadOptions:
    return LoadOptions(constants=constants)


native, dx, graph = map(changes_of, (NATIVE, DX, GRAPH))
REJECTED = [
    native(codes.CONTENTS_DIFFER, at="/inputs/x", options=with_contents(x=b"abc")),
    native(codes.CONTENTS_DIFFER, at="/inputs/x", options=with_contents(x=bytes(20))),
    native(codes.CONTENTS_DIFFER, at="/inputs/x", options=with_contents(x=VALUES[:3])),
    native(codes.CONTENTS_DIFFER, at="/inputs/x", options=with_contents(x=VALUES.reshape(2, 2))),
    native(codes.CONTENTS_DIFFER, at="/inputs/x", options=with_contents(x=VALUES.astype(np.int32))),
    native(codes.CONTENTS_DIFFER, at="/inputs/x", options=with_contents(x=VALUES.astype(np.float64) + 1e300)),
    native(codes.UNKNOWN_OPTION_NAME, at="", options=with_contents(xx=VALUES)),
    native(codes.UNKNOWN_OPTION_NAME, at="", options=with_contents(w=VALUES)),
    dx(codes.UNKNOWN_OPTION_NAME, at="", options=with_contents(y=VALUES)),
    graph(codes.CONTENTS_DIFFER, at="", options=with_contents(x=VALUES[:3])),
    graph(codes.NO_CONTENTS, at="", options=with_contents(x=None)),
]


test_rejected = rejecting(REJECTED)


def test_unknown_names_suggest_known_ones(tmp_path: Path) -> None:
    finding = load_model(tmp_path, NATIVE, with_contents(X=VALUES)).findings[0]
    assert "did you mean" in finding.message
    assert finding.expected == '"x"'


@pytest.mark.parametrize(
    "broken",
    [edited(NATIVE, ("/inputs/x/DataType", "FLOAT33")), edited(DX, ("/resources/x/initialValues", "deferred"))],
)
@pytest.mark.parametrize("name", ["q", "x"])
def test_models_with_errors_have_no_findings_about_constants(name: str, broken: Model, tmp_path: Path) -> None:
    assert (
        load_model(tmp_path, broken, with_contents(**{name: VALUES})).findings == load_model(tmp_path, broken).findings
    )


def everything(tmp_path: Path) -> dict[str, Path]:
    """Writes one graph in every format."""
    graph = load_model(tmp_path, NATIVE)
    graph = replace(graph, nodes=graph.nodes[:1], outputs=graph.outputs[:1])
    files = {name: tmp_path / f"{name}.{'bin' if name == 'serialized' else 'json'}" for name in FORMATS}
    for name, path in files.items():
        if name == "dxdispatch":
            load_model(tmp_path, edited(DX, ("/resources/w/initialValues", [1, 2.5, "inf", -1])))
            (tmp_path / "model.json").rename(path)
        else:
            convert(graph, path, name)
    return files


FORMATS = ("native", "dml_graph", "serialized", "dxdispatch")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_and_every_source(form: str, tmp_path: Path) -> None:
    path = everything(tmp_path)[form]
    np.save(tmp_path / "x.npy", VALUES.astype(np.float64))
    np.savez(tmp_path / "two.npz", x=VALUES, other=VALUES[:1])
    np.savez(tmp_path / "one.npz", weights=VALUES)
    (tmp_path / "x.raw").write_bytes(VALUES.tobytes())
    sources: dict[str, Any] = {
        "array": VALUES,
        "list": VALUES.tolist(),
        "bytes": VALUES.tobytes(),
        "npy": str(tmp_path / "x.npy"),
        "npz": tmp_path / "two.npz",
        "member": f"{tmp_path / 'two.npz'}:x",
        "only": tmp_path / "one.npz",
        "raw": tmp_path / "x.raw",
    }
    if form == "dxdispatch":
        assert dml2onnx.load(path).inputs[0].default is not None  # the option overrides it
    expected = dml2onnx.run(path, {"x": VALUES})
    for name, source in sources.items():
        graph = dml2onnx.load(path, constants={"x": source})
        assert graph.findings == (), name
        assert graph.inputs == ()
        np.testing.assert_equal(dml2onnx.run(graph), expected)
    files = {path.resolve() for path in dml2onnx.load(path, constants={"x": sources["npy"]}).sources}
    assert (tmp_path / "x.npy").resolve() in files


def strided(tmp_path: Path) -> Graph:
    model = edited(
        NATIVE,
        ("/inputs/x", f32(2, 3, Strides=[1, 2])),
        ("/constants/w", f32(2, 3, fill=0)),
        ("/nodes/0/desc/OutputTensor", f32(2, 3)),
        ("/nodes/2", REMOVE),
        ("/nodes/1", REMOVE),
        ("/outputs", ["h"]),
    )
    return load_model(tmp_path, model)


def test_strided_inputs_are_in_memory_order(tmp_path: Path) -> None:
    """As for ``run``: the shape of the model's input, one dimension, or bytes."""
    plain = strided(tmp_path)
    port = dml2onnx.compile(plain).inputs[0]
    assert port.shape == (3, 2)
    memory = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
    expected = dml2onnx.run(plain, {"x": memory})["h"]
    np.testing.assert_array_equal(expected, memory.T)
    for contents in (memory, memory.ravel(), memory.tobytes()):
        graph = dml2onnx.load(tmp_path / "model.json", constants={"x": contents})
        np.testing.assert_array_equal(dml2onnx.run(graph)["h"], expected)
    (wrong,) = dml2onnx.load(tmp_path / "model.json", constants={"x": memory.T}).findings
    assert wrong.expected == "float32 [3, 2], or 24 bytes"


def test_readers_with_different_tensors(tmp_path: Path) -> None:
    """If the first reader reads only a part of the buffer, the contents are a row of all elements."""
    model = edited(NATIVE, ("/inputs/x", {"bytes": 32}), ("/nodes/0/desc/ATensor", f32(4)))
    model = edited(model, ("/nodes/1/inputs/InputTensors/1/offset", 16), ("/nodes/1/desc/InputTensors", [f32(4)] * 2))
    load_model(tmp_path, model)
    row = np.arange(8, dtype=np.float32)
    expected = dml2onnx.run(tmp_path / "model.json", {"x": row})
    graph = dml2onnx.load(tmp_path / "model.json", constants={"x": row})
    np.testing.assert_equal(dml2onnx.run(graph), expected)


def test_packed_nibbles_are_bytes(tmp_path: Path) -> None:
    model = {
        "dml2onnx": 1,
        "feature_level": "6_3",
        "inputs": {"x": {**f32(1, 5), "DataType": "UINT4"}, "s": f32(1, 1), "z": {**f32(1, 1), "DataType": "UINT4"}},
        "nodes": [
            {
                "type": "DEQUANTIZE",
                "desc": {"QuantizationType": "SCALE_ZERO_POINT", "OutputTensor": f32(1, 5)},
                "inputs": {"InputTensor": "x", "QuantizationTensors": ["s", "z"]},
                "outputs": {"OutputTensor": "y"},
            }
        ],
        "outputs": ["y"],
    }
    load_model(tmp_path, model)
    inputs: dict[str, np.ndarray] = {
        "x": np.array([0x21, 0x43, 0x05], np.uint8),
        "s": np.array([[2]], np.float32),
        "z": np.array([1], np.uint8),
    }
    expected = dml2onnx.run(tmp_path / "model.json", inputs)["y"]
    assert expected.tolist() == [[0, 2, 4, 6, 8]]
    graph = dml2onnx.load(tmp_path / "model.json", constants=inputs)
    assert graph.findings == ()
    np.testing.assert_array_equal(dml2onnx.run(graph)["y"], expected)


def test_directories(tmp_path: Path) -> None:
    model = edited(NATIVE, ("/inputs/layer~1w", f32(4)), ("/nodes/0/inputs/BTensor", "layer/w"))
    load_model(tmp_path, model)
    weights = tmp_path / "weights"
    weights.mkdir()
    np.save(weights / "layer_w.npy", VALUES)
    (weights / "x").write_bytes(VALUES.tobytes())
    (weights / "notes.txt").write_text("not about an input")
    options = LoadOptions(constant_directories=(weights,))
    path = tmp_path / "model.json"
    graph = dml2onnx.load(path, options)
    assert (graph.inputs, graph.findings) == ((), ())
    np.testing.assert_equal(dml2onnx.run(graph), dml2onnx.run(path, {"x": VALUES, "layer/w": VALUES}))
    kept = dml2onnx.load(path, replace(options, inputs=frozenset({"x"})))
    assert [item.name for item in kept.inputs] == ["x"]
    own = dml2onnx.load(path, options, constants={"x": VALUES + 1})
    np.testing.assert_equal(dml2onnx.run(own), dml2onnx.run(path, {"x": VALUES + 1, "layer/w": VALUES}))
    (weights / "spare.bin").write_bytes(bytes(4))
    assert [item.code for item in dml2onnx.load(path, options).findings] == [codes.UNUSED_FILES.id]
    (weights / "x.bin").write_bytes(VALUES.tobytes())
    found = [item.code for item in dml2onnx.load(path, options).findings]
    assert found == [codes.TWO_FILES.id, codes.UNUSED_FILES.id]
    with pytest.raises(UnreadableError):
        dml2onnx.load(path, LoadOptions(constant_directories=(tmp_path / "nowhere",)))


def test_the_directory_of_the_model(tmp_path: Path) -> None:
    files = everything(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    convert(dml2onnx.load(files["native"]), own / "Partition_0.bin")
    (own / "x.bin").write_bytes(VALUES.tobytes())
    graph = dml2onnx.load(own / "Partition_0.bin", LoadOptions(constant_directories=(own,)))
    assert (graph.inputs, graph.findings) == ((), ())


def test_compiled_like_a_constant_of_the_model(tmp_path: Path) -> None:
    """The compiled model does not depend on the source of a constant."""
    path = everything(tmp_path)["native"]
    graph = dml2onnx.load(path, constants={"x": VALUES})
    convert(graph, tmp_path / "frozen.json")
    assert dml2onnx.compile(graph).serialize() == dml2onnx.compile(tmp_path / "frozen.json").serialize()


@pytest.mark.parametrize("wrong", ["x", ["x"], 3, {3: VALUES}, {"x": 1j}, {"x": object()}])
def test_arguments(wrong: Any, tmp_path: Path) -> None:
    load_model(tmp_path, NATIVE)
    assert refused(dml2onnx.load, tmp_path / "model.json", constants=wrong) == ["DML3017"]


def test_names_of_archives(tmp_path: Path) -> None:
    for text, file in (
        ("a.npz:b:c.npz:w", ContentsFile(Path("a.npz:b:c.npz"), "w")),
        ("w.npz", ContentsFile(Path("w.npz"))),
    ):
        assert ContentsFile.parse(text) == file
        assert str(file) == text
    odd = tmp_path / "a.npz:b"
    odd.write_bytes(b"")
    assert ContentsFile.parse(str(odd)) == ContentsFile(odd)


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 5000 + ".npz:w", "a\0b", "a\0b.npz:w"])
def test_invalid_file_names(name: str, tmp_path: Path) -> None:
    load_model(tmp_path, NATIVE)
    with pytest.raises(UnreadableError):
        dml2onnx.load(tmp_path / "model.json", constants={"x": name})
    with pytest.raises(UnreadableError):
        dml2onnx.load(tmp_path / "model.json", LoadOptions(constant_directories=(Path(name),)))


def test_constant_and_input_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as caught:
        load_model(tmp_path, NATIVE, LoadOptions(constants={"x": VALUES}, inputs=frozenset({"x"})))
    assert [item.code for item in caught.value.diagnostics] == [codes.UNKNOWN_OPTION_NAME.id]


@pytest.fixture
def without_weights(tmp_path: Path) -> Path:
    """A serialized graph y = (x + a) * b with the files of a and b in another directory."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, [4])
    a, b = (g.constant(VALUES * factor, name=name, owned_by_dml=True) for name, factor in (("a", 1), ("b", 2)))
    convert(g.build({"y": (x + a) * b}), tmp_path / "graph.bin")
    (tmp_path / "weights").mkdir()
    for name in ("a.bin", "b.bin"):
        (tmp_path / name).rename(tmp_path / "weights" / name)
    return tmp_path / "graph.bin"


@pytest.mark.parametrize("source", ["directory", "files"])
def test_constants_with_files_in_another_directory(source: str, without_weights: Path) -> None:
    weights = without_weights.parent / "weights"
    with pytest.raises(DmlError):
        dml2onnx.compile(without_weights)
    files = {name: weights / f"{name}.bin" for name in ("a", "b")}
    options = LoadOptions(constant_directories=(weights,)) if source == "directory" else LoadOptions(constants=files)
    graph = dml2onnx.load(without_weights, options)
    assert dml2onnx.check(graph) == []
    result = dml2onnx.run(graph, {"x": np.ones(4, np.float32)})["y"]
    np.testing.assert_array_equal(result, (1 + VALUES) * 2 * VALUES)


def test_constants_without_files_can_become_inputs(without_weights: Path) -> None:
    options = LoadOptions(constants={"a": VALUES}, inputs=frozenset({"b"}))
    result = dml2onnx.run(dml2onnx.load(without_weights, options), {"x": np.ones(4, np.float32), "b": VALUES})["y"]
    np.testing.assert_array_equal(result, (1 + VALUES) * VALUES)
    rest = dml2onnx.load(without_weights, LoadOptions(constants={"a": VALUES}))
    assert [(item.code, item.node) for item in dml2onnx.check(rest)] == [(codes.MISSING_CONTENTS.id, "b")]
