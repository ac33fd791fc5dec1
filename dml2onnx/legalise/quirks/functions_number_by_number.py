"""Functions of single numbers take 4 to 20 times as long as vector code.

Acosh, Asinh, Atanh, Cosh, Sinh, Softplus, Tan, Shrink and PRelu of the CPU provider call the C library, or compare, for
each number by itself. Formulas for Acosh and Asinh would lose digits near 0.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/math/element_wise_ops.h
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.formulas import logarithm_of_1_and, shrunk
from dml2onnx.legalise.kernels import prelu
from dml2onnx.legalise.rules import Kind, Quirk
from dml2onnx.onnx_model import FLOAT

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.SPEED)

FEWEST_BY_PARTS = 4096
"""Elements from which on ten fast kernels take less time than one that calls the C library for each element."""


@QUIRK.rule("Softplus")
def softplus(e: Emitter, x: Tensor) -> Tensor | None:
    """``ln(1 + exp(x))``, that of -x and x above 0: a quarter of the time of ONNX Runtime's Softplus."""
    if x.dtype != FLOAT or x.size < FEWEST_BY_PARTS:
        return None
    return e.Add(e.Relu(x), logarithm_of_1_and(e, e.Exp(e.Neg(e.Abs(x))), bounded=True))


@QUIRK.rule("Atanh")
def atanh(e: Emitter, x: Tensor) -> Tensor | None:
    """``ln(1 + 2 * |x| / (1 - |x|)) / 2``, with the sign of x: a quarter of the time of ONNX Runtime's Atanh."""
    if x.dtype != FLOAT or x.size < FEWEST_BY_PARTS:
        return None
    large = e.constant(2.0**100, x.dtype)
    magnitude = e.Abs(x)
    ratio = e.Div(e.Add(magnitude, magnitude), e.Sub(e.constant(1, x.dtype), magnitude))
    # twice, which makes a whole sign of the smallest number, and leaves 0 its own
    sign = e.Clip(e.Mul(e.Clip(e.Mul(x, large), -1, 1), large), -1, 1)
    return e.Mul(e.Mul(logarithm_of_1_and(e, ratio, bounded=False), e.constant(0.5, x.dtype)), sign)


@QUIRK.rule("Cosh")
def cosh(e: Emitter, x: Tensor) -> Tensor:
    """``(exp(x) + exp(-x)) / 2``, where ``exp(x / 2)`` is squared last, lest it overflow too soon."""
    root = e.Exp(e.Mul(e.Abs(x), e.constant(0.5, x.dtype)))
    large = e.Mul(e.Mul(root, e.constant(0.5, x.dtype)), root)
    return e.Add(large, e.Div(e.constant(0.25, x.dtype), large))


@QUIRK.rule("Sinh")
def sinh(e: Emitter, x: Tensor) -> Tensor:
    """``tanh(x) * cosh(x)``, which subtracts nothing."""
    return e.Mul(e.Tanh(x), e.Cosh(x))


@QUIRK.rule("Tan")
def tan(e: Emitter, x: Tensor) -> Tensor:
    """Sine over cosine."""
    return e.Div(e.Sin(x), e.Cos(x))


@QUIRK.rule("Shrink")
def shrink(e: Emitter, x: Tensor, bias: float, lambd: float) -> Tensor:
    """Two comparisons."""
    return shrunk(e, x, bias, lambd)


QUIRK.rule("PRelu")(prelu)
