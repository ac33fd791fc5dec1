"""Tests that the commands and programs of the documentation run and print what the pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.codes import all_codes
from dml2onnx.providers import table as providers
from dml2onnx.targets import NAMES, OPSETS
from dml2onnx.verification import bounds
from tests import forked
from tests.docs import script

run_docs = script("run_docs")
PROGRAMS = Path(sys.executable).absolute().parent
PAGES = sorted((run_docs.ROOT / "docs").glob("*.md"))
RUNTIMES = ("onnxruntime-directml", "onnxruntime")


@pytest.mark.parametrize("page", run_docs.pages(), ids=lambda page: page.stem)
def test_what_a_page_says_is_so(page: Path) -> None:
    assert list(run_docs.failures(page, forked.programs() if forked.CAN else PROGRAMS)) == []


def test_pages_are_found() -> None:
    names = {page.name for page in run_docs.pages()}
    assert names >= {"README.md", "pipeline.md", "partition.md", "pydirectml.md", "windows-ml.md", "strides.md"}


def test_the_program_that_builds_a_graph_computes_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    (program,) = (block.text for block in run_docs.blocks(run_docs.ROOT / "docs" / "builder.md") if block.text)
    exec(compile(program, "builder.md", "exec"), namespace)
    x = np.random.default_rng(1).random((1, 3, 32, 32), np.float32)
    got: dict[str, np.ndarray] = dml2onnx.run(namespace["g"].build(namespace["y"]), {"x": x})
    windows = np.lib.stride_tricks.sliding_window_view((x * 2 - 1).sum(axis=1)[0], (3, 3)).sum(axis=(2, 3))
    largest = np.lib.stride_tricks.sliding_window_view(np.maximum(windows, 0), (2, 2)).max(axis=(2, 3))
    (result,) = got.values()
    np.testing.assert_allclose(result, np.broadcast_to(largest, (1, 8, 29, 29)), rtol=1e-5, atol=1e-5)


class TestRunner:
    @pytest.fixture
    def found(self, tmp_path: Path):
        def failures(*lines: str) -> list[str]:
            page = tmp_path / "page.md"
            page.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return list(run_docs.failures(page, PROGRAMS))

        return failures

    @pytest.mark.parametrize(
        "lines",
        [
            pytest.param(["```console", "$ echo one", "one", "```"], id="output"),
            pytest.param(["```console", "$ echo one; echo two", "...", "two", "```"], id="left-out-lines"),
            pytest.param(["```console", "$ echo one two three", "one … three", "```"], id="left-out-words"),
            pytest.param(["```console", "$ echo one \\", "> two", "one two", "$ true", "```"], id="long-command"),
            pytest.param(["<!-- exit: 3 -->", "```console", "$ true", "$ exit 3", "```"], id="exit-code"),
            pytest.param(
                ["<!-- file: a/b.json -->", "```json", "{}", "```", "```console", "$ cat a/b.json", "{}", "```"]
            ),
            pytest.param(["```python", "print(1)", "```", "<!-- output -->", "```text", "1", "```"], id="program"),
            pytest.param(["<!-- not run: no compiler -->", "```cpp", "x", "```"], id="not-run"),
            pytest.param(["```console", "$ python -c 'import dml2onnx'", "```"], id="the-interpreter"),
        ],
    )
    def test_right(self, found, lines: list[str]) -> None:
        assert found(*lines) == []

    @pytest.mark.parametrize(
        ("lines", "what"),
        [
            (["```console", "$ echo one", "two", "```"], "prints\none"),
            (["```console", "$ echo one; echo two", "one", "```"], "instead of"),
            (["```console", "$ echo one two three", "one … four", "```"], "instead of"),
            (["```console", "$ false", "```"], "exit code 1, not 0"),
            (["```console", "$ false | true; false", "$ true", "```"], "exit code 1, not 0"),
            (["```console", "$ false | cat", "```"], "exit code 1, not 0"),
            (["<!-- exit: 1 -->", "```console", "$ true", "```"], "exit code 0, not 1"),
            (["```python", "raise SystemExit(4)", "```"], "exit code 4, not 0"),
            (["```python", "print(1)", "```", "<!-- output -->", "```text", "2", "```"], "prints\n1"),
            (["```json", "{}", "```"], "neither run nor written"),
            (["```", "something", "```"], "neither run nor written"),
            (["<!-- not run: -->", "```cpp", "x", "```"], "neither run nor written"),
        ],
    )
    def test_wrong(self, found, lines: list[str], what: str) -> None:
        (failure,) = found(*lines)
        assert what in failure
        assert failure.startswith("page.md:1: ")

    def test_a_console_block_begins_with_a_command(self, found) -> None:
        with pytest.raises(ValueError, match="begins with a command"):
            found("```console", "echo one", "```")

    def test_the_command_for_people(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text("```console\n$ echo one\ntwo\n```\n", encoding="utf-8")
        command = [sys.executable, run_docs.ROOT / "scripts" / "run_docs.py", page]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
        assert done.returncode == 1
        assert done.stdout.startswith("page.md: 1 failures in ")


def test_the_module_is_standard_library_only() -> None:
    """It runs in environments with only the wheel."""
    assert isinstance(run_docs, ModuleType)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import run_docs"
    subprocess.run([sys.executable, "-I", "-S", "-c", code, run_docs.ROOT / "scripts"], check=True)


def test_the_readme_counts_right() -> None:
    """Operators, levels, opsets and versions of runtimes match the package."""
    text = (run_docs.ROOT / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((run_docs.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ranges = {name: re.search(rf"{name}>=1\.(\d+),<1\.(\d+);", " ".join(project["dependencies"])) for name in RUNTIMES}
    for name, found in ranges.items():
        assert found is not None
        first, end = map(int, found.groups())
        assert re.search(rf"`{name}` \(1\.{first} to 1\.{end - 1}", text), name
    assert f" {len(catalog.operator_names())} operators, each" in text
    assert f"over {('fourteen', 'fifteen', 'sixteen')[len(catalog.feature_levels()) - 14]} feature levels" in text
    assert f"from feature level {catalog.feature_levels()[0]} to {catalog.LATEST}," in " ".join(text.split())
    assert f"opsets {OPSETS[0]} to {OPSETS[-1]}," in text


@pytest.mark.parametrize("page", ["README.md", ".github/CONTRIBUTING.md", *(f"docs/{n.name}" for n in PAGES)])
def test_pages_name_what_there_is(page: str) -> None:
    """Files and diagnostic codes that a page names exist."""
    text = (run_docs.ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:dml2onnx|scripts|schemas|tests|samples|docs)/[\w./-]+)`", text)
    assert [name for name in named if not (run_docs.ROOT / name).exists()] == []
    assert [name for name in re.findall(r"\bDML\d{4}\b", text) if name not in all_codes()] == []


def test_the_page_of_targets_lists_them_all() -> None:
    table = (run_docs.ROOT / "docs" / "targets.md").read_text(encoding="utf-8").partition("| Target | What it is")[2]
    rows = [line for line in table.partition("\n\n")[0].splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])} == set(NAMES)


def test_the_page_of_providers_lists_them_all() -> None:
    text = (run_docs.ROOT / "docs" / "providers.md").read_text(encoding="utf-8").partition("\n## ")[0]
    rows = [re.findall(r"`([^`]+)`", line) for line in text.splitlines() if line.startswith("| `")]
    listed = {row[0]: row[1:] for row in rows if row[0] in providers.NAMES}
    assert set(listed) == set(providers.NAMES)
    for provider in providers.TABLE:
        assert listed[provider.name][0] == provider.full_name
        assert {provider.distribution, provider.plugin} - {""} <= set(listed[provider.name])


def test_the_page_of_providers_says_what_each_computes_in() -> None:
    text = (run_docs.ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    table = text.partition("## How exactly they compute")[2].partition("\n- ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    text_of = {name: " ".join(row[1:]) for row in rows for name in re.findall(r"`([^`]+)`", row[0])}
    for row in bounds.TABLE:
        expected = "shaders" if row.arithmetic.name == "WGSL" else row.arithmetic.name
        assert expected in text_of[row.provider]
        assert not row.option or row.option in text_of[row.provider] or row.option == "device_type"
    assert set(text_of) == set(providers.BY_NAME)
