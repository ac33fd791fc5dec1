"""The answer of ``sizes``: which dimensions of which inputs may have other sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dml2onnx.report.form import ALWAYS, Head


@dataclass(frozen=True, slots=True)
class InputDimension:
    """A dimension of an input."""

    input: str
    dimension: int
    size: int
    """The model's own."""
    may: Literal["vary", "follow", "stay"]
    """Whether it may have other sizes, has one that follows from others, or is fixed."""
    first: int
    last: int | None = None
    """The smallest and the largest size; ``None`` for any."""
    step: int = 1
    """In which steps; 0 where there is no order in the sizes that are possible."""
    follows: str = ""
    node: str = ""
    operator: str = ""
    reason: str = ""
    """Who says so, and why."""
    name: str = ""
    """What ``--size`` calls it, or states for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizesAnswer(Head):
    """What ``sizes`` says."""

    command: Literal["sizes"] = field(default="sizes", metadata=ALWAYS)
    dimensions: tuple[InputDimension, ...]
    inputs_left_out: int = 0
    """Further inputs that nobody has asked about."""
