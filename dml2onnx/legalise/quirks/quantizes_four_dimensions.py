"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear of more than four dimensions are refused (DirectML).

When the model is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.emitter.movement import MOVES
from dml2onnx.emitter.tensor import are_constant
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint8[1,1,1,1,1] x, float s, uint8 z) => (float[1,1,1,1,1] y) { y = DequantizeLinear (x, s, z) }",
        ((7,), (2,), (3,)),
        ((8,),),
        says="80070057",
    ),
)

MOST_DIMENSIONS = 4


@QUIRK.rule("QuantizeLinear")
def quantize_linear(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Of rows, where one scale does for each of their elements."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape) or axis not in (None, x.rank - 1) or are_constant([x, scale]):
        return None
    rows = e.QuantizeLinear(_rows(e, x), scale, zero_point, None if axis is None else 1)
    return e.Reshape(rows, x.shape)


@QUIRK.rule("DynamicQuantizeLinear")
def dynamic_quantize_linear(e: Emitter, x: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Of rows."""
    if x.rank <= MOST_DIMENSIONS or has_unknown(x.shape) or x.value is not None:
        return None
    rows, scale, zero_point = e.DynamicQuantizeLinear(_rows(e, x))
    return e.Reshape(rows, x.shape), scale, zero_point


@QUIRK.rule("dequantizes")
def dequantizes(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """A difference and a product take its place."""
    return False if x.rank > MOST_DIMENSIONS else None


def _rows(e: Emitter, x: Tensor) -> Tensor:
    """A Flatten: ONNX Runtime moves quantisations to the front of a Reshape, and so back into all dimensions."""
    shape = (x.size // x.shape[-1], x.shape[-1])
    return e.emit("Flatten", MOVES, [x], x.dtype, shape, {"axis": x.rank - 1}, lambda a: a.reshape(shape))
