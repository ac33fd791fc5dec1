"""``--constant`` and ``--constants``: inputs with contents from files, for every command that reads a model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from dml2onnx.cli import main
from tests.cli.test_cli import NATIVE, PROGRAM
from tests.frontends.models import f32

X = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
W = np.array([[[[2]]], [[[3]]]], np.float32)
OPEN = {**NATIVE, "inputs": {**NATIVE["inputs"], "w": f32(2, 1, 1, 1)}, "constants": {}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small network with its weights as an input, and files of the weights in all forms."""
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(json.dumps(OPEN))
    Path("program.json").write_text(json.dumps(PROGRAM))
    np.save("x.npy", X)
    Path("weights").mkdir()
    np.save("weights/w.npy", W)
    np.savez("all.npz", w=W, other=X)
    Path("w.raw").write_bytes(W.tobytes())
    return tmp_path


FORMS = [
    ["--constant", "w=weights/w.npy"],
    ["--constant", "w=all.npz:w"],
    ["--constant", "w=w.raw"],
    ["--constants", "weights"],
]


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_compile(form: list[str], here: Path) -> None:
    assert main(["compile", "model.json", *form]) == 0
    model = onnx.load("model.onnx")
    assert [item.name for item in model.graph.input] == ["x"]
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(model.graph.initializer[0]).ravel(), W.ravel())


@pytest.mark.parametrize("command", ["verify", "check", "explain", "report"])
def test_other_commands(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "model.json", "--constants", "weights"]) == 0
    assert main([command, "model.json", "--constant", "w=x.npy"]) == 1
    output = "".join(capsys.readouterr())
    assert "DML1018" in (Path("model.html").read_text() if command == "report" else output)
    assert main([command, "model.json", "--constant", "w=nowhere.npy"]) == 2


def test_convert(here: Path) -> None:
    assert main(["convert", "model.json", "--constant", "w=w.raw", "-o", "whole.json"]) == 0
    whole = json.loads(Path("whole.json").read_text())
    assert (list(whole["inputs"]), list(whole["constants"])) == (["x"], ["w"])


def test_a_whole_archive(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("weights.npz", w=W)
    assert main(["compile", "model.json", "--constant", "weights.npz"]) == 0
    assert main(["compile", "model.json", "--constant", "all.npz"]) == 1
    error = capsys.readouterr().err
    assert 'the model has no input "other"' in error
    assert "w" in error


def test_names_alone_use_the_contents_in_the_model(here: Path) -> None:
    assert main(["compile", "program.json", "--constant", "x"]) == 0
    assert not onnx.load("program.onnx").graph.input
    assert main(["compile", "model.json", "--constant", "w"]) == 1


def test_files_of_constants_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("w.raw").read_bytes()
    assert main(["compile", "model.json", "--constant", "w=w.raw", "-o", "w.raw"]) == 1
    assert "DML3012" in capsys.readouterr().err
    assert Path("w.raw").read_bytes() == before


def test_no_constant_is_named_twice(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "model.json", "--constant", "w=w.raw", "--constant", "w=weights/w.npy"]) == 2
    assert '--constant names "w" twice' in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "compile", "run", "verify"])
def test_constant_and_input_at_once(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = "w=weights/w.npy" if command in ("run", "verify") else "w"
    before = sorted(here.rglob("*"))
    assert main([command, "model.json", "--constant", "w=w.raw", "--input", value]) == 2
    output = " ".join("".join(capsys.readouterr()).split())
    assert "DML1015" in output
    assert '"w" is both a constant (--constant, constants) and an input (--input, inputs)' in output
    assert sorted(here.rglob("*")) == before


def test_input_overrides_a_directory_of_constants(here: Path) -> None:
    assert main(["compile", "model.json", "--constants", "weights", "--input", "w"]) == 0
    assert [item.name for item in onnx.load("model.onnx").graph.input] == ["x", "w"]
