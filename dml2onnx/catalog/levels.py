"""Feature levels, their order, and where each first shipped."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from dml2onnx.catalog.files import read_json


class UnknownFeatureLevelError(ValueError):
    """Text that names no feature level of DirectML."""


@dataclasses.dataclass(frozen=True, slots=True)
class FeatureLevelInfo:
    """Where a feature level first shipped."""

    name: str
    constant: str
    value: int
    directml_version: str
    windows: str | None
    windows_build: str | None
    redistributable: str
    note: str | None

    @property
    def ships_with(self) -> str:
        """The first ways to get this level, for messages."""
        if self.windows is None:
            return self.redistributable
        return f"{self.windows} (build {self.windows_build}) or {self.redistributable}"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class FeatureLevel:
    """A DirectML feature level: an ordered value, passed explicitly."""

    name: str = dataclasses.field(compare=False)
    number: tuple[int, int] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        match = re.fullmatch(r"([1-9])_(\d)", self.name) if isinstance(self.name, str) else None
        if match is None:
            raise UnknownFeatureLevelError(f"{self.name!r} is not a feature level: expected a name such as '4_0'")
        object.__setattr__(self, "number", (int(match[1]), int(match[2])))

    @classmethod
    def parse(cls, text: str) -> FeatureLevel:
        """Reads `4_0`, `4.0` or `DML_FEATURE_LEVEL_4_0`, and accepts only levels that exist."""
        if not isinstance(text, str):
            raise UnknownFeatureLevelError(f"a feature level is text such as '4_0', not {type(text).__name__}")
        name = text.strip().removeprefix("DML_FEATURE_LEVEL_").replace(".", "_")
        level = _levels_by_name().get(name)
        if level is None:
            known = ", ".join(_levels_by_name())
            raise UnknownFeatureLevelError(f"{text!r} is not a feature level of DirectML; the levels are {known}")
        return level

    @property
    def info(self) -> FeatureLevelInfo:
        try:
            return _level_infos()[self.name]
        except KeyError:
            raise UnknownFeatureLevelError(f"DirectML has no feature level {self.name}") from None

    def __str__(self) -> str:
        return self.name


LATEST = FeatureLevel("6_4")


def feature_levels() -> tuple[FeatureLevel, ...]:
    """All feature levels, oldest first."""
    return tuple(_levels_by_name().values())


@functools.cache
def windows_builds() -> Mapping[str, int]:
    """The build numbers of the releases of Windows, by names such as ``10-22H2``."""
    releases = read_json("windows_releases.json")["releases"]
    return MappingProxyType({item["release"]: item["build"] for item in releases})


@functools.cache
def directml_versions() -> tuple[tuple[int, int], ...]:
    """The versions of DirectML (major, minor), the oldest first, with and without a new level."""
    with_level = {tuple(map(int, level.info.directml_version.split(".")[:2])) for level in feature_levels()}
    others = {tuple(map(int, text.split("."))) for text in read_json("feature_levels.json")["other_versions"]}
    return tuple(sorted((major, minor) for major, minor in with_level | others))


def level_of_directml(major: int, minor: int) -> FeatureLevel | None:
    """Returns the feature level of a version of DirectML, or ``None`` for versions before the first level."""
    return _newest(lambda info: tuple(map(int, info.directml_version.split(".")))[:2] <= (major, minor))


def level_of_windows(build: int) -> FeatureLevel | None:
    """Returns the feature level of the DirectML in a build of Windows, or ``None`` if the build has none."""
    return _newest(lambda info: bool(info.windows_build) and int(str(info.windows_build).rpartition(".")[2]) <= build)


def _newest(has: Callable[[FeatureLevelInfo], bool]) -> FeatureLevel | None:
    return max((level for level in feature_levels() if has(level.info)), default=None)


@functools.cache
def _raw_levels() -> tuple[dict[str, Any], ...]:
    return tuple(read_json("feature_levels.json")["levels"])


@functools.cache
def _levels_by_name() -> Mapping[str, FeatureLevel]:
    levels = sorted(FeatureLevel(raw["level"]) for raw in _raw_levels())
    return MappingProxyType({level.name: level for level in levels})


@functools.cache
def _level_infos() -> Mapping[str, FeatureLevelInfo]:
    infos = (
        FeatureLevelInfo(
            name=raw["level"],
            constant=raw["constant"],
            value=int(raw["value"], 16),
            directml_version=raw["directml_version"],
            windows=raw["windows"] and raw["windows"]["release"],
            windows_build=raw["windows"] and raw["windows"]["build"],
            redistributable=raw["redistributable"],
            note=raw.get("version_note"),
        )
        for raw in _raw_levels()
    )
    return MappingProxyType({info.name: info for info in infos})
