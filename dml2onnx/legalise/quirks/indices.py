"""Gather, Scatter and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import Reduction
from dml2onnx.emitter.tensor import are_constant
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

GATHER_ELEMENT_BY_ELEMENT = Quirk(Kind.SPEED)
"""Gather copies each element by itself where it copies no rows, in some hundred nanoseconds.

GatherElements is many times as fast, and so is Gather of rows.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/gather.cc
"""
MANY_ELEMENTS = 1 << 8
"""So many elements are worth more nodes than one."""
COLUMNS_WORTH_TURNING = 1 << 14
"""Elements from which on two Transposes cost less than GatherElements, if at least half of the columns are taken."""


@GATHER_ELEMENT_BY_ELEMENT.rule("Gather")
def fast_gather(e: Emitter, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor | None:
    """Single elements by GatherElements; columns of a large tensor as the rows of its transpose."""
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if prod(x.shape[axis + 1 :]) > 1 or has_unknown(shape) or are_constant([x, indices]):
        return None
    rows, count = prod(x.shape[:axis]), indices.size
    if rows * count < MANY_ELEMENTS:
        return None
    table = e.Reshape(x, (rows, x.shape[axis]))
    if rows > 1 and 2 * count >= x.shape[axis] and rows * min(count, x.shape[axis]) >= COLUMNS_WORTH_TURNING:
        turned = e.Gather(e.Transpose(table, (1, 0)), e.Reshape(indices, (count,)), 0)
        return e.Reshape(e.Transpose(turned, (1, 0)), shape)
    places = e.Expand(e.Reshape(indices, (1, count)), (rows, count))
    return e.Reshape(e.GatherElements(table, places, 1), shape)


@GATHER_ELEMENT_BY_ELEMENT.rule("GatherND")
def gather_of_one_coordinate(e: Emitter, x: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor | None:
    """Tuples of one coordinate are what Gather takes."""
    if indices.shape[-1] > 1 or prod(x.shape[:batch_dims]) > 1:
        return None
    y = e.Gather(e.Reshape(x, x.shape[batch_dims:]), e.Reshape(indices, indices.shape[:-1]), 0)
    return e.Reshape(y, (*indices.shape[:-1], *x.shape[batch_dims + 1 :]))


GATHERS_BY_CONSTANTS = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,3] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        ((1.0, 2.0, 3.0), (2, 0)),
        ((3.0, 1.0),),
        says="only supports constant indices",
    ),
)
"""GatherElements and ScatterElements want indices that are constants (WebNN in Chromium).

Of others the graph is not built, and ONNX Runtime Web waits for it for ever. ScatterElements is not built of INT64
constants either. GatherND and ScatterND take any.
"""


def _places(e: Emitter, indices: Tensor, axis: int) -> Tensor:
    """The coordinates of the elements that indices along an axis name, in a last axis of their own."""
    shape = indices.shape
    e.budget.require(prod(shape) * len(shape))
    grid = np.moveaxis(np.indices(shape), 0, -1)
    along = e.Reshape(e.Cast(indices, np.dtype(np.int64)), (*shape, 1))
    parts = [e.constant(part, np.int64) for part in (grid[..., :axis], grid[..., axis + 1 :])]
    return e.Concat([part for part in (parts[0], along, parts[1]) if part.size], len(shape))


@GATHERS_BY_CONSTANTS.rule("GatherElements")
def gather_elements_by_nd(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor | None:
    """Gather where there is nothing but that axis, else GatherND."""
    if indices.value is not None or has_unknown(indices.shape):
        return None
    e.note("GatherElements takes no indices that are computed")
    if prod(x.shape) == x.shape[axis]:
        row = e.Gather(e.Reshape(x, (x.size,)), e.Reshape(indices, (indices.size,)), 0)
        return e.Reshape(row, indices.shape)
    return e.GatherND(x, _places(e, indices, axis))


@GATHERS_BY_CONSTANTS.rule("ScatterElements")
def scatter_elements_by_nd(
    e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
) -> Tensor | None:
    """ScatterND; sums are left to the CPU, which computes them."""
    if reduction != "none" or has_unknown(indices.shape):
        return None
    e.note("ScatterElements takes no indices that are computed")
    return e.ScatterND(x, _places(e, indices, axis), updates)


INDICES_COUNT_FROM_THE_START = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,3] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        ((1.0, 2.0, 3.0), (-1, -3)),
        ((3.0, 1.0),),
    ),
)
"""Indices below 0 that are known only at run time are not counted from the end (QNN).

They give 0 in GatherElements, and in Gather of integers, and write nothing in ScatterElements and ScatterND.
"""


def _from_the_start(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor | None:
    """Indices below 0 plus the size of their axis, of which there is one, or one for each of the last axis."""
    if indices.value is not None:
        return None
    e.note("kernels take no indices that count from the end")
    count = np.array(sizes[:1] if len(set(sizes)) == 1 else sizes)
    is_below = e.Less(indices, e.constant(0, indices.dtype))
    return e.Where(is_below, e.Add(indices, e.constant(count, indices.dtype)), indices)


@INDICES_COUNT_FROM_THE_START.rule("Gather")
def gather(e: Emitter, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor | None:
    """Of integers."""
    places = None if x.dtype.kind == "f" else _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.Gather(x, places, axis)


@INDICES_COUNT_FROM_THE_START.rule("GatherElements")
def gather_elements(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor | None:
    """From the start."""
    places = _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.GatherElements(x, places, axis)


@INDICES_COUNT_FROM_THE_START.rule("ScatterElements")
def scatter_elements(
    e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
) -> Tensor | None:
    """From the start."""
    places = _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.ScatterElements(x, places, updates, axis, reduction)


@INDICES_COUNT_FROM_THE_START.rule("ScatterND")
def scatter_nd(e: Emitter, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor | None:
    """From the start, each coordinate in its own axis."""
    places = _from_the_start(e, indices, x.shape[: indices.shape[-1]])
    return None if places is None else e.ScatterND(x, places, updates)
