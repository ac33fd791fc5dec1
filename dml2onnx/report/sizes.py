"""The answer of ``sizes``."""

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
    """The size in the model."""
    may: Literal["vary", "follow", "stay"]
    """vary: other sizes are possible; follow: it is computed from other sizes; stay: it is fixed."""
    first: int
    last: int | None = None
    """The smallest and the largest size; null if there is no largest one."""
    step: int = 1
    """The distance between possible sizes; 0 if it is irregular."""
    follows: str = ""
    node: str = ""
    operator: str = ""
    reason: str = ""
    """The node that limits the size, and why."""
    name: str = ""
    """The name or the number in ``--size``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizesAnswer(Head):
    """The answer of ``sizes``."""

    command: Literal["sizes"] = field(default="sizes", metadata=ALWAYS)
    dimensions: tuple[InputDimension, ...]
    inputs_left_out: int = 0
    """The number of inputs that are not listed."""
