"""Resize and a Mul behind it by a factor for each row become one, and are refused (OpenVINO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2,1,2] x) => (float[2,2,2] y) <int64[3] s = {2,2,2}, float[1,2,1] k = {1,2}> { r = "
        'Resize <mode = "nearest"> (x, , , s) y = Mul (r, k) }',
        ((3, 4, 5, 6),),
        ((3, 4, 6, 8, 5, 6, 10, 12),),
        says="scales data size inconsistency",
    ),
)


@QUIRK.rule("merges_resize_with_mul")
def merges_resize_with_mul(e: Emitter) -> bool:
    """What is multiplied is selected by Gather."""
    return True
