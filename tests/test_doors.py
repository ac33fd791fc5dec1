"""What comes from elsewhere costs no more than it is large, and leads nowhere but to its own directory."""

from __future__ import annotations

import contextlib
import json
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
from dml2onnx.providers.threads import SESSION_THREADS, session_threads
from dml2onnx.report.batched import Work
from tests.frontends.models import GRAPH, NATIVE

ROOT = Path(__file__).parent.parent
links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


def seconds(function: Any, *arguments: Any) -> float:
    """Of the processor, whatever comes of it."""
    before = time.process_time()
    with contextlib.suppress(DmlError):
        function(*arguments)
    return time.process_time() - before


# --- Links ------------------------------------------------------------------------------------------------------------


@links
def test_constants_of_a_directory_lie_in_it(tmp_path: Path) -> None:
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
def test_a_directory_is_checked_without_what_lies_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, other = tmp_path / "models", tmp_path / "other"
    models.mkdir()
    other.mkdir()
    (other / "secret.json").write_text('{"password": "12345"}', encoding="utf-8")
    (models / "link.json").symlink_to(other / "secret.json")
    (models / "model.json").write_text(json.dumps(NATIVE), encoding="utf-8")
    assert main(["check", str(models)]) == 2
    said = "".join(capsys.readouterr())
    assert "DML1020" in said
    assert "password" not in said
    (other / "secret.json").write_text(json.dumps(NATIVE), encoding="utf-8")
    assert main(["check", str(models), "--allow-path", str(other)]) == 0


# --- Costs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["/*" * 100_000, '{"a": 1}' + "/*" * 100_000, "/*/" * 60_000, '{"a": "' + "/*" * 100_000]
)
def test_comments_without_an_end_are_read_once(text: str) -> None:
    assert seconds(read_document, Path("m.json"), text.encode()) < 1


def test_an_open_comment_is_still_an_error() -> None:
    with pytest.raises(UnreadableError, match="line 1, column 9"):
        read_document(Path("m.json"), b'{"a": 1 /* x }')
    assert read_document(Path("m.json"), b'{"a": /* x */ 1} /**/').root == {"a": 1}


def test_members_of_one_name_are_counted_once() -> None:
    text = "{" + ",".join(f'"n{index % 20_000}": 1' for index in range(40_000)) + "}"
    document = read_document(Path("m.json"), text.encode())
    assert seconds(lambda: list(document.repeated())) < 1
    assert len(list(document.repeated())) == 20_000


def test_a_recording_has_each_file_once(tmp_path: Path) -> None:
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
        given = ["run", str(tmp_path / "model.json"), option, f"x={tmp_path / 'x.npz'}", "--max-bytes", "1M"]
        assert main(given) == 2
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
def test_lines_of_a_journal_that_are_no_records_are_passed_over(tmp_path: Path, changed: dict[str, Any]) -> None:
    work = Work(work="w", do="check", options={})
    path = tmp_path / "journal"
    with Journal(path, work):
        pass
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({**RECORD, "model": "good"}) + "\n" + json.dumps({**RECORD, **changed}) + "\n")
    with Journal(path, work) as read:
        assert list(read.records) == [("good", "")]
