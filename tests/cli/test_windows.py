"""Differences of Windows that can be tested on any system: names of files, line ends, byte order marks, consoles."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from typing import Any, TypeGuard

import numpy as np
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.frontends.names import file_stem
from tests.cli.test_cli import NATIVE

ROOT = Path(dml2onnx.__file__).parent
DEVICES = ["con", "CONOUT$", "NUL", "aux.txt", "Com1", "LPT9.a.b", "prn"]
ODD = [*DEVICES, "UP", "up", "a:b", "a/b", "a\\b", "x?", "x*", '"<>|', "tab\t", "é", "console", "com10"]
"""Names of values that are no names of files everywhere, or that are the same file on Windows."""


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a model whose constants and outputs have odd names."""
    monkeypatch.chdir(tmp_path)
    four = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}
    nodes = [
        {
            "name": f"add{i}",
            "type": "ELEMENT_WISE_ADD",
            "desc": {"OutputTensor": four},
            "inputs": {"ATensor": "x", "BTensor": name},
            "outputs": {"OutputTensor": f"sum {name}"},
        }
        for i, name in enumerate(ODD)
    ]
    model = {
        "dml2onnx": 1,
        "inputs": {"x": four},
        "constants": {name: {**four, "values": [i, 0, 0, 1]} for i, name in enumerate(ODD)},
        "nodes": nodes,
        "outputs": {name: f"sum {name}" for name in ODD},
    }
    Path("model.json").write_text(json.dumps(model), encoding="utf-8")
    np.save("x.npy", np.zeros((1, 1, 1, 4), np.float32))
    return tmp_path


def possible(names: list[str]) -> bool:
    """Returns whether one directory on Windows can have files of these names, and none is a device."""
    distinct = len({name.casefold() for name in names}) == len(names)
    plain = all(PureWindowsPath(name).name == name and not set(name) & set('<>:"/\\|?*\t') for name in names)
    ports = [f"{kind}{i}" for kind in ("com", "lpt") for i in range(10)]
    devices = {"con", "prn", "aux", "nul", "conin$", "conout$", *ports}
    return distinct and plain and not any(name.partition(".")[0].casefold() in devices for name in names)


def test_results_of_a_run_have_valid_names_on_windows(odd: Path) -> None:
    assert main(["run", "model.json", "--input", "x=x.npy", "--output-dir", "out", "--quiet"]) == 0
    names = os.listdir("out")
    assert possible(names), names
    assert sorted(np.load(odd / "out" / name).flat[0] for name in names) == list(range(len(ODD)))


@pytest.mark.parametrize("target", ["graph.bin", "graph.json"])
def test_files_of_constants_have_valid_names_on_windows(odd: Path, target: str) -> None:
    Path("out").mkdir()
    dml2onnx.convert("model.json", f"out/{target}")
    assert possible(os.listdir("out")), os.listdir("out")
    assert dml2onnx.check(f"out/{target}") == []
    x = {"x": np.ones((1, 1, 1, 4), np.float32)}
    assert dml2onnx.run(f"out/{target}", x)["con"].flat[0] == 1


@pytest.mark.parametrize("name", ["console", "com", "com10", "lpt", "x.con", "nullable"])
def test_other_names_stay(name: str) -> None:
    assert file_stem(name) == name


# --- Line ends and byte order marks -----------------------------------------------------------------------------------

BROKEN: dict[str, Any] = {**NATIVE, "nodes": [{**NATIVE["nodes"][0], "type": "NO_SUCH_OPERATOR"}]}


def written(path: Path, model: object, ends: str, encoding: str) -> Path:
    path.write_bytes(json.dumps(model, indent=2).replace("\n", ends).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_places_of_findings_do_not_depend_on_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ends: str, encoding: str
) -> None:
    """With carriage returns alone, which are obsolete, only the finding itself is the same."""
    monkeypatch.chdir(tmp_path)
    written(Path("model.json"), BROKEN, "\n", "utf-8")
    assert main(["check", "model.json"]) == 1
    expected = capsys.readouterr().out
    written(Path("model.json"), BROKEN, ends, encoding)
    assert main(["check", "model.json"]) == 1
    got = capsys.readouterr().out
    assert "NO_SUCH_OPERATOR" in got
    if ends == "\r":
        assert got.splitlines()[0] == expected.splitlines()[0]
    else:
        assert got == expected


def test_files_are_text_in_one_encoding() -> None:
    """The package opens no text file with the default encoding of the machine."""
    wrong = []
    for path in ROOT.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and not _has_encoding(call):
                wrong.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert wrong == []


def _has_encoding(call: ast.Call) -> bool:
    """Returns whether a call names the encoding, or opens no text file."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in ("open", "read_text", "write_text"):
        return True
    if (
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in ("os", "Image", "archive", "worker")
    ):
        return True  # a descriptor, a picture, a member of an archive, a session
    modes = [item.value for item in (*call.args, *(keyword.value for keyword in call.keywords)) if _is_mode(item)]
    return any("b" in str(mode) for mode in modes) or any(keyword.arg == "encoding" for keyword in call.keywords)


def _is_mode(item: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(item, ast.Constant) and isinstance(item.value, str) and set(item.value) <= set("rwaxbt+")


# --- Consoles ---------------------------------------------------------------------------------------------------------

COMMANDS = [
    ["check", "model.json"],
    ["check", "model.json", "--format", "sarif"],
    ["compile", "model.json"],
    ["run", "model.json", "--input", "x=x.npy"],
    ["verify", "model.json", "--nodes", "--cases", "1"],
    ["explain", "model.json"],
    ["explain", "DML1602"],
    ["ops", "RESAMPLE"],
    ["doctor", "--json"],
]


@pytest.mark.parametrize("page", ["cp1252", "cp437", "cp932", "ascii"])
def test_commands_survive_code_pages(odd: Path, page: str) -> None:
    """Characters that a console lacks are replaced; JSON has none."""
    script = (
        "import sys\n"
        "from dml2onnx.cli import main\n"
        f"for command in {COMMANDS!r}:\n"
        "    assert main(command) == 0, command\n"
    )
    environment = {**os.environ, "PYTHONIOENCODING": f"{page}:strict"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode(page, "replace")[-2000:]
    assert b"Traceback" not in done.stderr
    done.stdout.decode(page)
