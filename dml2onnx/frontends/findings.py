"""Collects the findings of a model that is being read, and formats their texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

from dml2onnx.catalog import OperatorSchema
from dml2onnx.catalog.likeness import MOST, SIMILAR, nearest, question
from dml2onnx.codes.reading import MISSING_FIELD, MISSING_KEY, OWNED_NOT_BOUND, TOO_MANY_FINDINGS, UNCONNECTED_TENSOR
from dml2onnx.diagnostics import (
    LONGEST_QUOTE,
    Code,
    Diagnostic,
    Edit,
    Place,
    Remedy,
    Severity,
    escape,
    plural,
    quote,
    unescape,
)

if TYPE_CHECKING:
    from dml2onnx.frontends.numbers import Bad

__all__ = ["LONGEST_LIST", "MAX_FINDINGS", "Findings", "at_field", "escape", "listing", "pointer", "quote", "show"]

MAX_FINDINGS = 10_000
MAX_COMPARISONS = 100_000
"""The most comparisons of unknown names with known ones, which take microseconds each; then suggestions stop."""

LONGEST_LIST = 16
MOST_PLACES = 3
"""The most related places of a finding."""

_TYPO = 0.85
"""The similarity, from 0 to 1, from which one name is likely a typo of another."""


def show(value: object) -> str:
    """Formats a decoded JSON value for messages: scalars in full, arrays and objects by their size."""
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
    """Joins tokens to an RFC 6901 JSON pointer."""
    return "".join(f"/{escape(token)}" if isinstance(token, str) else f"/{token}" for token in tokens)


def listing(names: Collection[str]) -> str:
    """Joins names with commas, shortened if there are many."""
    shown = ", ".join(list(names)[:LONGEST_LIST])
    return shown if len(names) <= LONGEST_LIST else f"{shown}, ... ({len(names)} in all)"


class FindingDetails(TypedDict, total=False):
    """The optional parts of a finding."""

    expected: object
    found: object
    places: tuple[Place, ...]
    remedies: tuple[Remedy, ...]


def at_field(
    code: Code,
    message: str,
    place: str,
    node: str,
    schema: OperatorSchema | None,
    field: str,
    **details: Unpack[FindingDetails],
) -> Diagnostic:
    """Makes a finding about a field of a node's operator, with the operator's name and page if it is known."""
    operator, page = (schema.short_name, schema.doc) if schema else ("", "")
    return code.at(message, pointer=place, node=node, operator=operator, field=field, documentation=page, **details)


def instead(place: str, names: Collection[str], *, renamed: bool = False) -> tuple[Remedy, ...]:
    """Makes a remedy of each suggested name: a replacement of the value, or of the member's name if ``renamed``."""
    return tuple([Remedy(quote(name), (Edit(place, name, renamed=renamed),), is_certain=True) for name in names])


_MISSING = frozenset({MISSING_KEY, MISSING_FIELD, OWNED_NOT_BOUND, UNCONNECTED_TENSOR})


class _Uses(NamedTuple):
    """The findings about one name; only the first is listed."""

    first: int
    findings: list[Diagnostic]


class Findings:
    """An ordered, bounded list of diagnostics.

    One mistake makes one finding. Three kinds of consequences are removed, in whatever order they are found: a member
    is missing because its name is misspelt; a name is unknown because its definition could not be read; an unknown name
    is used in several places.
    """

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._dropped = 0
        self._dropped_errors = 0
        self._comparisons = 0
        self._misspelt: set[str] = set()
        self._strays: dict[str, tuple[int, str]] = {}
        self._unreadable_kinds: set[str] = set()
        self._kinds: dict[int, str] = {}
        self._uses: dict[tuple[str, str], _Uses] = {}

    def __len__(self) -> int:
        """The number of findings, including dropped ones."""
        return len(self._items) + self._dropped

    def add(self, finding: Diagnostic) -> None:
        """Adds a finding, or only counts it beyond ``MAX_FINDINGS``."""
        if len(self._items) >= MAX_FINDINGS:
            self._dropped += 1
            self._dropped_errors += finding.is_error
        else:
            self._items.append(finding)

    def report(
        self,
        code: Code,
        message: str,
        place: str = "",
        *,
        node: str = "",
        schema: OperatorSchema | None = None,
        field: str = "",
        **details: Unpack[FindingDetails],
    ) -> None:
        """Adds a finding at a place of the model, optionally about a field of a node's operator."""
        self.add(at_field(code, message, place, node, schema, field, **details))

    def report_number(
        self, what: str, bad: Bad, place: str, remedies: tuple[Remedy, ...] = (), *, code: Code | None = None
    ) -> None:
        """Adds a finding about a number, optionally with another code."""
        details: FindingDetails = {"expected": bad.expected, "found": bad.found, "remedies": remedies}
        self.report(code or bad.code, f"{what} {bad.message}", place, **details)

    def report_unknown(self, kind: str, name: str, finding: Diagnostic) -> None:
        """Adds a finding about an unknown name, once for all uses, unless :meth:`mark_unreadable` names the kind."""
        self._kinds.setdefault(self.report_once(kind, name, finding), kind)

    def report_once(self, kind: str, name: str, finding: Diagnostic) -> int:
        """Adds a finding once for all uses of a name of a kind; returns the index of the first use's finding."""
        uses = self._uses.setdefault((kind, name), _Uses(len(self._items), []))
        uses.findings.append(finding)
        if len(uses.findings) == 1:
            self.add(finding)
        return uses.first

    def mark_unreadable(self, kind: str) -> None:
        """Suppresses findings about unknown names of a kind, since a definition of such names could not be read."""
        self._unreadable_kinds.add(kind)

    def mark_misspelt(self, pointer: str, code: Code, name: str) -> None:
        """Marks the next finding as being about a misspelt member that should be the one at ``pointer``.

        An error about the misspelt member suppresses the finding that the other is missing; a warning is replaced by
        it.
        """
        place = pointer.lower()
        if code.severity is Severity.ERROR:
            self._misspelt.add(place)
        else:
            self._strays.setdefault(place, (len(self._items), name))

    def is_likely_typo(self, name: str, known: Collection[str]) -> bool:
        """Whether a name is very close to exactly one known name."""
        return len(self._closest(name, known, _TYPO, beginnings=False)) == 1

    def did_you_mean(self, name: str, known: Collection[str]) -> str:
        """Returns ``; did you mean ...?`` for a name close to known ones, else an empty text."""
        return suggestion(self.closest(name, known))

    def closest(self, name: str, known: Collection[str]) -> tuple[str, ...]:
        """Returns the known names that are equally close to a name and close enough to suggest, if any."""
        return self._closest(name, known, SIMILAR)

    def closest_missing(
        self, name: str, present: Collection[str], known: Collection[str], needed: Collection[str]
    ) -> tuple[str, ...]:
        """Returns the known names to suggest for an unknown one of ``present``.

        Names that are in ``present`` are not suggested. If there are as many unknown names as missing ``needed`` ones,
        these are suggested even if they are not similar.
        """
        missing = [item for item in needed if item not in present]
        strays = [item for item in present if item not in known]
        if len(missing) == len(strays) == 1:
            return (missing[0],)
        close = self.closest(name, [item for item in known if item not in present])
        return close or (tuple(missing) if len(missing) == len(strays) <= MOST else ())

    def _closest(
        self, name: str, known: Collection[str], similarity: float, *, beginnings: bool = True
    ) -> tuple[str, ...]:
        if self._comparisons + len(known) > MAX_COMPARISONS or len(name) > LONGEST_QUOTE:
            return ()
        self._comparisons += len(known)
        return nearest(name, known, similarity, beginnings=beginnings)

    def all(self) -> tuple[Diagnostic, ...]:
        """Returns all findings without consequences, in order."""
        items = tuple(self._root_causes())
        if not self._dropped:
            return items
        code = TOO_MANY_FINDINGS
        further = plural(self._dropped, "further finding")
        verb = "is" if self._dropped == 1 else "are"
        last = code.at(f"{further}, {plural(self._dropped_errors, 'error')} among them, {verb} not listed")
        return (*items, last)

    def _root_causes(self) -> list[Diagnostic]:
        kept = dict(enumerate(self._items))
        for index, kind in self._kinds.items():
            if kind in self._unreadable_kinds:
                kept.pop(index, None)
        for index, uses in self._uses.values():
            if len(uses) > 1 and kept.get(index) is uses[0]:
                kept[index] = _merge_uses(kept[index], uses)
        if self._misspelt or self._strays:
            for index, item in list(kept.items()):
                if item.code in _MISSING and _enclosing(item.pointer.lower(), self._misspelt):
                    del kept[index]
                elif item.code in _MISSING and (place := _enclosing(item.pointer.lower(), self._strays)):
                    stray, name = self._strays[place]
                    strayed = kept.pop(stray, None)
                    message = f"{item.message}; is {quote(name)} meant for it?"
                    rename = (
                        () if strayed is None else instead(strayed.pointer, [last_member(item.pointer)], renamed=True)
                    )
                    where = item.pointer if strayed is None else strayed.pointer
                    kept[index] = replace(item, message=message, pointer=where, remedies=item.remedies or rename)
        return list(kept.values())


def _merge_uses(finding: Diagnostic, uses: list[Diagnostic]) -> Diagnostic:
    """Merges the findings about all uses of one name."""
    others = tuple([Place(item.pointer, "here as well") for item in uses[1 : 1 + MOST_PLACES]])
    remedies = []
    for position, remedy in enumerate(finding.remedies):
        alike = [item.remedies[position] for item in uses if len(item.remedies) > position]
        remedies.append(Remedy(remedy.words, tuple([edit for other in alike for edit in other.edits]), True))
    message = f"{finding.message} ({len(uses)} places use it)"
    return replace(finding, message=message, places=others, remedies=tuple(remedies))


def last_member(pointer: str) -> str:
    """The last member of a pointer."""
    return unescape(pointer.rpartition("/")[2])


def _enclosing(pointer: str, places: Collection[str]) -> str:
    """The place that the pointer is, or lies below, if any."""
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return pointer


def suggestion(close: Iterable[str]) -> str:
    """Returns ``; did you mean ...?`` for names to suggest, or an empty text without any."""
    return question(map(quote, close))
