"""Tile, OneHot and Pad by other operators."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.model import ELEMENT_TYPES, INT64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor

UINT32 = np.dtype(np.uint32)
UINT64 = np.dtype(np.uint64)
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


def one_hot(e: Emitter, indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor | None:
    """Equal, and GatherElements of the two values; so it is where OneHot would read a scalar."""
    types = {"T1": "int64", "T2": "int64", "T3": ELEMENT_TYPES[values.dtype][1]}
    if indices.rank > 1 and e.target.has_kernel("OneHot", e.opset, types):
        return None
    return chosen_of_two(e, indices, depth, values, axis)


def chosen_of_two(e: Emitter, indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor:
    """The second of the values where the place along an axis is the index, else the first; bits stay what they are."""
    e.budget.require(depth)
    places = np.arange(depth).reshape([-1 if i == axis else 1 for i in range(indices.rank)])
    if indices.dtype == UINT64:  # all of it counts, without a sign [decision X25]
        place = e.Cast(e.Min(indices, e.constant(np.array(depth, UINT64))), UINT32)
    else:
        place = from_start(e, indices, depth)
    is_on = e.Equal(place, e.constant(places.astype(UINT32)))
    which = e.Reshape(e.Cast(is_on, np.dtype(np.int32)), (is_on.size,))
    return e.Reshape(e.GatherElements(values, which, 0), is_on.shape)


def from_start(e: Emitter, indices: Tensor, size: int) -> Tensor:
    """Indices as DirectML computes with them: counted from the start, in UINT32."""
    if indices.dtype == UINT64:  # which is read as INT64 [decision X25]
        indices = e.Cast(indices, INT64)
    if indices.dtype.kind == "i":
        from_end = e.Add(indices, e.constant(np.array(size).astype(indices.dtype)))
        indices = e.Where(e.Less(indices, e.constant(0, indices.dtype)), from_end, indices)
    return e.Cast(indices, UINT32)


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
