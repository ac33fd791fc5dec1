"""Operators on indices: GATHER, SCATTER and their variants, ONE_HOT and NONZERO_COORDINATES."""

from __future__ import annotations

from math import prod

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import packed_strides
from dml2onnx.reference.registry import Array, Indices, Inputs, Mask, Outputs, Result, reference

_MASK = 0xFFFFFFFF
"""DirectML computes indices in 32 bits."""


@reference("GATHER")
def gather(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[a.., i.., b..] = Input[a.., Indices[i..], b..]`` (decisions X1, X2, X4)."""
    x, axis = inputs.tensor("InputTensor"), op.uint("Axis")
    indices = trailing(inputs.tensor("IndicesTensor"), op.uint("IndexDimensions"))
    n, inner = x.shape[axis], prod(x.shape[axis + 1 :])
    place = places(indices, n).reshape(1, -1, 1)
    start = np.arange(x.size // (n * inner)).reshape(-1, 1, 1) * n * inner
    return {"OutputTensor": _read(op, x, start + place * inner + np.arange(inner), place >= n)}


@reference("GATHER_ELEMENTS")
def gather_elements(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[x] = Input[x with x[Axis] replaced by Indices[x]]`` (decisions X1, X2)."""
    x, axis = inputs.tensor("InputTensor"), op.uint("Axis")
    place = places(inputs.tensor("IndicesTensor"), x.shape[axis])
    outside = (place >= x.shape[axis]) & (x.shape[axis] > 1)
    return {"OutputTensor": _read(op, x, _along(x.shape, place, axis), outside)}


@reference("GATHER_ND", "GATHER_ND1")
def gather_nd(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[n.., i.., b..] = Input[n.., Indices[n.., i..].., b..]``, n over batch dimensions (decisions X3, X5)."""
    x = trailing(inputs.tensor("InputTensor"), op.uint("InputDimensionCount"))
    tuples = trailing(inputs.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    batches = op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    offsets, outside = _offsets(tuples, x.shape[batches:])
    inner = prod(x.shape[batches + tuples.shape[-1] :])
    rows = prod(x.shape[:batches])
    start = np.arange(rows).reshape(-1, 1, 1) * (x.size // rows)
    block = offsets.reshape(rows, -1, 1) + np.arange(inner)
    return {"OutputTensor": _read(op, x, start + block, outside.reshape(rows, -1, 1))}


@reference("SCATTER")
def scatter(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output = Input; Output[x with x[Axis] replaced by Indices[x]] = Updates[x]`` (decisions X6, X7, X8).

    An element that two indices address is unspecified.
    """
    x, updates, axis = inputs.tensor("InputTensor"), inputs.tensor("UpdatesTensor"), op.uint("Axis")
    place = places(inputs.tensor("IndicesTensor"), x.shape[axis])
    return {"OutputTensor": _written(op, x, _along(x.shape, place, axis), updates, place >= x.shape[axis])}


@reference("SCATTER_ND")
def scatter_nd(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output = Input; Output[Indices[i..].., b..] = Updates[i.., b..]`` (decisions X6, X7, X8).

    A block that two tuples address is unspecified.
    """
    x = trailing(inputs.tensor("InputTensor"), op.uint("InputDimensionCount"))
    tuples = trailing(inputs.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    offsets, outside = _offsets(tuples, x.shape)
    block = offsets.reshape(-1, 1) + np.arange(prod(x.shape[tuples.shape[-1] :]))
    updates = inputs.tensor("UpdatesTensor").reshape(block.shape)
    return {"OutputTensor": _written(op, x, block, updates, outside)}


@reference("ONE_HOT")
def one_hot(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[x] = x[Axis] == Indices[x with x[Axis] = 0] ? on : off``, values being ``{off, on}`` (decision X9)."""
    sizes, axis = op.tensor("OutputTensor").sizes, op.uint("Axis")
    off, on = inputs.tensor("ValuesTensor").reshape(-1)[:2]
    k = np.expand_dims(np.arange(sizes[axis]), tuple(d for d in range(len(sizes)) if d != axis))
    indices = inputs.tensor("IndicesTensor")
    # UINT64 is compared unsigned, with all bits (decision X25)
    hot = k == (indices if indices.dtype == np.uint64 else places(indices, sizes[axis]))
    return {"OutputTensor": Result(np.where(hot, on, off))}


@reference("NONZERO_COORDINATES")
def nonzero_coordinates(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The number of non-zero elements and, row by row, their coordinates; later rows are unspecified (decision X20)."""
    sizes = op.tensor("OutputCoordinatesTensor").sizes
    rows, width = sizes[-2:]
    found = np.argwhere(inputs.tensor("InputTensor"))
    count = len(found)
    table = np.zeros((rows, width), np.uint32)
    # coordinates that do not fit belong to leading dimensions of size 1
    table[:count] = found[:, found.shape[1] - width :]
    unused = np.repeat(np.arange(rows) >= count, width)
    return {
        "OutputCountTensor": Result(np.full(op.tensor("OutputCountTensor").sizes, count, np.uint32)),
        "OutputCoordinatesTensor": Result(table.reshape(sizes), None, _where_any(unused.reshape(sizes))),
    }


def trailing(x: Array, dimensions: int) -> Array:
    """The last dimensions of a tensor whose other sizes are 1."""
    return x.reshape(x.shape[x.ndim - dimensions :])


def places(indices: Array, n: int) -> Indices:
    """Indices into ``n`` elements as unsigned 32-bit numbers, as DirectML computes them.

    Negative indices count from the end (decision X1). UINT64 is read as INT64, and only the lower 32 bits of 64 count
    (decision X25).
    """
    signed = indices.astype(np.int64)
    return np.where(signed < 0, signed + n, signed) & _MASK


def _along(shape: tuple[int, ...], place: Indices, axis: int) -> Indices:
    """The flat offset of each element whose coordinate along ``axis`` is ``place``; ignores dimensions of size 1."""
    strides = np.array(packed_strides(shape))
    offset = np.zeros(place.shape, np.int64)
    for i, stride in enumerate(strides):
        column = [-1 if i == d else 1 for d in range(len(shape))]
        step = place if i == axis else np.arange(place.shape[i]).reshape(column)
        offset = offset + step * (0 if shape[i] == 1 else stride)
    return offset


def _offsets(tuples: Array, sizes: tuple[int, ...]) -> tuple[Indices, Mask]:
    """The flat offset of each tuple along the last dimension, and which tuples have a coordinate out of range."""
    found = [places(tuples[..., i], sizes[i]) for i in range(tuples.shape[-1])]
    strides = packed_strides(sizes)
    offset = sum((place * stride for place, stride in zip(found, strides, strict=False)), np.zeros((), np.int64))
    outside = np.any([place >= n for place, n in zip(found, sizes, strict=False)], axis=0)
    return np.asarray(offset), outside


def _read(op: OperatorDesc, x: Array, offsets: Indices, outside: Mask) -> Result:
    """Elements by flat offset, clamped to the last one (decisions X2, X3).

    Out of range, the result is unspecified if the tensor is not packed or has bytes after its last element.
    """
    sizes = op.tensor("OutputTensor").sizes
    offsets = offsets & _MASK
    y = x.reshape(-1)[np.minimum(offsets, x.size - 1)]
    outside = np.broadcast_to(outside, offsets.shape).reshape(sizes)
    unknown = np.zeros(sizes, np.bool_)
    if not op.tensor("InputTensor").is_packed:
        unknown = outside
    elif op.tensor("InputTensor").total_bytes != x.nbytes:
        unknown = outside & (offsets >= x.size).reshape(sizes)
    return Result(y.reshape(sizes), None, _where_any(unknown), _where_any(outside))


def _written(op: OperatorDesc, x: Array, offsets: Indices, updates: Array, outside: Mask) -> Result:
    """``x`` with updates by flat offset; offsets past the end are dropped (decision X8)."""
    sizes = op.tensor("OutputTensor").sizes
    offsets = offsets & _MASK
    inside = offsets < x.size
    y = x.reshape(-1).copy()
    # numpy assigns in row-major order, so the last of several updates stays
    y[offsets[inside]] = updates[inside]
    count = np.bincount(offsets[inside], minlength=x.size).reshape(sizes)
    wrong = outside.any()
    unknown = np.full(sizes, wrong and not op.tensor("OutputTensor").is_packed)
    return Result(y.reshape(sizes), None, _where_any((count > 1) | unknown), _where_any(np.full(sizes, wrong)))


def _where_any(mask: Mask) -> Mask | None:
    return mask if mask.any() else None
