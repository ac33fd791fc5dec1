"""Resize looks at the centres of pixels, and rounds halves up, whatever its modes say (ONNX Runtime Web's WebNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.resizing import COORDINATES, NEAREST
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


def _looks_at(mode: Attribute, size: int, count: int, scale: np.float32) -> np.ndarray:
    """Where the elements of the output look, in FLOAT32."""
    return COORDINATES[str(mode)](np.arange(count).astype(np.float32), scale, size, count)


def _nearest(e: Emitter, x: Tensor, axis: int, place: np.ndarray, rounding: Attribute) -> Tensor:
    taken = np.clip(NEAREST[str(rounding)](place), 0, x.shape[axis] - 1).astype(np.int64)
    return e.Gather(x, e.positions(taken), axis)


def _between(e: Emitter, x: Tensor, axis: int, place: np.ndarray) -> Tensor:
    """A weighted sum of two elements."""
    place = np.clip(place, 0, x.shape[axis] - 1)
    low = np.floor(place)
    weight = (place - low).reshape(-1, *(1,) * (x.rank - 1 - axis))
    below = e.Gather(x, e.positions(low.astype(np.int64)), axis)
    above = e.Gather(x, e.positions(np.minimum(low + 1, x.shape[axis] - 1).astype(np.int64)), axis)
    return e.Add(e.Mul(below, e.constant(1 - weight, x.dtype)), e.Mul(above, e.constant(weight, x.dtype)))


def _is_native(axis: int, rank: int, place: np.ndarray, centres: np.ndarray, size: int, *, linear: bool) -> bool:
    if rank != 4 or axis < 2:
        return False
    if linear:
        return bool(np.array_equal(place, centres))
    # what it takes, away from ties, of which nobody says where they go
    taken = np.clip(np.floor(centres + _HALF), 0, size - 1)
    ties = np.abs(centres - np.floor(centres) - _HALF) < 1e-5
    return bool(np.array_equal(taken, place) and not ties.any())


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
    mode = attributes.get("coordinate_transformation_mode", "half_pixel")
    linear = attributes.get("mode") == "linear"
    rounding = attributes.get("nearest_mode", "round_prefer_floor")
    factors = scales or (1.0,) * x.rank
    counts = sizes or tuple(int(np.floor(np.float32(n) * np.float32(s))) for n, s in zip(x.shape, factors, strict=True))
    todo = []
    native = True
    for axis, (size, count) in enumerate(zip(x.shape, counts, strict=True)):
        scale = np.float32(count) / np.float32(size) if scales is None else np.float32(scales[axis])
        if count == size and scale == 1:
            continue
        place = _looks_at(mode, size, count, scale)
        centres = _looks_at("half_pixel", size, count, np.float32(count) / np.float32(size))
        wanted = place if linear else np.clip(NEAREST[str(rounding)](place), 0, size - 1)
        native &= _is_native(axis, x.rank, wanted, centres, size, linear=linear)
        todo.append((axis, place))
    if native:
        return None
    e.note("Resize looks at the centres of pixels alone: Gather")
    for axis, place in todo:
        x = _between(e, x, axis, place) if linear else _nearest(e, x, axis, place, rounding)
    return x
