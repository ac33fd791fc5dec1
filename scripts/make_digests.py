#!/usr/bin/env python3
"""Writes ``tests/data/digests.txt``: a digest of the results for each group of inputs in ``tests/digests.py``.

A refactoring must not change it; ``tests/test_digests.py`` compares. If a digest changes,
``python -m tests.digests GROUP`` prints what it is made of: run it before and after the change.
"""

from __future__ import annotations

import sys

from _generated import write_or_check

from tests.digests import DATA, GROUPS, digest_of, processor

GENERATOR = "scripts/make_digests.py"


def content() -> str:
    lines = [f"{digest_of(group)} {group}" for group in GROUPS]
    return "\n".join([f"{GENERATOR} wrote this file on {processor()}", *lines, ""])


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {DATA: content()}))
