"""Invariants of every graph that a front end returns, whatever the file contains."""

from __future__ import annotations

from contextlib import suppress

from dml2onnx.checks import check
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters.dml_graph import dml_graph
from dml2onnx.exporters.native import native
from dml2onnx.exporters.serialized import serialized
from dml2onnx.ir.graph import Graph


def account(graph: Graph, *, exports: bool = True) -> None:
    """Checks that every used value has a source or a finding, and that exporters raise nothing but ``DmlError``."""
    found = (*graph.findings, *check(graph))
    for finding in found:
        assert finding.message.isprintable()
        assert str(finding).isprintable()
        assert str(finding).encode()
        assert finding.pointer == "" or finding.pointer.startswith("/")
    if exports:
        for write in (lambda: native(graph, "data"), lambda: dml_graph(graph, "data"), lambda: serialized(graph)):
            with suppress(DmlError):
                write()
    provided = {item.value for item in graph.inputs} | {item.value for item in graph.constants}
    used = [item.value for item in (*graph.outputs, *graph.results, *(effect.output for effect in graph.effects))]
    for node in graph.nodes:
        used += [read.value for _, _, read, _ in node.views_in()]
        for _, _, written, _ in node.views_out():
            provided.add(written.value)
            if written.base is not None:
                used.append(written.base)
    assert provided.isdisjoint(graph.unresolved)
    assert provided.union(graph.unresolved).issuperset(used)
    assert found or not graph.unresolved
