"""Untrusted input: its cost is bounded by its size, and it reads no files outside its directory."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import DmlError
from dml2onnx.batching.journal import Journal
from dml2onnx.cli import main
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends import recording
from dml2onnx.frontends.text import read_document
from dml2onnx.ir.mapped import MappedFiles
from dml2onnx.providers.threads import SESSION_THREADS, session_threads
from dml2onnx.report.batched import Work
from tests.frontends.models import GRAPH, NATIVE, f32, one_node

ROOT = Path(__file__).parent.parent
links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


def seconds(function: Any, *arguments: Any) -> float:
    """Returns the CPU seconds of a call that may be refused."""
    before = time.process_time()
    with contextlib.suppress(DmlError):
        function(*arguments)
    return time.process_time() - before


# --- Links ------------------------------------------------------------------------------------------------------------


@links
def test_links_out_of_a_directory_of_constants_are_refused(tmp_path: Path) -> None:
    model, contents, other = tmp_path / "model.json", tmp_path / "contents", tmp_path / "other"
    model.write_text(json.dumps(NATIVE), encoding="utf-8")
    contents.mkdir()
    other.mkdir()
    np.save(other / "secret.npy", np.zeros(4, np.float32))
    (contents / "x.npy").symlink_to(other / "secret.npy")
    found = dml2onnx.load(model, dml2onnx.LoadOptions(constant_directories=(contents,)))
    assert [item.code for item in found.findings] == ["DML1020"]
    assert "x" in {item.name for item in found.inputs}
    allowed = dml2onnx.LoadOptions(constant_directories=(contents,), allow_paths=(other,))
    assert "DML1020" not in {item.code for item in dml2onnx.load(model, allowed).findings}


@links
def test_links_out_of_a_checked_directory_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, other = tmp_path / "models", tmp_path / "other"
    models.mkdir()
    other.mkdir()
    (other / "secret.json").write_text('{"password": "12345"}', encoding="utf-8")
    (models / "link.json").symlink_to(other / "secret.json")
    (models / "model.json").write_text(json.dumps(NATIVE), encoding="utf-8")
    assert main(["check", str(models)]) == 2
    output = "".join(capsys.readouterr())
    assert "DML1020" in output
    assert "password" not in output
    (other / "secret.json").write_text(json.dumps(NATIVE), encoding="utf-8")
    assert main(["check", str(models), "--allow-path", str(other)]) == 0


# --- Costs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["/*" * 100_000, '{"a": 1}' + "/*" * 100_000, "/*/" * 60_000, '{"a": "' + "/*" * 100_000]
)
def test_comments_without_an_end_are_read_once(text: str) -> None:
    assert seconds(read_document, Path("m.json"), text.encode()) < 1


def test_an_open_comment_is_still_an_error() -> None:
    with pytest.raises(UnreadableError, match=r"m\.json:1:9"):
        read_document(Path("m.json"), b'{"a": 1 /* x }')
    assert read_document(Path("m.json"), b'{"a": /* x */ 1} /**/').root == {"a": 1}


def test_members_of_one_name_are_counted_once() -> None:
    text = "{" + ",".join(f'"n{index % 20_000}": 1' for index in range(40_000)) + "}"
    document = read_document(Path("m.json"), text.encode())
    assert seconds(lambda: list(document.repeated())) < 1
    assert len(list(document.repeated())) == 20_000


def test_a_recording_must_not_list_a_file_twice(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text(json.dumps(GRAPH), encoding="utf-8")
    listed = [{"name": f"g{index}", "kind": "graph", "nodes": 1, "file": "net.json"} for index in range(800)]
    index = tmp_path / recording.INDEX
    index.write_text(json.dumps({"dml2onnx_recording": 1, "graphs": listed}), encoding="utf-8")
    with pytest.raises(UnreadableError, match="two graphs are in"):
        recording.graphs(index)


def test_archives_are_not_unpacked_beyond_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.json").write_text(json.dumps(NATIVE), encoding="utf-8")
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(1 << 20, np.float32))
    for option in ("--constant", "--input"):
        command = ["run", str(tmp_path / "model.json"), option, f"x={tmp_path / 'x.npz'}", "--max-bytes", "1M"]
        assert main(command) == 2
        assert f"at most {1 << 20} bytes" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["5000", "9" * 5000])
def test_threads_have_a_limit(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(SESSION_THREADS, text)
    with pytest.raises(DmlError, match="DML3017"):
        session_threads()
    monkeypatch.setenv(SESSION_THREADS, "0002")
    assert session_threads() == 2


RECORD = {"model": "m", "work": "w", "status": "passed", "seconds": 1.0, "sources": [], "answer": {}}


@pytest.mark.parametrize(
    "changed",
    [
        {"sources": 3}, {"sources": None}, {"sources": {}}, {"sources": [3]}, {"sources": [{"path": 1, "digest": ""}]},
        {"sources": [{"path": "m"}]}, {"model": []}, {"model": None}, {"graph": 3}, {"answer": 3}, {"seconds": "x"},
        {"other": 1}, {"answer": {"diagnostics": 3}}, {"answer": {"diagnostics": [3]}}, {"output": []}, {"status": {}},
        {"answer": {"diagnostics": [{"code": 1}]}},
    ],
)  # fmt: skip
def test_malformed_lines_of_a_journal_are_skipped(tmp_path: Path, changed: dict[str, Any]) -> None:
    work = Work(work="w", do="check", options={})
    path = tmp_path / "journal"
    with Journal(path, work):
        pass
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({**RECORD, "model": "good"}) + "\n" + json.dumps({**RECORD, **changed}) + "\n")
    with Journal(path, work) as read:
        assert list(read.records) == [("good", "")]


def huge(tensor: dict[str, Any], contents: dict[str, Any]) -> dict[str, Any]:
    """A model of a few hundred bytes with a large constant."""
    w = f32(2, **tensor)
    desc = {"InputTensor": w, "OutputTensor": f32(2)}
    model = one_node("ACTIVATION_RELU", desc, {}, inputs={"InputTensor": "w"})
    return {**model, "inputs": {}, "constants": {"w": {**w, **contents}}}


@pytest.mark.parametrize("to", ["native", "dxdispatch", "dml_graph", "serialized"])
@pytest.mark.parametrize("total", [1 << 40, (1 << 64) - 4])
@pytest.mark.parametrize("contents", [{"values": [1, 2]}, {"values": [0, 0]}, {"fill": 0}, {"fill": 3}], ids=str)
def test_small_models_are_not_written_as_terabytes(
    tmp_path: Path, to: str, total: int, contents: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(huge({"TotalTensorSizeInBytes": total}, contents)), encoding="utf-8")
    # so that a failure does not fill the disk
    monkeypatch.setattr("dml2onnx.exporters.native_contents.MAX_GENERATED", 1 << 20)
    target = tmp_path / "out" / "model.out"
    target.parent.mkdir()
    assert seconds(lambda: dml2onnx.convert(path, target, format=to)) < 2
    assert sum(item.stat().st_size for item in target.parent.iterdir()) < 1 << 21
    if target.exists() and to == "dxdispatch":
        for resource in json.loads(target.read_text(encoding="utf-8"))["resources"].values():
            values = resource["initialValues"]
            assert not isinstance(values, dict) or values.get("valueCount", 0) < 1 << 32


# --- Truncated files --------------------------------------------------------------------------------------------------


TRUNCATED = """
import os, sys
import numpy as np
import dml2onnx
from dml2onnx import compiler
step, path = sys.argv[1:]
if step.startswith("mapped"):
    compiler.SERIALIZED_UP_TO = 0
g = dml2onnx.GraphBuilder()
w = g.constant(np.load(path, mmap_mode="r"))
x = np.ones((1, 1 << 20), np.float32)
if step == "constant":
    g = dml2onnx.GraphBuilder()
    graph = g.build({"y": g.add(g.input("x", "FLOAT32", x.shape), g.input("w", "FLOAT32", x.shape))})
    dml2onnx.convert(graph, path + ".json")
    model = dml2onnx.compile(dml2onnx.load(path + ".json", dml2onnx.LoadOptions(constants={"w": path})))
else:
    model = dml2onnx.compile(g.build({"y": g.add(g.input("x", "FLOAT32", x.shape), w)}))
session = model.session()
bound = session.bind({"x": x})
os.truncate(path, 4096)
try:
    if step == "mapped run":
        session.run({"x": x})
    elif step == "mapped bound":
        bound.run()
    elif step == "save":
        model.save(path + ".onnx")
    else:
        model.session()
except dml2onnx.DmlError as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="what is mapped there cannot be shortened")
@pytest.mark.parametrize("step", ["session", "save", "constant", "mapped session", "mapped run", "mapped bound"])
def test_truncated_files_are_reported(tmp_path: Path, step: str) -> None:
    """Instead of SIGBUS: weights are written into the model, or mapped by ONNX Runtime."""
    path = tmp_path / "w.npy"
    np.save(path, np.ones((1, 1 << 20), np.float32))
    command = [sys.executable, "-c", TRUNCATED, step, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr.startswith("DML1021"), done.stderr


def test_views_of_mapped_files_require_only_their_bytes(tmp_path: Path) -> None:
    """A view may repeat elements by strides, and so have more bytes than its file."""
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4, dtype=np.float32))
    whole = np.load(path, mmap_mode="r")
    for view in (np.broadcast_to(whole, (3, 4)), whole[::2], whole[::-1], whole[1:3]):
        MappedFiles([view]).require()
    os.truncate(path, path.stat().st_size - 4)
    MappedFiles([whole[:3], whole[2::-1]]).require()
    for view in (np.broadcast_to(whole, (3, 4)), whole[::-1], whole[1:]):
        with pytest.raises(DmlError, match="DML1021"):
            MappedFiles([view]).require()
