"""Cast of UINT8 to FLOAT gives 1 for every number but 0 (QNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import FLOAT

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.onnx_model import DType

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }",
        ((0, 100),),
        ((0.0, 100.0),),
    ),
)


@QUIRK.rule("Cast")
def cast(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """Over INT32."""
    if x.dtype != np.uint8 or dtype != FLOAT or x.value is not None:
        return None
    return e.Cast(e.Cast(x, np.dtype(np.int32)), dtype)
