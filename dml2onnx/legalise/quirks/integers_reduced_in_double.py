"""ReduceSum and ReduceProd add and multiply integers in DOUBLE, and saturate (1.31; those of 1.24 wrap).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/reduction/reduction_ops.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.reductions import product_of_integers, sum_of_integers
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(int32[2] x0) => (int32[1] y) { y = ReduceProd (x0) }",
        ((2147483647, 2),),
        ((-2,),),
        versions=((1, 25), (9, 0)),
    ),
)


@QUIRK.rule("ReduceSum")
def reduce_sum(e: Emitter, x: Tensor, axes: tuple[int, ...], *, wraps: bool = False) -> Tensor | None:
    """A product with ones."""
    return sum_of_integers(e, x, axes) if wraps and x.dtype.kind in "iu" else None


@QUIRK.rule("ReduceProd")
def reduce_prod(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """Mul of pieces."""
    return product_of_integers(e, x, axes) if x.dtype.kind in "iu" else None
