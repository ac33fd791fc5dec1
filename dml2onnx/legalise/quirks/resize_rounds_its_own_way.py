"""Resize of mode nearest rounds asymmetric coordinates down and all others to the nearest (QNN).

Whatever ``nearest_mode`` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.resizing import looked, nearest_form, resized
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.model.records import Attribute

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,2] x) => (float[1,1,1,4] y) <int64[4] s = {1, 1, 1, 4}> { y = Resize <mode = "
        '"nearest", nearest_mode = "floor", coordinate_transformation_mode = "half_pixel"> (x, , , s) }',
        ((1.0, 2.0),),
        ((1.0, 1.0, 1.0, 2.0),),
    ),
)


@QUIRK.rule("Resize")
def resize(
    e: Emitter,
    x: Tensor,
    sizes: tuple[int, ...] | None,
    scales: tuple[float, ...] | None,
    **attributes: Attribute,
) -> Tensor | None:
    """In modes of which it takes the same elements, all axes at once or one by one, else Gather."""
    if attributes.get("mode", "nearest") != "nearest" or has_unknown(x.shape):
        return None
    moved = looked(x, sizes, scales, attributes)
    form = nearest_form(moved.values(), "DECREASING", settled=True)
    if form is not None:
        given = attributes.get("coordinate_transformation_mode"), attributes.get("nearest_mode")
        return None if (form.coordinates, form.nearest) == given else resized(e, x, moved, form, "nearest")
    for axis, item in moved.items():
        form = nearest_form([item], "DECREASING", settled=True)
        x = item.taken(e, x, axis) if form is None else resized(e, x, {axis: item}, form, "nearest")
    return x
