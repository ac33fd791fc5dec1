#!/usr/bin/env python3
"""Write and check ``tests/data/texts.txt``: every text of several words in the package's code, a line each.

    scripts/generate_texts.py            write it
    scripts/generate_texts.py --check    fail when it differs from what would be written

Messages, notes, help: a change of words is seen in the difference, also of those that no test reads. ``_`` stands for
what is put into a text. Docstrings are not there, nor what generators write.
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
"""As many make a text of what may be a name or an expression."""
_NOT_CODE = ("annotation", "returns")


def texts_of(node: ast.AST) -> Iterator[str]:
    """The texts in some code but its docstrings and types."""
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
    """The file: the texts in the order of their letters."""
    files = [file for file in sorted((ROOT / "dml2onnx").rglob("*.py")) if GENERATED not in file.parents]
    found = {text for file in files for text in texts_of(ast.parse(file.read_text(encoding="utf-8")))}
    return "\n".join([f"{GENERATOR} wrote this file.", "", *sorted(text.replace("\n", "\\n") for text in found), ""])


if __name__ == "__main__":
    sys.exit(write_or_check(GENERATOR, __doc__, lambda: {TARGET: content()}))
