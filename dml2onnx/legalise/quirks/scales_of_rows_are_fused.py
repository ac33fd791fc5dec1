"""MatMulInteger, Cast, and Mul by a product of two scales become one operator of DirectML.

It refuses scales of rows beside one zero point when the model is loaded (DirectML).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("fuses_scales_of_rows")
def fuses_scales_of_rows(e: Emitter) -> bool:
    """The scales are multiplied one after the other."""
    return True
