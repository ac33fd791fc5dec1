"""Cast to BOOL is a Cast to UINT8: other bytes than 1 come of it, and false of fractions and of 256 (WebNN).

What runs on the CPU behind it does not take such bytes for true.
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
        "(float[3] x) => (bool[3] y) { y = Cast <to = 9> (x) }",
        ((0.5, 1.0, 256.0),),
        ((True, True, True),),
    ),
)


@QUIRK.rule("Cast")
def cast(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """What is not 0 is true."""
    if dtype != np.bool_ or x.dtype == np.bool_ or x.value is not None:
        return None
    if x.dtype.kind in "iu" and x.dtype not in (np.int32, np.int64):
        x = e.Cast(x, np.dtype(np.int64 if x.dtype.itemsize > 2 else np.int32))
    return e.Not(e.Equal(x, e.constant(0, x.dtype)))
