"""Writes the documentation sources into a directory: ``docs/``, and pages that are generated from data.

    python scripts/_docs_pages.py DIRECTORY

The output is deterministic. ``scripts/build_docs.py`` builds HTML from it.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from _environment import ROOT

COPIED = {
    ROOT / "CHANGELOG.md": "changelog.md",
    ROOT / ".github" / "SECURITY.md": "security.md",
    ROOT / "samples" / "picture" / "result.png": "images/result.png",
    ROOT / "samples" / "graph.svg": "images/graph.svg",
    ROOT / "samples" / "sizes.svg": "images/sizes.svg",
    ROOT / "samples" / "report.png": "images/report.png",
    ROOT / "schemas" / "graph.schema.json": "files/graph.schema.json",
    ROOT / "schemas" / "report.schema.json": "files/report.schema.json",
    ROOT / "schemas" / "journal.schema.json": "files/journal.schema.json",
}
"""Files outside of ``docs/``, and their paths in the documentation."""


def write(directory: Path) -> int:
    """Writes all sources into a new directory and returns their number."""
    from _docs_operators import operator_pages
    from _docs_reference import reference_pages

    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(ROOT / "docs", directory, ignore=shutil.ignore_patterns("__pycache__"))
    for source, place in COPIED.items():
        (directory / place).parent.mkdir(exist_ok=True)
        shutil.copyfile(source, directory / place)
    for place, text in {**operator_pages(), **reference_pages()}.items():
        path = directory / place
        if path.exists():
            sys.exit(f"docs/{place} would be overwritten by a generated page")
        path.parent.mkdir(exist_ok=True)
        path.write_text(re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n", encoding="utf-8", newline="\n")
    return sum(path.is_file() for path in directory.rglob("*"))


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]))} sources in {sys.argv[1]}")
