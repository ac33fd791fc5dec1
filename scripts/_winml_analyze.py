"""Classifies the nodes of models with ``winml analyze``: supported, partial, unsupported or unknown.

    python _winml_analyze.py MODELS.json

MODELS.json has the paths of models by device, such as ``QNNExecutionProvider_NPU``. Prints JSON: by device and path the
nodes, each with operator, classification and reason. The reason for an unknown node is its difference from the nearest
node that was measured and ran. The interpreter that runs this file has winml-cli, but not dml2onnx.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any


def nodes_of(analyzer: Any, path: str, provider: str, device: str) -> list[dict[str, str]]:
    """The analyzer's classification of each node of one model."""
    found: list[dict[str, str]] = []

    def note(item: Any) -> None:
        result = item.result
        if result.reason == "pattern_matched":  # the pattern has its own result
            return
        operator = item.pattern_id.rpartition("/")[2]
        why = (result.reason or "").partition(":")[0]
        found.append({"operator": operator, "says": result.classification.value, "why": REASONS.get(why, why)})

    try:
        analyzer.analyze(model_path=path, ep=provider, device=device, enable_information=False, on_node_result=note)
    except ValueError as error:  # raised for lists of strings in attributes, for example
        return [{"operator": "the model", "says": "not read", "why": str(error)}]
    return found


def tree_of(query: Any, table: Any) -> Any:
    """The tree of conditions that the package builds from a table, much faster than the package's own code."""
    if table is None:
        return None
    columns = query._extract_condition_columns(table)
    root: dict[Any, Any] = {}
    for position, row in enumerate(zip(*(table[name] for name in columns), strict=True)):
        node = root
        for value in row:
            node = node.setdefault(value, {})
        node.setdefault(query._TREE_ROW_POSITION, position)
    first = None if columns or table.empty else 0
    return query._ParquetConditionTree(condition_columns=columns, root=root, default_row_position=first)


def cache_trees(query: Any) -> None:
    """Patches the package to build the tree of each table once rather than for each model."""
    cache: dict[int, Any] = {}

    def tree(table: Any) -> Any:
        if id(table) not in cache:
            cache[id(table)] = (table, tree_of(query, table))  # keeps the table alive, so that its id is not reused
        return cache[id(table)][1]

    query._build_condition_tree = tree


UNNAMED = "UINT32 or UINT64, which it does not name"  # also in docs/windows-ml.md
REASONS = {
    "unsupported_op": "no node of the operator measured",
    "rules_not_found": "no node of the operator measured",
    "required_information_missing": "a shape or attribute that it asks for",
    "optional_input_properties_not_found": "an optional input",
}


def lacks(columns: Mapping[str, object]) -> str:
    """Describes the columns in which a node differs from the nearest one that was measured."""
    if any("unknown(" in str(value) for value in columns.values()):
        return UNNAMED
    kinds = {
        "the number of dimensions": r"_dim$|^shape_len$|^num_axes$",
        "how its inputs are broadcast": r"_broadcasting_to_",
        "an attribute": r"^attr_",
    }
    for title, pattern in kinds.items():
        if any(re.search(pattern, name) for name in columns):
            return title
    return f"values of {', '.join(sorted(columns))}"


def explain(query: Any) -> None:
    """Patches the package to report the difference of each unknown node."""
    checker = query.RuntimeCheckerQuery
    look_up = checker._run_for_node_with_parquet_rules

    def explained(self: Any, node: Any, domain: Any, opset: int, conditions: Any, *more: Any) -> Any:
        found = look_up(self, node, domain, opset, conditions, *more)
        if found.result.reason == "properties_not_found":
            since = self._get_op_since_version_cached(node.op_type, domain, opset)
            _, table, tree = self._load_parquet_rule_table(node.op_type, domain, since, more[1], for_debug=False)
            encode = query.encode_rule_condition_value_for_parquet
            wanted = {name: encode(conditions[name]) for name in tree.condition_columns}
            ran = table[[tuple(item) == (True, True) for item in table["compile_run_success"]]]
            differs = {name: (ran[name] != value).to_numpy() for name, value in wanted.items()}
            count = sum(item.astype(int) for item in differs.values())
            if ran.empty:
                found.result.reason = "no node of the operator ran"
            else:
                nearest = int(count.argmin())
                found.result.reason = lacks({name: wanted[name] for name in wanted if differs[name][nearest]})
        return found

    checker._run_for_node_with_parquet_rules = explained


def main() -> None:
    logging.disable(logging.CRITICAL)
    wanted: dict[str, list[str]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    answers: dict[str, dict[str, list[dict[str, str]]]] = {}
    with contextlib.redirect_stdout(sys.stderr):
        query = import_module("winml.modelkit.analyze.core.runtime_checker_query")
        cache_trees(query)
        explain(query)
        analyzer = import_module("winml.modelkit.analyze.analyzer").ONNXStaticAnalyzer()
        for place, paths in wanted.items():
            provider, _, device = place.rpartition("_")
            answers[place] = {path: nodes_of(analyzer, path, provider, device) for path in paths}
    print(json.dumps({"version": f"winml-cli {version('winml-cli')}", "answers": answers}))


if __name__ == "__main__":
    main()
