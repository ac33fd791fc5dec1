"""The summary of a batch."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from typing import TYPE_CHECKING

from dml2onnx.codes import all_codes
from dml2onnx.report.batched import FINE, Action, BatchAnswer, CodeCount, Failed, Record, Status

if TYPE_CHECKING:
    from pathlib import Path

    from dml2onnx.diagnostics import Diagnostic

EXAMPLES = 3
"""Models that are named for a code."""


class Summary:
    """Counts records as they come, and keeps of them only what is counted."""

    def __init__(self) -> None:
        self.resumed = 0
        self._statuses: Counter[Status] = Counter()
        self._codes: dict[str, _Code] = {}
        self._failures: list[Failed] = []

    @property
    def done(self) -> int:
        """Records so far."""
        return self._statuses.total()

    @property
    def wrong(self) -> int:
        """Models so far with which all is not well."""
        return sum(number for status, number in self._statuses.items() if status not in FINE)

    def add(self, record: Record, *, is_resumed: bool) -> None:
        """One record more."""
        self.resumed += is_resumed
        self._statuses[record.status] += 1
        if record.status == "other":
            return
        found = record.diagnostics
        for item in found:
            self._codes.setdefault(item.code, _Code(item)).add(record.name, item)
        if record.is_failure:
            message = found[0].message if found else str(record.answer.get("failure", ""))
            self._failures.append(Failed(record.name, record.status, message))

    def answer(self, do: Action, asked: int, journal: Path | None, seconds: float) -> BatchAnswer:
        """The summary as a value."""
        codes = sorted((code.count() for code in self._codes.values()), key=lambda item: (-item.models, item.code))
        return BatchAnswer(
            do=do,
            journal=None if journal is None else str(journal),
            asked=asked,
            done=self.done,
            resumed=self.resumed,
            statuses=dict(sorted(self._statuses.items(), key=lambda item: (-item[1], item[0]))),
            codes=tuple(codes),
            failures=tuple(sorted(self._failures, key=lambda item: item.model)),
            seconds=round(seconds, 3),
        )


class _Code:
    """What is kept of a code: workers end in any order, so that the first models are those that are first by name."""

    def __init__(self, first: Diagnostic) -> None:
        self._first = first
        self._findings = 0
        self._models = 0
        self._last = ""
        self._examples: list[str] = []

    def add(self, model: str, found: Diagnostic) -> None:
        """A finding in a model, whose findings all come one after the other."""
        self._findings += 1
        if model == self._last:
            return
        self._last = model
        self._models += 1
        insort(self._examples, model)
        del self._examples[EXAMPLES:]
        if self._examples[0] == model:
            self._first = found

    def count(self) -> CodeCount:
        first = self._first
        title = all_codes()[first.code].summary
        return CodeCount(
            first.code, first.severity, title, self._models, self._findings, tuple(self._examples), first.message
        )
