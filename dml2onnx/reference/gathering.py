"""Elements read from or written to places that other tensors name: GATHER, SCATTER and their relatives, ONE_HOT.

NONZERO_COORDINATES, which makes such tensors, is here too.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.registry import Array, Inputs, Mask, Outputs, Result, reference

Indices: TypeAlias = npt.NDArray[np.int64]


@reference("GATHER")
def gather(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[a.., i.., b..] = Input[a.., Indices[i..], b..]``, indices clamped (decisions X1, X2, X4).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_operator_desc
    """
    x, axis = inputs.tensor("InputTensor"), op.uint("Axis")
    indices = trailing(inputs.tensor("IndicesTensor"), op.uint("IndexDimensions"))
    n = x.shape[axis]
    y = np.take(x, np.clip(from_end(indices, n), 0, n - 1), axis)
    return {"OutputTensor": Result(y.reshape(op.tensor("OutputTensor").sizes))}


@reference("GATHER_ELEMENTS")
def gather_elements(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[x] = Input[x with x[Axis] replaced by Indices[x]]``, indices clamped (decisions X1, X2).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_elements_operator_desc
    """
    x, axis = inputs.tensor("InputTensor"), op.uint("Axis")
    n = x.shape[axis]
    indices = np.clip(from_end(inputs.tensor("IndicesTensor"), n), 0, n - 1)
    return {"OutputTensor": Result(np.take_along_axis(x, indices, axis))}


@reference("GATHER_ND", "GATHER_ND1")
def gather_nd(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[n.., i.., b..] = Input[n.., Indices[n.., i..].., b..]``, n over the batch dimensions (decision X5).

    What a tuple with a coordinate out of range reads is unspecified; each is clamped (decision X3).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_nd_operator_desc
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_nd1_operator_desc
    """
    x = trailing(inputs.tensor("InputTensor"), op.uint("InputDimensionCount"))
    tuples = trailing(inputs.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    batches = op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    places, outside = coordinates(tuples, x.shape[batches:])
    batch = np.ix_(*(np.arange(n) for n in tuples.shape[:batches]))
    # the batch coordinates vary along the first dimensions of the array of tuples and not along the others
    batch = tuple(np.expand_dims(b, tuple(range(batches, tuples.ndim - 1))) for b in batch)
    y = x[(*batch, *(np.clip(p, 0, n - 1) for p, n in zip(places, x.shape[batches:], strict=False)))]
    unspecified = np.zeros(y.shape, np.bool_)
    unspecified[outside.any(-1)] = True
    sizes = op.tensor("OutputTensor").sizes
    return {"OutputTensor": Result(y.reshape(sizes), None, _where_any(unspecified.reshape(sizes)))}


@reference("SCATTER")
def scatter(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output = Input; Output[x with x[Axis] replaced by Indices[x]] = Updates[x]`` (decisions X6, X7, X8).

    An element named twice is unspecified. So is what an index out of range does; the update is dropped, and
    all of the sequence that it belongs to is marked.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_scatter_operator_desc
    """
    x, updates, axis = inputs.tensor("InputTensor"), inputs.tensor("UpdatesTensor"), op.uint("Axis")
    n = x.shape[axis]
    indices = from_end(inputs.tensor("IndicesTensor"), n)
    inside = (indices >= 0) & (indices < n)
    target = np.nonzero(inside)
    target = (*target[:axis], indices[inside], *target[axis + 1 :])
    y = x.copy()
    # numpy assigns in row-major order, so the last of several updates stays
    y[target] = updates[inside]
    unspecified = _writes(x.shape, target) > 1
    unspecified |= ~inside.all(axis, keepdims=True)
    return {"OutputTensor": Result(y, None, _where_any(unspecified))}


@reference("SCATTER_ND")
def scatter_nd(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output = Input; Output[Indices[i..].., b..] = Updates[i.., b..]`` (decisions X6, X7, X8).

    A block named twice is unspecified. So is what a coordinate out of range does; the update is dropped, and
    whatever any other value of that coordinate would have named is marked.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_scatter_nd_operator_desc
    """
    x = trailing(inputs.tensor("InputTensor"), op.uint("InputDimensionCount"))
    tuples = trailing(inputs.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    updates = inputs.tensor("UpdatesTensor").reshape((*tuples.shape[:-1], *x.shape[tuples.shape[-1] :]))
    places, outside = coordinates(tuples, x.shape)
    inside = ~outside.any(-1)
    target = tuple(place[inside] for place in places)
    y = x.copy()
    # numpy assigns in row-major order, so the last of several updates stays
    y[target] = updates[inside]
    unspecified = np.zeros(x.shape, np.bool_)
    unspecified[_writes(x.shape[: len(places)], target) > 1] = True
    for which in np.argwhere(~inside):
        at = tuple(which)
        unspecified[tuple(slice(None) if o else p[at] for p, o in zip(places, outside[at], strict=True))] = True
    sizes = op.tensor("OutputTensor").sizes
    return {"OutputTensor": Result(y.reshape(sizes), None, _where_any(unspecified.reshape(sizes)))}


@reference("ONE_HOT")
def one_hot(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[x] = x[Axis] == Indices[x with x[Axis] = 0] ? on : off``, values being ``{off, on}`` (decision X9).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_one_hot_operator_desc
    """
    sizes, axis = op.tensor("OutputTensor").sizes, op.uint("Axis")
    off, on = inputs.tensor("ValuesTensor").reshape(-1)[:2]
    k = np.expand_dims(np.arange(sizes[axis]), tuple(d for d in range(len(sizes)) if d != axis))
    hot = k == from_end(inputs.tensor("IndicesTensor"), sizes[axis])
    return {"OutputTensor": Result(np.where(hot, on, off))}


@reference("NONZERO_COORDINATES")
def nonzero_coordinates(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The number of non-zero elements and, row by row, their coordinates; later rows are unspecified (decision X20).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_nonzero_coordinates_operator_desc
    """
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


def from_end(indices: Array, n: int) -> Indices:
    """Indices into ``n`` elements, negative ones counted from the end (decision X1); wrong ones stay out of range."""
    if indices.dtype.kind == "u":
        # INT64 does not hold all of UINT64; n is as far out as any larger value
        return np.minimum(indices, n).astype(np.int64)
    signed = indices.astype(np.int64)
    return np.where(signed < 0, signed + n, signed)


def coordinates(tuples: Array, sizes: tuple[int, ...]) -> tuple[list[Indices], Mask]:
    """The coordinates that the tuples along the last dimension name, one array each, and which are out of range."""
    places = [from_end(tuples[..., i], sizes[i]) for i in range(tuples.shape[-1])]
    outside = [(place < 0) | (place >= n) for place, n in zip(places, sizes, strict=False)]
    return places, np.stack(outside, -1)


def _writes(shape: tuple[int, ...], target: tuple[Indices, ...]) -> Indices:
    """How often each element is named."""
    count = np.zeros(shape, np.int64)
    np.add.at(count, target, 1)
    return count


def _where_any(mask: Mask) -> Mask | None:
    return mask if mask.any() else None
