"""Prints the cost of hostile descriptors as JSON; see test_costs.py.

    python -m tests.costly BYTES SECONDS EVERY OPERATOR...

Tries one in EVERY variants of an operator. If SECONDS is 0, counts the work of the reference implementation instead.
"""

from __future__ import annotations

import json
import math
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from unittest import mock

from dml2onnx.checks import check
from dml2onnx.codes.running import NO_MEMORY, TOO_LARGE_FOR_REFERENCE
from dml2onnx.compiler import compile, require_clean
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference import cost, evaluate_results, require_computable
from dml2onnx.reference.work import hidden_work
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.hostile import LARGE, enlarged


def outcome(graph: Graph, *, exact: bool) -> str:
    """``"wrong"``, ``"compiled"`` or ``"refused"``; a refusal names the node."""
    if any(item.severity is Severity.ERROR for item in check(graph, remedies=False)):
        return "wrong"
    try:
        compile(graph, exact=exact)
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


def graphs(ops: Iterable[OperatorDesc], every: int, large: tuple[int, ...] = LARGE) -> list[Graph]:
    variants = list(dict.fromkeys(variant for op in ops for variant in enlarged(op, large)))[::every]
    return [single_node(variant, constant=constant) for variant in variants for constant in (False, True)]


def main(memory: int, seconds: float, names: list[str], every: int) -> dict[str, object]:
    tried = (
        (name, graph, partial(outcome, graph, exact=index % 4 < 2))
        for name in names
        for index, graph in enumerate(graphs(descriptors()[name], every))
    )
    return counted(memory, seconds, tried, ("wrong", "compiled", "refused"))


def counted(
    memory: int, seconds: float, tried: Iterable[tuple[str, Graph, Callable[[], str]]], results: tuple[str, ...]
) -> dict[str, object]:
    """Counts the results of trials in limited memory, and lists other results and those that took too long."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    counts = {"tried": 0, **dict.fromkeys(results, 0)}
    problems: list[str] = []
    for name, graph, trial in tried:
        what = f"{name} {[str(value) for value in graph.nodes[0].operator.values]}"
        before = time.process_time()
        try:
            found = trial()
        except Exception as error:
            found = f"{type(error).__name__} {error}"
        spent = time.process_time() - before
        counts["tried"] += 1
        if found in results:
            counts[found] += 1
        else:
            problems.append(f"{what}: {found}"[:600])
        if spent > seconds:
            problems.append(f"{what}: {spent:.1f} s"[:600])
    return {**counts, "problems": problems}


# --- The reference implementation -------------------------------------------------------------------------------------

WORK = 1 << 17
"""Limit of elements that a node reads here; with the real limit the tests would take minutes."""
OVERHEAD = 1 << 15
"""The fixed cost of a node, in elements."""
BYTES = 512
"""Memory per element."""
CALLS = 1
"""Function calls per element."""


class TooManyCallsError(Exception):
    """More calls than the estimated work."""


def calls(function: Callable[[], object], most: float = math.inf) -> int:
    """Counts the function calls in a call; raises :class:`TooManyCallsError` beyond ``most``."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > most:
            sys.setprofile(None)
            raise TooManyCallsError

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def computed(graph: Graph) -> str:
    """Returns ``"wrong"``, ``"refused"``, ``"computed"`` (within the calls and memory of its work), or a problem."""
    try:
        require_clean(graph)
        require_computable(graph, graph.outputs)
    except DmlError as error:
        return "refused" if any(item.code == TOO_LARGE_FOR_REFERENCE.id for item in error.diagnostics) else "wrong"
    (node,) = graph.nodes
    views = [desc for _, _, _, desc in (*node.views_in(), *node.views_out())]
    work = sum(desc.element_count for desc in views) + hidden_work(node.operator) + OVERHEAD
    work += sum(write.value.nbytes for _, _, write, _ in node.views_out())
    tracemalloc.start()
    try:
        calls(lambda: evaluate_results(graph, {}, graph.outputs), CALLS * work)
        peak = tracemalloc.get_traced_memory()[1]
    except DmlError:
        return "refused"  # because of numbers in the inputs
    finally:
        tracemalloc.stop()
    return "computed" if peak <= BYTES * work else f"{peak} bytes for {work} elements"


def main_of_reference(memory: int, names: list[str], every: int) -> dict[str, object]:
    large = (1 << 8, 1 << 12, 1 << 16, 1 << 30)
    cases = ((name, graph) for name in names for graph in graphs(descriptors()[name], every, large)[1::2])
    tried = ((name, graph, partial(computed, graph)) for name, graph in cases)
    with mock.patch.object(cost, "LARGEST_NODE", WORK):
        return counted(memory, math.inf, tried, ("wrong", "computed", "refused"))


if __name__ == "__main__":
    allowed, seconds, every, given = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    print(json.dumps(main(allowed, seconds, given, every) if seconds else main_of_reference(allowed, given, every)))
