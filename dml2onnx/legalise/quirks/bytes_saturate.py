"""Add, Sub and Mul of 8-bit integers stop at the limits of the type instead of going round (OpenVINO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[1] x) => (uint8[1] y) <uint8 k = {100}> { y = Add (x, k) }",
        ((200,),),
        ((44,),),
    ),
)


@QUIRK.rule("sums_of_bytes_saturate")
def sums_of_bytes_saturate(e: Emitter) -> bool:
    """They are computed in a wider type."""
    return True
