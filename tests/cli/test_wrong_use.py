"""Exit code 2 for options that do not match the model, and the findings that ``check`` hides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dml2onnx.cli import main
from tests.newcomers.build import edit, text_of
from tests.newcomers.networks import NETWORK

WRONG = text_of(edit(NETWORK, {"conv/Mode": "CROSS", "constants/bias/colour": 3}).model)
"""Has a finding about an enumerator, and one about a member."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(text_of(NETWORK), encoding="utf-8")
    Path("wrong.json").write_text(WRONG, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["check", "compile", "convert", "explain", "report", "run", "verify"])
@pytest.mark.parametrize("size", ["batch=8", "image=1,3,32", "batch=N"])
def test_sizes_of_missing_inputs(command: str, size: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(here.iterdir())
    output = ["-o", "net.bin"] if command == "convert" else []
    assert main([command, "net.json", "--size", size, *output]) == 2
    assert "DML2101" in "".join(capsys.readouterr())
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("size", ["batch=8", "image=1,4,32,32"])
def test_a_refused_size_counts_no_nodes(size: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The graph is not checked, so its nodes are not counted."""
    assert main(["check", "net.json", "--size", size]) in (1, 2)
    written = capsys.readouterr()
    assert "no nodes" not in written.out + written.err
    assert "1 error, no warnings\n" in written.out


@pytest.mark.parametrize("arguments", [["compile", "-o", "x.json"], ["convert", "-o", "x.onnx"]])
def test_a_file_of_another_kind(arguments: list[str], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, *options = arguments
    assert main([command, "net.json", *options]) == 2
    assert "does not name" in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["net.json", "wrong.json"]


@pytest.mark.parametrize(
    ("options", "summary", "code"),
    [
        ([], "2 errors, no warnings in 4 nodes, checked at feature level 5_0\n", 1),
        (["--select", "DML16"], "no errors, no warnings in 4 nodes, checked at feature level 5_0; 2 findings of ", 0),
        (["--ignore", "DML1001"], "1 error, no warnings in 4 nodes, checked at feature level 5_0; 1 finding of ", 1),
    ],
)
def test_hidden_findings_are_counted(
    options: list[str], summary: str, code: int, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "wrong.json", *options]) == code
    assert summary in capsys.readouterr().out
    assert main(["check", "wrong.json", "--json", *options]) == code
    answer = json.loads(capsys.readouterr().out)
    assert answer.get("hidden", 0) + len(answer["diagnostics"]) == 2
