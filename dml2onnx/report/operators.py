"""The answer of ``explain OPERATOR``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dml2onnx.report.form import ALWAYS, Head

if TYPE_CHECKING:
    from collections.abc import Mapping


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
class TensorSupportRecord:
    """The support of a feature level for a tensor."""

    dimension_counts: tuple[int, ...]
    """The minimum and maximum number of dimensions."""
    data_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LevelSupport:
    """The support of a feature level for an operator."""

    level: str
    functions: tuple[str, ...]
    """The supported values of its function, if it has one."""
    tensors: Mapping[str, TensorSupportRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAnswer(Head):
    """The answer of ``explain OPERATOR``."""

    command: Literal["explain"] = field(default="explain", metadata=ALWAYS)
    operator: str
    """Its full name."""
    summary: str
    documentation: str
    """Its page."""
    introduced: str
    """The feature level that introduced it."""
    fields: tuple[OperatorField, ...]
    sizes: Mapping[str, str]
    """Formulas for the sizes of tensors."""
    rules: tuple[str, ...]
    semantics: tuple[str, ...]
    left_open: tuple[str, ...]
    """What a default model does not promise, in sentences."""
    support: tuple[LevelSupport, ...]
    becomes: str
    """The ONNX form, in a sentence."""
