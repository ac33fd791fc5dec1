"""Reads the members of an object with a fixed format, and reports errors."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TypeVar

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code, Edit, Member, Remedy
from dml2onnx.frontends.findings import FindingDetails, Findings, instead, listing, quote, show, suggestion
from dml2onnx.frontends.findings import pointer as pointer_of

Json = dict[str, object]
Kind = TypeVar("Kind")

UINT32 = 1 << 32
UINT64 = 1 << 64


class Members:
    """The members of one object at ``place``; all readers return ``None`` for missing and invalid members."""

    __slots__ = ("_findings", "node", "place", "raw")

    def __init__(self, raw: Json, place: str, findings: Findings, node: str = "") -> None:
        self.raw = raw
        self.place = place
        self.node = node
        self._findings = findings

    @staticmethod
    def of(raw: object, place: str, findings: Findings, what: str, node: str = "") -> Members | None:
        """Returns the members of ``raw``, or reports that it is not an object."""
        if type(raw) is dict:
            return Members(raw, place, findings, node)
        wrong_kind(findings, what, "an object", raw, place, node)
        return None

    def only(self, known: Collection[str], what: str) -> set[str]:
        """Reports members of other names as errors; returns the known names that are suggested for them."""
        meant: set[str] = set()
        for name in self.raw:
            if name not in known:
                close = self._findings.closest(name, known)
                self._report_unknown(codes.UNKNOWN_KEY, name, close, known, f"{what} has no member {quote(name)}")
                meant.update(close)
        return meant

    def hint(self, known: Collection[str], what: str, *, typos: bool = False) -> None:
        """Warns about ignored members with names close to known ones; with ``typos``, likely typos are errors."""
        for name in self.raw:
            if name not in known and (close := self._findings.closest(name, known)):
                is_typo = typos and self._findings.is_likely_typo(name, known)
                message = f"{what} has no member {quote(name)}{'' if is_typo else ', and it is ignored'}"
                self._report_unknown(codes.UNKNOWN_KEY if is_typo else codes.IGNORED_KEY, name, close, known, message)

    def _report_unknown(
        self, code: Code, name: str, close: tuple[str, ...], known: Collection[str], message: str
    ) -> None:
        for item in close:
            self._findings.mark_misspelt(self.at(item), code, name)
        place = self.at(name)
        details: FindingDetails = {"expected": listing(known), "found": quote(name)}
        details["remedies"] = instead(place, close, renamed=True)
        self._findings.report(code, f"{message}{suggestion(close)}", place, node=self.node, **details)

    def required(self, name: str, expected: str) -> object:
        """Any value; a missing one is an error."""
        if name in self.raw:
            return self.raw[name]
        self._findings.report(
            codes.MISSING_KEY, f"{quote(name)} is missing", self.at(name), expected=expected, node=self.node
        )
        return None

    def text(self, name: str, default: str | None = None, *, required: bool = False) -> str | None:
        """A string, or ``default`` if it is missing."""
        return self._of_kind(str, name, "a string", required, default)

    def array(self, name: str, *, required: bool = False) -> list[object] | None:
        return self._of_kind(list, name, "an array", required)

    def mapping(self, name: str, *, required: bool = False) -> Json | None:
        return self._of_kind(dict, name, "an object", required)

    def uint(self, name: str, limit: int = UINT64, *, required: bool = False) -> int | None:
        """A whole number from 0 to ``limit - 1``."""
        expected = f"a whole number from 0 to {limit - 1}"
        value = self._get(name, expected, required)
        if value is None:
            return None
        if type(value) is int and 0 <= value < limit:
            return value
        self._wrong(name, expected, value)
        return None

    def flag(self, name: str) -> bool:
        """A bool, false if it is missing."""
        value = self.raw.get(name, False)
        if isinstance(value, bool):
            return value
        self._wrong(name, "true or false", value)
        return False

    def dimensions(self) -> tuple[int, ...]:
        """Reads ``dimensions``, an optional array of UINT; drops and reports invalid elements."""
        sizes: list[int] = []
        for index, size in enumerate(self.array("dimensions") or []):
            if type(size) is int and 0 <= size < UINT32:
                sizes.append(size)
            else:
                expected, place = f"a whole number from 0 to {UINT32 - 1}", self.at("dimensions", index)
                wrong_kind(self._findings, f"dimensions[{index}]", expected, size, place)
        return tuple(sizes)

    def at(self, *path: str | int) -> str:
        return self.place + pointer_of(*path)

    def _of_kind(
        self, kind: type[Kind], name: str, expected: str, required: bool, default: Kind | None = None
    ) -> Kind | None:
        value = self._get(name, expected, required)
        if value is None:
            return default
        if isinstance(value, kind):
            return value
        self._wrong(name, expected, value)
        return None

    def _get(self, name: str, expected: str, required: bool) -> object:
        if name in self.raw:
            value = self.raw[name]
            if value is None:
                self._wrong(name, expected, value)
            return value
        return self.required(name, expected) if required else None

    def _wrong(self, name: str, expected: str, value: object) -> None:
        wrong_kind(self._findings, quote(name), expected, value, self.at(name), self.node)


def wrong_kind(
    findings: Findings,
    what: str,
    expected: str,
    found: object,
    place: str,
    node: str = "",
    *,
    instead: Member | None = None,
) -> None:
    """Reports a value of the wrong kind; ``instead`` is a certain replacement."""
    remedies: tuple[Remedy, ...] = ()
    if instead is not None:
        remedies = (Remedy(f"write {json.dumps(instead)}", (Edit(place, instead),), is_certain=True),)
    details: FindingDetails = {"expected": expected, "found": show(found), "remedies": remedies}
    findings.report(codes.WRONG_KIND, f"{what} is {show(found)}, not {expected}", place, node=node, **details)
