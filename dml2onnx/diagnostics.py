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
"""What makes a line of a log on GitHub a command:
https://docs.github.com/actions/reference/workflow-commands-for-github-actions"""


def quote(text: str) -> str:
    """``text`` in double quotes on one line, shortened in the middle when it is long."""
    return f'"{shortened(text, LONGEST_QUOTE)}"'


def shortened(text: str, longest: int = LONGEST_LISTING) -> str:
    """``text`` on one line, without its middle when it is longer than ``longest``."""
    if len(text) > longest:
        text = f"{text[: longest - 20]} ... {text[-15:]}"
    return visible(text)


def visible(text: str) -> str:
    """``text`` with escapes for what would not be seen, would break the line or the terminal, or begin a command.

    All text that is not ours goes through this before it is shown, with :func:`shortened` where it may be long.
    """
    if "::" in text or "##[" in text:
        text = _COMMAND.sub(lambda match: r"\u0023" if match[0] == "#" else f"{match[0]}\\", text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def route(names: Sequence[str]) -> str:
    """A cycle of nodes, from the first back to it; the middle of a long one is left out."""
    quoted = [quote(name) for name in names]
    shown = quoted if len(quoted) <= 12 else [*quoted[:6], f"({len(quoted) - 9} more)", *quoted[-3:]]
    return " -> ".join([*shown, quoted[0]])


def plural(number: int, noun: str, none: str = "0") -> str:
    """``1 entry``, ``2,000 entries``; ``none`` stands for the number 0."""
    if number == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {many}" if number else f"{none} {many}"


class Severity(enum.StrEnum):
    """How bad a finding is: errors stop a compilation, warnings do not."""

    ERROR = "error"
    WARNING = "warning"


class Location(NamedTuple):
    """A piece of a line of text, both ends counted in characters from 1, the second one past the last."""

    line: int
    column: int
    end_column: int
    excerpt: str
    """The line, or what is around the piece where it is long."""
    marker: str
    """A line of its own that underlines the piece in the excerpt."""


@dataclass(frozen=True, slots=True)
class Place:
    """A second place that a finding is about: the other tensor, the other writer of a value."""

    pointer: str
    """A JSON pointer into the model, or a call site of the builder."""
    message: str
    """What is there."""
    line: int = 0
    """Line and columns as those of the finding itself."""
    column: int = 0
    end_column: int = 0
    excerpt: str = ""
    marker: str = ""


Member: TypeAlias = "bool | int | float | str | list[Member] | dict[str, Member] | None"
"""What a member of a model holds."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One member of a model as a remedy has it."""

    pointer: str
    value: Member = None
    """Its contents; its new name if it is ``renamed``."""
    renamed: bool = False
    where_given: bool = False
    """Whether it stays left out where it is left out."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would mend a finding."""

    words: str
    edits: tuple[Edit, ...] = ()
    """With these the finding is gone; none where it takes more than that."""
    is_certain: bool = False
    """Whether nothing else can be meant, as far as the model tells, unless there is another remedy."""


Steps: TypeAlias = tuple[str | int, ...]
"""The members and indices that lead to a part of a descriptor."""


_NAMELESS = "~"
"""A member whose name is empty, in a path, which could not tell it from no member; a pointer has nothing there."""


def escape(token: str) -> str:
    """One reference token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """The member that a reference token of a JSON pointer, or a step of a path, names."""
    return "" if token == _NAMELESS else token.replace("~1", "/").replace("~0", "~")


def joined(path: str | Steps) -> str:
    """A path as text: a JSON pointer without the first slash."""
    if isinstance(path, str):
        return path
    return "/".join([escape(step) or _NAMELESS if isinstance(step, str) else str(step) for step in path])


def pointer_to(place: str, path: str) -> str:
    """The JSON pointer of what the path leads to from a place."""
    if not path:
        return place
    return f"{place}/{'/'.join(['' if step == _NAMELESS else step for step in path.split('/')])}"


def _first_member(path: str | Steps) -> str:
    """The field that a path starts at."""
    if isinstance(path, str):
        return path.partition("/")[0]
    return next((step for step in path if isinstance(step, str)), "")


_INTERNAL = MappingProxyType({"internal": True})
"""Of a field that no report has: what is known of a diagnostic until it has its place."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that is wrong, and where.

    ``pointer`` is an RFC 6901 JSON pointer into the model (or a call site of the builder), ``since`` the feature level
    that lifts the restriction, ``documentation`` the page that states the rule, ``related`` the other fields that the
    rule has read, any of which may be the wrong one. ``places`` are other places that it is about, ``remedies`` are
    alternative fixes. ``line`` and ``column`` are there in reports, and where ``file`` is no JSON.
    """

    code: Code
    """As ``dml2onnx explain CODE`` takes it."""
    message: str
    severity: Severity = with_options(default=Severity.ERROR, metadata={"always": True})
    node: str = ""
    operator: str = ""
    field: str = ""
    pointer: str = ""
    """A JSON pointer into the model, or a call site of the builder."""
    expected: str = ""
    found: str = ""
    since: str = ""
    """The feature level that lifts the restriction."""
    documentation: str = ""
    """The page that states the rule."""
    related: tuple[str, ...] = ()
    """The other fields that the rule has read, any of which may be the one to mend."""
    places: tuple[Place, ...] = ()
    """Other places that it is about: the other tensor, the other writer."""
    remedies: tuple[Remedy, ...] = with_options(default=(), hash=False)
    """What would mend it, one or the other of them."""
    file: str = ""
    """The file that the place is in, where that is known."""
    line: int = 0
    """Line and columns count characters from 1; ``end_column`` is past the last one. 0 where they are not known."""
    column: int = 0
    end_column: int = 0
    excerpt: str = ""
    """The line, or what is around the place where the line is long."""
    marker: str = ""
    """Underlines the place in the excerpt."""

    # What is wrong with a descriptor is found once for all nodes that have it, and gets its place with :func:`placed`.
    path: str = with_options(default="", repr=False, metadata=_INTERNAL)
    """Where it is in the descriptor, as a JSON pointer without the first slash: ``"InputTensor/Sizes/2"``."""
    is_structural: bool = with_options(default=False, repr=False, metadata=_INTERNAL)
    """Whether it is about how the node fits into the graph, and not about its descriptor alone."""
    accepted: str = with_options(default="", repr=False, metadata=_INTERNAL)
    """What DirectML does with it, where only the documentation forbids it; empty where DirectML refuses."""
    compiled: bool = with_options(default=False, repr=False, metadata=_INTERNAL)
    """Whether a compiled model does what ``accepted`` says."""
    alike: tuple[str, ...] = with_options(default=(), repr=False, metadata=_INTERNAL)
    """The other fields of which the same is to be said, and is not: what they are follows from this one."""
    guess: tuple[str, Collection[str]] | None = with_options(default=None, hash=False, repr=False, metadata=_INTERNAL)
    """A misspelt name, and those that it may stand for."""
    instead: Member = with_options(default=None, hash=False, repr=False, metadata=_INTERNAL)
    """What is certainly meant; ``None`` where that is not known."""
    contents: object = with_options(default=None, hash=False, repr=False, metadata=_INTERNAL)
    """What an unknown member holds."""

    @property
    def is_error(self) -> bool:
        """Errors stop a compilation, warnings do not."""
        return self.severity is Severity.ERROR

    @property
    def key(self) -> tuple[str, str]:
        """What is said and of which place: findings of one descriptor are the same if their keys are."""
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
    """Whether a message has these words, and not only as a part of other words or numbers."""
    words = re.escape(text.strip('"'))
    return bool(re.search(rf"(?<![\w.]){words}(?!\w)", message))


_INDEX = {field.name: position for position, field in enumerate(fields(Diagnostic))}
_values_of = attrgetter(*_INDEX)


def changed(item: Diagnostic, **changes: object) -> Diagnostic:
    """What ``dataclasses.replace`` gives, in half of its time: a wrong descriptor is judged in hundreds of forms.

    Raises ``KeyError`` where there is no such field.
    """
    values = list(_values_of(item))
    for name, value in changes.items():
        values[_INDEX[name]] = value
    return Diagnostic(*values)


def below(item: Diagnostic, *steps: str | int) -> Diagnostic:
    """The same about a part of something larger, to which these steps lead."""
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
    """The same as another kind of finding."""
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
    """The same at its place in a model, without what is internal.

    ``documentation`` is the operator's page, which counts unless another one states the rule.
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
        """A finding of this kind about a part of a descriptor, which has no place in a model yet."""
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
    """Something the user gave cannot be used; carries the diagnostics that say why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        if not diagnostics or not all(isinstance(item, Diagnostic) for item in diagnostics):
            raise TypeError(f"{type(self).__name__} takes one diagnostic or several, as Code.at makes them")
        self.diagnostics = diagnostics
        super().__init__("\n".join(item.answer for item in diagnostics))

    def __reduce__(self) -> tuple[type[DmlError], tuple[Diagnostic, ...]]:
        """Pickles the findings, for errors that cross processes."""
        return type(self), self.diagnostics


def raise_errors(findings: Iterable[Diagnostic]) -> None:
    """Raises :class:`DmlError` with the findings that are errors, where there are any."""
    errors = [item for item in findings if item.is_error]
    if errors:
        raise DmlError(*errors)


class UnreadableError(DmlError):
    """The input is no model at all: missing, truncated, not of any known format (exit code 2)."""


class InternalError(Exception):
    """A failure of ours: names the operator and asks for a report."""

    def __init__(self, operator: str, what: str) -> None:
        super().__init__(
            f"{operator}: {what}. This is a defect of dml2onnx, not of the model; please report it with the model."
        )
