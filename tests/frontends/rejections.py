"""Models that are wrong in one place, and what is found there.

A case that needs more than one finding lists all of them: nothing follows from what has been reported already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .models import Model, load_model

if TYPE_CHECKING:
    from pathlib import Path

    from dml2onnx.diagnostics import Code
    from dml2onnx.frontends import LoadOptions


class Case(NamedTuple):
    """A model and its findings, as (code, JSON pointer)."""

    name: str
    model: Model
    findings: tuple[tuple[Code, str], ...]
    options: LoadOptions | None = None


def case(name: str, model: Model, *findings: tuple[Code, str], options: LoadOptions | None = None) -> Case:
    """A case from its findings."""
    return Case(name, model, findings, options)


def check(rejected: Case, directory: Path) -> None:
    """Whether a model has exactly the findings of its case."""
    graph = load_model(directory, rejected.model, rejected.options)
    found = [(item.code, item.pointer) for item in graph.findings]
    assert found == [(code.id, place) for code, place in rejected.findings], "\n".join(map(str, graph.findings))
    for finding in graph.findings:
        assert finding.message
        assert str(finding).isprintable()
