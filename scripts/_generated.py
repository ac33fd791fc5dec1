"""The common command line of generators: write files, or with ``--check`` compare them."""

from __future__ import annotations

import argparse
import difflib
import itertools
import operator
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from _environment import ROOT as ROOT  # re-exported for generators

MAX_DIFF_LINES = 40
END = "<!-- end -->"


def with_section(text: str, mark: str, content: str) -> str:
    """Returns the page with the section between ``mark`` and the next end marker replaced."""
    before, start, rest = text.partition(f"<!-- made by {mark} -->\n")
    _, end, after = rest.partition(END)
    assert end, f"the page has no section for {mark}"
    return f"{before}{start}\n{content}\n{end}{after}"


def write_or_check(
    description: str | None,
    make: Callable[[], Mapping[Path, str]],
    is_alike: Callable[[str, str], bool] = operator.eq,
) -> int:
    """The command line of a generator: writes its files, or with ``--check`` prints differences and returns 1."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    code = 0
    for path, new in make().items():
        if not check:
            path.write_text(new, encoding="utf-8", newline="\n")
            continue
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if not is_alike(old, new):
            lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "old", "new", lineterm="", n=0)
            print(*itertools.islice(lines, MAX_DIFF_LINES), sep="\n")
            print(f"{path.relative_to(ROOT)} is out of date: run python scripts/{parser.prog}", file=sys.stderr)
            code = 1
    return code
