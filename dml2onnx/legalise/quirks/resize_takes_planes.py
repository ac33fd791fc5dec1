"""Resize takes two to four dimensions and moves the last two alone (OpenVINO, WebGPU).

Another axis is refused, or not looked at.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.legalise.resizing import looked
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.model import has_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.legalise.resizing import Looked
    from dml2onnx.model.records import Attribute

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[2,1,1,1] x) => (float[4,1,1,1] y) <int64[4] s = {4,1,1,1}> { y = Resize <mode = "
        '"nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        ((1, 2),),
        ((1, 1, 2, 2),),
        says="only supports resize on spatial dimensions",
    ),
)


def _is_native(axis: int, x: Tensor, moved: Mapping[int, Looked]) -> bool:
    if moved[axis].rounds:
        return axis >= x.rank - 2
    last = max(i for i, size in enumerate(x.shape) if size > 1 or i in moved)
    return axis == last or (axis == last - 1 and last in moved)


@QUIRK.rule("Resize")
def resize(
    e: Emitter,
    x: Tensor,
    sizes: tuple[int, ...] | None,
    scales: tuple[float, ...] | None,
    **attributes: Attribute,
) -> Tensor | None:
    """Axes in front of the last two are one of channels; where they move it is by Gather, or by a sum of two of them.

    So it is in mode linear where an axis stands still behind them; of others their rule makes planes.
    """
    moved = {} if has_unknown(x.shape) else looked(x, sizes, scales, attributes)
    others = [axis for axis in moved if not _is_native(axis, x, moved)]
    if others:
        e.note("Resize moves the last two axes alone: Gather")
        if len(others) < len(moved):
            counts = sizes and tuple(size if i in others else sizes[i] for i, size in enumerate(x.shape))
            factors = scales and tuple(1.0 if i in others else factor for i, factor in enumerate(scales))
            x = e.Resize(x, counts, factors, **attributes)
        for axis in others:
            x = moved[axis].taken(e, x, axis)
        return x
    if 1 < x.rank <= 4 or min(moved, default=x.rank) < x.rank - 2:
        return None
    planes = e.Reshape(x, (1, prod(x.shape[:-2]), *(1, *x.shape)[-2:]))
    if sizes is not None:
        sizes = (*planes.shape[:2], *(1, *sizes)[-2:])
        return e.Reshape(e.Resize(planes, sizes, None, **attributes), (*x.shape[:-2], *sizes[4 - min(x.rank, 2) :]))
    assert scales is not None
    y = e.Resize(planes, None, (1.0, 1.0, *(1.0, *scales)[-2:]), **attributes)
    return e.Reshape(y, (*x.shape[:-2], *y.shape[4 - min(x.rank, 2) :]))
