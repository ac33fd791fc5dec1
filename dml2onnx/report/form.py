"""The form of all that commands say with ``--json``: records, their JSON, and what every answer begins with.

``schemas/report.schema.json`` is generated from the records of this package. A member that is left out of the JSON
has its default; a new ``VERSION`` comes with every change that an old reader would misread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias

from dml2onnx import __version__
from dml2onnx.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from dataclasses import Field

    from _typeshed import DataclassInstance

    from dml2onnx.diagnostics import Diagnostic, Location, Place, Remedy

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

VERSION = 2
VERSION_HISTORY = (
    "Version 2. Version 1 had bare lists from explain and ops, a number called nodes from check and convert, a head in "
    "reports only, and other names in these: findings for diagnostics, level and minimum_level for the feature levels, "
    "worst for the largest difference."
)
ALWAYS: Mapping[str, bool] = {"always": True}
"""Metadata of a field that is written also where it has its default."""


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """A second place that a finding is about."""

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


@dataclass(frozen=True, slots=True)
class FindingEdit:
    """A member of the model as a remedy has it."""

    pointer: str
    value: Json = None
    """Its contents; its new name if it is ``renamed``."""
    renamed: bool = False
    where_given: bool = False
    """Whether it stays left out where it is left out."""


@dataclass(frozen=True, slots=True)
class FindingRemedy:
    """What would mend a finding."""

    words: str
    edits: tuple[FindingEdit, ...] = ()
    """With these the finding is gone; none where it takes more than that."""
    is_certain: bool = False
    """Whether nothing else can be meant, as far as the model tells, unless there is another remedy."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, and where."""

    code: str
    """As ``dml2onnx explain CODE`` takes it."""
    severity: Literal["error", "warning"]
    message: str
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
    related: tuple[str, ...] = ()
    """The other fields that the rule has read, any of which may be the one to mend."""
    places: tuple[FindingPlace, ...] = ()
    """Other places that it is about: the other tensor, the other writer."""
    remedies: tuple[FindingRemedy, ...] = ()
    """What would mend it, one or the other of them."""

    @property
    def is_error(self) -> bool:
        """Errors stop a compilation, warnings do not."""
        return self.severity == "error"


def finding(item: Diagnostic, file: str = "", places: Mapping[str, Location] | None = None) -> Finding:
    """A diagnostic as a record, with its places in the text of a file where these are known, by their pointers."""
    members = (item.node, item.operator, item.field, item.pointer, item.expected, item.found, item.since)
    severity: Literal["error", "warning"] = "error" if item.severity is Severity.ERROR else "warning"
    known = places or {}
    place = item.location or known.get(item.pointer)
    return Finding(
        item.code,
        severity,
        item.message,
        *members,
        item.documentation,
        "" if place is None else item.file or file,
        *_lines(place),
        related=item.related,
        places=tuple([_second(other, known.get(other.pointer)) for other in item.places]),
        remedies=tuple([_remedy(other) for other in item.remedies]),
    )


def _lines(place: Location | None) -> tuple[int, int, int, str, str]:
    if place is None:
        return 0, 0, 0, "", ""
    return place.line, place.column, place.end_column, place.text, place.marker


def _second(item: Place, place: Location | None) -> FindingPlace:
    return FindingPlace(item.pointer, item.message, *_lines(place))


def _remedy(item: Remedy) -> FindingRemedy:
    return FindingRemedy(item.words, tuple([FindingEdit(*edit) for edit in item.edits]), item.is_certain)


def findings(items: Iterable[Diagnostic]) -> tuple[Finding, ...]:
    """Diagnostics as records, without places in files."""
    return tuple(map(finding, items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What every answer begins with."""

    report: int = field(default=VERSION, metadata=ALWAYS)
    """Version of this form."""
    producer: str = field(default=f"dml2onnx {__version__}", metadata=ALWAYS)
    """The program and its version."""
    command: str = field(default="", metadata=ALWAYS)
    """The command that answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Head):
    """What every answer about a model begins with; and all of it where nothing but errors can be told."""

    diagnostics: tuple[Finding, ...] = field(default=(), metadata=ALWAYS)
    """What was found."""
    errors: int = field(init=False, metadata=ALWAYS)
    """How many of the diagnostics are errors."""
    warnings: int = field(init=False, metadata=ALWAYS)
    """How many are warnings."""

    def __post_init__(self) -> None:
        errors = sum(item.is_error for item in self.diagnostics)
        object.__setattr__(self, "errors", errors)
        object.__setattr__(self, "warnings", len(self.diagnostics) - errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Head):
    """A failure that is no finding about a model."""

    failure: str


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(record: object) -> dict[str, Json]:
    """A record with all that is in it, without members that have their defaults."""
    converted = _converted(record)
    assert isinstance(converted, dict)
    return converted


def number(value: float) -> float | str:
    """A number as JSON has it, which lacks infinities and NaN."""
    return value if isfinite(value) else str(value)


def is_always_written(item: Field[object]) -> bool:
    """Whether a field is in the JSON whatever it holds."""
    return item.default is MISSING or bool(item.metadata.get("always"))


def _converted(value: object) -> Json:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_converted(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _converted(item) for key, item in value.items()}
    assert is_dataclass(value)
    assert not isinstance(value, type)
    members: dict[str, Json] = {}
    for name, default in _members(type(value)):
        item = getattr(value, name)
        if item is not default and item != default:
            members[name] = _converted(item)
    return members


@cache
def _members(kind: type[DataclassInstance]) -> tuple[tuple[str, object], ...]:
    return tuple((item.name, MISSING if is_always_written(item) else item.default) for item in fields(kind))
