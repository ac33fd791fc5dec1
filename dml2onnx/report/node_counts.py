"""Counts the ONNX nodes that compute, and compares them with a direct translation.

A direct translation has one ONNX node for each DirectML operator, and one for its fused activation. It is an estimate
of a model that is written by hand, which ``scripts/bench_canonical.py`` uses as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.report.records import Report

VIEWS = frozenset({"Cast", "Identity", "Reshape", "Transpose"})
"""Operators that compute nothing, and only change layouts and data types."""


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """The number of nodes of the ONNX model, and of a direct translation."""

    computing: int
    """ONNX nodes that compute."""
    usual: int
    """Nodes of a direct translation, for DirectML nodes with ONNX nodes that compute."""
    above: int
    """DirectML nodes with more ONNX nodes than a direct translation."""


def node_counts(report: Report) -> NodeCounts | None:
    """The counts of a report with an ONNX model, else ``None``."""
    if report.onnx is None:
        return None
    computing = [node.operator not in VIEWS for node in report.onnx.nodes]
    usual = above = 0
    for node in report.nodes:
        actual = sum(computing[place] for place in node.onnx)
        direct = 1 + (report.descriptors[node.descriptor].attributes.get("FusedActivation") is not None)
        usual += min(actual, direct)
        above += actual > direct
    return NodeCounts(sum(computing), usual, above)
