"""Builds the documentation and checks all of its links.

    python scripts/build_docs.py     writes build/docs/html/index.html

The first run creates ``.venv`` and ``.venv-docs`` with pinned packages; later runs need no network. Sphinx warnings are
errors. Pages about operators, diagnostics and JSON formats are generated from the data that the program uses.
"""

from __future__ import annotations

import argparse
import shutil
import sys

from _environment import ROOT, prepare, run

BUILD = ROOT / "build" / "docs"
STRICT = ("--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "--fresh-env", "--jobs", "auto")


def main() -> int:
    argparse.ArgumentParser(description="Builds the documentation and checks all of its links.").parse_args()
    python = prepare(".venv")
    sphinx = prepare(".venv-docs", "docs", project=False)
    source, pages = BUILD / "source", BUILD / "html"
    shutil.rmtree(pages, ignore_errors=True)
    if run([python, "scripts/_docs_pages.py", source]) != 0:
        return 1
    if run([sphinx, "-m", "sphinx", *STRICT, "-b", "html", "-d", BUILD / "doctrees", source, pages]) != 0:
        return 1
    if run([python, "scripts/_docs_search.py", pages]) != 0:
        return 1
    if run([python, "scripts/_docs_links.py", pages]) != 0:
        return 1
    print(f"built {pages / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
