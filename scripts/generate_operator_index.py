#!/usr/bin/env python3
"""Write and check ``schemas/operator_index.json``, what lists of operators say of each, and which can be compiled.

    scripts/generate_operator_index.py            write it
    scripts/generate_operator_index.py --check    fail when it differs from what would be written

It is made from ``schemas/operators``, 177 files that take longer to read than all else that a list is made of, and from
what is registered in ``dml2onnx/lowering``, which checks and lists do without.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dml2onnx import catalog  # noqa: E402
from dml2onnx.catalog import INDEX_FILE  # noqa: E402
from dml2onnx.lowering import lowerings  # noqa: E402

TARGET = ROOT / "schemas" / INDEX_FILE
GENERATOR = "scripts/generate_operator_index.py"


def content() -> str:
    """The file: an operator a line."""
    schemas = [catalog.operator(name) for name in catalog.operator_names()]
    known = lowerings()
    rows = [
        [schema.name, schema.introduced.name, schema.short_name in known, schema.summary, schema.doc]
        for schema in schemas
    ]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    head = json.dumps({"generator": GENERATOR, "columns": ["operator", "introduced", "lowered", "summary", "doc"]})[:-1]
    return f'{head},\n "operators": [\n{lines}\n ]}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if not parser.parse_args().check:
        TARGET.write_text(content(), encoding="utf-8", newline="\n")
        return 0
    if TARGET.exists() and TARGET.read_text(encoding="utf-8") == content():
        return 0
    print(f"{TARGET.relative_to(ROOT)} is not what {GENERATOR} writes", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
