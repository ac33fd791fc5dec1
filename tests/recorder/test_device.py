"""The recording device: the rules of COM, and what it says to a real device, which `programs/` check on their own.

One program does everything, under the sanitizers where the compiler has them; each test runs a part of it.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.recorder import compilers, stand_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recorder.compilers import Compiler

# the program hands over enumerators that there are not
OPTIONS = ("-fno-rtti", "-fno-sanitize=enum")


def _build(compiler: Compiler, directory: Path, sanitizers: tuple[str, ...]) -> Path:
    """The test program, with those sanitizers that the compiler has."""
    include = stand_in.write(directory)
    stand_in.write_iids(directory)
    program = directory / "main"
    source = compilers.ROOT / "tests" / "recorder" / "programs" / "main.cpp"
    compiler.program(source, include, program, *compilers.sanitizers(compiler, directory, sanitizers), *OPTIONS)
    return program


@pytest.fixture(scope="session")
def program(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(compiler, tmp_path_factory.mktemp("device"), compilers.MEMORY)


def run(program: Path, what: str, folder: Path, code: int = 0) -> str:
    """What a part of the program says; its recording goes to the folder."""
    command = (str(program), what, str(folder))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, f"{what}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("what", ["objects", "nulls", "features", "forwarding", "failures"])
def test_the_rules_hold(program: Path, tmp_path: Path, what: str) -> None:
    assert run(program, what, tmp_path / "recording").endswith("done\n")


def test_threads_share_a_device(compiler: Compiler, tmp_path: Path) -> None:
    threads = _build(compiler, tmp_path, compilers.THREADS)
    run(threads, "threads", tmp_path / "recording")
    index = json.loads((tmp_path / "recording" / "recording.json").read_text(encoding="utf-8"))
    graphs = [item for item in index["graphs"] if item["kind"] == "graph"]
    assert len(graphs) == 4 * 12
    assert len({item["file"] for item in index["graphs"]}) == len(index["graphs"])
    for item in index["graphs"]:
        json.loads((tmp_path / "recording" / item["file"]).read_text(encoding="utf-8"))
    commands = json.loads((tmp_path / "recording" / "program.json").read_text(encoding="utf-8"))["commands"]
    assert len(commands) == 4 * 12 * 3


def test_problems_are_told_and_recorded(program: Path, tmp_path: Path) -> None:
    said = run(program, "nulls", tmp_path / "recording")
    assert "problem: GEMM: ATensor is null\n" in said
    assert "problem: graph3: Nodes[0].Desc is null\n" in said
    index = json.loads((tmp_path / "recording" / "recording.json").read_text(encoding="utf-8"))
    rejected = {item["name"]: item["problem"] for item in index["graphs"] if item["kind"] == "rejected"}
    assert rejected["rejected GEMM"] == "Desc is null"
    assert rejected["rejected GEMM_2"] == "ATensor is null"
    assert rejected["rejected operator"].startswith("the descriptor is null")
    graphs = {item["name"]: item.get("problem") for item in index["graphs"] if item["kind"] == "graph"}
    assert graphs == {"graph1": "the graph is null", "graph2": "Nodes is null", "graph3": "Nodes[0].Desc is null"}


def test_what_the_real_device_refuses_is_recorded(program: Path, tmp_path: Path) -> None:
    run(program, "failures", tmp_path / "recording")
    index = json.loads((tmp_path / "recording" / "recording.json").read_text(encoding="utf-8"))
    problems = [item["problem"] for item in index["graphs"] if "problem" in item]
    assert problems == ["the real device answers 887A0005"] * 3


def test_other_folders_are_left_alone(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("all of it")
    command = (str(program), "objects", str(folder))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "holds other things than a recording" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_an_earlier_recording_is_replaced(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    run(program, "program", folder)
    assert len(list((folder / "operators").iterdir())) == 6
    (folder / "notes.txt").write_text("mine")
    run(program, "crash", folder, code=3)
    assert len(list((folder / "operators").iterdir())) == 2
    assert (folder / "notes.txt").read_text() == "mine"
    index = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
    assert [item["name"] for item in index["graphs"]] == ["scale", "last", "program"]
