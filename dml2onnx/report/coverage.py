"""Counts the nodes for which execution providers have no kernel, according to their tables.

A model for one target often runs completely on another one; otherwise a model that is compiled for that target may.
Both are counted, the latter only for small networks, because it compiles them several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.missing_kernels import nodes_without_kernels
from dml2onnx.report.records import Coverage
from dml2onnx.targets import PLACES, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph

MOST_NODES, MOST_BYTES = 2000, 1 << 28
"""The limits for compiling a graph for other targets: nodes, and bytes of constants."""


def coverage(graph: Graph, model: CompiledModel, compile_for: Callable[[str], CompiledModel]) -> tuple[Coverage, ...]:
    """The coverage of each execution provider that has a table and supports the opset."""
    is_small = len(graph.nodes) <= MOST_NODES and sum(item.value.nbytes for item in graph.constants) <= MOST_BYTES
    found = []
    for name in PLACES:
        other_target = target(name)
        if model.opset not in other_target.opsets:
            continue
        missing = nodes_without_kernels(model.lowered, other_target.at(model.opset))
        other = _compiled(compile_for, name) if missing and is_small and name != model.target else None
        left = None if other is None else nodes_without_kernels(other.lowered, target(name, other.opset))
        found.append(Coverage(name, missing, left))
    return tuple(found)


def _compiled(compile_for: Callable[[str], CompiledModel], name: str) -> CompiledModel | None:
    try:
        return compile_for(name)
    except DmlError:  # such as options that this target does not support
        return None
