"""Answers of ``ops`` and ``explain CODE``, which need no model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Head, Json

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of DirectML."""

    operator: str
    """Its whole name."""
    introduced: str
    """The feature level that brought it."""
    lowered: bool
    """Whether it can be compiled."""
    summary: str
    documentation: str
    """Its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorsAnswer(Head):
    """What ``ops`` lists."""

    command: Literal["ops"] = field(default="ops", metadata=ALWAYS)
    operators: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class CodeExample:
    """A model that gives a code, and the same one corrected."""

    pointer: str
    """JSON pointer of the member that differs."""
    wrong: Mapping[str, Json]
    corrected: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class CodeDemonstration:
    """What gives a code that no single member of a model brings about."""

    language: Literal["commands", "python"]
    wrong: tuple[str, ...]
    """Commands one after the other, or the lines of a program."""
    corrected: tuple[str, ...]
    files: Mapping[str, str]
    """What the commands are given, by relative paths, in base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer(Head):
    """What ``explain CODE`` says."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    code: str
    severity: str
    title: str
    explanation: str
    example: CodeExample | None = None
    demonstration: CodeDemonstration | None = None
    needs: str = ""
    """What it takes, where neither a model nor commands of some lines give the code on every machine."""
    documentation: str = ""
    """The page that states the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAnswer(Head):
    """What ``explain`` says of an HRESULT that DirectML returned."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    name: str
    hresult: str
    """Its number, as ``0x80070057``."""
    text: str
    """What Windows says of it."""
    explanation: str
    steps: tuple[str, ...]
    """What to do, the most likely first."""
