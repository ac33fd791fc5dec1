"""Runs the reference evaluator of the ONNX project."""

from __future__ import annotations

from typing import Any

from onnx.reference import ReferenceEvaluator


def onnx_results(proto: Any, feeds: dict[str, Any]) -> list[Any]:
    """All outputs of a model or a node."""
    results = ReferenceEvaluator(proto).run(None, feeds)
    assert isinstance(results, list)
    return results
