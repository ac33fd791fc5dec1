"""Answers of ``batch``: the lines of its journal, and the summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dml2onnx import __version__
from dml2onnx.codes import known_code
from dml2onnx.diagnostics import Diagnostic, Severity
from dml2onnx.report.answers import CompileAnswer, Written
from dml2onnx.report.checked import CheckAnswer
from dml2onnx.report.form import ALWAYS, Answer, Failure, Head, Json
from dml2onnx.report.verified import VerifyAnswer

Action: TypeAlias = Literal["check", "compile", "verify", "report"]
Status: TypeAlias = Literal["passed", "errors", "unreadable", "differs", "timeout", "memory", "died", "defect", "other"]

JOURNAL_VERSION = 1
ACTIONS: tuple[Action, ...] = ("check", "compile", "verify", "report")
FAILURES: frozenset[Status] = frozenset({"timeout", "memory", "died", "defect"})
"""What says more of the machine, or of us, than of the model."""
FINE: frozenset[Status] = frozenset({"passed", "other"})
RECORDED = (CheckAnswer, CompileAnswer, VerifyAnswer, Written, Answer, Failure)
"""The records whose JSON is that of an answer in the journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A line of the journal that says what is done to the models of the records that name it."""

    journal: int = field(default=JOURNAL_VERSION, metadata=ALWAYS)
    """Version of this form."""
    producer: str = field(default=f"dml2onnx {__version__}", metadata=ALWAYS)
    """The program and its version."""
    work: str
    """A digest of all members below and of the producer; other work is not taken for this."""
    do: Action
    options: Mapping[str, Json]
    """What was asked for, as the options of the single commands are called."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that a model was read from: itself, an index, or contents of its tensors."""

    path: str
    digest: str
    """BLAKE2b of the contents, 128 bits in hexadecimal; empty of a file that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the journal about one model. Of several lines about a model the last one counts."""

    model: str
    """The file, or the index of a recording."""
    graph: str = ""
    """Which graph of the recording it is."""
    work: str
    """As the line that says what was done."""
    status: Status
    """``passed``; ``errors`` in the model or in what was to be written; ``unreadable``; ``differs`` from the reference;
    ``timeout``, ``memory`` and ``died`` of a worker that took too long, or too much, or is gone; ``defect``, which is
    ours; ``other``, a file found in a directory that is no model."""
    output: str = ""
    """The file that was to be written."""
    seconds: float
    """In the worker."""
    sources: tuple[Source, ...] = ()
    """What the model was read from: with the same contents it is not done again."""
    answer: Mapping[str, Json] = field(metadata={"forms": RECORDED})
    """What the single command says with ``--json``; of ``report`` what it says of the page."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found, as values."""
        found: Any = self.answer.get("diagnostics", [])  # as Diagnostic has written them
        return tuple([_diagnostic(item) for item in found])

    @property
    def is_failure(self) -> bool:
        """Whether it is the machine or dml2onnx that has failed, so that another call may do better."""
        return self.status in FAILURES

    @property
    def name(self) -> str:
        """The model, with its graph where it has several."""
        return f"{self.model}: {self.graph}" if self.graph else self.model


def _diagnostic(item: dict[str, Any]) -> Diagnostic:
    code, severity = known_code(item["code"]), Severity(item["severity"])
    return Diagnostic(**{**item, "code": code, "severity": severity, "related": tuple(item.get("related", ()))})


# --- The summary ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodeCount:
    """How often a code was found."""

    code: str
    severity: str
    title: str
    """Of the code."""
    models: int
    findings: int
    examples: tuple[str, ...]
    """The first models that have it."""
    message: str
    """Of the first finding."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A model that was not done for reasons of the machine, or of ours."""

    model: str
    status: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer(Head):
    """What ``batch`` says of all models together."""

    command: Literal["batch"] = field(default="batch", metadata=ALWAYS)
    do: Action
    journal: str | None
    """Where the records are; null where none is kept."""
    asked: int
    """As many models were found."""
    done: int
    """As many have a record, earlier calls included; fewer than asked where the call was interrupted."""
    resumed: int
    """As many of them were done by earlier calls."""
    statuses: Mapping[str, int]
    """How many models have which status."""
    codes: tuple[CodeCount, ...]
    """The most frequent first."""
    failures: tuple[Failed, ...]
    """All whose status is timeout, memory, died or defect."""
    seconds: float
    """Of this call."""
