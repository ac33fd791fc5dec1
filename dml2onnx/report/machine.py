"""The answer of ``doctor``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Head

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PackageState:
    """A package that the project uses."""

    name: str
    version: str | None
    """The installed version, if any."""
    wanted: str
    """The required versions, such as ``>=2.0``."""
    extra: str
    """The extra that requires it; empty for packages that are always required."""
    suits: bool
    """Whether the installed version matches ``wanted``."""
    purpose: str = ""
    """The purpose of its extra."""


@dataclass(frozen=True, slots=True)
class Library:
    """A DirectML library on the machine."""

    path: str
    version: str
    feature_level: str
    """The newest level of the library; devices and drivers may support less."""


@dataclass(frozen=True, slots=True)
class MachineProblem:
    """A problem and its remedy."""

    what: str
    remedy: str
    needed: bool = field(default=True, metadata=ALWAYS)
    """Whether the problem prevents compiling or running models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorAnswer(Head):
    """The answer of ``doctor``."""

    command: Literal["doctor"] = field(default="doctor", metadata=ALWAYS)
    works: bool
    """Whether all requirements are installed."""
    dml2onnx: str
    """The version."""
    directory: str
    """The directory of the package."""
    python: str
    """The version of Python."""
    executable: str
    """The path of Python."""
    system: str
    packages: tuple[PackageState, ...]
    providers: tuple[str, ...]
    """ONNX Runtime's execution providers."""
    targets: Mapping[str, bool]
    """Whether models for each target can run here."""
    missing_providers: Mapping[str, str] = field(default_factory=dict)
    """How to install each provider that is missing, by its short name."""
    plugins: Mapping[str, str] = field(default_factory=dict)
    """The plugin package of each provider, by its short name, that ONNX Runtime itself does not include."""
    directml: tuple[Library, ...]
    problems: tuple[MachineProblem, ...]
