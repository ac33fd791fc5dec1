"""Rewrites a graph for other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.sizes.request import request, value_of, values_for
from dml2onnx.sizes.resized import Resizer
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.sizes.tracing import SizedNode, Traced

__all__ = ["resized"]


def resized(graph: Graph, sizes: Mapping[str, Sequence[int]], is_valid: Callable[[OperatorDesc], bool]) -> Graph:
    """Returns the graph with inputs of these sizes; raises :class:`DmlError` if that is not possible.

    The graph must have passed :func:`dml2onnx.check`; the result has to be checked again. ``is_valid`` returns whether
    DirectML accepts an operator; it selects among several possible results.
    """
    solver = Solver()
    requested = request(graph, sizes, solver)
    value = value_of(requested, solver)

    def judge(traced: Traced, node: SizedNode) -> bool:
        return is_valid(Resizer(traced, value).operator(node))

    traced = trace(graph, solver, requested.sizes, judge)
    values, problems = values_for(requested, traced)
    if problems:
        raise DmlError(*problems)
    return Resizer(traced, values).graph()
