"""Counts lines of Python in the package, the tests and the scripts, written by hand and generated.

    python scripts/count_lines.py [--packages]

Lines of code exclude comments, docstrings and blank lines. ``test_cases/``, which no command uses, and recorder.h,
joined from ``scripts/recorder/``, have rows of their own.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

from _generated import ROOT

GENERATED = re.compile(r"\b(?:Generated|Written|generated|written) by scripts/generate_\w+\.py")
BEGINNING = 600
"""Number of leading characters that name a file's generator."""
AIMS = {"package by hand": 50_000, "tests": 40_000, "scripts": 8_000}
"""Upper limits that we aim for."""
NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", action="store_true", help="also list the packages and folders, largest first")
    several = parser.parse_args().packages
    lines, code, folders = Counter[str](), Counter[str](), Counter[str]()
    for path in sorted(path for folder in ("dml2onnx", "tests", "scripts") for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        group = group_of(path, text)
        lines[group] += text.count("\n")
        code[group] += code_lines(text)
        folders[f"{group}: {'/'.join(path.relative_to(ROOT).parts[:-1][:2])}"] += text.count("\n")
    header = (ROOT / "dml2onnx" / "recorder" / "dml2onnx_recorder.h").read_text(encoding="utf-8").count("\n")
    parts = sum(path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "scripts" / "recorder").glob("*.h"))
    print(f"{'':28} {'lines':>8} {'code':>8} {'aim':>8}")
    for group in lines:
        print(f"{group:28} {lines[group]:8,} {code[group]:8,} {f'{AIMS[group]:,}' if group in AIMS else '':>8}")
    print(f"{'recorder.h, generated':28} {header:8,}\n{'its parts, by hand':28} {parts:8,}")
    for name, count in folders.most_common() if several else ():
        print(f"{count:8,} {name}")


def group_of(path: Path, text: str) -> str:
    """The row of the table that counts a file."""
    top, *rest = path.relative_to(ROOT).parts
    if top != "dml2onnx":
        return top
    if GENERATED.search(text, 0, BEGINNING):
        return "package, generated"
    return "package, cases for tests" if rest[0] == "test_cases" else "package by hand"


def code_lines(text: str) -> int:
    """Counts lines that are neither blank nor comments nor docstrings, including those of variables."""
    texts = {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - texts)


if __name__ == "__main__":
    main()
