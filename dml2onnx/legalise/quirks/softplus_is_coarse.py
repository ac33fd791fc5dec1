"""Softplus is off by up to a hundredth (QNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.formulas import logarithm_of_1_and
from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("Softplus")
def softplus(e: Emitter, x: Tensor) -> Tensor:
    """``ln(1 + exp(x))``, that of -x and x above 0."""
    return e.Add(e.Relu(x), logarithm_of_1_and(e, e.Exp(e.Neg(e.Abs(x))), bounded=True))
