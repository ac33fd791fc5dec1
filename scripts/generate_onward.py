"""Writes the tables of docs/devices.md about tools that models go on to, from results that are checked in.

python scripts/generate_onward.py            writes
python scripts/generate_onward.py --check    fails where the page says something else
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.onward import results  # noqa: E402

PAGE = ROOT / "docs" / "devices.md"
MARK = "<!-- made by scripts/generate_onward.py -->\n"
END = "<!-- end -->"


def filled(text: str) -> str:
    """The page with its tables made anew."""
    before, start, rest = text.partition(MARK)
    _, end, after = rest.partition(END)
    assert end, f"{PAGE.name} has no place for the tables"
    return f"{before}{start}\n{results.tables(results.read())}\n{end}{after}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after = filled(before)
    if options.check:
        if before != after:
            print(f"{PAGE.relative_to(ROOT)} is out of date: python scripts/generate_onward.py")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
