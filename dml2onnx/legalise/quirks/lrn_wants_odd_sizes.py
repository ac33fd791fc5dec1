"""LRN refuses an even size, and an alpha or a beta that is not positive (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.h
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.formulas import lrn
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2,2,1,1] x) => (float[2,2,1,1] y) { y = LRN <alpha = 2.0, beta = 1.0, bias = 1.0, size = 2> (x) }",
        ((1, 2, 1, 2),),
        ((1 / 6, 0.4, 1 / 6, 0.4),),
        says="size_ % 2 == 1 was false",
        digits=1e-6,
    ),
)


@QUIRK.rule("LRN")
def sums_of_channels(e: Emitter, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor | None:
    """Sums of slices of channels."""
    return None if size % 2 and alpha > 0 and beta > 0 and bias >= 0 else lrn(e, x, size, alpha, beta, bias)
