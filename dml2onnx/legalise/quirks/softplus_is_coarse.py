"""Softplus is off by up to a hundredth (QNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.formulas import logarithm_of_1_and
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1] x) => (float[1] y) { y = Softplus (x) }",
        ((1.0,),),
        ((1.3132617473602295,),),
    ),
)


@QUIRK.rule("Softplus")
def softplus(e: Emitter, x: Tensor) -> Tensor:
    """``ln(1 + exp(x))``, that of -x and x above 0."""
    return e.Add(e.Relu(x), logarithm_of_1_and(e, e.Exp(e.Neg(e.Abs(x))), bounded=True))
