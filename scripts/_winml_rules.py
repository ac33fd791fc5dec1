"""Reads winml-cli's measurements for ``winml_targets.py``: which nodes each Windows ML device compiles.

    python _winml_rules.py

Prints JSON: for each device, such as ``QNNExecutionProvider_NPU``, operator and version, each combination of element
types and whether any node with it was compiled for the device and ran. The interpreter that runs this file has
winml-cli and pyarrow, but neither dml2onnx nor onnx.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

from pyarrow import parquet

FILE = re.compile(r"(?P<op>[A-Za-z0-9]+)_(?P<place>[A-Za-z]+_[A-Z]+)_ai\.onnx_opset(?P<version>\d+)\.parquet")
"""Files of single operators; longer names are quantised nodes and patterns of several nodes."""


def rules() -> Path:
    """The package's directory of tables, found without importing the package and its many dependencies."""
    found = importlib.util.find_spec("winml")
    assert found is not None
    assert found.submodule_search_locations
    return Path(next(iter(found.submodule_search_locations)), "modelkit", "analyze", "rules", "runtime_check_rules")


def combinations(path: Path, op: str) -> list[dict[str, Any]]:
    """Each combination of element types that was measured, and whether any node with it compiled and ran."""
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
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in sorted(rules().glob("*/*.parquet")):
        if match := FILE.fullmatch(path.name):
            place, op, version = match["place"], match["op"], match["version"]
            found.setdefault(place, {}).setdefault(op, {})[version] = combinations(path, op)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
