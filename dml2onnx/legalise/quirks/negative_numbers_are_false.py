"""Cast of integers to BOOL gives false below 0, and for UINT32 from 2**31 on (QNN).

Of UINT8 it leaves the bytes as they are, which other providers do not take for true.
"""

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
        "(int32[2] x) => (bool[2] y) { y = Cast <to = 9> (x) }",
        ((-1, 1),),
        ((True, True),),
    ),
)


@QUIRK.rule("Cast")
def cast(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """What is not 0 is true."""
    if dtype != np.bool_ or x.dtype.kind not in "iu" or x.value is not None:
        return None
    if x.dtype not in (np.int32, np.int64):
        x = e.Cast(x, np.dtype(np.int32))
    return e.Not(e.Equal(x, e.constant(0, x.dtype)))
