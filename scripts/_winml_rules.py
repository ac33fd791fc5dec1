"""Reads what winml-cli has measured, for ``winml_targets.py``: which nodes each device of Windows ML compiles.

    python _winml_rules.py

Prints JSON: of each place, such as ``QNNExecutionProvider_NPU``, of each operator and version, each combination of
element types and whether some node of it was compiled for the device and run. This file is run by an interpreter that
has winml-cli and pyarrow, and neither dml2onnx nor onnx.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

from pyarrow import parquet

FILE = re.compile(r"(?P<op>[A-Za-z0-9]+)_(?P<place>[A-Za-z]+_[A-Z]+)_ai\.onnx_opset(?P<version>\d+)\.parquet")
"""Of plain operators; those whose names go on are quantised nodes and patterns of several."""


def rules() -> Path:
    """Where the package keeps its tables, which is found without importing it: that wants much else."""
    found = importlib.util.find_spec("winml")
    assert found is not None
    assert found.submodule_search_locations
    return Path(next(iter(found.submodule_search_locations)), "modelkit", "analyze", "rules", "runtime_check_rules")


def combinations(path: Path, op: str) -> list[dict[str, Any]]:
    """The element types of the operator's variables that nodes had, and whether any of them was compiled and ran."""
    table = parquet.read_table(path)
    variables = {name: name.removesuffix(f"_{op}") for name in table.schema.names if name.endswith(f"_{op}")}
    found: dict[tuple[str, ...], bool] = {}
    columns = [table.column(name).to_pylist() for name in variables]
    for *types, outcome in zip(*columns, table.column("compile_run_success").to_pylist(), strict=True):
        key = tuple(str(_value(item)) for item in types)
        found[key] = found.get(key, False) or list(outcome) == [True, True]
    return [{"types": dict(zip(variables.values(), key, strict=True)), "runs": runs} for key, runs in found.items()]


def _value(text: str) -> Any:
    return json.loads(text)["v"]


def main() -> None:
    """Prints all of it."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in sorted(rules().glob("*/*.parquet")):
        if match := FILE.fullmatch(path.name):
            place, op, version = match["place"], match["op"], match["version"]
            found.setdefault(place, {}).setdefault(op, {})[version] = combinations(path, op)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
