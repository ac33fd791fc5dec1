#!/usr/bin/env python3
"""Write and check ``schemas/operator_index.json``: name, summary and page of each operator, and whether it compiles.

    scripts/generate_operator_index.py            write it
    scripts/generate_operator_index.py --check    fail if the file is out of date

The index lets commands list operators without reading all of ``schemas/operators`` or importing
``dml2onnx/lowering``, from which it is generated.
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
    """One operator per line."""
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
    sys.exit(write_or_check(__doc__, lambda: {TARGET: content()}))
