"""Models that are wrong in one place, and what is found there.

A case that needs more than one finding lists all of them: nothing follows from what has been reported already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from dml2onnx.diagnostics import Code
from dml2onnx.frontends import LoadOptions
from dml2onnx.ir.graph import Graph

from .models import Model, edited, load_model


class Case(NamedTuple):
    """A model and its findings, as (code, JSON pointer)."""

    model: Model
    findings: tuple[tuple[Code, str], ...]
    options: LoadOptions | None = None

    def __str__(self) -> str:
        return " ".join(f"{code.id}{place}" for code, place in self.findings)


class Changed(Protocol):
    """Makes a case of a model with something changed in it."""

    def __call__(
        self,
        found: Code | list[tuple[Code, str]],
        *changes: tuple[str, Any],
        at: str | None = None,
        options: LoadOptions | None = None,
    ) -> Case: ...


def changes_of(model: Model, base: str = "") -> Changed:
    """Cases of a model: one finding at the place of the first change, or ``at`` another one; or a list of findings.

    All places count from ``base``.
    """

    def changed(
        found: Code | list[tuple[Code, str]],
        *changes: tuple[str, Any],
        at: str | None = None,
        options: LoadOptions | None = None,
    ) -> Case:
        findings = [(found, changes[0][0] if at is None else at)] if isinstance(found, Code) else found
        made = edited(model, *((base + place, value) for place, value in changes))
        return Case(made, tuple((code, base + place) for code, place in findings), options)

    return changed


def rejecting(cases: Sequence[Case], load: Callable[..., Graph] = load_model) -> Callable[..., None]:
    """A test that each model has exactly the findings of its case."""

    @pytest.mark.parametrize("case", cases, ids=str)
    def test(case: Case, directory: Path) -> None:
        graph = load(directory, case.model, case.options)
        found = [(item.code, item.pointer) for item in graph.findings]
        assert found == [(code.id, place) for code, place in case.findings], "\n".join(map(str, graph.findings))
        for finding in graph.findings:
            assert finding.message
            assert str(finding).isprintable()

    return test
