"""Counts the ONNX nodes that compute, and those that a person would have written.

Nobody can say how many nodes somebody would have written by hand. What can be counted is the habit by which people
translate: one ONNX operator for each DirectML operator, and one for its fused activation. By the same rule
``scripts/bench_canonical.py`` compares with networks that were written by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.report.records import Report

VIEWS = frozenset({"Cast", "Identity", "Reshape", "Transpose"})
"""Operators that compute nothing: they say how memory lies and what type it has."""


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """What the ONNX model has, and what the habit gives."""

    computing: int
    """ONNX nodes that are no views."""
    usual: int
    """One for each DirectML operator and one for its fused activation, where it became any that compute."""
    above: int
    """DirectML nodes that became more than these."""


def node_counts(report: Report) -> NodeCounts | None:
    """Of a report with an ONNX model; else ``None``."""
    if report.onnx is None:
        return None
    computing = [node.operator not in VIEWS for node in report.onnx.nodes]
    usual = above = 0
    for node in report.nodes:
        made = sum(computing[place] for place in node.onnx)
        own = 1 + (report.descriptors[node.descriptor].attributes.get("FusedActivation") is not None)
        usual += min(made, own)
        above += made > own
    return NodeCounts(sum(computing), usual, above)
