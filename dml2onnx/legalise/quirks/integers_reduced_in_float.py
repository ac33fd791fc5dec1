"""ReduceMax and ReduceMin of integers of 32 bits go through FLOAT (OpenVINO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.extremes import at_extremes
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(int32[2] x) => (int32[1] y) { y = ReduceMax (x) }",
        ((2147483647, 87),),
        ((2147483647,),),
    ),
)


@QUIRK.rule("ReduceMax")
def reduce_max(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """What ArgMax finds."""
    return at_extremes(e, x, axes, e.ArgMax) if _concerns(x) else None


@QUIRK.rule("ReduceMin")
def reduce_min(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """What ArgMin finds."""
    return at_extremes(e, x, axes, e.ArgMin) if _concerns(x) else None


def _concerns(x: Tensor) -> bool:
    return x.value is None and x.dtype.kind in "iu" and x.dtype.itemsize == 4
