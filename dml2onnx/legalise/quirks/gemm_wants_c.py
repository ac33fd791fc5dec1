"""Gemm without C is refused when the model is loaded, where an activation stands behind it (DirectML).

The two become one operator, which wants three inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1] a, float[1,1] b) => (float[1,1] y) { p = Gemm (a, b) y = Elu (p) }",
        ((2,), (3,)),
        ((6,),),
        says="DmlFusedGemm",
    ),
)


@QUIRK.rule("Gemm")
def gemm(e: Emitter, a: Tensor, b: Tensor, c: Tensor | None, **attributes: Any) -> Tensor | None:
    """Minus zero, which changes no number."""
    return None if c is not None else e.Gemm(a, b, e.constant(-0.0, a.dtype), **{**attributes, "beta": 1.0})
