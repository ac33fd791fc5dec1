"""``dml2onnx convert`` to programs: written files and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.cli import main

from .same import built, compare

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [1, 4, 8, 8])
    w = np.random.default_rng(0).normal(size=(4, 4, 3, 3)).astype(np.float32)
    dml2onnx.convert(g.build({"y": g.convolution(x, w)}), tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.mark.parametrize(
    ("options", "files"),
    [
        (["-o", "net.py"], ["net.npz", "net.py"]),
        (["--format", "python"], ["model.npz", "model.py"]),
        (["-o", "net.cpp"], ["net.bin", "net.cpp"]),
        (["--format", "cpp"], ["model.bin", "model.cpp"]),
        (["-o", "net.txt", "--format", "python"], ["net.npz", "net.txt"]),
    ],
)
def test_files(options: list[str], files: list[str], model: Path, capsys: Any) -> None:
    before = {path.name for path in model.parent.iterdir()}
    assert main(["convert", "model.json", *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert sorted(Path(name).name for name in answer["files"]) == files
    assert sorted({path.name for path in model.parent.iterdir()} - before) == files
    assert answer["diagnostics"] == []
    if files[1].endswith(".py"):
        compare(dml2onnx.load(model), built(model.with_name(files[1])))


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "net.py", "--format", "cpp"], 2, ".py files are something else"),
        (["-o", "net.bin", "--format", "native"], 2, "does not name a file of the format native"),
        (["-o", "net.json", "--format", "serialized"], 2, "expected: OUT.bin"),
        (["-o", "net.cpp", "--format", "rust"], 2, "invalid choice"),
        (["-o", "nowhere/net.py"], 1, "DML3009"),
        (["-o", "-", "--format", "python"], 1, "has no name"),
        (["-o", "net"], 2, ".json, .bin, .py and .cpp do"),
    ],
)
def test_invalid_command_lines(options: list[str], code: int, message: str, model: Path, capsys: Any) -> None:
    before = sorted(model.parent.iterdir())
    assert main(["convert", "model.json", *options]) == code
    assert message in capsys.readouterr().err
    assert sorted(model.parent.iterdir()) == before


@pytest.mark.parametrize("suffix", [".py", ".cpp"])
def test_invalid_graphs_are_refused_with_their_findings(suffix: str, model: Path, capsys: Any) -> None:
    broken = str(SAMPLES / "broken" / "model.json")
    assert main(["check", broken, "--json"]) == 1
    found = {item["code"] for item in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert main(["convert", broken, "-o", f"net{suffix}", "--json"]) == 1
    codes = {item["code"] for item in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert codes <= found
    assert codes
    assert not Path(f"net{suffix}").exists()


@pytest.mark.parametrize("suffix", [".py", ".cpp"])
def test_foreign_files_are_not_overwritten(suffix: str, model: Path, capsys: Any) -> None:
    other = {".py": Path("net.npz"), ".cpp": Path("net.bin")}[suffix]
    other.write_bytes(b"mine")
    assert main(["convert", "model.json", "-o", f"net{suffix}"]) == 1
    assert "DML1916" in capsys.readouterr().err
    assert other.read_bytes() == b"mine"
