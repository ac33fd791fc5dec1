"""Writes the tables of results on other runtimes and tools, from the results that are checked in.

python scripts/generate_runtimes.py            writes the tables of docs/runtimes.md and of three other pages
python scripts/generate_runtimes.py --check    fails if a page is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from _generated import ROOT, with_section, write_or_check

from tests.onward import results as onward
from tests.runtimes import results

GENERATOR = "scripts/generate_runtimes.py"


def pages() -> dict[Path, str]:
    found = results.read_all()
    tables = {
        "docs/runtimes.md": {
            "results": results.results_table(found),
            "places": results.places_table(found),
            "differences": results.differences_table(),
            "missing": results.missing(found),
        },
        "docs/directml-on-linux.md": {"provider": results.provider_list(found)},
        "README.md": {"summary": results.summary_table(found)},
        "docs/devices.md": {"onward": onward.tables(onward.read())},
    }
    updated = {}
    for page, contents in tables.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name, content in contents.items():
            text = with_section(text, f"{GENERATOR}: {name}", content.rstrip("\n") + "\n")
        updated[ROOT / page] = text
    return updated


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, pages))
