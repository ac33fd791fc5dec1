#!/usr/bin/env python3
"""Write and check ``tests/data/texts.txt``: every string of several words in the package's code, one per line.

    scripts/generate_texts.py            write it
    scripts/generate_texts.py --check    fail if the file is out of date

The diff of this file shows every changed message, note and help text, including those that no test reads. ``_`` marks
interpolated values. Docstrings and generated code are left out.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from _generated import ROOT, write_or_check

TARGET = ROOT / "tests" / "data" / "texts.txt"
GENERATOR = "scripts/generate_texts.py"
GENERATED = ROOT / "dml2onnx" / "builder" / "operators"
_WORD = re.compile(r"(?<![\w\\])[A-Za-z]{3,}(?!\w)")
_WORDS = 3
"""Strings with fewer words may be names or expressions."""
_NOT_CODE = ("annotation", "returns")


def texts_of(node: ast.AST) -> Iterator[str]:
    """Yields the strings below a node, without docstrings and annotations."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "_" for part in parts)
        if isinstance(getattr(node, "value", ""), str) and len(_WORD.findall(text)) >= _WORDS:
            yield text
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            is_part = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
            if isinstance(child, ast.AST) and not is_docstring and not is_part and name not in _NOT_CODE:
                yield from texts_of(child)


def content() -> str:
    files = [file for file in sorted((ROOT / "dml2onnx").rglob("*.py")) if GENERATED not in file.parents]
    found = {text for file in files for text in texts_of(ast.parse(file.read_text(encoding="utf-8")))}
    return "\n".join([f"{GENERATOR} wrote this file.", "", *sorted(text.replace("\n", "\\n") for text in found), ""])


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {TARGET: content()}))
