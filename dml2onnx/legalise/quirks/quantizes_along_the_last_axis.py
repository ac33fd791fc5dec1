"""QuantizeLinear and DequantizeLinear take a vector of scales along the last axis, whatever axis says (DirectML).

Of opset 21: it is refused when the model is loaded, or multiplies other numbers where its length fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("quantizes_along")
def quantizes_along(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Other axes are broadcast by Div and Mul."""
    return None if axis == len(shape) - 1 else False
