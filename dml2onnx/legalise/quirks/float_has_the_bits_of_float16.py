"""FLOAT is computed in FLOAT16, which has fewer bits and a narrower range (QNN).

No form makes that good: compiling names the nodes that read or make bits (DML2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1] x) => (float[1] y) { z = Abs (x) y = Neg (z) }",
        ((1.0001220703125,),),
        ((-1.0001220703125,),),
    ),
)


@QUIRK.rule("keeps_bits_of_floats")
def keeps_bits_of_floats(e: Emitter) -> bool:
    """They are lost."""
    return False
