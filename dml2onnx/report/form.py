"""The format of ``--json``: the conversion of records, and the common members of all answers.

``schemas/report.schema.json`` is generated from the records of this package. Members with their defaults are omitted
from the JSON. Raise ``VERSION`` with every change that an old reader would misread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dml2onnx.diagnostics import Diagnostic, Location

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

VERSION = 2
VERSION_HISTORY = (
    "Version 2. Version 1 had bare lists from explain and ops, a number called nodes from check and convert, a head in "
    "reports only, and other names in these: findings for diagnostics, level and minimum_level for the feature levels, "
    "worst for the largest difference."
)
ALWAYS: Mapping[str, bool] = {"always": True}
"""Metadata of a field that is written even if it has its default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The common members of all answers."""

    report: int = field(default=VERSION, metadata=ALWAYS)
    """Version of this format."""
    producer: str = field(default=f"dml2onnx {__version__}", metadata=ALWAYS)
    """The program and its version."""
    command: str = field(default="", metadata=ALWAYS)
    """The command of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Head):
    """The common members of all answers about a model, and the answer of a command that failed with diagnostics."""

    diagnostics: tuple[Diagnostic, ...] = field(default=(), metadata=ALWAYS)
    """The findings."""
    errors: int = field(init=False, metadata=ALWAYS)
    """The number of errors among the diagnostics."""
    warnings: int = field(init=False, metadata=ALWAYS)
    """The number of warnings among them."""

    def __post_init__(self) -> None:
        errors = sum(item.is_error for item in self.diagnostics)
        object.__setattr__(self, "errors", errors)
        object.__setattr__(self, "warnings", len(self.diagnostics) - errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Head):
    """A failure that is not a finding about a model."""

    failure: str


def located(item: Diagnostic, file: str, places: Mapping[str, Location]) -> Diagnostic:
    """A finding with its locations in a file; ``places`` are the known ones by their pointers."""
    if item.pointer in places and not item.line:
        item = replace(item, file=file, **places[item.pointer]._asdict())
    found = {place: places[place.pointer]._asdict() for place in item.places if place.pointer in places}
    return replace(item, places=tuple([replace(place, **found.get(place, {})) for place in item.places]))


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(record: object) -> dict[str, Json]:
    """Converts a record and all records in it, without members that have their defaults."""
    converted = _converted(record)
    assert isinstance(converted, dict)
    return converted


def number(value: float) -> float | str:
    """A number for JSON: infinities and NaN become texts."""
    return value if isfinite(value) else str(value)


def is_always_written(item: Field[object]) -> bool:
    """Whether a field is in the JSON even if it has its default."""
    return item.default is MISSING or bool(item.metadata.get("always"))


def is_reported(item: Field[object]) -> bool:
    """Whether a field is in the JSON at all."""
    return not item.metadata.get("internal")


def _converted(value: object) -> Json:
    if isinstance(value, StrEnum):
        return value.value
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
    return tuple(
        (item.name, MISSING if is_always_written(item) else item.default) for item in fields(kind) if is_reported(item)
    )
