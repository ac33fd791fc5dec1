"""Clip with an infinite bound becomes part of a Conv in front of it and is not compiled (WebGPU)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.extremes import clipped
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,1] x) => (float[1,1,1,1] y) <float[1,1,1,1] w = {2}, float low = {1}, float high = "
        "{inf}> { z = Conv (x, w) y = Clip (z, low, high) }",
        ((3,),),
        ((6,),),
        says="is invalid due to a previous error",
    ),
)


@QUIRK.rule("Clip")
def clip(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor | None:
    """Max or Min where there is one bound: Clip without the other takes the largest number for it."""
    if x.value is not None or x.dtype.kind != "f":
        return None
    low, high = None if low == -np.inf else low, None if high == np.inf else high
    return clipped(e, x, low, high) if low is None or high is None else None
