"""Cast of DOUBLE to FLOAT16 rounds to FLOAT on the way (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/cast_op.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import DOUBLE, FLOAT, FLOAT16

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(double[1] x) => (float16[1] y) { y = Cast <to = 10> (x) }",
        ((1 + 2.0**-11 + 2.0**-40,),),
        ((1 + 2.0**-10,),),
    ),
)


@QUIRK.rule("halved")
def halved(e: Emitter, x: Tensor) -> Tensor:
    """Rounded once: the digits that FLOAT16 does not have are rounded off before.

    What is added to ``2**42`` times its size keeps just 11 binary digits, and what is added to ``1.5 * 2**28`` just
    multiples of ``2**-24``, the smallest FLOAT16.
    """
    magnitude = e.Abs(x)
    # a size of few digits is a multiple of whatever it makes the sum be rounded to
    size = e.Cast(e.Clip(e.Cast(magnitude, FLOAT), 1.5 * 2.0**-14, 2.0**18), DOUBLE)
    scale = e.Mul(size, e.constant(2.0**42, DOUBLE))
    rounded = e.Sub(e.Add(magnitude, scale), scale)
    # 1 for all that does not round to 0, and of the sign that a 0 keeps
    sign = e.Clip(e.Mul(x, e.constant(2.0**25, DOUBLE)), -1, 1)
    return e.Cast(e.Mul(rounded, sign), FLOAT16)
