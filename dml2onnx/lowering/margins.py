"""One value around a tensor: Pad, or Concat where that has no kernel or copies element by element."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.model import has_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dml2onnx.emitter import Emitter, Tensor

NARROW, MANY = 128, 256
"""Bytes of a row, and rows, up to and from which Concat takes a third to a tenth of the time of Pad."""


def surrounded(
    e: Emitter, x: Tensor, start: Sequence[int], end: Sequence[int], value: int | float | np.generic = 0
) -> Tensor:
    """``start`` and ``end`` elements of one value at the ends of each axis, which is moved as its bits are."""
    has_kernel = e.has_kernel("Pad", x.dtype)
    if x.value is not None or (has_kernel and not _is_narrow(x, start, end)):
        return e.Pad(x, start, end, "constant", value)
    if not has_kernel:
        e.note(f"Pad has no kernel for {x.dtype}; Concat moves its bits without casts")
    for axis in padded_axes(start, end):
        shapes = ((*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in (start[axis], end[axis]))
        before, behind = ([e.ConstantOfShape(shape, value, x.dtype)] if prod(shape) else [] for shape in shapes)
        limited = x.limited and bool(np.isfinite(value))
        x = e.Concat([*before, x, *behind], axis)
        x.limited = limited
    return x


def padded_axes(start: Sequence[int], end: Sequence[int]) -> Iterator[int]:
    """The last first: what is copied element by element is then still small."""
    return (axis for axis in reversed(range(len(start))) if start[axis] or end[axis])


def _is_narrow(x: Tensor, start: Sequence[int], end: Sequence[int]) -> bool:
    """Whether many short rows get longer, along one axis."""
    axes = list(padded_axes(start, end))
    if len(axes) != 1 or has_unknown(x.shape):
        return False
    (axis,) = axes
    row = (start[axis] + x.shape[axis] + end[axis]) * prod(x.shape[axis + 1 :]) * x.dtype.itemsize
    return row <= NARROW and prod(x.shape[:axis]) >= MANY
