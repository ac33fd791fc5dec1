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


def resized(graph: Graph, sizes: Mapping[str, Sequence[int]], is_right: Callable[[OperatorDesc], bool]) -> Graph:
    """The graph with inputs of these sizes; raises :class:`DmlError` where it cannot have them.

    The graph has to have passed :func:`dml2onnx.check`; whether the result does is for another call of that to say.
    ``is_right`` says whether DirectML would accept an operator; of several ways to go on, one where it does is taken.
    """
    solver = Solver()
    asked = request(graph, sizes, solver)
    value = value_of(asked, solver)

    def judge(traced: Traced, node: SizedNode) -> bool:
        return is_right(Resizer(traced, value).operator(node))

    traced = trace(graph, solver, asked.sizes, judge)
    values, problems = values_for(asked, traced)
    if problems:
        raise DmlError(*problems)
    return Resizer(traced, values).graph()
