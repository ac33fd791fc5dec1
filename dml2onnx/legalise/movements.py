"""Tile and Pad by other operators."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor

MOST_DIMENSIONS = 8
"""What all runtimes take."""


def tile(e: Emitter, x: Tensor, repeats: Sequence[int]) -> Tensor | None:
    """Expand where Tile has no kernel."""
    return None if e.has_kernel("Tile", x.dtype) else repeated(e, x, repeats)


def repeated(e: Emitter, x: Tensor, repeats: Sequence[int]) -> Tensor | None:
    """Expand along dimensions of their own, if these are not too many; a constant is repeated when compiling."""
    apart: list[tuple[int, int]] = []
    for size, count in zip(x.shape, repeats, strict=True):
        if count > 1:
            apart.append((1, count))
        if size > 1:
            (before, after) = apart.pop() if apart and apart[-1][0] > 1 else (1, 1)
            apart.append((before * size, after * size))
    if x.value is not None or len(apart) > MOST_DIMENSIONS:
        return None
    e.note(f"Expand repeats along dimensions of their own: Tile has no kernel for {x.dtype}, or is slow on such blocks")
    rows = e.Reshape(x, [before for before, _ in apart])
    sizes = [size * count for size, count in zip(x.shape, repeats, strict=True)]
    return e.Reshape(e.Expand(rows, [after for _, after in apart]), sizes)


def pad(
    e: Emitter,
    x: Tensor,
    start: Sequence[int],
    end: Sequence[int],
    mode: str = "constant",
    value: float | int | np.generic = 0,
) -> Tensor | None:
    """Concat where Pad has no kernel."""
    if mode != "constant" or x.value is not None or e.has_kernel("Pad", x.dtype):
        return None
    e.note(f"Pad has no kernel for {x.dtype}; Concat moves its bits without casts")
    return surrounded(e, x, start, end, value)


def surrounded(
    e: Emitter, x: Tensor, start: Sequence[int], end: Sequence[int], value: int | float | np.generic = 0
) -> Tensor | None:
    """Concat with one value, which is moved as its bits are; the last axis first, while what is copied is small."""
    if x.value is not None:
        return None
    for axis in reversed(range(x.rank)):
        shapes = ((*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in (start[axis], end[axis]))
        parts = [[e.ConstantOfShape(shape, value, x.dtype)] if prod(shape) else [] for shape in shapes]
        if parts[0] or parts[1]:
            # as of what it surrounds, unless it is infinite
            is_bounded = x.is_bounded and bool(np.isfinite(value))
            x = e.Concat([*parts[0], x, *parts[1]], axis)
            x.is_bounded = is_bounded
    return x
