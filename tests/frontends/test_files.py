"""Data files of constants: their sizes and paths, in every format that names files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx.checks import check
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends import LoadOptions, load
from dml2onnx.frontends.files import FileError, ModelFiles
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import DataType, TensorDesc

from .conftest import LFS_POINTER
from .models import Model, inner_edge, output_edge
from .partitions import attribute, node, write

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
TYPES = [DataType.FLOAT32, DataType.FLOAT16, DataType.UINT8, DataType.INT64]
SPARE = dict.fromkeys(("native", "dml_graph", "serialized"), codes.FILE_TOO_LONG) | {
    "dxdispatch": codes.FILE_PARTLY_READ
}


def described(desc: TensorDesc) -> Model:
    members: Model = {"DataType": desc.data_type.name, "Sizes": list(desc.sizes)}
    return members if desc.strides is None else {**members, "Strides": list(desc.strides)}


def load_as(format: str, directory: Path, desc: TensorDesc) -> Graph:
    """Loads a graph that copies the constant in ``w.bin`` to its output."""
    raw, out = described(desc), {"DataType": desc.data_type.name, "Sizes": list(desc.sizes)}
    path = directory / "model.json"
    if format == "serialized":
        described_tensors = [
            {
                "dataType": f"DML_TENSOR_DATA_TYPE_{item.data_type.name}",
                "sizes": item.sizes,
                "strides": item.strides,
                "total": item.total_bytes,
            }
            for item in (desc, TensorDesc(desc.data_type, desc.sizes))
        ]
        source, target = described_tensors
        copy = node("ELEMENT_WISE_IDENTITY", [source], [target], [attribute(None, 10)], reads=["w0"], writes=["y"])
        constant: Model = {"name": "w", "constant": "w", "outputNames": ["w0"]}
        contents = (directory / "w.bin").read_bytes()
        path = write(directory, {"nodes": [constant, copy], "inputs": [], "outputs": ["y"]})
        (directory / "w.bin").write_bytes(contents)
        return load(path)
    operator = {"InputTensor": raw, "OutputTensor": out}
    copy = {"Type": "ELEMENT_WISE_IDENTITY", "Desc": operator}
    models: dict[str, Model] = {
        "native": {
            "dml2onnx": 1,
            "constants": {"w": {**raw, "file": "w.bin"}},
            "nodes": [
                {
                    "type": "ELEMENT_WISE_IDENTITY",
                    "desc": {"OutputTensor": out},
                    "inputs": {"InputTensor": "w"},
                    "outputs": {"OutputTensor": "y"},
                }
            ],
            "outputs": ["y"],
        },
        "dml_graph": {
            "Nodes": [{"Type": 1, "Desc": copy}, {"Type": 2, "Desc": {"Data": {"file": "w.bin"}}}],
            "IntermediateEdges": [inner_edge(1, 0, 0)],
            "OutputEdges": [output_edge(0, 0, 0, Name="y")],
        },
        "dxdispatch": {
            "resources": {
                "w": {"initialValuesDataType": desc.data_type.name, "initialValues": {"sourcePath": "w.bin"}},
                "y": {
                    "initialValuesDataType": desc.data_type.name,
                    "initialValues": {"valueCount": desc.element_count, "value": 0},
                },
            },
            "dispatchables": {"copy": {"type": "ELEMENT_WISE_IDENTITY", "desc": operator}},
            "commands": [
                {"type": "dispatch", "dispatchable": "copy", "bindings": {"InputTensor": "w", "OutputTensor": "y"}}
            ],
        },
    }
    path.write_text(json.dumps(models[format]))
    return load(path)


@st.composite
def tensors(draw: st.DrawFn) -> TensorDesc:
    """Packed tensors, and tensors with gaps or broadcast dimensions."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    strides: tuple[int, ...] | None = None
    if draw(st.booleans()):
        step, found = draw(st.integers(1, 3)), []
        for size in reversed(sizes):
            found.append(step if draw(st.integers(0, 4)) else 0)
            step *= size
        strides = tuple(reversed(found))
    return TensorDesc(draw(st.sampled_from(TYPES)), sizes, strides)


@pytest.mark.parametrize("format", SPARE)
@quick
@given(desc=tensors(), spare=st.integers(-5, 13))
def test_a_file_has_the_size_of_its_tensor(format: str, tmp_path: Path, desc: TensorDesc, spare: int) -> None:
    """Shorter and longer files are reported."""
    elements = desc.data_type.bytes_for(desc.extent)
    required = elements if format == "native" else desc.minimum_bytes
    size = max(1, elements + spare)
    (tmp_path / "w.bin").write_bytes(np.arange(1, size + 1, dtype=np.uint8).tobytes())
    graph = load_as(format, tmp_path, desc)
    found = {item.code for item in check(graph)}
    steps = [stride for size, stride in zip(desc.sizes, desc.effective_strides, strict=True) if size > 1 and stride]
    gap = (min(steps, default=1) - 1) * desc.data_type.itemsize
    if -(-size // 4) * 4 < required or (size < elements and format == "native"):
        assert found, (desc, size)
        assert SPARE[format].id not in found
    elif size <= desc.minimum_bytes:
        assert found == set(), (desc, size)
        assert graph.findings == ()
    elif size > -(-(elements + gap) // 4) * 4:
        assert found == {SPARE[format].id}, (desc, size)
    else:
        assert found <= {SPARE[format].id}


@pytest.mark.parametrize("format", SPARE)
def test_pointers_of_git_lfs(format: str, tmp_path: Path) -> None:
    """In a checkout without Git LFS, a small text file replaces the weights."""
    (tmp_path / "w.bin").write_bytes(LFS_POINTER)
    graph = load_as(format, tmp_path, TensorDesc(DataType.UINT8, (len(LFS_POINTER),)))
    assert [item.code for item in graph.findings] == [codes.LFS_POINTER.id]
    assert "Git LFS pointer to 100 bytes" in graph.findings[0].message


@pytest.mark.parametrize("name", ["Partition_0.bin", "model.json", "data"])
def test_models_that_are_pointers(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(LFS_POINTER)
    with pytest.raises(UnreadableError) as caught:
        load(tmp_path / name)
    assert [item.code for item in caught.value.diagnostics] == [codes.LFS_POINTER.id]
    assert name in str(caught.value)


def test_a_program_that_starts_in_the_middle_of_a_file(tmp_path: Path) -> None:
    """A file may be longer than its tensor if a binding has an offset or a command prints it."""
    (tmp_path / "w.bin").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    load_as("dxdispatch", tmp_path, TensorDesc(DataType.FLOAT32, (4,)))
    model = json.loads((tmp_path / "model.json").read_text())
    dispatch = model["commands"][0]
    model["commands"] = [
        {**dispatch, "bindings": {"InputTensor": {"name": "w", "elementOffset": 4}, "OutputTensor": "y"}}
    ]
    (tmp_path / "model.json").write_text(json.dumps(model))
    graph = load(tmp_path / "model.json")
    assert check(graph) == []
    assert dml2onnx.run(graph)["y"].tolist() == [4, 5, 6, 7]
    model["commands"] = [{"type": "print", "resource": "w"}, dispatch]
    (tmp_path / "model.json").write_text(json.dumps(model))
    assert check(load(tmp_path / "model.json")) == []


@pytest.mark.parametrize("name", [r"\\server\share\w.bin", "//server/share/w.bin", r"\\.\COM1", r"\\?\C:\w.bin"])
def test_network_paths_are_refused_without_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    files = ModelFiles(tmp_path, LoadOptions())
    monkeypatch.setattr(Path, "resolve", lambda path: pytest.fail(f"{path} was resolved"))
    with pytest.raises(FileError) as caught:
        files.find(name)
    assert caught.value.code is codes.FILE_OUTSIDE
    assert "names another computer or a device" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows needs a privilege for links, and has no FIFO files")
@pytest.mark.parametrize(
    "name", ["../w.bin", "sub/../../w.bin", r"..\w.bin", "/etc/passwd", "link.bin", "links/w.bin", "pipe"]
)
def test_files_outside_the_directory_are_not_read(tmp_path: Path, name: str) -> None:
    directory = tmp_path / "model"
    (directory / "sub").mkdir(parents=True)
    (tmp_path / "w.bin").write_bytes(bytes(8))
    (directory / "link.bin").symlink_to(tmp_path / "w.bin")
    (directory / "links").symlink_to(tmp_path)
    os.mkfifo(directory / "pipe")
    with pytest.raises(FileError) as caught:
        ModelFiles(directory, LoadOptions()).find(name)
    assert caught.value.code is (codes.FILE_UNREADABLE if name == "pipe" else codes.FILE_OUTSIDE)
    if name != "pipe" and name != "/etc/passwd":
        assert ModelFiles(directory, LoadOptions(allow_paths=(tmp_path,))).find(name) == tmp_path / "w.bin"
