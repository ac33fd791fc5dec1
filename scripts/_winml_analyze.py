"""What ``winml analyze`` says of the nodes of models: supported, partial, unsupported or unknown.

    python _winml_analyze.py MODELS.json

MODELS.json has the paths of models by device, such as ``QNNExecutionProvider_NPU``. Prints JSON: by device and path the
nodes, each with its operator, what is said of it, and why. This file is run by an interpreter that has winml-cli, and
not dml2onnx.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any


def nodes_of(analyzer: Any, path: str, provider: str, device: str) -> list[dict[str, str]]:
    """What the analyzer says of each node of one model."""
    found: list[dict[str, str]] = []

    def note(item: Any) -> None:
        result = item.result
        if result.reason == "pattern_matched":  # which is said of the pattern
            return
        operator = item.pattern_id.rpartition("/")[2]
        found.append({"operator": operator, "says": result.classification.value, "why": result.reason or ""})

    try:
        analyzer.analyze(model_path=path, ep=provider, device=device, enable_information=False, on_node_result=note)
    except ValueError as error:  # attributes that are lists of texts, for instance, it does not read
        return [{"operator": "the model", "says": "not read", "why": str(error)}]
    return found


def remember(query: Any) -> None:
    """Has the trees that it makes of its tables, anew for each model, made once."""
    make, made = query._build_condition_tree, {}

    def tree(table: Any) -> Any:
        if id(table) not in made:
            made[id(table)] = (table, make(table))  # which keeps the table, so that its number stays its own
        return made[id(table)][1]

    query._build_condition_tree = tree


def main() -> None:
    """Analyzes all models."""
    logging.disable(logging.CRITICAL)
    wanted: dict[str, list[str]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    answers: dict[str, dict[str, list[dict[str, str]]]] = {}
    with contextlib.redirect_stdout(sys.stderr):
        remember(import_module("winml.modelkit.analyze.core.runtime_checker_query"))
        analyzer = import_module("winml.modelkit.analyze.analyzer").ONNXStaticAnalyzer()
        for place, paths in wanted.items():
            provider, _, device = place.rpartition("_")
            answers[place] = {path: nodes_of(analyzer, path, provider, device) for path in paths}
    print(json.dumps({"version": f"winml-cli {version('winml-cli')}", "answers": answers}))


if __name__ == "__main__":
    main()
