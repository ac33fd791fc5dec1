"""Typing mistakes, and the errors that explain them."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from dml2onnx.cli import main
from tests.frontends.models import NATIVE


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(NATIVE))
    return path


def set_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chek model.json", "did you mean check?"),
        ("check model.json --sugest", "error: unrecognized arguments: --sugest; did you mean --suggest?"),
        ("compile model.json --target dmll", "did you mean dml?"),
        ("verify model.json --atol 1e-3", "the error that the reference allows for each element"),
        ("compile model.json --batch-size 8", "--size NAME=8,3,224,224"),
        ("compile model.json --fp16", "--half"),
        ("convert model.json --to native", "--format"),
        ("report model.json --svg out.svg", "--svg takes no file, -o names the one to write"),
        ("report --svg out.svg model.json", "--svg takes no file, -o names the one to write"),
        ("run model.json --gpu", "--provider"),
        ("compile model.json --size x=8x3x8x8", "did you mean x=8,3,8,8?"),
        ("compile model.json --size x:[8,3,8,8]", "did you mean x=8,3,8,8?"),
        ("check model.json --format jsn", "did you mean json?"),
        ("--verison", "did you mean --version?"),
        ("compile model.json --no-pass foo", 'there is no pass "foo"; the passes are share-moves, '),
        ("pydirectml", "error: the following arguments are required: PROGRAM.py\n"),
        ("ops zzz", 'no operator has "ZZZ" in its name\n'),
        ("ops matmul", 'no operator has "MATMUL" in its name; did you mean GEMM?'),
        ("explain relu", 'error: "relu" is not a file, a code, or an operator; did you mean ACTIVATION_RELU?'),
        ("explain nonsense", 'error: "nonsense" is not a file, a code, or an operator\n'),
        ("explain reshape", "or an operator; the Sizes and Strides of tensors do that"),
        ("explain E_INVALIDARGS", "or an operator; did you mean E_INVALIDARG?"),
        ("run model.json -o out", "unrecognized arguments: -o out; run writes into --output-dir DIR"),
        ("explain 9999", "there is no code DML9999"),
        ("report model.json --verifi", "dml2onnx report --help lists all options"),
    ],
)
def test_misspelt_lines(line: str, message: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) <= 3


def test_codes_by_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "1602"]) == 0
    assert capsys.readouterr().out.startswith("DML1602 error: ")


def test_a_directory_without_models(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert main(["check", "empty", "model.json"]) == 0
    assert capsys.readouterr().out.startswith('no models in "empty"\nmodel.json: no errors')
    assert main(["check", "empty", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"] == []


def test_an_empty_name_is_not_the_current_directory(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ""]) == 2
    assert "DML0001 error: the path of the model is empty" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "batch"])
def test_an_unreadable_directory(
    command: str, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Simulates the error, because tests may run as root, which may read all directories."""
    Path("models/closed").mkdir(parents=True)
    scandir = os.scandir

    def refused(path: str | os.PathLike[str] = ".") -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert main([command, "models"]) == 2
    closed = os.path.join("models", "closed")
    assert f'DML0003 error: the directory "{closed}" cannot be read: Permission denied' in capsys.readouterr().err


def test_an_unreadable_file(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stat = Path.stat

    def refused(path: Path, **how: bool) -> os.stat_result:
        if path.name == "secret.json":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **how)

    monkeypatch.setattr(Path, "stat", refused)
    assert main(["check", "secret.json"]) == 2
    assert 'DML0003 error: "secret.json" cannot be read: Permission denied' in capsys.readouterr().err


@pytest.mark.parametrize("line", ["run model.json --input x=x.bin --output-dir taken/out", "recorder -o taken"])
def test_a_file_instead_of_a_directory(line: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("")
    Path("x.bin").write_bytes(bytes(16))
    assert main(line.split()) == 1
    assert '"taken" is a file' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("compile - -o x.onnx", ["x.onnx"]),
        ("convert - -o x.bin", ["x.bin"]),
        ("report - -o x.html", ["x.html"]),
        ("verify -", []),
        ("explain -", []),
        ("check -", []),
    ],
)
def test_models_from_standard_input(
    line: str, written: list[str], model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_stdin(monkeypatch, model.read_bytes())
    assert main(line.split()) == 0, capsys.readouterr().err
    assert set(written) <= {path.name for path in Path.cwd().iterdir()}


@pytest.mark.parametrize("command", ["compile", "convert", "report"])
def test_a_model_from_standard_input_needs_an_output(
    command: str, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_stdin(monkeypatch, model.read_bytes())
    assert main([command, "-"]) == 2
    assert "choose the file to write with -o" in capsys.readouterr().err
    assert [path.name for path in Path.cwd().iterdir()] == ["model.json"]


def test_the_name_of_standard_input(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_stdin(monkeypatch, b'{"a": 1}')
    assert main(["check", "-"]) == 2
    assert 'the members of "<stdin>" belong to no known format' in capsys.readouterr().err
