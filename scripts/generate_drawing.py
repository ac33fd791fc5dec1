"""Writes ``samples/graph.svg``: the program of docs/builder.md as ``dml2onnx report --svg`` draws it.

python scripts/generate_drawing.py            write it
python scripts/generate_drawing.py --check    fail when it differs from what would be written
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import tempfile
from pathlib import Path
from unittest import mock

import dml2onnx
from dml2onnx.report.gathering import gather
from dml2onnx.report.svg import drawing

ROOT = Path(__file__).resolve().parent.parent
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


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the program of docs/builder.md.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    wanted = drawing(gather(graph()))
    if not options.check:
        TARGET.write_text(wanted, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") != wanted:
        print(f"{TARGET.relative_to(ROOT)} is not up to date: run python scripts/generate_drawing.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
