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
"""The number of models listed for each code."""


class Summary:
    """Counts records as they arrive, without keeping them."""

    def __init__(self) -> None:
        self.resumed = 0
        self._statuses: Counter[Status] = Counter()
        self._codes: dict[str, _Code] = {}
        self._failures: list[Failed] = []

    @property
    def done(self) -> int:
        """The number of records so far."""
        return self._statuses.total()

    @property
    def wrong(self) -> int:
        """The number of models with findings or failures so far."""
        return sum(number for status, number in self._statuses.items() if status not in FINE)

    def add(self, record: Record, *, is_resumed: bool) -> None:
        """Counts a record."""
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

    def answer(self, do: Action, models: int, journal: Path | None, seconds: float) -> BatchAnswer:
        """The summary for a batch of ``models``."""
        codes = sorted((code.count() for code in self._codes.values()), key=lambda item: (-item.models, item.code))
        return BatchAnswer(
            do=do,
            journal=None if journal is None else str(journal),
            asked=models,
            done=self.done,
            resumed=self.resumed,
            statuses=dict(sorted(self._statuses.items(), key=lambda item: (-item[1], item[0]))),
            codes=tuple(codes),
            failures=tuple(sorted(self._failures, key=lambda item: item.model)),
            seconds=round(seconds, 3),
        )


class _Code:
    """The counts of a code, and its first models by name, because workers end in any order."""

    def __init__(self, first: Diagnostic) -> None:
        self._first = first
        self._findings = 0
        self._models = 0
        self._last = ""
        self._examples: list[str] = []

    def add(self, model: str, found: Diagnostic) -> None:
        """Counts a finding; all findings of a model must be added in succession."""
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
