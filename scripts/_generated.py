"""Files that scripts write, and compare with what stands when they are asked to ``--check``."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from _environment import ROOT

MOST_LINES = 40
"""Of a difference that are shown."""


def same(there: str, made: str) -> bool:
    """Whether two texts are equal."""
    return there == made


END = "<!-- end -->"


def filled(text: str, mark: str, content: str) -> str:
    """A page with what stands between ``mark`` and the next end made anew."""
    before, start, rest = text.partition(f"<!-- made by {mark} -->\n")
    _, end, after = rest.partition(END)
    assert end, f"there is no place for what {mark} makes"
    return f"{before}{start}\n{content}\n{end}{after}"


def write_or_check(
    generator: str,
    description: str | None,
    make: Callable[[], Mapping[Path, str]],
    is_alike: Callable[[str, str], bool] = same,
) -> int:
    """The command line of a generator: writes its files, or with ``--check`` says which differ, by exit code 1."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    code = 0
    for path, made in make().items():
        if not check:
            path.write_text(made, encoding="utf-8", newline="\n")
            continue
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if not is_alike(there, made):
            lines = difflib.unified_diff(there.splitlines(), made.splitlines(), "there", "made", lineterm="", n=0)
            print(*[line for _, line in zip(range(MOST_LINES), lines, strict=False)], sep="\n")
            print(f"{path.relative_to(ROOT)} is not up to date: run python {generator}", file=sys.stderr)
            code = 1
    return code
