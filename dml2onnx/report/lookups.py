"""The answers of ``ops`` and ``explain CODE``."""

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
    """Its full name."""
    introduced: str
    """The feature level that introduced it."""
    lowered: bool
    """Whether it can be compiled."""
    summary: str
    documentation: str
    """Its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorsAnswer(Head):
    """The answer of ``ops``."""

    command: Literal["ops"] = field(default="ops", metadata=ALWAYS)
    operators: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class CodeExample:
    """A model with a code's finding, and the corrected model."""

    pointer: str
    """JSON pointer of the member that differs."""
    wrong: Mapping[str, Json]
    corrected: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class CodeDemonstration:
    """An example of a code that does not depend on one member of a model."""

    language: Literal["commands", "python"]
    wrong: tuple[str, ...]
    """Commands in order, or the lines of a program."""
    corrected: tuple[str, ...]
    files: Mapping[str, str]
    """The files that the commands read, by relative paths, in base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer(Head):
    """The answer of ``explain CODE``."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    code: str
    severity: str
    title: str
    explanation: str
    example: CodeExample | None = None
    demonstration: CodeDemonstration | None = None
    needs: str = ""
    """A description of when the code occurs, if no short example reproduces it on every machine."""
    documentation: str = ""
    """The page that states the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAnswer(Head):
    """The answer of ``explain`` for an HRESULT that DirectML returned."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    name: str
    hresult: str
    """Its number, such as ``0x80070057``."""
    text: str
    """The message of Windows."""
    explanation: str
    steps: tuple[str, ...]
    """What to try, the most likely cause first."""
