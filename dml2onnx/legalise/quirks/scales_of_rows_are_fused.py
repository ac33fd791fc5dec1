"""MatMulInteger, Cast, and Mul by a product of two scales become one operator of DirectML.

It refuses scales of rows beside one zero point when the model is loaded (DirectML).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[1,1,2,1] a, uint8[1,1,1,1] b, float[1,1,2,1] s, float[1,1,1,1] t) => (float[1,1,2,1] y) "
        "<uint8 k = {128}> { p = MatMulInteger (a, b, k, k) f = Cast <to = 1> (p) r = Mul (s, t) y = Mul "
        "(f, r) }",
        ((128, 129), (130,), (1, 2), (1,)),
        ((0, 4),),
        says="80070057",
    ),
)


@QUIRK.rule("scaled")
def scaled(e: Emitter, x: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Multiplied by one scale after the other."""
    return e.Mul(e.Mul(x, first), second)
