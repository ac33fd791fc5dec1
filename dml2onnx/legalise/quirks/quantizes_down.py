"""QuantizeLinear rounds down where it runs beside other nodes (QNN).

Numbers on the NPU are often a last digit too large, so that one below 0 that is whole becomes the next lower one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import FLOAT

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2] x) => (uint8[2] y) <float s = {1}, uint8 z = {0}> { r = Abs (x) y = QuantizeLinear (r, s, z) }",
        ((1.75, 2.25),),
        ((2, 2),),
    ),
)


@QUIRK.rule("QuantizeLinear")
def quantize(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Of a number a quarter above the whole one, which becomes that one whichever way it is rounded."""
    if scale.value is None or not np.array_equal(scale.value, 1) or x.value is not None or x.dtype != FLOAT:
        return None
    return e.QuantizeLinear(e.Add(e.Round(x), e.constant(0.25, FLOAT)), scale, zero_point, axis)
