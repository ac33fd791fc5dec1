"""TopK compares as C++ does, by which no order has a place for NaN.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/math/top_k.cc
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import DOUBLE, FLOAT, FLOAT16

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[8] x0, int64[1] x1) => (float[3] y) { y, places = TopK (x0, x1) }",
        ((nan, 1, nan, 3, 2, nan, -1, 0), (3,)),
        ((3, 2, 1),),
    ),
)


@QUIRK.rule("TopK")
def top_k(e: Emitter, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor] | None:
    """In the next wider type there is room beyond the infinities, which become finite, for NaN, which comes last."""
    if x.dtype.kind != "f":
        return None
    e.note("sorted in a wider type, where NaN becomes the infinity behind all others")
    wide = FLOAT if x.dtype == FLOAT16 else DOUBLE
    limit = float(np.finfo(np.float32).max if wide == FLOAT else np.finfo(np.float64).max)
    last = e.constant(-np.inf if largest else np.inf, wide)
    key = e.Where(e.IsNaN(x), last, e.Clip(e.Cast(x, wide), -limit, limit))
    _, indices = e.TopK(key, k, axis, largest=largest)
    return e.GatherElements(x, indices, axis), indices
