"""The GATHER and SCATTER operators, ONE_HOT and NONZERO_COORDINATES.

Negative indices count from the end, in ONNX as in DirectML.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.tensor import MAX_DIMENSIONS, packed_strides
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import INT64, DType

INT32: DType = np.dtype(np.int32)
UINT32: DType = np.dtype(np.uint32)


def _aligned(e: Emitter, x: Tensor, sizes: tuple[int, ...], shape: tuple[int, ...] | None = None) -> Tensor:
    """Broadcasts ``x`` to ``sizes``, after a Reshape to ``shape`` if that is set, without surplus leading axes."""
    whole = x.shape if shape is None else shape
    shape = whole[max(len(whole) - len(sizes), 0) :]
    return e.Expand(e.Reshape(x, (1,) * (len(sizes) - len(shape)) + shape), sizes)


def _relevant(e: Emitter, x: Tensor, count: int) -> Tensor:
    """Returns the last ``count`` axes, at index 0 of the others."""
    front = x.rank - count
    first = e.Slice(x, (0,) * x.rank, (*(1,) * front, *x.shape[front:]))
    return e.Reshape(first, x.shape[front:])


# --- gather ----------------------------------------------------------------------------------------------------------


@lowers("GATHER", moves=("InputTensor",))
def gather(node: Operands, e: Emitter) -> Tensor:
    """Slices of the input along Axis, in the order of the indices: Gather."""
    x, indices = node.broadcastable("InputTensor"), node.tensor("IndicesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    shape = indices.shape[indices.rank - node.op.uint("IndexDimensions") :]
    if x.value is not None and prod(x.shape[:axis]) == 1 and (*x.shape[:axis], *shape, *x.shape[axis + 1 :]) != sizes:
        # rows of a table: the result has to be reshaped anyway, so the indices keep their shape
        x, axis, shape = e.Reshape(x, x.shape[axis:]), 0, indices.shape
    else:
        indices = e.Reshape(indices, shape or (1,))
    front, rest = x.shape[:axis], x.shape[axis + 1 :]
    if len((*front, *shape, *rest)) > MAX_DIMENSIONS:
        indices = e.Reshape(indices, (indices.size,))
    is_packed = node.op.tensor("InputTensor").is_packed
    y = e.by_indices("Gather", x, indices, axis, sizes=x.shape[axis : axis + 1], is_packed=is_packed)
    return _aligned(e, y, sizes, (*front, *((1,) * len(shape) if y is x else shape), *rest))


@lowers("GATHER_ELEMENTS", moves=("InputTensor",))
def gather_elements(node: Operands, e: Emitter) -> Tensor:
    """``output[.., k, ..] = input[.., indices[.., k, ..], ..]``: GatherElements.

    Gather, which copies whole rows, if zero strides show that the indices do not vary along other dimensions.
    """
    x, indices = node.tensor("InputTensor"), node.broadcastable("IndicesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    if x.shape[axis] == 1:  # for any index
        return x
    options: dict[str, Any] = {"sizes": x.shape[axis : axis + 1], "is_packed": node.op.tensor("InputTensor").is_packed}
    if indices.size == indices.shape[axis] < prod(sizes):
        return e.by_indices("Gather", x, e.Reshape(indices, (indices.size,)), axis, **options)
    return e.by_indices("GatherElements", x, indices, axis, to=sizes, **options)


@lowers("GATHER_ND", "GATHER_ND1", moves=("InputTensor",))
def gather_nd(node: Operands, e: Emitter) -> Tensor:
    """The element or slice at each tuple of coordinates, with common batch dimensions: GatherND."""
    op = node.op
    x = _relevant(e, node.tensor("InputTensor"), op.uint("InputDimensionCount"))
    indices = _relevant(e, node.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    batches = op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    if indices.rank == 1:  # so that a single tuple does not select a scalar
        indices = e.Reshape(indices, (1, indices.size))
    sizes, is_packed = x.shape[batches : batches + indices.shape[-1]], op.tensor("InputTensor").is_packed
    y = e.by_indices("GatherND", x, indices, batches, sizes=sizes, is_packed=is_packed)
    return _aligned(e, y, node.output().sizes)


# --- scatter ---------------------------------------------------------------------------------------------------------


@lowers("SCATTER", moves=("InputTensor", "UpdatesTensor"))
def scatter(node: Operands, e: Emitter) -> Tensor:
    """The input with elements replaced along Axis: ScatterElements."""
    x, updates, axis = node.tensor("InputTensor"), node.tensor("UpdatesTensor"), node.op.uint("Axis")
    indices, size = node.tensor("IndicesTensor"), x.shape[axis]
    if size == 1:  # for any index
        return e.ScatterElements(x, e.constant(np.zeros(indices.shape, np.int64)), updates, axis)
    return e.by_indices("ScatterElements", x, indices, updates, axis, sizes=(size,))


@lowers("SCATTER_ND", moves=("InputTensor", "UpdatesTensor"))
def scatter_nd(node: Operands, e: Emitter) -> Tensor:
    """The input with the elements or slices at tuples of coordinates replaced: ScatterND."""
    op, x = node.op, node.tensor("InputTensor")
    indices = _relevant(e, node.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    sizes = x.shape[x.rank - op.uint("InputDimensionCount") :]
    length = indices.shape[-1]
    updates = e.Reshape(node.tensor("UpdatesTensor"), (*indices.shape[:-1], *sizes[length:]))
    y = e.by_indices("ScatterND", e.Reshape(x, sizes), indices, updates, sizes=sizes[:length])
    return e.Reshape(y, x.shape)


# --- one-hot and nonzero ---------------------------------------------------------------------------------------------


@lowers("ONE_HOT", moves=("ValuesTensor",))
def one_hot(node: Operands, e: Emitter) -> Tensor:
    """The on value where the coordinate along Axis is the index, else the off value: OneHot.

    An index out of range sets its whole sequence to the off value [decision X9].
    """
    indices, values = node.broadcastable("IndicesTensor"), node.tensor("ValuesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    return e.OneHot(indices, sizes[axis], e.Reshape(values, (values.size,)), axis)


@lowers("NONZERO_COORDINATES")
def nonzero_coordinates(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The number of nonzero elements, and their coordinates in row-major order; unused rows are 0 [decision X20].

    NonZero would have a result of unknown size. Instead, a cumulative sum gives the position of each nonzero
    element's flat index; the zeros are moved to the end as index 0. Divisions turn flat indices into coordinates.
    """
    x, desc = node.widened(node.tensor("InputTensor")), node.output("OutputCoordinatesTensor")
    count = x.size
    dtype = INT32 if count < 1 << 31 else INT64
    one = e.constant(1, dtype)
    numbers = e.CumSum(e.ConstantOfShape((count,), 1, dtype), 0, exclusive=True)
    is_zero = e.Cast(e.Equal(e.Reshape(x, (count,)), e.constant(0, x.dtype)), dtype)
    is_found = e.Sub(one, is_zero)
    found = e.CumSum(is_found, 0)
    from_end = e.Mul(is_zero, e.Sub(e.constant(count, dtype), numbers))
    slots = e.Sub(e.Add(found, from_end), one)
    ordered = e.ScatterElements(numbers, slots, e.Mul(numbers, is_found))
    total = e.Cast(e.Slice(found, (count - 1,), (count,)), UINT32)
    coordinates = _coordinates(e, ordered, x.shape[x.rank - desc.sizes[-1] :])
    return {
        "OutputCountTensor": e.Reshape(total, node.output("OutputCountTensor").sizes),
        "OutputCoordinatesTensor": e.Reshape(e.Cast(coordinates, UINT32), desc.sizes),
    }


def _coordinates(e: Emitter, numbers: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Returns the row of coordinates of each flat index."""
    if len(sizes) == 1:
        return numbers
    rank, count = len(sizes), numbers.size
    numbers = e.Reshape(numbers, (1, count))
    # one row per dimension, so that each row has a single divisor
    quotients = e.Div(numbers, e.constant(np.reshape(packed_strides(sizes), (rank, 1)), numbers.dtype))
    whole = e.Mul(
        e.Slice(quotients, (0, 0), (rank - 1, count)), e.constant(np.reshape(sizes[1:], (-1, 1)), numbers.dtype)
    )
    rest = e.Sub(e.Slice(quotients, (1, 0), (rank, count)), whole)
    return e.Transpose(e.Concat([e.Slice(quotients, (0, 0), (1, count)), rest], 0), (1, 0))
