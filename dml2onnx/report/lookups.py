"""What can be looked up without a model: what ``ops``, ``explain CODE`` and ``explain OPERATOR`` say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Head

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.report.form import Json


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of DirectML."""

    operator: str
    """Its whole name."""
    introduced: str
    """The feature level that brought it."""
    lowered: bool
    """Whether it can be compiled."""
    summary: str
    documentation: str
    """Its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorsAnswer(Head):
    """What ``ops`` lists."""

    command: Literal["ops"] = field(default="ops", metadata=ALWAYS)
    operators: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class CodeExample:
    """A model that gives a code, and the same one corrected."""

    pointer: str
    """JSON pointer of the member that differs."""
    wrong: Mapping[str, Json]
    corrected: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer(Head):
    """What ``explain CODE`` says."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    code: str
    severity: str
    title: str
    explanation: str
    example: CodeExample | None = None
    documentation: str = ""
    """The page that states the rule."""


@dataclass(frozen=True, slots=True)
class OperatorField:
    """A field of an operator."""

    name: str
    kind: str
    """input, output or attribute."""
    type: str
    optional: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class TensorSupport:
    """What a feature level admits for a tensor."""

    dimension_counts: tuple[int, ...]
    """The fewest and the most dimensions."""
    data_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LevelSupport:
    """What a feature level admits for an operator."""

    level: str
    functions: tuple[str, ...]
    """For which values of its function, where it has several."""
    tensors: Mapping[str, TensorSupport]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAnswer(Head):
    """What ``explain OPERATOR`` says."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    operator: str
    """Its whole name."""
    summary: str
    documentation: str
    """Its page."""
    introduced: str
    """The feature level that brought it."""
    fields: tuple[OperatorField, ...]
    sizes: Mapping[str, str]
    """How the sizes of each tensor follow from the others."""
    rules: tuple[str, ...]
    semantics: tuple[str, ...]
    support: tuple[LevelSupport, ...]
    becomes: str
    """The ONNX form, in a sentence."""


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
    needed: bool
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
    directml: tuple[Library, ...]
    problems: tuple[MachineProblem, ...]
