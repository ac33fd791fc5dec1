"""Sigmoid is up to 1e-7 off, however small the result.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/logistic.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1] x0) => (float[1] y) { y = Sigmoid (x0) }",
        ((-20,),),
        ((2.0611537e-09,),),
        digits=0.001,
    ),
)


@QUIRK.rule("Sigmoid")
def sigmoid(e: Emitter, x: Tensor) -> Tensor:
    """``1 / (1 + exp(-x))``, whose error is small beside a small result."""
    return e.Reciprocal(e.Add(e.Exp(e.Neg(x)), e.constant(1, x.dtype)))


@QUIRK.rule("Swish")
def swish(e: Emitter, x: Tensor, alpha: float) -> Tensor:
    """``x / (1 + exp(-alpha * x))``, lest x multiply an error."""
    negated = e.Neg(x) if alpha == 1 else e.Mul(x, e.constant(-alpha, x.dtype))
    return e.Div(x, e.Add(e.Exp(negated), e.constant(1, x.dtype)))
