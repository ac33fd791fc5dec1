"""Add of 0.0 is left out, so that -0.0 stays what it is.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/noop_elimination.cc
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from dml2onnx.emitter.arithmetic import is_plus_zero
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1] x) => (float[1] y) <float zero = {0}> { n = Neg (x) s = Add (n, zero) y = Reciprocal (s) }",
        ((0.0,),),
        ((inf,),),
    ),
)


@QUIRK.rule("Add")
def add(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """Zeros become 0.0."""
    for x, addend in ((a, b), (b, a)):
        if x.value is None and not x.is_never_minus_zero and is_plus_zero(addend):
            x, zero = e.Reshape(x, (1,) * (addend.rank - x.rank) + x.shape), e.constant(0, x.dtype)
            return e.Where(e.Equal(x, zero), zero, x, no_minus_zero=True)
    return None
