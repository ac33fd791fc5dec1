#!/usr/bin/env python3
"""Write and check ``schemas/operator_index.json``, what lists of operators say of each, and which can be compiled.

    scripts/generate_operator_index.py            write it
    scripts/generate_operator_index.py --check    fail when it differs from what would be written

It is made from ``schemas/operators``, files that take longer to read than all else that a list is made of, and from
what is registered in ``dml2onnx/lowering``, which checks and lists do without.
"""

from __future__ import annotations

import json
import sys

from _generated import ROOT, write_or_check

from dml2onnx import catalog
from dml2onnx.catalog import INDEX_FILE
from dml2onnx.lowering import lowerings

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


if __name__ == "__main__":
    sys.exit(write_or_check(GENERATOR, __doc__, lambda: {TARGET: content()}))
