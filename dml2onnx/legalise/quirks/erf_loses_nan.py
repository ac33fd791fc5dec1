"""Erf of NaN is a number (ONNX Runtime 1.24)."""

from __future__ import annotations

import math
from math import nan
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[16] x0) => (float[16] y) { y = Erf (x0) }",
        ((nan,) * 16,),
        ((nan,) * 16,),
        versions=((1, 24), (1, 25)),
    ),
)


@QUIRK.rule("Erf")
def erf(e: Emitter, x: Tensor) -> Tensor:
    """NaN stays NaN."""
    return e.Where(e.IsNaN(x), e.constant(math.nan, x.dtype), e.Erf(x))
