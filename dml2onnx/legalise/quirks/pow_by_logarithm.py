"""Pow takes the logarithm of 0 for -127, of infinity and NaN for 128, as roots show (WebGPU)."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2] x) => (float[2] y) <float e = {0.25}> { y = Pow (x, e) }",
        ((0, inf),),
        ((0, inf),),
    ),
)


@QUIRK.rule("Pow")
def pow_(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """The roots of 0, of infinities and of NaN are put in.

    By exponents from 2 on, the error is nowhere to be seen. Others that are not constant are left as they are.
    """
    if a.dtype.kind != "f" or b.value is None or a.value is not None:
        return None
    if (b.value <= 0).any() or (b.value >= 2).all() or (b.value == 1).any():
        return None
    y, size = e.Pow(a, b), e.Abs(a)
    above, below = e.Greater(size, e.constant(0, a.dtype)), e.Less(size, e.constant(np.inf, a.dtype))
    return e.Where(e.And(above, below), y, size)
