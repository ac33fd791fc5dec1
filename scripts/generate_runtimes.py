"""Writes the tables of docs/runtimes.md: results that are checked in, and what other runtimes do otherwise.

python scripts/generate_runtimes.py            writes
python scripts/generate_runtimes.py --check    fails where the page says something else
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.runtimes import results  # noqa: E402

PAGE = ROOT / "docs" / "runtimes.md"
MARK = "<!-- made by scripts/generate_runtimes.py: {} -->\n"
END = "<!-- end -->"


def filled(text: str) -> str:
    """The page with its tables made anew."""
    found = results.read_all()
    tables = {
        "results": results.results_table(found),
        "places": results.places_table(found),
        "differences": results.differences_table(),
        "missing": results.missing(found),
    }
    for name, content in tables.items():
        before, start, rest = text.partition(MARK.format(name))
        _, end, after = rest.partition(END)
        assert end, f"{PAGE.name} has no place for {name}"
        text = f"{before}{start}\n{content}\n\n{end}{after}"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the tables of docs/runtimes.md.")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after = filled(before)
    if options.check:
        if before != after:
            print(f"{PAGE.relative_to(ROOT)} is out of date: python scripts/generate_runtimes.py")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
