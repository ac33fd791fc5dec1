"""Other sizes of a model, which has to be right at its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dml2onnx.arguments import refusal
from dml2onnx.checks.checking import check_graph, level_of
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import Severity, raise_errors
from dml2onnx.frontends import graph_of
from dml2onnx.sizes import resized
from dml2onnx.sizes.named import NamedGraph

if TYPE_CHECKING:
    import os

    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc

_NAME = re.compile(r"[A-Za-z_]\w*").fullmatch
NAMED = "sizes above 0, or names of letters, digits and underscores"
SIZES = 'sizes by the names of inputs, such as {"picture": (8, 3, 224, 224)}'


def resize(model: Graph | str | os.PathLike[str], sizes: Mapping[str, Sequence[int]]) -> Graph:
    """The same program, as if it had been written for inputs of these sizes.

    ``sizes`` has the sizes of inputs as their DirectML descriptors count them. All others follow: windows, steps,
    scales, paddings and axes stay; what covers a whole dimension goes on covering it. Weights stay, and so do inputs
    that are not named, unless they have to go along. Contents that came with an input of another size now are dropped.
    Raises :class:`DmlError` where the model is wrong at its own sizes, or cannot have these, and says which node says
    so.
    """
    graph = graph_of(model)
    asked = checked_sizes(sizes)
    raise_errors(check_graph(graph, level_of(graph, None)))
    return resized(graph, asked, judge(graph))


def named(graph: Graph, sizes: Mapping[str, Sequence[int | str]]) -> NamedGraph:
    """A checked graph in sizes that have names."""
    asked = {name: tuple(own) for name, own in sizes.items()}
    for name, own in asked.items():
        for size in own:
            if (
                isinstance(size, bool)
                or not isinstance(size, (int, str))
                or (isinstance(size, str) and not _NAME(size))
            ):
                raise refusal(f"the sizes of {name}", size, NAMED)
    return NamedGraph.of(graph, asked, judge(graph))


def judge(graph: Graph) -> Callable[[OperatorDesc], bool]:
    """Says whether DirectML would accept an operator, at the level of the graph."""
    level = level_of(graph, None)

    def is_right(operator: OperatorDesc) -> bool:
        return all(finding.code.severity is not Severity.ERROR for finding in findings_of(operator, level))

    return is_right


def checked_sizes(sizes: object) -> dict[str, tuple[int, ...]]:
    """``sizes`` as they have to be."""
    if not isinstance(sizes, Mapping) or not all(isinstance(name, str) for name in sizes):
        raise refusal("sizes", sizes, SIZES)
    asked: dict[str, tuple[int, ...]] = {}
    for name, own in sizes.items():
        if isinstance(own, (str, bytes)) or not isinstance(own, Sequence):
            raise refusal(f"the sizes of {name}", own, SIZES)
        if not all(hasattr(size, "__index__") and not isinstance(size, bool) for size in own):
            raise refusal(f"the sizes of {name}", own, SIZES)
        asked[name] = tuple(size.__index__() for size in own)
    return asked
