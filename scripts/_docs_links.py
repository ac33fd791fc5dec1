"""Follows every link of built pages: to each file there has to be one, to each place in a page something of that name.

    python scripts/_docs_links.py DIRECTORY

Links to other sites are not followed, since a check must not depend on them; they have to be written whole.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}
OWN = frozenset({"genindex.html", "search.html"})
"""Pages that Sphinx makes of itself."""


class Page(HTMLParser):
    """What a page links to, and the names in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes the link and the name of an element."""
        given = dict(attrs)
        for name in (given.get("id"), given.get("name") if tag == "a" else None):
            if name:
                self.names.add(name)
        link = given.get(LINKS.get(tag, ""))
        if link is not None:
            self.links.append(link)


def broken(directory: Path) -> list[str]:
    """What is wrong with the links of all pages."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(directory.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(directory).as_posix()
        found += [f"{where}: {link}: {why}" for link in page.links if (why := _wrong(path, link, pages))]
    linked = {_target(path, link) for path, page in pages.items() for link in page.links if not urlsplit(link).scheme}
    alone = [path for path in pages if path not in linked and path.name not in OWN]
    return found + [f"{path.relative_to(directory).as_posix()}: no page links to it" for path in alone]


def _target(path: Path, link: str) -> Path:
    place = unquote(urlsplit(link).path)
    return (path.parent / place).resolve() if place else path


def _wrong(path: Path, link: str, pages: dict[Path, Page]) -> str:
    parts = urlsplit(link)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "" if parts.scheme == "https" and "." in parts.netloc else "no whole https address"
    target = _target(path, link)
    if not target.is_file():
        return "there is no such file"
    name = unquote(parts.fragment)
    if name and target in pages and name not in pages[target].names:
        return "there is no such place in the page"
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
