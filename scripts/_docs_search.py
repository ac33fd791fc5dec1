"""Writes the texts of built pages into a script, from which the search takes its excerpts where pages are on a disk.

    python scripts/_docs_search.py DIRECTORY

A browser lets no page that it has from a disk read another one, but it runs scripts. What is kept of a page is what
Sphinx's search looks at: the text of its main part, and the sections, which results lead to.
"""

from __future__ import annotations

import html
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

TARGET = "_static/excerpts.js"
_VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
_LEFT_OUT = frozenset({"script", "style", "svg", "button"})
_BLOCKS = frozenset({"p", "li", "td", "th", "tr", "div", "pre", "h1", "h2", "h3", "h4", "dt", "dd"})


class MainPart(HTMLParser):
    """The main part of a page: sections, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.kept: list[str] = []
        self._open: list[tuple[str, str]] = []
        """Elements of the main part, each with what closes it in what is kept; empty where it is not kept."""
        self._silent = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins with the main part, and keeps sections and whatever else has a name."""
        given = dict(attrs)
        is_main = given.get("role") == "main" and not self._open
        if tag in _VOID or not (self._open or is_main):
            return
        if tag in _LEFT_OUT or "headerlink" in (given.get("class") or ""):
            self._silent += 1
            self._open.append((tag, "silent"))
            return
        if is_main:
            self.kept.append('<div role="main">')
        elif given.get("id"):
            self.kept.append(f'<div id="{html.escape(given["id"] or "")}">')
        self._open.append((tag, "</div>" if is_main or given.get("id") else ""))

    def handle_endtag(self, tag: str) -> None:
        """Closes what was kept, and parts texts of blocks."""
        if not self._open or tag in _VOID:
            return
        _, closing = self._open.pop()
        if closing == "silent":
            self._silent -= 1
        else:
            self.kept.append((" " if tag in _BLOCKS else "") + closing)

    def handle_data(self, data: str) -> None:
        """Keeps text."""
        if self._open and not self._silent:
            self.kept.append(html.escape(data, quote=False))


def excerpts(directory: Path) -> dict[str, str]:
    """What is kept of all pages, by their names."""
    found = {}
    for path in sorted(directory.rglob("*.html")):
        kept = "".join(MainPart(path.read_text(encoding="utf-8")).kept)
        found[path.relative_to(directory).as_posix()] = re.sub(r"\s+", " ", kept)
    return found


def write(directory: Path) -> int:
    """Writes the script and returns how many pages are in it."""
    found = excerpts(directory)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (directory / TARGET).write_text(f"window.EXCERPTS = {text};\n", encoding="utf-8", newline="\n")
    return len(found)


if __name__ == "__main__":
    print(f"excerpts of {write(Path(sys.argv[1]))} pages")
