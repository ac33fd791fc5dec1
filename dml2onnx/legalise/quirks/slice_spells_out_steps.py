"""Slice is known with its steps alone (Windows ML's processors, by winml-cli).

All that Microsoft has measured states them, so that ``winml analyze`` calls any other one unknown. Steps of 1 are what
is meant where none are stated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.SPEED)


@QUIRK.rule("Slice")
def slice_(
    e: Emitter,
    x: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None = None,
    *,
    states_steps: bool = False,
) -> Tensor | None:
    """The same, in more words."""
    return None if states_steps else e.Slice(x, starts, ends, steps, states_steps=True)
