"""Resize of mode nearest rounds asymmetric coordinates down and all others to the nearest (QNN).

Whatever ``nearest_mode`` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,2] x) => (float[1,1,1,4] y) <int64[4] s = {1, 1, 1, 4}> { y = Resize <mode = "
        '"nearest", nearest_mode = "floor", coordinate_transformation_mode = "half_pixel"> (x, , , s) }',
        ((1.0, 2.0),),
        ((1.0, 1.0, 1.0, 2.0),),
    ),
)


@QUIRK.rule("rounds_by_coordinates")
def rounds_by_coordinates(e: Emitter) -> bool:
    """Other elements are gathered."""
    return True
