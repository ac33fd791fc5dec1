"""Cast of a negative INT8 to UINT8 stops at a limit of the type instead of going round, on some drivers (DirectML)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(int8[2] x) => (uint8[2] y) { y = Cast <to = 2> (x) }",
        ((-5, 5),),
        ((251, 5),),
    ),
)


@QUIRK.rule("casts_saturate")
def casts_saturate(e: Emitter) -> bool:
    """Numbers are brought into the range first."""
    return True


@QUIRK.rule("raised")
def raised(e: Emitter, x: Tensor) -> Tensor:
    """The sum is made in INT32."""
    wide = e.Cast(x, np.dtype(np.int32))
    return e.Cast(e.Add(wide, e.constant(128, wide.dtype)), np.dtype(np.uint8))


@QUIRK.rule("lowered")
def lowered(e: Emitter, x: Tensor) -> Tensor:
    """The difference is made in INT32."""
    wide = e.Cast(x, np.dtype(np.int32))
    return e.Cast(e.Sub(wide, e.constant(128, wide.dtype)), np.dtype(np.int8))
