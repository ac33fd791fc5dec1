"""Collects findings while a model is read, with places, quotations and suggestions."""

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
"""A misspelt name is compared with all known ones, some microseconds each; only the first findings get a suggestion."""

LONGEST_LIST = 16
MOST_PLACES = 3
"""Further places that a finding names."""

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


def listing(names: Collection[str]) -> str:
    """Accepted names, the first of them when there are many."""
    shown = ", ".join(list(names)[:LONGEST_LIST])
    return shown if len(names) <= LONGEST_LIST else f"{shown}, ... ({len(names)} in all)"


class FindingDetails(TypedDict, total=False):
    """What else may be said in a finding."""

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
    """A finding about a field of the operator that a node has; its name and page are said where it is known."""
    operator, page = (schema.short_name, schema.doc) if schema else ("", "")
    return code.at(message, pointer=place, node=node, operator=operator, field=field, documentation=page, **details)


def instead(place: str, names: Collection[str], *, renamed: bool = False) -> tuple[Remedy, ...]:
    """The names that may be meant at a place, each as a remedy."""
    return tuple([Remedy(quote(name), (Edit(place, name, renamed=renamed),), is_certain=True) for name in names])


_MISSING = frozenset({MISSING_KEY, MISSING_FIELD, OWNED_NOT_BOUND, UNCONNECTED_TENSOR})


class _Uses(NamedTuple):
    """The findings about one name, of which the first is listed."""

    first: int
    findings: list[Diagnostic]


class Findings:
    """An ordered, bounded list of diagnostics.

    One mistake is to be one finding, whatever follows from it. Three things follow often, in whichever order they are
    come upon: a member is missing because its name is misspelt; a name is unknown because what would have introduced it
    could not be read; and an unknown name is used in several places.
    """

    __slots__ = (
        "_comparisons",
        "_dropped",
        "_dropped_errors",
        "_items",
        "_kinds",
        "_misspelt",
        "_strays",
        "_unreadable_kinds",
        "_uses",
    )

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
        """How many there are, those that are not listed too."""
        return len(self._items) + self._dropped

    def add(self, finding: Diagnostic) -> None:
        """Adds a finding, or counts it when there are too many already."""
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
        """Adds a finding at a place of the model, which may be about a field of the operator that a node has."""
        self.add(at_field(code, message, place, node, schema, field, **details))

    def report_number(
        self, what: str, bad: Bad, place: str, remedies: tuple[Remedy, ...] = (), *, code: Code | None = None
    ) -> None:
        """Adds what is wrong with a number, as a finding of its own kind or of another."""
        details: FindingDetails = {"expected": bad.expected, "found": bad.found, "remedies": remedies}
        self.report(code or bad.code, f"{what} {bad.message}", place, **details)

    def report_unknown(self, kind: str, name: str, finding: Diagnostic) -> None:
        """A finding that there is nothing of this kind and name, once for all places that use it.

        It is none where :meth:`mark_unreadable` names the kind.
        """
        uses = self._uses.setdefault((kind, name), _Uses(len(self._items), []))
        uses.findings.append(finding)
        if len(uses.findings) == 1:
            self._kinds[uses.first] = kind
            self.add(finding)

    def report_once(self, kind: str, name: str, finding: Diagnostic) -> None:
        """A finding that is the same for all places that use something of this kind and name."""
        uses = self._uses.setdefault((kind, name), _Uses(len(self._items), []))
        uses.findings.append(finding)
        if len(uses.findings) == 1:
            self.add(finding)

    def mark_unreadable(self, kind: str) -> None:
        """Something that introduces names of this kind could not be read, so that unknown ones say nothing."""
        self._unreadable_kinds.add(kind)

    def mark_misspelt(self, pointer: str, code: Code, name: str) -> None:
        """The finding that is added next is about a misspelt member, which was to be the one of this pointer.

        When that is missing, an error about the misspelt one is all that is said, and a warning gives way to the error
        that it is missing.
        """
        place = pointer.lower()
        if code.severity is Severity.ERROR:
            self._misspelt.add(place)
        else:
            self._strays.setdefault(place, (len(self._items), name))

    def is_likely_typo(self, name: str, known: Collection[str]) -> bool:
        """Whether a name differs from a known one by so little that no other can be meant."""
        return len(self._closest(name, known, _SLIP, beginnings=False)) == 1

    def did_you_mean(self, name: str, known: Collection[str]) -> str:
        """``; did you mean ...?`` for a name close to known ones, and nothing for others."""
        return suggestion(self.closest(name, known))

    def closest(self, name: str, known: Collection[str]) -> tuple[str, ...]:
        """The known name that is close enough to be suggested, those that are equally close, or none."""
        return self._closest(name, known, SIMILAR)

    def closest_missing(
        self, name: str, given: Collection[str], known: Collection[str], needed: Collection[str]
    ) -> tuple[str, ...]:
        """The known name that may be meant by a stray one of those ``given``, or those that are equally likely.

        A name that is given already is not meant by another one. Where as many names stray as are ``needed`` and
        missing, these are meant, however little they are alike.
        """
        missing = [item for item in needed if item not in given]
        strays = [item for item in given if item not in known]
        if len(missing) == len(strays) == 1:
            return (missing[0],)
        close = self.closest(name, [item for item in known if item not in given])
        return close or (tuple(missing) if len(missing) == len(strays) <= MOST else ())

    def _closest(
        self, name: str, known: Collection[str], similarity: float, *, beginnings: bool = True
    ) -> tuple[str, ...]:
        if self._comparisons + len(known) > MAX_COMPARISONS or len(name) > LONGEST_QUOTE:
            return ()
        self._comparisons += len(known)
        return nearest(name, known, similarity, beginnings=beginnings)

    def all(self) -> tuple[Diagnostic, ...]:
        """Everything found, in the order found."""
        items = tuple(self._without_consequences())
        if not self._dropped:
            return items
        code = TOO_MANY_FINDINGS
        further = plural(self._dropped, "further finding")
        verb = "is" if self._dropped == 1 else "are"
        last = code.at(f"{further}, {plural(self._dropped_errors, 'error')} among them, {verb} not listed")
        return (*items, last)

    def _without_consequences(self) -> list[Diagnostic]:
        kept = dict(enumerate(self._items))
        for index, kind in self._kinds.items():
            if kind in self._unreadable_kinds:
                kept.pop(index, None)
        for index, uses in self._uses.values():
            if len(uses) > 1 and kept.get(index) is uses[0]:
                kept[index] = _of_all(kept[index], uses)
        if self._misspelt or self._strays:
            for index, item in list(kept.items()):
                if item.code in _MISSING and _leads_to(item.pointer.lower(), self._misspelt):
                    del kept[index]
                elif item.code in _MISSING and (place := _leads_to(item.pointer.lower(), self._strays)):
                    stray, name = self._strays[place]
                    strayed = kept.pop(stray, None)
                    message = f"{item.message}; is {quote(name)} meant for it?"
                    rename = () if strayed is None else instead(strayed.pointer, [_last(item.pointer)], renamed=True)
                    where = item.pointer if strayed is None else strayed.pointer
                    kept[index] = replace(item, message=message, pointer=where, remedies=item.remedies or rename)
        return list(kept.values())


def _of_all(finding: Diagnostic, uses: list[Diagnostic]) -> Diagnostic:
    """The finding for all places that use the same name."""
    others = tuple([Place(item.pointer, "here as well") for item in uses[1 : 1 + MOST_PLACES]])
    remedies = []
    for position, remedy in enumerate(finding.remedies):
        alike = [item.remedies[position] for item in uses if len(item.remedies) > position]
        remedies.append(Remedy(remedy.words, tuple([edit for other in alike for edit in other.edits]), True))
    message = f"{finding.message} ({len(uses)} places use it)"
    return replace(finding, message=message, places=others, remedies=tuple(remedies))


def _last(pointer: str) -> str:
    """The member that a pointer leads to."""
    return unescape(pointer.rpartition("/")[2])


def _leads_to(pointer: str, places: Collection[str]) -> str:
    """The place that the pointer is, or lies below, if any."""
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return pointer


def suggestion(close: Iterable[str]) -> str:
    """``; did you mean ...?`` for the names that may be meant, and nothing for none."""
    return question(map(quote, close))
