"""Cast of integers to UINT8 stops at 0 and 255 instead of going round (QNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.onnx_model import DType

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(int32[2] x) => (uint8[2] y) { y = Cast <to = 2> (x) }",
        ((-1, 256),),
        ((255, 0),),
    ),
)


@QUIRK.rule("Cast")
def cast(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """Of the remainder, which fits."""
    if dtype != np.uint8 or x.dtype.kind not in "iu" or x.dtype.itemsize < 4 or x.value is not None:
        return None
    return e.Cast(e.Mod(x, e.constant(256, x.dtype)), dtype)
