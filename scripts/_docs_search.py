"""Writes the texts of built pages into a script, so that search can show excerpts when pages are opened from disk.

    python scripts/_docs_search.py DIRECTORY

A browser does not let a page from disk read other pages, but it runs scripts. The script has what Sphinx's search uses:
the text of each page's main part, and its sections, which results link to.
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
_SKIPPED = frozenset({"script", "style", "svg", "button"})
_BLOCKS = frozenset({"p", "li", "td", "th", "tr", "div", "pre", "h1", "h2", "h3", "h4", "dt", "dd"})


class MainPart(HTMLParser):
    """Collects sections and text of the main part of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.kept: list[str] = []
        self._open: list[tuple[str, str]] = []
        """Open elements, each with the closing tag to write; empty if the element is not kept."""
        self._silent = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps the main part, sections and other elements with an id."""
        attributes = dict(attrs)
        is_main = attributes.get("role") == "main" and not self._open
        if tag in _VOID or not (self._open or is_main):
            return
        if tag in _SKIPPED or "headerlink" in (attributes.get("class") or ""):
            self._silent += 1
            self._open.append((tag, "silent"))
            return
        if is_main:
            self.kept.append('<div role="main">')
        elif attributes.get("id"):
            self.kept.append(f'<div id="{html.escape(attributes["id"] or "")}">')
        self._open.append((tag, "</div>" if is_main or attributes.get("id") else ""))

    def handle_endtag(self, tag: str) -> None:
        """Closes kept elements, and separates the texts of blocks."""
        if not self._open or tag in _VOID:
            return
        _, closing = self._open.pop()
        if closing == "silent":
            self._silent -= 1
        else:
            self.kept.append((" " if tag in _BLOCKS else "") + closing)

    def handle_data(self, data: str) -> None:
        if self._open and not self._silent:
            self.kept.append(html.escape(data, quote=False))


def excerpts(directory: Path) -> dict[str, str]:
    """The kept HTML of all pages, by file name."""
    found = {}
    for path in sorted(directory.rglob("*.html")):
        kept = "".join(MainPart(path.read_text(encoding="utf-8")).kept)
        found[path.relative_to(directory).as_posix()] = re.sub(r"\s+", " ", kept)
    return found


def write(directory: Path) -> int:
    """Writes the script and returns the number of pages."""
    found = excerpts(directory)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (directory / TARGET).write_text(f"window.EXCERPTS = {text};\n", encoding="utf-8", newline="\n")
    return len(found)


if __name__ == "__main__":
    print(f"excerpts of {write(Path(sys.argv[1]))} pages")
