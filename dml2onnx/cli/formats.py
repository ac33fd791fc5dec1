"""Findings in the forms that other programs read: one line each, GitHub's commands, SARIF 2.1.0, and JSON.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from dml2onnx import __version__
from dml2onnx.codes import all_codes
from dml2onnx.diagnostics import Severity, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dml2onnx.checks.alternatives import HeldBack
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.frontends.locations import Location

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Checked:
    """A model and what was found in it; ``minimum`` is the feature level that would do, ``level`` the one asked for."""

    path: str
    findings: Sequence[Diagnostic]
    places: Mapping[str, Location] = field(default_factory=dict)
    nodes: int = 0
    level: str = ""
    minimum: str | None = None
    is_readable: bool = True
    held_back: Sequence[HeldBack] | None = None
    """The nodes that the level does not have, where that was asked for."""

    def place(self, item: Diagnostic) -> Location | None:
        """Where a finding is in the text."""
        return self.places.get(item.pointer)

    def as_dict(self) -> dict[str, object]:
        """All of it, as JSON has it."""
        return {
            "diagnostics": [item.as_dict() | self._position(item) for item in self.findings],
            "feature_level": self.level or None,
            "minimum_feature_level": self.minimum,
            "nodes": self.nodes,
            **({} if self.held_back is None else {"held_back": [_held(item) for item in self.held_back]}),
        }

    def _position(self, item: Diagnostic) -> dict[str, object]:
        place = self.place(item)
        return {} if place is None else {"file": self.path, "line": place.line, "column": place.column}


def _held(item: HeldBack) -> dict[str, str]:
    return {
        "node": item.node,
        "operator": item.operator,
        "needs": item.needs.name,
        "reason": item.reason,
        "instead": item.instead,
    }


def concise(checked: Checked) -> list[str]:
    """``file:line:column: error DML1108: message``, as compilers write it."""
    lines = []
    for item in checked.findings:
        place = checked.place(item)
        where = checked.path if place is None else f"{checked.path}:{place.line}:{place.column}"
        lines.append(f"{where}: {item.severity.value} {item.code}: {_subject(item)}{visible(item.message)}")
    return lines


def _subject(item: Diagnostic) -> str:
    return f'node "{visible(item.node)}": ' if item.node else ""


def github(checked: Checked) -> list[str]:
    """Commands with which GitHub puts a finding beside the line that it is about."""
    lines = []
    for item in checked.findings:
        place = checked.place(item)
        where = "" if place is None else f",line={place.line},col={place.column},endColumn={place.end_column}"
        file = _escaped(checked.path).replace(":", "%3A").replace(",", "%2C")
        message = _escaped(f"{_subject(item)}{item.message}")
        lines.append(f"::{item.severity.value} file={file}{where},title={item.code}::{message}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def sarif(models: Iterable[Checked]) -> dict[str, object]:
    """A log of one run, with a rule for each code that occurs in it."""
    models = list(models)
    used = sorted({item.code for checked in models for item in checked.findings})
    index = {code: position for position, code in enumerate(used)}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "dml2onnx", "version": __version__, "rules": list(map(_rule, used))}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(checked, item, index) for checked in models for item in checked.findings],
            }
        ],
    }


def _rule(code: str) -> dict[str, object]:
    known = all_codes()[code]
    return {
        "id": code,
        "shortDescription": {"text": known.title},
        "fullDescription": {"text": known.explanation},
        "defaultConfiguration": {"level": known.severity.value},
    }


def _result(checked: Checked, item: Diagnostic, index: Mapping[str, int]) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": PurePath(checked.path).as_posix()}}
    place = checked.place(item)
    if place is not None:
        physical["region"] = {"startLine": place.line, "startColumn": place.column, "endColumn": place.end_column}
    location: dict[str, object] = {"physicalLocation": physical}
    logical = [{"name": item.node, "fullyQualifiedName": item.pointer or item.node}] if item.node else []
    return {
        "ruleId": item.code,
        "ruleIndex": index[item.code],
        "level": "error" if item.severity is Severity.ERROR else "warning",
        "message": {"text": f"{_subject(item)}{item.message}"},
        "locations": [location | ({"logicalLocations": logical} if logical else {})],
    }
