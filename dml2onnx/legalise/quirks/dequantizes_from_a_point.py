"""DequantizeLinear wants a zero point: without one the graph is not built (ONNX Runtime Web's WebNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[2] x) => (float[2] y) <float s = {0.5}> { y = DequantizeLinear (x, s) }",
        ((3, 200),),
        ((1.5, 100.0),),
        says="scale and zero point must be the same",
    ),
)


@QUIRK.rule("DequantizeLinear")
def dequantize_linear(
    e: Emitter,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    axis: int | None = None,
    *,
    keep: bool = False,
) -> Tensor | None:
    """That of 0."""
    if zero_point is not None or x.value is not None:
        return None
    e.note("DequantizeLinear wants a zero point: 0")
    return e.DequantizeLinear(x, scale, e.constant(np.zeros(scale.shape), x.dtype), axis, keep=keep)
