"""QuantizeLinear and DequantizeLinear take a vector of scales along the last axis, whatever axis says (DirectML).

Of opset 21: it is refused when the model is loaded, or multiplies other numbers where its length fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[2,2] x, float[2] s, uint8[2] z) => (float[2,2] y) { y = DequantizeLinear <axis = 0> (x, s, z) }",
        ((1, 2, 3, 4), (1, 10), (0, 0)),
        ((1, 2, 30, 40),),
    ),
)


@QUIRK.rule("quantizes_last_axis_only")
def quantizes_last_axis_only(e: Emitter) -> bool:
    """Filters keep to one scale."""
    return True


@QUIRK.rule("quantizes_along")
def quantizes_along(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Other axes are broadcast by Div and Mul."""
    return None if axis == len(shape) - 1 else False
