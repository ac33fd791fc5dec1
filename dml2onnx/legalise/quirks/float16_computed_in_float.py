"""FLOAT16 is computed in FLOAT between casts, which optimisations drop: they decide after which nodes it is rounded."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import FLOAT, FLOAT16

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter
    from dml2onnx.onnx_model import DType

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float16[1] x0) => (float16[1] y) { square = Mul (x0, x0) y = Div (square, x0) }",
        ((256,),),
        ((inf,),),
    ),
)


@QUIRK.rule("compute_type")
def compute_type(e: Emitter, dtype: DType) -> DType | None:
    """FLOAT between casts of our own, that of the result behind all that belongs to one operator of DirectML."""
    return FLOAT if dtype == FLOAT16 else None
