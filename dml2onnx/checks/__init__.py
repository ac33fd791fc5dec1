"""Checks whether DirectML accepts a graph at a feature level, and explains why not.

There are three layers: structure (is this a valid graph), operators (fields, constraints, sizes) and support (what a
feature level has). Findings that follow from others are dropped, and an invalid graph never raises.
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
    """Returns every error and warning about a graph, or about the model file at a path.

    Errors are what DirectML refuses. The order is: findings of the reader, findings about the whole graph, and findings
    of each node in graph order, sorted by field. ``sizes`` and ``ranges`` are other input sizes, as in
    :func:`dml2onnx.compile`; if the graph cannot have them, that is a finding. A graph with named sizes is checked at
    the first and the last size of each name.

    ``feature_level`` defaults to the graph's own level, or to the latest one.
    What DirectML accepts although its documentation forbids it is a warning of the class DML175, or, if ``documented``,
    an error with the code of the rule. A graph without errors can be compiled, unless such a warning is about something
    that DirectML computes in an unknown way (DML2010).
    Findings with one cause are merged. ``remedies`` adds the changes that would fix the graph; the search for them
    takes most of the time of a check that finds errors.

    Raises :class:`DmlError` if there is no such feature level, or the file is not a model.
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
