"""Collecting what is wrong with a model while it is read: places, quotations and suggestions for messages."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from dml2onnx.codes.reading import TOO_MANY_FINDINGS
from dml2onnx.diagnostics import LONGEST_QUOTE, Severity, quote

if TYPE_CHECKING:
    from collections.abc import Collection

    from dml2onnx.diagnostics import Code, Diagnostic

__all__ = ["LONGEST_LIST", "MAX_FINDINGS", "Findings", "escape", "listing", "pointer", "quote", "show"]

MAX_FINDINGS = 10_000
MAX_COMPARISONS = 100_000
"""A misspelt name is compared with all known ones, some microseconds each; only the first findings get a suggestion."""

LONGEST_LIST = 16

_SIMILAR = 0.6
_SLIP = 0.85
"""How much of two names agrees, from 0 to 1, for one to be suggested in place of the other, or to be meant by it."""


def show(value: object) -> str:
    """A decoded JSON value as a message shows it: scalars themselves, arrays and objects by their size."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 128 else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return "an empty array" if not value else f"an array of {len(value)}"
    return "an object"


def pointer(*tokens: str | int) -> str:
    """An RFC 6901 JSON pointer."""
    return "".join(f"/{escape(token)}" if isinstance(token, str) else f"/{token}" for token in tokens)


def escape(token: str) -> str:
    """One reference token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def listing(names: Collection[str]) -> str:
    """Accepted names, the first of them when there are many."""
    shown = ", ".join(list(names)[:LONGEST_LIST])
    return shown if len(names) <= LONGEST_LIST else f"{shown}, ... ({len(names)} in all)"


class Findings:
    """An ordered, bounded list of diagnostics."""

    __slots__ = ("_comparisons", "_dropped", "_dropped_errors", "_items")

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._dropped = 0
        self._dropped_errors = 0
        self._comparisons = 0

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(
        self,
        code: Code,
        message: str,
        pointer: str = "",
        *,
        expected: object = "",
        found: object = "",
        node: str = "",
        operator: str = "",
        field: str = "",
        documentation: str = "",
    ) -> None:
        """Adds a finding, or counts it when there are too many already."""
        if len(self._items) >= MAX_FINDINGS:
            self._dropped += 1
            self._dropped_errors += code.severity is Severity.ERROR
            return
        self._items.append(
            code.at(
                message,
                node=node,
                operator=operator,
                field=field,
                pointer=pointer,
                expected=expected,
                found=found,
                documentation=documentation,
            )
        )

    def is_slip(self, name: str, known: Collection[str]) -> bool:
        """Whether a name differs from a known one by so little that no other can be meant."""
        return bool(self._closest(name, known, _SLIP))

    def did_you_mean(self, name: str, known: Collection[str]) -> str:
        """``; did you mean ...?`` for a name close to known ones, and nothing for others."""
        close = self._closest(name, known, _SIMILAR)
        return f"; did you mean {quote(close)}?" if close else ""

    def _closest(self, name: str, known: Collection[str], similarity: float) -> str:
        if self._comparisons + len(known) > MAX_COMPARISONS or len(name) > LONGEST_QUOTE:
            return ""
        self._comparisons += len(known)
        folded = {candidate.lower(): candidate for candidate in known}
        close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=similarity)
        return folded[close[0]] if close else ""

    def all(self) -> tuple[Diagnostic, ...]:
        """Everything found, in the order found."""
        if not self._dropped:
            return tuple(self._items)
        code = TOO_MANY_FINDINGS
        last = code.at(f"{self._dropped} further findings, {self._dropped_errors} of them errors, are not listed")
        return (*self._items, last)
