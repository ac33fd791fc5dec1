"""Pad of mode edge puts next to 0 where the outermost elements belong (QNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.movements import continued
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.movement import PadMode

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        '(float[1,3] x) => (float[1,5] y) <int64[4] p = {0, 1, 0, 1}> { y = Pad <mode = "edge"> (x, p) }',
        ((1.0, 2.0, 3.0),),
        ((1.0, 1.0, 2.0, 3.0, 3.0),),
    ),
)


@QUIRK.rule("Pad")
def pad(
    e: Emitter,
    x: Tensor,
    start: Sequence[int],
    end: Sequence[int],
    mode: PadMode = "constant",
    value: float | int | np.generic = 0,
) -> Tensor | None:
    """A Gather for each dimension."""
    if mode != "edge" or x.value is not None:
        return None
    return continued(e, x, start, end, mode)
