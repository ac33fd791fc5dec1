"""``python -m tests.costly BYTES SECONDS OPERATOR...``: what hostile descriptors cost, as JSON. See test_costs.py."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from dml2onnx.checks import check
from dml2onnx.codes.running import NO_MEMORY
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference import require_computable
from dml2onnx.verification.lone import lone_node
from dml2onnx.verification.valid import descriptors
from tests.hostile import enlarged

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERY = 11
"""Of so many variants of an operator one is tried: prime, for each number in turn is made large in six ways."""


def outcome(graph: Graph) -> str:
    """``"wrong"``, ``"compiled"`` or ``"refused"``; a refusal names the node."""
    if any(item.severity is Severity.ERROR for item in check(graph)):
        return "wrong"
    try:
        compile(graph)
        result = "compiled"
    except DmlError as error:
        result = "refused" if all(item.node for item in error.diagnostics) else f"no place: {error}"
        if any(item.code == NO_MEMORY.id for item in error.diagnostics):
            result = f"no budget: {error}"
    try:
        require_computable(graph, graph.outputs)
    except DmlError as error:
        return result if all(item.found for item in error.diagnostics) else f"no measure: {error}"
    return result


def graphs(ops: Iterable[OperatorDesc], every: int) -> list[Graph]:
    variants = list(dict.fromkeys(variant for op in ops for variant in enlarged(op)))[::every]
    return [lone_node(variant, constant=constant) for variant in variants for constant in (False, True)]


def main(memory: int, seconds: float, names: list[str], every: int = EVERY) -> dict[str, object]:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    counts = {"tried": 0, "wrong": 0, "compiled": 0, "refused": 0}
    problems: list[str] = []
    for name in names:
        for graph in graphs(descriptors()[name], every):
            what = f"{name} {[str(value) for value in graph.nodes[0].operator.values]}"
            before = time.process_time()
            try:
                found = outcome(graph)
            except Exception as error:
                found = f"{type(error).__name__} {error}"
            spent = time.process_time() - before
            counts["tried"] += 1
            if found in counts:
                counts[found] += 1
            else:
                problems.append(f"{what}: {found}"[:600])
            if spent > seconds:
                problems.append(f"{what}: {spent:.1f} s"[:600])
    return {**counts, "problems": problems}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])))
