"""Checks every link in built pages: its file must exist, and so must its anchor.

    python scripts/_docs_links.py DIRECTORY

Links to other sites must be complete https addresses; they are not followed, since a check must not depend on them.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}
OWN = frozenset({"genindex.html", "search.html"})
"""Pages that Sphinx adds, and that no page needs to link to."""


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Records the link and the anchor of an element."""
        attributes = dict(attrs)
        for name in (attributes.get("id"), attributes.get("name") if tag == "a" else None):
            if name:
                self.names.add(name)
        link = attributes.get(LINKS.get(tag, ""))
        if link is not None:
            self.links.append(link)


def broken(directory: Path) -> list[str]:
    """Describes all broken links, and pages without links to them."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(directory.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(directory).as_posix()
        found += [f"{where}: {link}: {why}" for link in page.links if (why := _problem(path, link, pages))]
    linked = {_target(path, link) for path, page in pages.items() for link in page.links if not urlsplit(link).scheme}
    orphans = [path for path in pages if path not in linked and path.name not in OWN]
    return found + [f"{path.relative_to(directory).as_posix()}: no page links to it" for path in orphans]


def _target(path: Path, link: str) -> Path:
    place = unquote(urlsplit(link).path)
    return (path.parent / place).resolve() if place else path


def _problem(path: Path, link: str, pages: dict[Path, Page]) -> str:
    parts = urlsplit(link)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "" if parts.scheme == "https" and "." in parts.netloc else "not a complete https address"
    target = _target(path, link)
    if not target.is_file():
        return "no such file"
    name = unquote(parts.fragment)
    if name and target in pages and name not in pages[target].names:
        return "no such anchor in the page"
    return ""


def main() -> int:
    directory = Path(sys.argv[1]).resolve()
    wrong = broken(directory)
    for line in wrong:
        print(line)
    count = len(list(directory.rglob("*.html")))
    print(f"{len(wrong)} broken links in {count} pages")
    return 1 if wrong or count < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
