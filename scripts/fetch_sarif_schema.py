"""Fetches the JSON Schema of SARIF 2.1.0, which tests use to validate ``check --format sarif``.

    python scripts/fetch_sarif_schema.py            write tests/data/sarif-2.1.0.json from the npm registry (needs npm)
    python scripts/fetch_sarif_schema.py --check    compare the file with the pinned hash, offline

The schema is the standard's own, from Microsoft's https://github.com/microsoft/sarif-js-sdk (MIT licence).
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import sys

from _environment import ROOT
from _npm import Package, archive, fetch, member

TARGET = ROOT / "tests" / "data" / "sarif-2.1.0.json"
PACKAGE = Package(
    "@microsoft/jest-sarif",
    "1.0.0-beta.0",
    "sha512-A1fOhPd6Ic5iDk4F9YPw1qNB4XF+7+IviR7xl8r2F6QzQkx5cpY9LsGk2rExiFIEcBbjpVnSmwWGBukASkiQ9A==",
)
FILE = "lib/schemas/sarif-2.1.0-rtm.5.json"
SHA256 = "fcd83ca034bb37d847fb9abdd3d99debc331e8c3f593c4ede03616fd51d40176"
"""Hash of the generated file."""


def schema_with_source(unpinned: bool) -> str:
    with archive(PACKAGE, unpinned) as files:
        schema = json.loads(member(files, FILE))
    source = f"{FILE} of {PACKAGE.name} {PACKAGE.version}, MIT licence, Copyright (c) Microsoft Corporation"
    return json.dumps({"$comment": f"written by scripts/fetch_sarif_schema.py: {source}", **schema}, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(fetch(TARGET, SHA256, schema_with_source))
