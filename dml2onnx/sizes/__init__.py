"""Other sizes: the same program, as if it had been written for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.diagnostics import DmlError
from dml2onnx.sizes.request import request, values_for
from dml2onnx.sizes.resized import Resizer
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.ir.graph import Graph

__all__ = ["resized"]


def resized(graph: Graph, sizes: Mapping[str, Sequence[int]]) -> Graph:
    """The graph with inputs of these sizes; raises :class:`DmlError` where it cannot have them.

    The graph has to have passed :func:`dml2onnx.check`; whether the result does is for another call of that to say.
    """
    solver = Solver()
    asked = request(graph, sizes, solver)
    traced = trace(graph, solver, asked.sizes)
    values, problems = values_for(asked, traced)
    if problems:
        raise DmlError(*problems)
    return Resizer(traced, values).graph()
