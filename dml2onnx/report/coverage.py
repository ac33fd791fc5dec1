"""Finds the nodes for which an execution provider has no kernel, in the providers' tables.

A model for one target often runs wholly on another one, and where it does not, the model that is compiled for that
target may. Both are counted, for networks small enough that some further compilations do not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.fallbacks import nodes_without_kernels
from dml2onnx.report.records import Coverage
from dml2onnx.targets import PLACES, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph

MOST_NODES, MOST_BYTES = 2000, 1 << 28
"""Of graphs that are compiled for other targets, too: nodes, and bytes of constants."""


def coverage(graph: Graph, model: CompiledModel, compile_for: Callable[[str], CompiledModel]) -> tuple[Coverage, ...]:
    """For each execution provider that has a table and runs models of this opset."""
    is_small = len(graph.nodes) <= MOST_NODES and sum(item.value.nbytes for item in graph.constants) <= MOST_BYTES
    found = []
    for name in PLACES:
        place = target(name)
        if model.opset not in place.opsets:
            continue
        missing = nodes_without_kernels(model.lowered, place.at(model.opset))
        other = _compiled(compile_for, name) if missing and is_small and name != model.target else None
        left = None if other is None else nodes_without_kernels(other.lowered, target(name, other.opset))
        found.append(Coverage(name, missing, left))
    return tuple(found)


def _compiled(compile_for: Callable[[str], CompiledModel], name: str) -> CompiledModel | None:
    try:
        return compile_for(name)
    except DmlError:  # such as options that this target does not take
        return None
