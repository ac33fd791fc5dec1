"""Another release of ONNX Runtime skips tests whose models give the same bits, and no others."""

from __future__ import annotations

import ast
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests import replay

ROOT = Path(__file__).parent.parent
PROGRAM = """
import os, subprocess, sys
import numpy as np, onnxruntime, pytest
from onnx import parser

TEXT = '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = %s (x) }'
X = {"x": np.array([-1, 2], np.float32)}

def ran(name):
    with open("ran.txt", "a") as file:
        file.write(f"{name} ")

def made(what="Relu", *options):
    model = parser.parse_model(TEXT % what).SerializeToString()
    return onnxruntime.InferenceSession(model, *options, providers=["CPUExecutionProvider"])

@pytest.fixture(scope="module")
def shared():
    return made().run(None, X)

def test_plain():
    ran("plain")
    session = made()
    for _ in range(2):
        np.testing.assert_array_equal(session.run(["y"], X)[0], [0, 2])

def test_options():
    ran("options")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.x64quantprecision", "1")
    made("Abs", options).run(None, X)

def test_none():
    ran("none")

def test_process():
    ran("process")
    subprocess.run([sys.executable, "-c", ""], check=True)

def test_file(tmp_path):
    ran("file")
    path = tmp_path / "model.onnx"
    path.write_bytes(parser.parse_model(TEXT % "Relu").SerializeToString())
    onnxruntime.InferenceSession(str(path)).run(None, X)

def test_written(tmp_path):
    ran("written")
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "model.onnx")
    made("Relu", options)

def test_bound():
    ran("bound")
    made().io_binding()

def test_refused():
    ran("refused")
    with pytest.raises(Exception):
        made("Nothing")

def test_wrong():
    ran("wrong")
    with pytest.raises(Exception):
        made().run(None, {"x": np.zeros(3, np.float32)})

def test_shared(shared):
    ran("shared")

def test_shared_again(shared):
    ran("shared_again")

def test_failing():
    ran("failing")
    made().run(None, X)
    assert "REPLAYED" in os.environ
"""
REPLAYABLE = {"plain", "options", "none"}
ALL = {*REPLAYABLE, "process", "file", "written", "bound", "refused", "wrong", "shared", "shared_again", "failing"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with tests and the recording of their runs."""
    place = tmp_path_factory.mktemp("replayed")
    (place / "conftest.py").write_text(
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests import replay\n"
        "from tests.conftest import pytest_addoption, pytest_collection_modifyitems\n"
        "pytest_configure = replay.configure\n",
        encoding="utf-8",
    )
    (place / "test_program.py").write_text(PROGRAM, encoding="utf-8")
    assert ran(place, "--record-runs", "runs", "--record-of", "test_program.py") == ALL
    return place


def ran(place: Path, *options: str) -> set[str]:
    """Runs the tests, and returns the names of those that were called."""
    (place / "ran.txt").write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    output = subprocess.run(command, cwd=place, capture_output=True, text=True, encoding="utf-8", check=False).stdout
    assert f"{len(ALL) - 1} passed" in output, output
    assert "1 failed" in output
    return set((place / "ran.txt").read_text(encoding="utf-8").split())


def recorded(place: Path) -> dict[str, list[bytes]]:
    (path,) = (place / "runs").glob("*.pickle")
    return {nodeid.partition("::test_")[2]: replay.runs_at(file, at) for nodeid, file, at in replay.recorded(path)}


def test_tests_with_complete_recordings_are_skipped(place: Path) -> None:
    assert set(recorded(place)) == REPLAYABLE
    assert ran(place, "--replay-runs", "runs") == ALL - REPLAYABLE


def test_each_session_is_recorded_once_with_all_runs(place: Path) -> None:
    runs = [pickle.loads(run) for run in recorded(place)["plain"]]
    assert [(session, made is None, run is None) for session, made, run in runs] == [
        (0, False, True),
        (0, True, False),
        (0, True, False),
    ]


@pytest.mark.parametrize("name", ["plain", "options"])
def test_other_bits_are_detected(place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = recorded(place)[name]
    assert replay.is_same(runs)

    class Other(replay.PLAIN):
        def run(self, names, feeds):
            return [array + array.dtype.type(1e-7) for array in super().run(names, feeds)]

    monkeypatch.setattr(replay, "PLAIN", Other)
    assert not replay.is_same(runs)


def test_refused_models_are_detected(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_, **__):
        raise RuntimeError("no kernel")

    runs = recorded(place)["plain"]
    monkeypatch.setattr(replay, "PLAIN", refuse)
    assert not replay.is_same(runs)


def test_options_are_the_same(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed = []

    class Session(replay.PLAIN):
        def __init__(self, model, options, *more, **how):
            level = int(options.graph_optimization_level)
            replayed.append((level, options.get_session_config_entry("session.x64quantprecision")))
            super().__init__(model, options, *more, **how)

    monkeypatch.setattr(replay, "PLAIN", Session)
    assert replay.is_same(recorded(place)["options"])
    assert replayed == [(0, "1")]


def depending_on_release(path: Path) -> set[str]:
    """Returns the tests of a file that use the release of ONNX Runtime, directly or through other names."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    names = {"RELEASE", "VERSION", "__version__"}
    found: set[str] = set()
    for _ in range(3):  # for indirect uses
        for node in body:
            if isinstance(node, ast.FunctionDef):
                within, named = ast.walk(ast.Module(node.body, [])), [node.name]
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                within, named = ast.walk(node), [target.id for target in targets if isinstance(target, ast.Name)]
            else:
                continue
            if any(getattr(part, "id", getattr(part, "attr", None)) in names for part in within):
                names.update(named)
                found.update(name for name in named if name.startswith("test_"))
    return found


def test_tests_that_depend_on_the_release_are_run_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    named = [ROOT / name for name in runpy.run_path(str(ROOT / "scripts" / "test.py"))["RUNTIME_TESTS"]]
    files = [file for path in named for file in ([path] if path.is_file() else path.rglob("test_*.py"))]
    names = {f"{file.relative_to(ROOT).as_posix()}::{name}" for file in files for name in depending_on_release(file)}
    assert names >= {name for name in replay.IN_FULL if "::" in name}
    assert [name for name in sorted(names) if not name.startswith(replay.IN_FULL)] == []
