"""Resize looks at the centres of pixels, and rounds halves up, whatever its modes say (ONNX Runtime Web's WebNN)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.resizing import Looked, looked
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.model.records import Attribute

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,2] x) => (float[1,1,1,4] y) <int64[4] s = {1, 1, 1, 4}> { y = Resize <mode = "
        '"nearest", nearest_mode = "ceil", coordinate_transformation_mode = "asymmetric"> (x, , , s) }',
        ((1.0, 2.0),),
        ((1.0, 2.0, 2.0, 2.0),),
    ),
)

_HALF = np.float32(0.5)


def _is_native(axis: int, rank: int, item: Looked) -> bool:
    if rank != 4 or axis < 2:
        return False
    centres = replace(item, scale=float(np.float32(item.count) / np.float32(item.size)), mode="half_pixel").place
    if not item.rounds:
        return bool(np.array_equal(item.place, centres))
    # what it takes, away from ties, of which nobody says where they go
    taken = np.floor(centres + _HALF)
    ties = np.abs(centres - np.floor(centres) - _HALF) < 1e-5
    return bool(np.array_equal(np.clip(taken, 0, item.size - 1), item.nearest("DECREASING")) and not ties.any())


@QUIRK.rule("Resize")
def resize(
    e: Emitter,
    x: Tensor,
    sizes: tuple[int, ...] | None,
    scales: tuple[float, ...] | None,
    **attributes: Attribute,
) -> Tensor | None:
    """Gather for each axis, or a sum of two of them, where other places are looked at."""
    if has_unknown(x.shape):
        return None
    moved = looked(x, sizes, scales, attributes)
    if all(_is_native(axis, x.rank, item) for axis, item in moved.items()):
        return None
    e.note("Resize looks at the centres of pixels alone: Gather")
    for axis, item in moved.items():
        x = item.taken(e, x, axis)
    return x
