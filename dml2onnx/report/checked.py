"""What ``check`` says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dml2onnx.report.form import ALWAYS, Answer, Head


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A node that a feature level does not have."""

    node: str
    operator: str
    needs: str
    """The first level that has it."""
    ships_with: str
    """The products that first have that level."""
    reason: str
    instead: str
    """An operator of the level that does the same; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer(Answer):
    """What ``check`` says of one model."""

    command: Literal["check"] = field(default="check", metadata=ALWAYS)
    model: str
    """The file, as it was named."""
    is_readable: bool = True
    """Whether the model could be read; then all but the diagnostics is known."""
    feature_level: str | None
    """The level that was checked."""
    minimum_feature_level: str | None
    """The lowest level that admits the graph."""
    ships_with: str = ""
    """The products that first have that level."""
    directml_nodes: int
    held_back: tuple[HeldBack, ...] | None = None
    """With ``--suggest``, the nodes that the level does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAllAnswer(Head):
    """What ``check`` says of several models, or of a directory."""

    command: Literal["check"] = field(default="check", metadata=ALWAYS)
    errors: int
    """Of all models."""
    warnings: int
    """Of all models."""
    models: tuple[CheckAnswer, ...]
