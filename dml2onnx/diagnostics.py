"""Diagnostics: a code, a place, what was expected and what was found."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, fields
from dataclasses import field as with_options
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

LONGEST_QUOTE = 60
LONGEST_LISTING = 300

_COMMAND = re.compile(r"^\s*(?=::)|#(?=#\[)")
"""Prefixes that turn a log line on GitHub into a command:
https://docs.github.com/actions/reference/workflow-commands-for-github-actions"""


def quote(text: str) -> str:
    """``text`` in double quotes on one line, shortened in the middle when it is long."""
    return f'"{shortened(text, LONGEST_QUOTE)}"'


def shortened(text: str, longest: int = LONGEST_LISTING) -> str:
    """``text`` on one line; the middle is cut if it is longer than ``longest``."""
    if len(text) > longest:
        text = f"{text[: longest - 20]} ... {text[-15:]}"
    return visible(text)


def visible(text: str) -> str:
    """``text`` with escapes for invisible characters, for those that break a line or a terminal, and for log commands.

    Text from files and callers goes through this before it is shown, or through :func:`shortened` if it may be long.
    """
    if "::" in text or "##[" in text:
        text = _COMMAND.sub(lambda match: r"\u0023" if match[0] == "#" else f"{match[0]}\\", text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def route(names: Sequence[str]) -> str:
    """A cycle of nodes, ending at the first; the middle of a long one is cut."""
    quoted = [quote(name) for name in names]
    shown = quoted if len(quoted) <= 12 else [*quoted[:6], f"({len(quoted) - 9} more)", *quoted[-3:]]
    return " -> ".join([*shown, quoted[0]])


def plural(number: int, noun: str, none: str = "0") -> str:
    """``1 entry``, ``2,000 entries``; ``none`` stands for the number 0."""
    if number == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {many}" if number else f"{none} {many}"


def listed(items: Sequence[str], last: str = "and") -> str:
    """``a, b and c``; empty without items."""
    return f"{', '.join(items[:-1])} {last} {items[-1]}" if len(items) > 1 else "".join(items)


class Severity(enum.StrEnum):
    """How bad a finding is: errors stop a compilation, warnings do not."""

    ERROR = "error"
    WARNING = "warning"


class Location(NamedTuple):
    """A span of a line of text: 1-based character columns, the end exclusive."""

    line: int
    column: int
    end_column: int
    excerpt: str
    """The line, or a part of a long line around the span."""
    marker: str
    """A second line that underlines the span."""


@dataclass(frozen=True, slots=True)
class Place:
    """A second place that a finding is about: the other tensor, the other writer of a value."""

    pointer: str
    """A JSON pointer into the model, or a call site of the builder."""
    message: str
    """What is there."""
    line: int = 0
    """Line and columns as in :class:`Diagnostic`."""
    column: int = 0
    end_column: int = 0
    excerpt: str = ""
    marker: str = ""


Member: TypeAlias = "bool | int | float | str | list[Member] | dict[str, Member] | None"
"""A JSON value in a model."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one member of a model."""

    pointer: str
    value: Member = None
    """The new value, or the new name if ``renamed``."""
    renamed: bool = False
    where_given: bool = False
    """Whether a missing member stays missing."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A way to fix a finding."""

    words: str
    edits: tuple[Edit, ...] = ()
    """The edits that fix it; empty if edits alone cannot."""
    is_certain: bool = False
    """Whether the model leaves no other interpretation, apart from other remedies."""


Steps: TypeAlias = tuple[str | int, ...]
"""Member names and indices that lead to a part of a descriptor."""


_NAMELESS = "~"
"""An empty member name in a path, where an empty step would mean no member. JSON pointers write nothing there."""


def escape(token: str) -> str:
    """One reference token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """The member name of a JSON pointer token or a step of a path."""
    return "" if token == _NAMELESS else token.replace("~1", "/").replace("~0", "~")


def joined(path: str | Steps) -> str:
    """A path as text: a JSON pointer without the first slash."""
    if isinstance(path, str):
        return path
    return "/".join([escape(step) or _NAMELESS if isinstance(step, str) else str(step) for step in path])


def pointer_to(place: str, path: str) -> str:
    """The JSON pointer ``place`` followed by a path."""
    if not path:
        return place
    return f"{place}/{'/'.join(['' if step == _NAMELESS else step for step in path.split('/')])}"


def _first_member(path: str | Steps) -> str:
    """The first field of a path."""
    if isinstance(path, str):
        return path.partition("/")[0]
    return next((step for step in path if isinstance(step, str)), "")


_INTERNAL = MappingProxyType({"internal": True})
"""Marks fields that reports leave out: they are used until a diagnostic is placed."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem and its place. ``line`` and ``column`` are set in reports, and if ``file`` is not JSON."""

    code: Code
    """The code, as in ``dml2onnx explain CODE``."""
    message: str
    severity: Severity = with_options(default=Severity.ERROR, metadata={"always": True})
    node: str = ""
    operator: str = ""
    field: str = ""
    pointer: str = ""
    """An RFC 6901 JSON pointer into the model, or a call site of the builder."""
    expected: str = ""
    found: str = ""
    since: str = ""
    """The feature level that lifts the restriction."""
    documentation: str = ""
    """The page that states the rule."""
    related: tuple[str, ...] = ()
    """The other fields that the rule read; any of them may be the wrong one."""
    places: tuple[Place, ...] = ()
    """Other places involved: the other tensor, the other writer."""
    remedies: tuple[Remedy, ...] = with_options(default=(), hash=False)
    """Alternative fixes."""
    file: str = ""
    """The file of the place, if known."""
    line: int = 0
    """Lines and columns are 1-based, ``end_column`` is exclusive; 0 if unknown."""
    column: int = 0
    end_column: int = 0
    excerpt: str = ""
    """The line, or a part of a long line around the place."""
    marker: str = ""
    """Underlines the place in the excerpt."""

    # Findings of a descriptor are computed once for all nodes that have it; :func:`placed` adds the place.
    path: str = with_options(default="", repr=False, metadata=_INTERNAL)
    """The place in the descriptor, a JSON pointer without the first slash: ``"InputTensor/Sizes/2"``."""
    is_structural: bool = with_options(default=False, repr=False, metadata=_INTERNAL)
    """Whether it concerns how the node fits into the graph, not its descriptor alone."""
    accepted: str = with_options(default="", repr=False, metadata=_INTERNAL)
    """What DirectML does if only its documentation forbids this; empty if DirectML refuses."""
    compiled: bool = with_options(default=False, repr=False, metadata=_INTERNAL)
    """Whether a compiled model does what ``accepted`` says."""
    alike: tuple[str, ...] = with_options(default=(), repr=False, metadata=_INTERNAL)
    """Other fields with the same problem, not reported because it follows from this one."""
    guess: tuple[str, Collection[str]] | None = with_options(default=None, hash=False, repr=False, metadata=_INTERNAL)
    """A misspelt name, and the names that it may stand for."""
    instead: Member = with_options(default=None, hash=False, repr=False, metadata=_INTERNAL)
    """The value that is certainly meant; ``None`` if unknown."""
    contents: object = with_options(default=None, hash=False, repr=False, metadata=_INTERNAL)
    """The value of an unknown member."""

    @property
    def is_error(self) -> bool:
        """Errors stop a compilation, warnings do not."""
        return self.severity is Severity.ERROR

    @property
    def key(self) -> tuple[str, str]:
        """Code and place: findings of one descriptor are equal if their keys are."""
        return self.code, self.path

    def __str__(self) -> str:
        place = f"node {quote(self.node)}" if self.node else ""
        if self.operator:
            place += f" ({self.operator})"
        if self.pointer:
            pointer = visible(self.pointer)
            place += f", {pointer}" if place else pointer
        elif self.line:  # the file is no JSON
            place = f"{visible(self.file)}:{self.line}:{self.column}"
        return f"{self.code} {self.severity.value}: {place + ': ' if place else ''}{self.message}"

    @property
    def answer(self) -> str:
        """The finding with its other places and its remedies, one per line."""
        lines = [str(self), *(f"    {visible(item.pointer)}: {item.message}" for item in self.places)]
        unsaid = [item.words for item in self.remedies if not is_said(item.words, self.message)]
        lines += [f"    {'or' if number else 'help'}: {words}" for number, words in enumerate(unsaid)]
        if self.expected and not any(is_said(self.expected, text) for text in (self.message, *unsaid)):
            lines.append(f"    expected: {shortened(self.expected)}")
        return "\n".join(lines)


def is_said(text: str, message: str) -> bool:
    """Whether a message contains this text as whole words or numbers."""
    words = re.escape(text.strip('"'))
    return bool(re.search(rf"(?<![\w.]){words}(?!\w)", message))


_INDEX = {field.name: position for position, field in enumerate(fields(Diagnostic))}
_values_of = attrgetter(*_INDEX)


def changed(item: Diagnostic, **changes: object) -> Diagnostic:
    """As ``dataclasses.replace``, in half the time: hundreds of variants of a wrong descriptor are judged.

    Raises ``KeyError`` if there is no such field.
    """
    values = list(_values_of(item))
    for name, value in changes.items():
        values[_INDEX[name]] = value
    return Diagnostic(*values)


def below(item: Diagnostic, *steps: str | int) -> Diagnostic:
    """The finding of a part, as a finding of the whole: ``steps`` lead to the part."""
    if not steps:
        return item
    prefix = joined(steps)
    return changed(
        item,
        field=_first_member(steps) or item.field,
        path=f"{prefix}/{item.path}" if item.path else prefix,
        related=tuple([f"{prefix}/{path}" for path in item.related]),
    )


def with_code(item: Diagnostic, code: Code, message: str) -> Diagnostic:
    """The finding with another code and message."""
    return changed(item, code=code, severity=code.severity, message=message)


def placed(
    item: Diagnostic,
    pointer: str,
    *,
    node: str = "",
    operator: str = "",
    documentation: str = "",
    remedies: tuple[Remedy, ...] = (),
) -> Diagnostic:
    """The finding at its place in a model, without its internal fields.

    ``documentation`` is the operator's page, used unless the finding names another one.
    """
    return Diagnostic(
        item.code,
        item.message,
        item.severity,
        node,
        operator,
        item.field,
        pointer,
        item.expected,
        item.found,
        item.since,
        item.documentation or documentation,
        item.related,
        item.places,
        item.remedies or remedies,
    )


class Code(str):
    """A kind of finding: its stable number, a summary, and what ``dml2onnx explain CODE`` says about it."""

    __slots__ = ("explanation", "severity", "summary")
    summary: str
    explanation: str
    severity: Severity

    def __new__(cls, number: str, summary: str, explanation: str, severity: Severity = Severity.ERROR) -> Code:
        made = super().__new__(cls, number)
        made.summary = summary
        made.explanation = explanation
        made.severity = severity
        return made

    @property
    def id(self) -> str:
        """The number as plain text."""
        return str(self)

    def __getnewargs__(self) -> tuple[str, str, str, Severity]:  # type: ignore[override]  # str has one argument
        return str(self), self.summary, self.explanation, self.severity

    def of(
        self,
        path: str | Steps,
        message: str,
        expected: object = "",
        found: object = "",
        since: str = "",
        documentation: str = "",
        *,
        related: tuple[str | Steps, ...] = (),
        is_structural: bool = False,
        accepted: str = "",
        compiled: bool = False,
        guess: tuple[str, Collection[str]] | None = None,
        instead: Member = None,
        contents: object = None,
    ) -> Diagnostic:
        """A finding of this kind in a descriptor, without a place in a model yet."""
        return Diagnostic(
            self,
            message,
            self.severity,
            field=_first_member(path),
            expected=str(expected),
            found=str(found),
            since=since,
            documentation=documentation,
            related=tuple([joined(other) for other in related]),
            path=joined(path),
            is_structural=is_structural,
            accepted=accepted,
            compiled=compiled,
            guess=guess,
            instead=instead,
            contents=contents,
        )

    def at(
        self,
        message: str,
        *,
        node: str = "",
        operator: str = "",
        field: str = "",
        pointer: str = "",
        expected: object = "",
        found: object = "",
        since: str = "",
        documentation: str = "",
        related: tuple[str, ...] = (),
        places: tuple[Place, ...] = (),
        remedies: tuple[Remedy, ...] = (),
    ) -> Diagnostic:
        """A finding of this kind at a place in a model."""
        return Diagnostic(
            self,
            message,
            self.severity,
            node,
            operator,
            field,
            pointer,
            str(expected),
            str(found),
            since,
            documentation,
            related,
            places,
            remedies,
        )


class DmlError(Exception):
    """An input cannot be used; ``diagnostics`` say why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        if not diagnostics or not all(isinstance(item, Diagnostic) for item in diagnostics):
            raise TypeError(f"{type(self).__name__} takes one diagnostic or several, as Code.at makes them")
        self.diagnostics = diagnostics
        super().__init__("\n".join(item.answer for item in diagnostics))

    def __reduce__(self) -> tuple[type[DmlError], tuple[Diagnostic, ...]]:
        """Pickles the findings, for errors that cross processes."""
        return type(self), self.diagnostics


def raise_errors(findings: Iterable[Diagnostic]) -> None:
    """Raises :class:`DmlError` with the findings that are errors, if any."""
    errors = [item for item in findings if item.is_error]
    if errors:
        raise DmlError(*errors)


class UnreadableError(DmlError):
    """The input is not a model: missing, truncated, or of no known format (exit code 2)."""


class InternalError(Exception):
    """A defect of dml2onnx: names the operator and asks for a report."""

    def __init__(self, operator: str, what: str) -> None:
        super().__init__(
            f"{operator}: {what}. This is a defect of dml2onnx, not of the model; please report it with the model."
        )
