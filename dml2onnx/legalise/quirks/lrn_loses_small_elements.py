"""LRN subtracts what leaves its window, which takes the digits of small squares beside large ones (ONNX Runtime).

It shows where the bias does not hide the sum.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.cc
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
        "(float[1,3,1,1] x) => (float[1,3,1,1] y) { y = LRN <alpha = 1.0, beta = 1.0, bias = 0.0, size = 1> (x) }",
        ((1.5, 2**-8, 2),),
        ((1 / 1.5, 2**8, 0.5),),
        digits=1e-6,
    ),
)


@QUIRK.rule("LRN")
def sums_of_channels(e: Emitter, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor | None:
    """Sums of slices of channels."""
    return None if alpha <= bias * size else lrn(e, x, size, alpha, beta, bias)
