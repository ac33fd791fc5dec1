"""Untrusted texts in every name of a model and in names of files, with every command.

No control character may reach a terminal, no text may start a command in a GitHub log, and no command may crash.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dml2onnx.cli import main
from dml2onnx.cli.markup import escape, unstyled
from dml2onnx.diagnostics import visible
from tests.frontends.models import f32

PIECES = (
    "\x1b[31m", "\x1b]8;;http://x\x1b\\", "\x9b2J", "\x00", "\x7f", "\r", "\n", "\n::error file=x::",
    "::error file=x::y",
    "::stop-commands::x", " ::warning::", "##[error]x", "\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\t", "\b",
    "[bold]", "</script><script>alert(1)</script>", "<!--", "]]>", "&",
    "\\[/]", "[/]", "é", "x" * 400, "/", "%", '"', "'", " ", "a", "\U000e0001", "#1", ":", ",",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), min_size=1, max_size=4).map("".join)
FILE_PIECES = tuple(item for item in PIECES if "/" not in item and "\0" not in item and len(item) < 100)
FILES = st.lists(st.sampled_from((*FILE_PIECES, "\udcff", "\udc80")), min_size=1, max_size=4).map("".join)
RUN = ("--input", "{text}=x.npy")
COMMANDS = {
    "check": ["check", "{model}", "--suggest"],
    "check json": ["check", "{model}", "--json"],
    "check concise": ["check", "{model}", "--format", "concise"],
    "check github": ["check", "{model}", "--format", "github"],
    "check sarif": ["check", "{model}", "--format", "sarif"],
    "check junit": ["check", "{model}", "--format", "junit"],
    "check directory": ["check", "{directory}"],
    "check directory github": ["check", "{directory}", "--format", "github"],
    "check directory concise": ["check", "{directory}", "--format", "concise"],
    "check directory sarif": ["check", "{directory}", "--format", "sarif"],
    "check directory junit": ["check", "{directory}", "--format", "junit"],
    "check directory json": ["check", "{directory}", "--json"],
    "explain": ["explain", "{model}"],
    "explain json": ["explain", "{model}", "--json"],
    "explain node": ["explain", "{model}", "{text}"],
    "explain code": ["explain", "{text}"],
    "compile": ["compile", "{model}", "-o", "{directory}/out.onnx"],
    "compile json": ["compile", "{model}", "-o", "{directory}/out.onnx", "--json"],
    "compile constants": ["compile", "{model}", "-o", "{directory}/out.onnx", "--constants", "{directory}/{file}"],
    "compile to a name": ["compile", "{model}", "-o", "{directory}/{file}.onnx"],
    "compile output": ["compile", "{model}", "-o", "{directory}/out.onnx", "--output", "{text}"],
    "run": ["run", "{model}", *RUN],
    "run output": ["run", "{model}", *RUN, "--output-dir", "{directory}/{file}"],
    "run without": ["run", "{model}"],
    "run input": ["run", "{model}", "--input", "{text}=1"],
    "verify": ["verify", "{model}", "--cases", "1"],
    "verify nodes": ["verify", "{model}", "--cases", "1", "--nodes"],
    "verify json": ["verify", "{model}", "--cases", "1", "--json"],
    "report": ["report", "{model}", "-o", "{directory}/{file}.html"],
    "report svg": ["report", "{model}", "-o", "{directory}/{file}.svg", "--svg"],
    "perf": ["perf", "{model}", "--runs", "1"],
    "reduce": ["reduce", "{model}", "-o", "{directory}/{file}.small.json", "--while", "exit 1 # {text}"],
    "batch": ["batch", "{directory}", "--jobs", "1", "--journal", "{directory}/{file}.journal"],
    "convert": ["convert", "{model}", "-o", "{directory}/{file}.native.json", "--format", "native"],
    "convert dxdispatch": ["convert", "{model}", "-o", "{directory}/{file}", "--format", "dxdispatch"],
    "convert python": ["convert", "{model}", "-o", "{directory}/{file}.py"],
    "convert cpp": ["convert", "{model}", "-o", "{directory}/{file}.cpp"],
    "convert serialized": ["convert", "{model}", "-o", "{directory}/{file}.bin", "--format", "serialized"],
    "ops": ["ops", "{text}"],
    "schema": ["schema", "{text}"],
    "perf provider": ["perf", "{model}", "--provider", "{text}"],
    "a command": ["{text}"],
    "an option": ["check", "{model}", "--{text}"],
}


REFUSED = {
    "run without": 1,
    "run input": 2,
    "schema": 2,
    "ops": 2,
    "explain code": 2,
    "explain node": 2,
    "compile constants": 2,
    "a command": 2,
    "an option": 2,
    "perf provider": 1,
}
"""Exit codes of commands that refuse a plain name; all others succeed."""
SCRIPTS = 2
"""The number of scripts in a report."""


def native(name: str, other: str, *, wrong: bool) -> dict[str, Any]:
    """Two nodes with untrusted names, inputs and outputs; ``wrong`` changes the sizes of one."""
    rows = [
        (name, "ACTIVATION_RELU", f32(2), name, f"{other}1"),
        (f"{name}2", "ACTIVATION_TANH", f32(3 if wrong else 2), f"{other}1", f"{other}3"),
    ]
    nodes = [
        {
            "name": node,
            "type": kind,
            "desc": {"InputTensor": f32(2), "OutputTensor": output},
            "inputs": {"InputTensor": source},
            "outputs": {"OutputTensor": target},
        }
        for node, kind, output, source, target in rows
    ]
    return {"dml2onnx": 1, "inputs": {name: f32(2)}, "nodes": nodes, "outputs": [f"{other}3"]}


def output_of(arguments: list[str], directory: Path) -> tuple[int, str]:
    """Returns the exit code of a command and everything that it writes."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(directory)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(arguments)
    finally:
        os.chdir(before)
    return code, out.getvalue() + err.getvalue()


def require_plain(output: str, *, is_github: bool) -> None:
    for line in output.split("\n"):
        assert line.isprintable(), ascii(line)
        assert "##[" not in line, line
        if not is_github or not line.startswith(("::error file=", "::warning file=")):
            assert not line.lstrip().startswith("::"), line
        assert is_github or len(line) < 10_000


def require_well_formed(command: str, output: str, directory: Path) -> None:
    """Requires that JSON, XML and HTML are not broken by texts of the model."""
    if command.endswith(("json", "sarif")) and output:
        json.loads(output)
    if command.endswith("junit"):
        ElementTree.fromstring(output)
    for drawing in directory.glob("*.svg"):
        ElementTree.parse(drawing)
    for page in directory.glob("*.html"):
        assert page.read_text(encoding="utf-8").count("<script") == SCRIPTS


def tried(command: str, name: str, other: str, file: str, *, wrong: bool) -> int:
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        model = f"{file[:40]}.json"
        text = json.dumps(native(name, other, wrong=wrong))
        try:
            (directory / model).write_text(text, encoding="utf-8")
        except (OSError, ValueError):  # not a valid name on this system
            model = "model.json"
            (directory / model).write_text(text, encoding="utf-8")
        names = {"model": model, "directory": ".", "text": name.replace("\0", ""), "file": file[:40]}
        np.save(directory / "x.npy", np.ones(2, np.float32))
        arguments = [item.format(**names) for item in COMMANDS[command]]
        code, output = output_of(arguments, directory)
        assert code in (0, 1, 2), output
        if code < 2:
            require_well_formed(command, output, directory)
        assert "Traceback" not in output
        require_plain(output, is_github="github" in command)
        return code


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes there")
@pytest.mark.parametrize("command", COMMANDS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=TEXTS, other=TEXTS, file=FILES, wrong=st.booleans())
@example(name="\x1b[31mred\x9b2J\u202e", other="\0\n::error file=x::", file="c\n::error file=x::", wrong=True)
@example(name="\x1b[31mred\x9b2J\u202e", other="\x7f\n::error file=x::", file="\udcff", wrong=False)
@example(name="::error file=x::", other="::stop-commands::x", file="::error file=x::", wrong=True)
@example(name="##[error]x", other="##[error]x", file="##[error]x", wrong=False)
def test_commands_escape_texts(command: str, name: str, other: str, file: str, wrong: bool) -> None:
    tried(command, name, other, file, wrong=wrong)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_accept_plain_names(command: str) -> None:
    """None of them is refused before it reads the texts."""
    assert tried(command, "plain", "other", "file", wrong=False) == REFUSED.get(command, 0)


@given(TEXTS)
def test_escaping_is_plain_and_idempotent(text: str) -> None:
    require_plain(visible(text), is_github=False)
    assert visible(visible(text)) == visible(text)
    require_plain(unstyled(escape(text)), is_github=False)
