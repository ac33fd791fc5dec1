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
    """The one that is installed, if any is."""
    wanted: str
    """The versions that do, such as ``>=2.0``."""
    extra: str
    """The extra that brings it; empty for what is always needed."""
    suits: bool
    """Whether the installed version does."""
    purpose: str = ""
    """What its extra is for."""


@dataclass(frozen=True, slots=True)
class Library:
    """A DirectML that is on the machine."""

    path: str
    version: str
    feature_level: str
    """The newest level that the library has; a device and its driver may support less of it."""


@dataclass(frozen=True, slots=True)
class MachineProblem:
    """What does not work, and what to do about it."""

    what: str
    remedy: str
    needed: bool = field(default=True, metadata=ALWAYS)
    """Whether models cannot be compiled or run as long as it is so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorAnswer(Head):
    """What ``doctor`` says of the machine."""

    command: Literal["doctor"] = field(default="doctor", metadata=ALWAYS)
    works: bool
    """Whether all is there that is needed."""
    dml2onnx: str
    """The version."""
    directory: str
    """Where it is installed."""
    python: str
    """The version of Python."""
    executable: str
    """Python itself."""
    system: str
    packages: tuple[PackageState, ...]
    providers: tuple[str, ...]
    """ONNX Runtime's execution providers."""
    targets: Mapping[str, bool]
    """Whether what is compiled for each target can be run here."""
    missing_providers: Mapping[str, str] = field(default_factory=dict)
    """What brings each provider that is not here, by its short name."""
    plugins: Mapping[str, str] = field(default_factory=dict)
    """The package that brings each provider, by its short name, that ONNX Runtime does not have itself."""
    directml: tuple[Library, ...]
    problems: tuple[MachineProblem, ...]
