"""LRN subtracts again what leaves its window, be it infinite, and takes several times as long as sums of slices.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.cc
"""

from __future__ import annotations

from dml2onnx.legalise.formulas import lrn
from dml2onnx.legalise.rules import Kind, Quirk

QUIRK = Quirk(Kind.EDGES)
QUIRK.rule("LRN")(lrn)
