"""The enums of DirectML's header."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dml2onnx.catalog.files import UnknownNameError, did_you_mean, read_json
from dml2onnx.catalog.levels import FeatureLevel


class UnknownEnumError(UnknownNameError):
    """No such enum type."""


@dataclasses.dataclass(frozen=True, slots=True)
class EnumValue:
    """One enumerator: `WRAP`, `DML_PADDING_MODE_WRAP`, 4; an alias shares the number of another one."""

    name: str
    full_name: str
    value: int
    introduced: FeatureLevel
    alias_of: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class EnumSchema:
    """A C enum; with `flags`, its values are bits that may be combined."""

    name: str
    flags: bool
    values: Mapping[str, EnumValue]
    by_value: Mapping[int, EnumValue] = dataclasses.field(init=False, repr=False)
    by_full_name: Mapping[str, EnumValue] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_value = {v.value: v for v in self.values.values() if v.alias_of is None}
        by_full_name = {v.full_name: v for v in self.values.values()}
        object.__setattr__(self, "by_value", MappingProxyType(by_value))
        object.__setattr__(self, "by_full_name", MappingProxyType(by_full_name))

    def find(self, text: str) -> EnumValue | None:
        """Returns the value with a short or full name."""
        return self.values.get(text) or self.by_full_name.get(text)


@functools.cache
def enum_schema(name: str) -> EnumSchema:
    """Returns the enum with a type name such as `DML_PADDING_MODE`."""
    enums = _raw_enums()
    raw = enums.get(name)
    if raw is None:
        raise UnknownEnumError(f"DirectML has no enum {name}{did_you_mean(name, tuple(enums))}")
    prefix: str = raw["prefix"]
    values = (
        EnumValue(
            name=value["name"].removeprefix(prefix),
            full_name=value["name"],
            value=value["value"],
            introduced=FeatureLevel(value["introduced"]),
            alias_of=value.get("alias_of"),
        )
        for value in raw["values"]
    )
    return EnumSchema(name=name, flags=raw["flags"], values=MappingProxyType({v.name: v for v in values}))


@functools.cache
def _raw_enums() -> dict[str, dict[str, Any]]:
    enums: dict[str, dict[str, Any]] = read_json("enums.json")["enums"]
    return enums
