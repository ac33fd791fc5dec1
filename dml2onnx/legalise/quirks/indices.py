"""Gather, Scatter and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import Reduction
from dml2onnx.emitter.tensor import are_constant
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import has_unknown

GATHER_ELEMENT_BY_ELEMENT = Quirk(RuleKind.SPEED)
"""Gather of single elements takes about a hundred nanoseconds for each.

GatherElements, and Gather of rows, are many times as fast.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/gather.cc
"""
MANY_ELEMENTS = 1 << 8
"""From this many elements on, additional nodes pay off."""
COLUMNS_WORTH_TURNING = 1 << 14
"""From this many elements on, two Transposes beat GatherElements, if at least half of the columns are read."""


@GATHER_ELEMENT_BY_ELEMENT.rule("Gather")
def fast_gather(e: Emitter, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor | None:
    """GatherElements for single elements; for columns of a large tensor, Gather of rows of its transpose."""
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if prod(x.shape[axis + 1 :]) > 1 or has_unknown(shape) or are_constant([x, indices]):
        return None
    rows, count = prod(x.shape[:axis]), indices.size
    if rows * count < MANY_ELEMENTS:
        return None
    table = e.Reshape(x, (rows, x.shape[axis]))
    if rows > 1 and 2 * count >= x.shape[axis] and rows * min(count, x.shape[axis]) >= COLUMNS_WORTH_TURNING:
        columns = e.Gather(e.Transpose(table, (1, 0)), e.Reshape(indices, (count,)), 0)
        return e.Reshape(e.Transpose(columns, (1, 0)), shape)
    places = e.Expand(e.Reshape(indices, (1, count)), (rows, count))
    return e.Reshape(e.GatherElements(table, places, 1), shape)


@GATHER_ELEMENT_BY_ELEMENT.rule("GatherND")
def gather_of_one_coordinate(e: Emitter, x: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor | None:
    """Gather, for tuples of one coordinate."""
    if indices.shape[-1] > 1 or prod(x.shape[:batch_dims]) > 1:
        return None
    y = e.Gather(e.Reshape(x, x.shape[batch_dims:]), e.Reshape(indices, indices.shape[:-1]), 0)
    return e.Reshape(y, (*indices.shape[:-1], *x.shape[batch_dims + 1 :]))


GATHERS_BY_CONSTANTS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,3] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        ((1.0, 2.0, 3.0), (2, 0)),
        ((3.0, 1.0),),
        says="only supports constant indices",
    ),
)
"""GatherElements and ScatterElements need constant indices (WebNN in Chromium).

Otherwise the graph fails to build, and ONNX Runtime Web hangs. ScatterElements also fails with INT64 constants.
GatherND and ScatterND take any indices.
"""


def _places(e: Emitter, indices: Tensor, axis: int) -> Tensor:
    """The coordinates of the elements that indices along an axis refer to, in an additional last axis."""
    shape = indices.shape
    e.budget.require(prod(shape) * len(shape))
    grid = np.moveaxis(np.indices(shape), 0, -1)
    along = e.Reshape(e.Cast(indices, np.dtype(np.int64)), (*shape, 1))
    parts = [e.constant(part, np.int64) for part in (grid[..., :axis], grid[..., axis + 1 :])]
    return e.Concat([part for part in (parts[0], along, parts[1]) if part.size], len(shape))


@GATHERS_BY_CONSTANTS.rule("GatherElements")
def gather_elements_by_nd(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor | None:
    """Gather if all other axes have size 1, else GatherND."""
    if indices.value is not None or has_unknown(indices.shape):
        return None
    e.note("GatherElements needs constant indices")
    if prod(x.shape) == x.shape[axis]:
        row = e.Gather(e.Reshape(x, (x.size,)), e.Reshape(indices, (indices.size,)), 0)
        return e.Reshape(row, indices.shape)
    return e.GatherND(x, _places(e, indices, axis))


@GATHERS_BY_CONSTANTS.rule("ScatterElements")
def scatter_elements_by_nd(
    e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
) -> Tensor | None:
    """ScatterND; sums run on the CPU."""
    if reduction != "none" or has_unknown(indices.shape):
        return None
    e.note("ScatterElements needs constant indices")
    return e.ScatterND(x, _places(e, indices, axis), updates)


INDICES_COUNT_FROM_THE_START = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,3] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        ((1.0, 2.0, 3.0), (-1, -3)),
        ((3.0, 1.0),),
    ),
)
"""Negative indices known only at run time do not count from the end (QNN).

GatherElements, and Gather of integers, yield 0 for them; ScatterElements and ScatterND write nothing.
"""


def _from_the_start(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor | None:
    """Adds the size of the axis to negative indices: one size for all, or one per element of the last axis."""
    if indices.value is not None:
        return None
    e.note("kernels do not support negative indices")
    count = np.array(sizes[:1] if len(set(sizes)) == 1 else sizes)
    is_below = e.Less(indices, e.constant(0, indices.dtype))
    return e.Where(is_below, e.Add(indices, e.constant(count, indices.dtype)), indices)


@INDICES_COUNT_FROM_THE_START.rule("Gather")
def gather(e: Emitter, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor | None:
    """Gather of integers with nonnegative indices."""
    places = None if x.dtype.kind == "f" else _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.Gather(x, places, axis)


@INDICES_COUNT_FROM_THE_START.rule("GatherElements")
def gather_elements(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor | None:
    """GatherElements with nonnegative indices."""
    places = _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.GatherElements(x, places, axis)


@INDICES_COUNT_FROM_THE_START.rule("ScatterElements")
def scatter_elements(
    e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
) -> Tensor | None:
    """ScatterElements with nonnegative indices."""
    places = _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.ScatterElements(x, places, updates, axis, reduction)


@INDICES_COUNT_FROM_THE_START.rule("ScatterND")
def scatter_nd(e: Emitter, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor | None:
    """ScatterND with nonnegative coordinates."""
    places = _from_the_start(e, indices, x.shape[: indices.shape[-1]])
    return None if places is None else e.ScatterND(x, places, updates)
