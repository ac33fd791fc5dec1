"""What the README shows works: its Python runs, its graphs compile, its command lines are ones that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import dml2onnx
from dml2onnx.cli import main
from dml2onnx.cli.parser import make_parser

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    lines = [line.partition("#")[0].strip() for block in blocks("console") for line in block.splitlines()]
    return [line for line in lines if line.startswith("dml2onnx ")]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the README's graphs under the names that it gives them."""
    (native,) = [block for block in blocks("json") if '"dml2onnx": 1' in block]
    (tmp_path / "edges.json").write_text(native, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("index", range(2))
def test_graphs_compile(index: int, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(blocks("json")[index], encoding="utf-8")
    graph = dml2onnx.load(path)
    assert dml2onnx.check(graph) == []
    assert dml2onnx.verify(graph).passed


def test_all_graphs_are_tried() -> None:
    assert len(blocks("json")) == 2


@pytest.mark.parametrize("index", range(2))
def test_python_runs(index: int, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[index], "README.md", "exec"), {})
    assert list(workplace.glob("*.onnx"))


def test_all_python_is_tried() -> None:
    assert len(blocks("python")) == 2


def test_the_builder_of_the_readme_computes_what_it_says(workplace: Path) -> None:
    namespace: dict[str, object] = {}
    (block,) = [block for block in blocks("python") if "GraphBuilder" in block]
    exec(compile(block, "README.md", "exec"), namespace)
    x = np.random.default_rng(1).random((1, 3, 32, 32), np.float32)
    got = dml2onnx.run(namespace["g"].build(namespace["y"]), {"x": x})  # type: ignore[attr-defined]
    windows = np.lib.stride_tricks.sliding_window_view((x * 2 - 1).sum(axis=1)[0], (3, 3)).sum(axis=(2, 3))
    largest = np.lib.stride_tricks.sliding_window_view(np.maximum(windows, 0), (2, 2)).max(axis=(2, 3))
    (result,) = got.values()
    np.testing.assert_allclose(result, np.broadcast_to(largest, (1, 8, 29, 29)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("line", commands())
def test_command_lines_exist(line: str) -> None:
    """Optional parts in brackets are left out; what stands for a choice takes the first."""
    words = shlex.split(re.sub(r"\[[^]]*\]", "", line))[1:]
    options = make_parser().parse_args(words)
    assert options.command == words[0]


def test_command_lines_are_found() -> None:
    assert len(commands()) >= 15


def test_what_check_says_of_the_broken_sample(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README shows whole findings, as they are printed."""
    monkeypatch.chdir(Path(__file__).resolve().parent.parent)
    assert main(["check", "samples/broken/model.json"]) == 1
    printed = capsys.readouterr().out
    (block,) = blocks("text")
    for finding in re.split(r"^(?=DML)", block, flags=re.MULTILINE):
        assert finding in printed
