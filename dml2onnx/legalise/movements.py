"""Replacements of Tile, OneHot, Pad, ReverseSequence, Col2Im, SpaceToDepth and DepthToSpace."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.formulas import wide
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.onnx_model import ELEMENT_TYPES, INT32, INT64, UINT32, UINT64

Places = npt.NDArray[np.int64]

MOST_DIMENSIONS = 8
"""The rank that all runtimes support."""
_TWO_TRANSPOSES = "two Transposes of few axes, which are much faster in ONNX Runtime than one of six"


def repeated(e: Emitter, x: Tensor, repeats: Sequence[int]) -> Tensor | None:
    """Tile as Expand along separate dimensions, if there are few enough; Tile of constants is folded."""
    factors: list[tuple[int, int]] = []
    for size, count in zip(x.shape, repeats, strict=True):
        if count > 1:
            factors.append((1, count))
        if size > 1:
            before, after = factors.pop() if factors and factors[-1][0] > 1 else (1, 1)
            factors.append((before * size, after * size))
    if x.value is not None or len(factors) > MOST_DIMENSIONS:
        return None
    e.note(f"Expand along separate dimensions: Tile has no kernel for {x.dtype}, or is slow on such blocks")
    rows = e.Reshape(x, [before for before, _ in factors])
    sizes = [size * count for size, count in zip(x.shape, repeats, strict=True)]
    return e.Reshape(e.Expand(rows, [after for _, after in factors]), sizes)


def one_hot(e: Emitter, indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor | None:
    """Equal and GatherElements, also for a scalar, which ONNX Runtime's OneHot does not accept."""
    types = {"T1": "int64", "T2": "int64", "T3": ELEMENT_TYPES[values.dtype][1]}
    if indices.rank > 1 and e.target.has_kernel("OneHot", types):
        return None
    return chosen_of_two(e, indices, depth, values, axis)


def chosen_of_two(e: Emitter, indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor:
    """``values[1]`` where the position along an axis is the index, else ``values[0]``, bit for bit."""
    e.budget.require(depth)
    places = np.arange(depth).reshape([-1 if i == axis else 1 for i in range(indices.rank)])
    if indices.dtype == UINT64:  # compared as a whole, unsigned [decision X25]
        place = e.Cast(e.Min(indices, e.constant(np.array(depth, UINT64))), UINT32)
    else:
        place = from_start(e, indices, depth)
    is_on = e.Equal(place, e.constant(places.astype(UINT32)))
    which = e.Reshape(e.Cast(is_on, INT32), (is_on.size,))
    return e.Reshape(e.GatherElements(values, which, 0), is_on.shape)


def from_start(e: Emitter, indices: Tensor, size: int) -> Tensor:
    """Indices as DirectML uses them: relative to the start, in UINT32."""
    if indices.dtype == UINT64:  # read as INT64 [decision X25]
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
    """Concat, or a Gather per dimension in other modes, where Pad has no kernel, or none for these margins."""
    if mode != "constant":
        if e.has_kernel("Pad", x.dtype) and _is_one_period(mode, x.shape, start, end, e.opset):
            return None
        e.note(f"Gather: Pad has no {mode} mode, or none for {x.dtype} and these margins")
        return continued(e, x, start, end, mode)
    if x.value is not None or e.has_kernel("Pad", x.dtype):
        return None
    e.note(f"Pad has no kernel for {x.dtype}: Concat needs no casts")
    return surrounded(e, x, start, end, value)


def surrounded(
    e: Emitter, x: Tensor, start: Sequence[int], end: Sequence[int], value: int | float | np.generic = 0
) -> Tensor | None:
    """Pad with a constant by Concat, bit for bit; the last axis goes first, while there is least to copy."""
    if x.value is not None:
        return None
    for axis in reversed(range(x.rank)):
        shapes = ((*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in (start[axis], end[axis]))
        parts = [[e.ConstantOfShape(shape, value, x.dtype)] if prod(shape) else [] for shape in shapes]
        if parts[0] or parts[1]:
            is_bounded = x.is_bounded and bool(np.isfinite(value))
            x = e.Concat([*parts[0], x, *parts[1]], axis)
            x.is_bounded = is_bounded
    return x


def _is_one_period(mode: str, sizes: Sequence[int], start: Sequence[int], end: Sequence[int], opset: int) -> bool:
    """Whether all kernels support the mode (``wrap`` needs opset 19) and get these margins right."""
    if mode == "edge":
        return True
    # for wider margins ONNX Runtime refuses reflect, and 1.24 miscomputes wrap
    period = 1 if mode == "reflect" else 0
    fit = all(max(a, b) <= size - period for a, b, size in zip(start, end, sizes, strict=True))
    return fit and (mode == "reflect" or opset >= 19)


def continued(e: Emitter, x: Tensor, start: Sequence[int], end: Sequence[int], mode: str) -> Tensor:
    """Pad by a Gather per dimension, also in the mode ``symmetric``, which reflects and repeats the border."""
    for axis in reversed(range(x.rank)):  # the innermost first, while there are few elements to copy
        if start[axis] or end[axis]:
            size = x.shape[axis]
            e.budget.require(start[axis] + size + end[axis])
            places = _source(mode, np.arange(-start[axis], size + end[axis]), size)
            x = e.Gather(x, e.positions(places), axis)
    return x


def _source(mode: str, places: Places, size: int) -> Places:
    """Which of ``size`` elements each coordinate, inside or outside, repeats."""
    if mode == "edge":
        return np.clip(places, 0, size - 1)
    if mode == "wrap":
        wrapped: Places = np.remainder(places, size)
        return wrapped
    # reflect does not repeat the border, except of a single element
    skipped = 0 if mode == "symmetric" or size == 1 else 1
    folded: Places = np.remainder(places, 2 * (size - skipped))
    return np.minimum(folded, 2 * size - 1 - skipped - folded)


def reversed_by_place(e: Emitter, x: Tensor, lengths: Tensor, axis: int) -> Tensor | None:
    """GatherElements if a length exceeds the axis [decision X19], or may do so in an exact model.

    Element k of a sequence of length L becomes element ``min(L - 1 - k, size - 1)``.
    """
    n = x.shape[axis]
    if not (e.exact if lengths.value is None else bool((lengths.value > n).any())):
        return None
    e.note("lengths known only at run time may exceed the axis: GatherElements picks the elements")
    e.budget.require(n)
    lengths = e.Cast(e.Min(lengths, e.constant(2 * n, lengths.dtype)), INT32)
    places = e.constant(np.arange(n, dtype=np.int32).reshape(-1, *(1,) * (x.rank - 1 - axis)))
    back = e.Sub(e.Sub(lengths, e.constant(1, places.dtype)), places)
    chosen = e.Where(e.Less(places, lengths), e.Min(back, e.constant(n - 1, places.dtype)), places)
    return e.GatherElements(x, e.Expand(chosen, x.shape), axis)


def col2im(e: Emitter, x: Tensor, image: tuple[int, ...], window: Window) -> Tensor | None:
    """ScatterElements if Col2Im has no kernel, and for constants, to fold them."""
    return None if x.value is None and e.supports("Col2Im", x.dtype) else image_of_columns(e, x, image, window)


def image_of_columns(e: Emitter, x: Tensor, image: tuple[int, ...], window: Window) -> Tensor:
    """Col2Im by ScatterElements, FLOAT16 as FLOAT: before opset 18 not all kernels add FLOAT16."""
    x = wide(e, x)
    e.note("ScatterElements sums the elements in the padded image, and Slice removes the padding")
    e.budget.require(x.size)
    pool = PoolWindows.over(image, window)
    channels = x.shape[1] // prod(window.shape)
    planes = x.shape[0] * channels
    x = e.Reshape(x, (planes, x.size // planes))
    canvas = e.ConstantOfShape((planes, prod(pool.padded)), 0, x.dtype, fold=x.value is not None)
    indices = e.Expand(e.positions(pool.flat_places(len(image)).reshape(1, -1)), x.shape)
    sums, front = e.ScatterElements(canvas, indices, x, 1, reduction="add"), (planes // channels, channels)
    last = (a + n for a, n in zip(window.start, image, strict=True))
    return e.Slice(e.Reshape(sums, (*front, *pool.padded)), (0, 0, *window.start), (*front, *last))


def gathered_depth(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor:
    """SpaceToDepth by two Transposes, in either mode (ONNX has DCR only)."""
    n, c, height, width = x.shape
    outer, inner = (n, c) if mode == "DCR" else (n * c, 1)
    e.note(_TWO_TRANSPOSES)
    rows = e.Transpose(e.Reshape(x, (outer, inner * height // block, block, width)), (0, 2, 1, 3))
    columns = e.Transpose(e.Reshape(rows, (outer * block, x.size // (outer * block**2), block)), (0, 2, 1))
    return e.Reshape(columns, (n, c * block**2, height // block, width // block))


def spread_depth(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor:
    """DepthToSpace by two Transposes, in either mode."""
    n, depth, height, width = x.shape
    c = depth // block**2
    outer, inner = (n, c) if mode == "DCR" else (n * c, 1)
    e.note(_TWO_TRANSPOSES)
    columns = e.Transpose(e.Reshape(x, (outer * block, block, x.size // (outer * block**2))), (0, 2, 1))
    rows = e.Transpose(e.Reshape(columns, (outer, block, inner * height, width * block)), (0, 2, 1, 3))
    return e.Reshape(rows, (n, c, height * block, width * block))
