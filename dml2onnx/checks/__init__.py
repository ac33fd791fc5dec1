"""Whether a graph is one that DirectML accepts at a feature level, and if not, all the reasons why.

Three layers: structure (is it a graph at all), operators (fields, constraints, sizes) and support (what a feature level
has). No finding hides another, and nothing here raises on a bad graph.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dml2onnx import arguments, catalog
from dml2onnx.catalog import FeatureLevel
from dml2onnx.checks.answers import MOST_NODES, Sources, answers
from dml2onnx.checks.consequences import without_consequences, without_edges
from dml2onnx.checks.operators import findings_of
from dml2onnx.checks.structure import check_structure
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import DmlError, Severity, UnreadableError
from dml2onnx.frontends import graph_of
from dml2onnx.garbage import collection_paused
from dml2onnx.rules.findings import not_compiled, not_lowered

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.rules.findings import Finding

__all__ = ["check", "level_of", "minimum_feature_level", "uncompiled"]

_ACCEPTED = frozenset(code.id for code in codes.ACCEPTED)


@collection_paused()
def check(
    model: Graph | str | os.PathLike[str],
    feature_level: FeatureLevel | str | None = None,
    *,
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    compiles: bool = True,
    documented: bool = False,
) -> list[Diagnostic]:
    """Everything that is wrong with a graph, or with the model file at a path: errors where DirectML refuses it.

    First what was found while reading it, then findings about the graph as a whole, then node by node in the graph's
    order, each node's in the order of its fields. ``sizes`` and ``ranges`` are other sizes of inputs, as for
    :func:`dml2onnx.compile`; why the graph cannot have them is a finding, too. Where sizes have names, the graph is
    right when it is so at the first and at the last ones.

    ``feature_level`` is by default the graph's own, or the latest one.
    What DirectML was seen to accept although its documentation forbids it is a warning of the class DML175, or an error
    with the code of the rule if only what is ``documented`` will do. A graph without findings of severity error can be
    compiled, unless such a warning stands for something of which it is not known what DirectML computes (DML2010). That
    an operator cannot, however right it is, is a finding of its own (DML2001), unless ``compiles`` says that nobody
    wants to.

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

        one = partial(check, feature_level=feature_level, compiles=compiles, documented=documented)
        return check_names(graph, one)
    level = level_of(graph, feature_level)
    judge = partial(findings_of, level=level, documented=documented)
    structure = check_structure(graph)
    found: list[tuple[Finding, ...]] = []
    known: dict[OperatorDesc, tuple[Finding, ...]] = {}
    for position, node in enumerate(graph.nodes):
        desc = node.operator
        findings = known.get(desc)
        if findings is None:
            findings = known[desc] = judge(desc)
        placed = structure.of_nodes.get(position)
        if placed:
            index = desc.schema.index
            findings = tuple(sorted((*placed, *findings), key=lambda finding: index.get(finding.field, -1)))
        found.append(findings)
    reading, found = without_edges(graph, found)
    of_graph, found = without_consequences(graph, structure.of_graph, found, judge)
    diagnostics = [*reading, *of_graph]
    unlowered = catalog.unlowered_operators() if compiles else frozenset()
    sources, asked = None, 0
    for node, findings in zip(graph.nodes, found, strict=True):
        if findings and asked < MOST_NODES:
            asked += 1
            sources = sources or Sources(graph)
            diagnostics.extend(answers(node, findings, judge, sources.place, editable=graph.format == "native"))
        elif findings:
            diagnostics.extend([finding.at(node) for finding in findings])
        if node.operator.schema.name in unlowered:
            diagnostics.append(not_lowered(node.operator.schema).at(node))
    if structure.unread and not _has_error(diagnostics):
        diagnostics[len(reading) + len(of_graph) : len(reading) + len(of_graph)] = structure.unread
    return diagnostics


def uncompiled(graph: Graph, found: Iterable[Diagnostic], level: FeatureLevel) -> list[Diagnostic]:
    """Errors about the nodes of which no model is made, of those that DirectML accepts against its documentation.

    ``found`` is what :func:`check` said of the graph: nodes without a warning of that class are not looked at again.
    """
    accepted = {item.node for item in found if item.code in _ACCEPTED}
    if not accepted:
        return []
    return [
        not_compiled(finding).at(node)
        for node in graph.nodes
        if node.name in accepted
        for finding in findings_of(node.operator, level)
        if finding.accepted and not finding.compiled
    ]


def minimum_feature_level(model: Graph | str | os.PathLike[str]) -> FeatureLevel | None:
    """The first feature level at which :func:`check` finds no error; ``None`` when there is none.

    ``FeatureLevel.info`` says with which DirectML and Windows versions the level came.
    """
    graph = graph_of(model)
    structure = check_structure(graph)
    if _has_error(graph.findings) or _has_error(structure.of_graph):
        return None
    if any(_is_error(finding) for findings in structure.of_nodes.values() for finding in findings):
        return None
    descriptors = dict.fromkeys(node.operator for node in graph.nodes)
    oldest = max((desc.schema.introduced for desc in descriptors), default=FeatureLevel("1_0"))
    for level in catalog.feature_levels():
        if level >= oldest and not any(
            _is_error(finding) for desc in descriptors for finding in findings_of(desc, level)
        ):
            return level
    return None


def level_of(graph: Graph, feature_level: FeatureLevel | str | None) -> FeatureLevel:
    """The level that a graph is checked at: the one asked for, its own, or the latest."""
    return arguments.feature_level(feature_level) or arguments.feature_level(graph.feature_level) or catalog.LATEST


def _is_error(finding: Finding) -> bool:
    return finding.code.severity is Severity.ERROR


def _has_error(diagnostics: list[Diagnostic] | tuple[Diagnostic, ...]) -> bool:
    return any(item.severity is Severity.ERROR for item in diagnostics)
