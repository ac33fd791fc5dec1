"""The lines of the journal of ``batch``, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dml2onnx import __version__
from dml2onnx.codes import known_code
from dml2onnx.diagnostics import Diagnostic, Severity
from dml2onnx.report.answers import CompileAnswer, FilesAnswer
from dml2onnx.report.checked import CheckAnswer
from dml2onnx.report.form import ALWAYS, Answer, Failure, Head, Json
from dml2onnx.report.verified import VerifyAnswer

Action: TypeAlias = Literal["check", "compile", "verify", "report"]
Status: TypeAlias = Literal["passed", "errors", "unreadable", "differs", "timeout", "memory", "died", "defect", "other"]

JOURNAL_VERSION = 1
ACTIONS: tuple[Action, ...] = ("check", "compile", "verify", "report")
FAILURES: frozenset[Status] = frozenset({"timeout", "memory", "died", "defect"})
"""Statuses that are due to the machine or to dml2onnx, not to the model."""
FINE: frozenset[Status] = frozenset({"passed", "other"})
RECORDED = (CheckAnswer, CompileAnswer, VerifyAnswer, FilesAnswer, Answer, Failure)
"""The types of answers in the journal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A line of the journal with the action and the options of the records that refer to it."""

    journal: int = field(default=JOURNAL_VERSION, metadata=ALWAYS)
    """Version of this format."""
    producer: str = field(default=f"dml2onnx {__version__}", metadata=ALWAYS)
    """The program and its version."""
    work: str
    """A digest of the producer and the members below, to which records refer."""
    do: Action
    options: Mapping[str, Json]
    """The options by the names of the single commands."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a model was read from: itself, an index, or contents of its tensors."""

    path: str
    digest: str
    """BLAKE2b of the contents, 128 bits in hexadecimal; empty if the file does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A line of the journal about a model; the last one about a model is valid."""

    model: str
    """The file, or the index of a recording."""
    graph: str = ""
    """The graph in the recording."""
    work: str
    """The digest in the line with the action and the options."""
    status: Status
    """``passed``; ``errors`` in the model or in writing the result; ``unreadable``; ``differs`` from the reference;
    ``timeout``, ``memory`` and ``died``: the worker took too long, ran out of memory, or crashed; ``defect`` of
    dml2onnx; ``other``: a file in a directory that is not a model."""
    output: str = ""
    """The file to write."""
    seconds: float
    """The time in the worker."""
    sources: tuple[SourceFile, ...] = ()
    """The files that were read; the model is not processed again while they have the same contents."""
    answer: Mapping[str, Json] = field(metadata={"forms": RECORDED})
    """The answer of the single command with ``--json``; for ``report`` without the report itself."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings in the answer."""
        found: Any = self.answer.get("diagnostics", [])  # as written by Diagnostic
        return tuple([_diagnostic(item) for item in found])

    @property
    def is_failure(self) -> bool:
        """Whether the machine or dml2onnx failed, so that another call may succeed."""
        return self.status in FAILURES

    @property
    def name(self) -> str:
        """The model, with the name of its graph in a recording."""
        return f"{self.model}: {self.graph}" if self.graph else self.model


def _diagnostic(item: dict[str, Any]) -> Diagnostic:
    code, severity = known_code(item["code"]), Severity(item["severity"])
    return Diagnostic(**{**item, "code": code, "severity": severity, "related": tuple(item.get("related", ()))})


# --- The summary ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodeCount:
    """The number of models and findings with a code."""

    code: str
    severity: str
    title: str
    """The title of the code."""
    models: int
    findings: int
    examples: tuple[str, ...]
    """The first models with it."""
    message: str
    """The message of the first finding."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A model that failed because of the machine or dml2onnx."""

    model: str
    status: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer(Head):
    """The answer of ``batch``."""

    command: Literal["batch"] = field(default="batch", metadata=ALWAYS)
    do: Action
    journal: str | None
    """The path of the journal; null if there is none."""
    asked: int
    """The number of models that were found."""
    done: int
    """The number of models with a record, also from earlier calls; fewer than ``asked`` after an interrupt."""
    resumed: int
    """The number of records from earlier calls."""
    statuses: Mapping[str, int]
    """The number of models with each status."""
    codes: tuple[CodeCount, ...]
    """The most frequent first."""
    failures: tuple[Failed, ...]
    """The models with status timeout, memory, died or defect."""
    seconds: float
    """The time of this call."""
