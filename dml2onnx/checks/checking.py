"""Applies the three layers of checks to a graph, and drops findings that follow from others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx import arguments, catalog
from dml2onnx.catalog import FeatureLevel
from dml2onnx.checks.answers import MOST_NODES, Sources, answers, graph_answers, unread_answers
from dml2onnx.checks.consequences import without_consequences
from dml2onnx.checks.doubts import is_mistaken
from dml2onnx.checks.operators import Judge, findings_of
from dml2onnx.checks.structure import check_structure
from dml2onnx.codes import checking as codes
from dml2onnx.frontends import graph_of
from dml2onnx.rules.findings import at_node, not_compiled

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from dml2onnx.checks.structure import StructureFindings
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc

_ACCEPTED = frozenset(codes.ACCEPTED)


def check_graph(
    graph: Graph, level: FeatureLevel, *, documented: bool = False, remedies: bool = True
) -> list[Diagnostic]:
    """The findings of a graph at a feature level, as :func:`dml2onnx.check` orders them."""
    judge = Judge(level, documented)
    structure = check_structure(graph)
    found = _of_nodes(graph, structure, judge)
    of_graph, found = without_consequences(graph, structure.of_graph, found, judge)
    if remedies:
        of_graph = graph_answers(graph, of_graph, judge)
    of_nodes = _diagnostics(graph, found, judge, remedies=remedies)
    unread = [] if any(item.is_error for item in (*of_graph, *of_nodes)) else structure.unread
    if unread and remedies and graph.format == "native":
        unread = unread_answers(graph, unread, judge)
    return [*of_graph, *unread, *of_nodes]


def _of_nodes(graph: Graph, structure: StructureFindings, judge: Judge) -> list[tuple[Diagnostic, ...]]:
    """The findings of each node, in the order of its fields; equal descriptors are checked once."""
    found: list[tuple[Diagnostic, ...]] = []
    known: dict[OperatorDesc, tuple[Diagnostic, ...]] = {}
    for position, node in enumerate(graph.nodes):
        desc = node.operator
        findings = known.get(desc)
        if findings is None:
            findings = known[desc] = judge(desc)
        placed = structure.of_nodes.get(position)
        if placed:
            placed = [item for item in placed if is_mistaken(item, desc, judge)]
            index = desc.schema.index
            findings = tuple(sorted((*placed, *findings), key=lambda finding: index.get(finding.field, -1)))
        found.append(findings)
    return found


def _diagnostics(
    graph: Graph, found: Iterable[tuple[Diagnostic, ...]], judge: Judge, *, remedies: bool
) -> list[Diagnostic]:
    """The findings of all nodes with their places; those of the first nodes also have remedies."""
    diagnostics: list[Diagnostic] = []
    sources, answered = None, 0 if remedies else MOST_NODES
    for node, findings in zip(graph.nodes, found, strict=True):
        if findings and answered < MOST_NODES:
            answered += 1
            sources = sources or Sources(graph)
            editable, in_python = graph.format == "native", graph.format == "builder"
            ends, wiring = (None, None) if in_python else (sources.ends, sources.wiring)
            diagnostics += answers(
                node, findings, judge, sources.place, ends=ends, wiring=wiring, editable=editable, in_python=in_python
            )
        elif findings:
            bare = [replace(item, remedies=()) if item.remedies and not remedies else item for item in findings]
            diagnostics.extend([at_node(finding, node) for finding in bare])
    return diagnostics


def uncompiled(graph: Graph, found: Iterable[Diagnostic], level: FeatureLevel) -> list[Diagnostic]:
    """Returns an error for each node that DirectML accepts against its documentation and dml2onnx does not compile.

    ``found`` is the result of :func:`check`; only nodes with a warning about an accepted descriptor are checked again.
    """
    accepted = {item.node for item in found if item.code in _ACCEPTED}
    if not accepted:
        return []
    return [
        at_node(not_compiled(finding), node)
        for node in graph.nodes
        if node.name in accepted
        for finding in findings_of(node.operator, level)
        if finding.accepted and not finding.compiled
    ]


def minimum_feature_level(model: Graph | str | os.PathLike[str]) -> FeatureLevel | None:
    """Returns the first feature level at which :func:`check` finds no error, or ``None``.

    ``FeatureLevel.info`` has the DirectML and Windows versions of a level.
    """
    graph = graph_of(model)
    structure = check_structure(graph)
    if _has_error(graph.findings) or _has_error(structure.of_graph):
        return None
    if any(finding.is_error for findings in structure.of_nodes.values() for finding in findings):
        return None
    descriptors = dict.fromkeys(node.operator for node in graph.nodes)
    oldest = max((desc.schema.introduced for desc in descriptors), default=FeatureLevel("1_0"))
    for level in catalog.feature_levels():
        if level >= oldest and not any(
            finding.is_error for desc in descriptors for finding in findings_of(desc, level)
        ):
            return level
    return None


def level_of(graph: Graph, feature_level: FeatureLevel | str | None) -> FeatureLevel:
    """The level that a graph is checked at: the requested one, its own, or the latest."""
    return arguments.feature_level(feature_level) or arguments.feature_level(graph.feature_level) or catalog.LATEST


def _has_error(diagnostics: list[Diagnostic] | tuple[Diagnostic, ...]) -> bool:
    return any(item.is_error for item in diagnostics)
