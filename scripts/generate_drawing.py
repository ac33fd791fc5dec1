"""Writes ``samples/graph.svg``: the program of docs/builder.md as ``dml2onnx report --svg`` draws it.

python scripts/generate_drawing.py            write it
python scripts/generate_drawing.py --check    fail when it differs from what would be written
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from unittest import mock

from _generated import ROOT, write_or_check

import dml2onnx
from dml2onnx.report.gathering import gather
from dml2onnx.report.svg import drawing

TARGET = ROOT / "samples" / "graph.svg"
PAGE = ROOT / "docs" / "builder.md"
BUILDS = "dml2onnx.GraphBuilder("


def program() -> str:
    """The program that builds a graph, in the documents."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (found,) = (block for block in blocks if BUILDS in block)
    return str(found)


def graph() -> dml2onnx.Graph:
    """What the program hands to ``compile``."""
    with (
        mock.patch.object(dml2onnx, "compile", wraps=dml2onnx.compile) as compiled,
        tempfile.TemporaryDirectory() as directory,
        contextlib.chdir(directory),
    ):
        exec(compile(program(), "builder.md", "exec"), {})
    given = compiled.call_args.args[0]
    assert isinstance(given, dml2onnx.Graph)
    return given


if __name__ == "__main__":
    sys.exit(
        write_or_check(
            "scripts/generate_drawing.py",
            "Draws the program of docs/builder.md.",
            lambda: {TARGET: drawing(gather(graph()))},
        )
    )
