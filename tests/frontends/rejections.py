"""Models with one mistake, and all findings that it causes."""

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
    """A model and its findings, as pairs of code and JSON pointer."""

    model: Model
    findings: tuple[tuple[Code, str], ...]
    options: LoadOptions | None = None

    def __str__(self) -> str:
        return " ".join(f"{code.id}{place}" for code, place in self.findings)


class Changed(Protocol):
    """Returns the case of a model with some changes."""

    def __call__(
        self,
        found: Code | list[tuple[Code, str]],
        *changes: tuple[str, Any],
        at: str | None = None,
        options: LoadOptions | None = None,
    ) -> Case: ...


def changes_of(model: Model, base: str = "") -> Changed:
    """Returns a function that makes cases of ``model``; all pointers are relative to ``base``.

    ``found`` is a list of findings, or one code, found at the first change or ``at`` another pointer.
    """

    def changed(
        found: Code | list[tuple[Code, str]],
        *changes: tuple[str, Any],
        at: str | None = None,
        options: LoadOptions | None = None,
    ) -> Case:
        findings = [(found, changes[0][0] if at is None else at)] if isinstance(found, Code) else found
        changed_model = edited(model, *((base + place, value) for place, value in changes))
        return Case(changed_model, tuple((code, base + place) for code, place in findings), options)

    return changed


def rejecting(cases: Sequence[Case], load: Callable[..., Graph] = load_model) -> Callable[..., None]:
    """Returns a test that each model has exactly the findings of its case."""

    @pytest.mark.parametrize("case", cases, ids=str)
    def test(case: Case, directory: Path) -> None:
        graph = load(directory, case.model, case.options)
        found = [(item.code, item.pointer) for item in graph.findings]
        assert found == [(code.id, place) for code, place in case.findings], "\n".join(map(str, graph.findings))
        for finding in graph.findings:
            assert finding.message
            assert str(finding).isprintable()

    return test
