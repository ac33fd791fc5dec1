"""Writes what pages say of other runtimes: results that are checked in, and what these runtimes do otherwise.

python scripts/generate_runtimes.py            writes the tables of docs/runtimes.md and of two other pages
python scripts/generate_runtimes.py --check    fails where a page says something else
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.runtimes import results  # noqa: E402

PAGE = ROOT / "docs" / "runtimes.md"
PROVIDER_PAGE = ROOT / "docs" / "directml-on-linux.md"
README = ROOT / "README.md"
MARK = "<!-- made by scripts/generate_runtimes.py: {} -->\n"
END = "<!-- end -->"


def filled(text: str, tables: Mapping[str, str]) -> str:
    """The page with its tables made anew."""
    for name, content in tables.items():
        before, start, rest = text.partition(MARK.format(name))
        _, end, after = rest.partition(END)
        assert end, f"there is no place for {name}"
        text = f"{before}{start}\n{content}\n\n{end}{after}"
    return text


def pages() -> dict[Path, str]:
    """What each page ought to say."""
    found = results.read_all()
    tables = {
        "results": results.results_table(found),
        "places": results.places_table(found),
        "differences": results.differences_table(),
        "missing": results.missing(found),
    }
    texts = {path: path.read_text(encoding="utf-8") for path in (PAGE, PROVIDER_PAGE, README)}
    return {
        PAGE: filled(texts[PAGE], tables),
        PROVIDER_PAGE: filled(texts[PROVIDER_PAGE], {"provider": results.provider_list(found)}),
        README: filled(texts[README], {"summary": results.summary_table(found)}),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes what pages say of other runtimes.")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    old = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    if options.check:
        for path in old:
            print(f"{path.relative_to(ROOT)} is out of date: python scripts/generate_runtimes.py")
        return int(bool(old))
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
