"""Elementwise functions, and sums."""

from __future__ import annotations

import math
from math import inf, nan

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.arithmetic import is_plus_zero
from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.legalise.formulas import logarithm_of_1_and, shrunk
from dml2onnx.legalise.kernels import prelu
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import FLOAT

ERF_LOSES_NAN = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[16] x0) => (float[16] y) { y = Erf (x0) }", ((nan,) * 16,), ((nan,) * 16,), versions=((1, 24), (1, 25))
    ),
)
"""Erf of NaN is a number (ONNX Runtime 1.24)."""


@ERF_LOSES_NAN.rule("Erf")
def erf(e: Emitter, x: Tensor) -> Tensor:
    """NaN stays NaN."""
    return e.Where(e.IsNaN(x), e.constant(math.nan, x.dtype), e.Erf(x))


FUNCTIONS_NUMBER_BY_NUMBER = Quirk(RuleKind.SPEED)
"""Scalar loops take 4 to 20 times as long as vector code.

The CPU provider's Acosh, Asinh, Atanh, Cosh, Sinh, Softplus, Tan, Shrink and PRelu call the C library, or branch, for
each element. Formulas for Acosh and Asinh would lose digits near 0.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/math/element_wise_ops.h
"""
FEWEST_BY_PARTS = 4096
"""From this many elements on, ten fast kernels are faster than one that calls the C library per element."""


@FUNCTIONS_NUMBER_BY_NUMBER.rule("Softplus")
def fast_softplus(e: Emitter, x: Tensor) -> Tensor | None:
    """``max(x, 0) + ln(1 + exp(-|x|))``, four times as fast as ONNX Runtime's Softplus."""
    if x.dtype != FLOAT or x.size < FEWEST_BY_PARTS:
        return None
    return e.Add(e.Relu(x), logarithm_of_1_and(e, e.Exp(e.Neg(e.Abs(x))), bounded=True))


@FUNCTIONS_NUMBER_BY_NUMBER.rule("Atanh")
def atanh(e: Emitter, x: Tensor) -> Tensor | None:
    """``sign(x) * ln(1 + 2 * |x| / (1 - |x|)) / 2``, four times as fast as ONNX Runtime's Atanh."""
    if x.dtype != FLOAT or x.size < FEWEST_BY_PARTS:
        return None
    large = e.constant(2.0**100, x.dtype)
    magnitude = e.Abs(x)
    ratio = e.Div(e.Add(magnitude, magnitude), e.Sub(e.constant(1, x.dtype), magnitude))
    # twice, to turn even the smallest number into 1 or -1; 0 keeps its sign
    sign = e.Clip(e.Mul(e.Clip(e.Mul(x, large), -1, 1), large), -1, 1)
    return e.Mul(e.Mul(logarithm_of_1_and(e, ratio, bounded=False), e.constant(0.5, x.dtype)), sign)


@FUNCTIONS_NUMBER_BY_NUMBER.rule("Cosh")
def cosh(e: Emitter, x: Tensor) -> Tensor:
    """``(exp(x) + exp(-x)) / 2``, squaring ``exp(x / 2)`` last to delay overflow."""
    root = e.Exp(e.Mul(e.Abs(x), e.constant(0.5, x.dtype)))
    large = e.Mul(e.Mul(root, e.constant(0.5, x.dtype)), root)
    return e.Add(large, e.Div(e.constant(0.25, x.dtype), large))


@FUNCTIONS_NUMBER_BY_NUMBER.rule("Sinh")
def sinh(e: Emitter, x: Tensor) -> Tensor:
    """``tanh(x) * cosh(x)``, which has no cancellation."""
    return e.Mul(e.Tanh(x), e.Cosh(x))


@FUNCTIONS_NUMBER_BY_NUMBER.rule("Tan")
def tan(e: Emitter, x: Tensor) -> Tensor:
    """Sine over cosine."""
    return e.Div(e.Sin(x), e.Cos(x))


@FUNCTIONS_NUMBER_BY_NUMBER.rule("Shrink")
def shrink(e: Emitter, x: Tensor, bias: float, lambd: float) -> Tensor:
    """Two comparisons."""
    return shrunk(e, x, bias, lambd)


FUNCTIONS_NUMBER_BY_NUMBER.rule("PRelu")(prelu)


POW_BROADCASTS_ROWS_ONLY = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[2,1] x, float[1,4] e) => (float[2,4] y) { y = Pow (x, e) }",
        ((1, 2), (1, 2, 3, 4)),
        ((1, 1, 1, 1, 2, 4, 8, 16),),
        says="is invalid due to a previous error",
    ),
)
"""Pow of a column and a row fails to compile if the row's length is a multiple of four (WebGPU)."""


@POW_BROADCASTS_ROWS_ONLY.rule("Pow")
def power_in_full(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """Expands both operands."""
    if a.size == 1 or b.size == 1:
        return None
    shape = broadcast_shape(a.shape, b.shape)
    return e.Pow(e.Expand(a, shape), e.Expand(b, shape))


POW_BY_LOGARITHM = Quirk(
    RuleKind.NUMBERS,
    Shown("(float[2] x) => (float[2] y) <float e = {0.25}> { y = Pow (x, e) }", ((0, inf),), ((0, inf),)),
)
"""Pow uses a base-2 logarithm of -127 for 0, and of 128 for infinity and NaN, which shows in roots (WebGPU)."""


@POW_BY_LOGARITHM.rule("Pow")
def root(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """Inserts the roots of 0, infinities and NaN.

    For exponents from 2 on the error is not visible; exponents known only at run time are not handled.
    """
    if a.dtype.kind != "f" or b.value is None or a.value is not None:
        return None
    if (b.value <= 0).any() or (b.value >= 2).all() or (b.value == 1).any():
        return None
    y, size = e.Pow(a, b), e.Abs(a)
    above, below = e.Greater(size, e.constant(0, a.dtype)), e.Less(size, e.constant(np.inf, a.dtype))
    return e.Where(e.And(above, below), y, size)


SIGMOID_HAS_ABSOLUTE_ERROR = Quirk(
    RuleKind.EDGES,
    Shown("(float[1] x0) => (float[1] y) { y = Sigmoid (x0) }", ((-20,),), ((2.0611537e-09,),), digits=0.001),
)
"""Sigmoid has an absolute error of up to 1e-7, even for tiny results.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/logistic.cpp
"""


@SIGMOID_HAS_ABSOLUTE_ERROR.rule("Sigmoid")
def sigmoid(e: Emitter, x: Tensor) -> Tensor:
    """``1 / (1 + exp(-x))``, whose relative error is small."""
    return e.Reciprocal(e.Add(e.Exp(e.Neg(x)), e.constant(1, x.dtype)))


@SIGMOID_HAS_ABSOLUTE_ERROR.rule("Swish")
def swish(e: Emitter, x: Tensor, alpha: float) -> Tensor:
    """``x / (1 + exp(-alpha * x))``, to avoid multiplying the error by x."""
    negated = e.Neg(x) if alpha == 1 else e.Mul(x, e.constant(-alpha, x.dtype))
    return e.Div(x, e.Add(e.Exp(negated), e.constant(1, x.dtype)))


SOFTPLUS_IS_COARSE = Quirk(
    RuleKind.NUMBERS, Shown("(float[1] x) => (float[1] y) { y = Softplus (x) }", ((1.0,),), ((1.3132617473602295,),))
)
"""Softplus is off by up to a hundredth (QNN)."""


@SOFTPLUS_IS_COARSE.rule("Softplus")
def softplus(e: Emitter, x: Tensor) -> Tensor:
    """``max(x, 0) + ln(1 + exp(-|x|))``."""
    return e.Add(e.Relu(x), logarithm_of_1_and(e, e.Exp(e.Neg(e.Abs(x))), bounded=True))


SUMS_WITH_ZERO_ARE_LEFT_OUT = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[1] x) => (float[1] y) <float zero = {0}> { n = Neg (x) s = Add (n, zero) y = Reciprocal (s) }",
        ((0.0,),),
        ((inf,),),
    ),
)
"""Add of 0.0 is eliminated, so -0.0 does not become 0.0.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/noop_elimination.cc
"""


@SUMS_WITH_ZERO_ARE_LEFT_OUT.rule("Add")
def add(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """Where, which sets zeros to 0.0."""
    for x, addend in ((a, b), (b, a)):
        if x.value is None and not x.is_never_minus_zero and is_plus_zero(addend):
            x, zero = e.Reshape(x, (1,) * (addend.rank - x.rank) + x.shape), e.constant(0, x.dtype)
            return e.Where(e.Equal(x, zero), zero, x, no_minus_zero=True)
    return None
