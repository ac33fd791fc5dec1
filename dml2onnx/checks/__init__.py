"""Checks whether DirectML accepts a graph at a feature level, and explains why not.

Three layers: structure (is it a graph at all), operators (fields, constraints, sizes) and support (what a feature level
has). No finding hides another, and nothing here raises on a bad graph.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dml2onnx.checks.checking import check_graph, level_of, minimum_feature_level, uncompiled
from dml2onnx.diagnostics import DmlError, UnreadableError
from dml2onnx.frontends import graph_of
from dml2onnx.gc_pause import gc_paused

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph

__all__ = ["check", "level_of", "minimum_feature_level", "uncompiled"]


@gc_paused()
def check(
    model: Graph | str | os.PathLike[str],
    feature_level: FeatureLevel | str | None = None,
    *,
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    documented: bool = False,
    remedies: bool = True,
) -> list[Diagnostic]:
    """Everything that is wrong with a graph, or with the model file at a path: errors where DirectML refuses it.

    First what was found while reading it, then findings about the graph as a whole, then node by node in the graph's
    order, each node's in the order of its fields. ``sizes`` and ``ranges`` are other sizes of inputs, as for
    :func:`dml2onnx.compile`; why the graph cannot have them is a finding, too. Where sizes have names, the graph is
    right when it is so at the first and at the last ones.

    ``feature_level`` is by default the graph's own, or the latest one.
    What DirectML was seen to accept although its documentation forbids it is a warning of the class DML175, or an error
    with the code of the rule if only what is ``documented`` will do. A graph without findings of severity error can be
    compiled, unless such a warning stands for something of which it is not known what DirectML computes (DML2010).
    Findings of one cause are one, with what would make the node right, unless no ``remedies`` are wanted:
    looking for them takes most of the time of a wrong graph.

    Raises :class:`DmlError` when there is no such feature level, or the file is no model.
    """
    graph = graph_of(model)
    if sizes is not None or ranges:
        from dml2onnx.checks.resizing import sized

        try:
            graph = sized(graph, sizes, ranges)
        except UnreadableError:
            raise
        except DmlError as error:
            return list(error.diagnostics)
    if graph.named_sizes:
        from dml2onnx.checks.resizing import check_names

        one = partial(check, feature_level=feature_level, documented=documented, remedies=remedies)
        return check_names(graph, one)
    level = level_of(graph, feature_level)
    return check_graph(graph, level, documented=documented, remedies=remedies)
