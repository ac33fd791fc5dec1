"""Pow of a column and a row of four, or of a multiple of four, is not compiled (WebGPU)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2,1] x, float[1,4] e) => (float[2,4] y) { y = Pow (x, e) }",
        ((1, 2), (1, 2, 3, 4)),
        ((1, 1, 1, 1, 2, 4, 8, 16),),
        says="is invalid due to a previous error",
    ),
)


@QUIRK.rule("Pow")
def pow_(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """Both operands in full."""
    if a.size == 1 or b.size == 1:
        return None
    shape = broadcast_shape(a.shape, b.shape)
    return e.Pow(e.Expand(a, shape), e.Expand(b, shape))
