"""LRN subtracts again what leaves its window, be it infinite, and takes several times as long as sums of slices.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.cc
"""

from __future__ import annotations

from math import inf, nan

from dml2onnx.legalise.formulas import lrn
from dml2onnx.legalise.rules import Kind, Quirk, Shown

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1,4,1,1] x0) => (float[1,4,1,1] y) { y = LRN <alpha: float = 1, beta: float = 1, bias: "
        "float = 1, size: int = 3> (x0) }",
        ((inf, 1, 1, 1),),
        ((nan, 0, 0.6, 0.6),),
        digits=1e-06,
    ),
)
QUIRK.rule("LRN")(lrn)
