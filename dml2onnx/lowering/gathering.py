"""GATHER, SCATTER and their relatives, ONE_HOT, NONZERO_COORDINATES: elements by index.

Indices of signed types count from the end where negative, in ONNX as in DirectML. One outside has no meaning in ONNX;
DirectML makes a flat offset of it all the same, in 32 bits without a sign, reads the last element where that lies
behind the end, and drops what is written there [decisions X1 to X3, X8]. Exact models do so with computed indices that
may lie outside; constant ones are looked at when compiling.
"""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.ir.tensor import MAX_DIMENSIONS, packed_strides
from dml2onnx.legalise.movements import from_start
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import INT64

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands
    from dml2onnx.onnx_model import Array, DType

INT32: DType = np.dtype(np.int32)
UINT32: DType = np.dtype(np.uint32)


# --- indices ---------------------------------------------------------------------------------------------------------


def _index_type(largest: int) -> DType:
    """INT32 where it holds the largest index: half the memory."""
    return INT32 if largest < 1 << 31 else INT64


def _for_onnx(e: Emitter, indices: Tensor) -> Tensor:
    """Indices in a type that ONNX takes."""
    if indices.value is not None:
        return e.positions(indices.value.astype(np.int64))
    return indices if indices.dtype in (INT32, INT64) else e.Cast(indices, INT64)


def _clamped(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Indices inside axes of ``sizes``: one for all, or one for each of the last axis.

    They lie in [-size, size - 1]: negative ones need no node, ONNX counts them from the end as DirectML does.
    """
    count = np.array(sizes[:1] if len(set(sizes)) == 1 else sizes, np.int64)
    if indices.value is not None:
        return e.positions(_known_clamped(indices.value, count))
    if indices.dtype == UINT32:
        return e.Cast(e.Min(indices, e.constant(count - 1, indices.dtype)), _index_type(max(sizes)))
    work = INT32 if indices.dtype == INT32 and max(sizes) < 1 << 31 else INT64
    x = e.Cast(indices, work)
    if count.size == 1:
        return e.Clip(x, -count.item(), count.item() - 1)
    return e.Min(e.Max(x, e.constant(-count, work)), e.constant(count - 1, work))


def _known_clamped(indices: np.ndarray, count: np.ndarray) -> Array:
    wide = indices.astype(np.int64)
    return np.asarray(np.clip(np.where(wide < 0, wide + count, wide), 0, count - 1))


def _are_inside(indices: Tensor, sizes: npt.ArrayLike) -> bool:
    """Whether indices are known to lie in [-size, size - 1]; ``sizes`` broadcast to them."""
    if indices.value is None:
        return False
    wide, count = indices.value.astype(np.int64), np.asarray(sizes, np.int64)
    return bool(((wide >= -count) & (wide < count)).all())


def _is_open(e: Emitter, indices: Tensor) -> bool:
    """Whether the model leaves open what indices outside mean: a default one does of those that only the run tells."""
    return indices.value is None and not e.exact


def _is_free(node: Operands, e: Emitter, indices: Tensor, sizes: npt.ArrayLike) -> bool:
    """Whether indices may lie outside, and what they then mean is known and to be kept."""
    is_kept = not _is_open(e, indices) and node.op.tensor("InputTensor").is_packed
    return is_kept and not _are_inside(indices, sizes)


def _safe(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Indices as ONNX takes them, in an exact model none of which stops the session."""
    return _for_onnx(e, indices) if _is_open(e, indices) else _clamped(e, indices, sizes)


def _offsets(
    e: Emitter, start: Array, steps: Sequence[tuple[Tensor, int]], most: int, dtype: DType | None = None
) -> Tensor:
    """Flat offsets: ``start`` plus each place times its stride, in UINT32, at most ``most``; as indices for ONNX."""
    e.budget.require(start.size)
    parts = [place if stride == 1 else e.Mul(place, e.constant(stride, UINT32)) for place, stride in steps]
    total = reduce(e.Add, parts if not start.any() else [e.constant(start.astype(UINT32)), *parts])
    total = e.Expand(total, broadcast_shape(total.shape, start.shape))
    return e.Cast(e.Min(total, e.constant(most, UINT32)), dtype or _index_type(most + 1))


def _starts(e: Emitter, rows: int, step: int, count: int) -> Array:
    """The flat offsets of ``count`` elements in each of ``rows`` that are ``step`` apart."""
    e.budget.require(rows * count)
    starts: Array = np.arange(rows).reshape(-1, 1, 1) * step + np.arange(count)
    return starts


def _by_offset(e: Emitter, x: Tensor, start: Array, steps: Sequence[tuple[Tensor, int]]) -> Tensor:
    """Elements of all of ``x`` by their flat offset, beyond the end the last one."""
    e.note("indices known only at run time may lie outside: elements are found by their flat offset")
    offsets = _offsets(e, start, steps, x.size - 1)
    flat = e.GatherElements(e.Reshape(x, (x.size,)), e.Reshape(offsets, (offsets.size,)), 0)
    return e.Reshape(flat, offsets.shape)


def _aligned(e: Emitter, x: Tensor, sizes: tuple[int, ...], shape: tuple[int, ...] | None = None) -> Tensor:
    """``x``, or it in a shape, some of whose axes may be broadcast, behind as many leading ones as ``sizes`` has."""
    whole = x.shape if shape is None else shape
    shape = whole[max(len(whole) - len(sizes), 0) :]
    return e.Expand(e.Reshape(x, (1,) * (len(sizes) - len(shape)) + shape), sizes)


def _relevant(e: Emitter, x: Tensor, count: int) -> Tensor:
    """The last ``count`` axes, at the first coordinate of those in front."""
    front = x.rank - count
    first = e.Slice(x, (0,) * x.rank, (*(1,) * front, *x.shape[front:]))
    return e.Reshape(first, x.shape[front:])


# --- reading ---------------------------------------------------------------------------------------------------------


@lowers("GATHER", moves=("InputTensor",))
def gather(node: Operands, e: Emitter) -> Tensor:
    """Slices of the input along Axis, in the order of the indices: Gather.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_operator_desc
    """
    x, indices = node.broadcastable("InputTensor"), node.tensor("IndicesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    shape = indices.shape[indices.rank - node.op.uint("IndexDimensions") :]
    if x.value is not None and prod(x.shape[:axis]) == 1 and (*x.shape[:axis], *shape, *x.shape[axis + 1 :]) != sizes:
        # rows of a table: the indices keep their shape, since the result takes another one all the same
        x, axis, shape = e.Reshape(x, x.shape[axis:]), 0, indices.shape
    else:
        indices = e.Reshape(indices, shape or (1,))
    front, rest = x.shape[:axis], x.shape[axis + 1 :]
    if _is_free(node, e, indices, x.shape[axis]):
        inner = prod(rest)
        start = _starts(e, prod(front), x.shape[axis] * inner, inner)
        place = e.Reshape(from_start(e, indices, x.shape[axis]), (1, indices.size, 1))
        return e.Reshape(_by_offset(e, x, start, [(place, inner)]), sizes)
    if x.shape[axis] == 1:
        return _aligned(e, x, sizes, (*front, *(1,) * len(shape), *rest))
    whole = (*front, *shape, *rest)
    places = _safe(e, indices, x.shape[axis : axis + 1])
    if len(whole) > MAX_DIMENSIONS:
        places = e.Reshape(places, (places.size,))
    return _aligned(e, e.Gather(x, places, axis), sizes, whole)


@lowers("GATHER_ELEMENTS", moves=("InputTensor",))
def gather_elements(node: Operands, e: Emitter) -> Tensor:
    """``output[.., k, ..] = input[.., indices[.., k, ..], ..]``: GatherElements.

    Gather, which copies whole rows, where zero strides say that the indices do not vary along other dimensions.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_elements_operator_desc
    """
    x, indices = node.tensor("InputTensor"), node.broadcastable("IndicesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    if x.shape[axis] == 1:  # whatever the index is
        return x
    if _is_free(node, e, indices, x.shape[axis]):
        return _by_offset(e, x, _start(e, x.shape, sizes, axis), [_step(e, indices, x.shape, axis)])
    places = _safe(e, indices, x.shape[axis : axis + 1])
    if places.size == places.shape[axis] < prod(sizes):
        return e.Gather(x, e.Reshape(places, (places.size,)), axis)
    return e.GatherElements(x, e.Expand(places, sizes), axis)


def _start(e: Emitter, shape: tuple[int, ...], sizes: tuple[int, ...], axis: int) -> Array:
    """The flat offsets in a tensor of ``shape`` of elements of ``sizes``, but for their place along an axis."""
    e.budget.require(prod(sizes) // sizes[axis])
    start = np.zeros((1,) * len(shape), np.int64)
    for i, stride in enumerate(packed_strides(shape)):
        if i != axis:
            start = start + np.arange(sizes[i]).reshape([-1 if i == d else 1 for d in range(len(shape))]) * stride
    return start


def _step(e: Emitter, indices: Tensor, shape: tuple[int, ...], axis: int) -> tuple[Tensor, int]:
    return from_start(e, indices, shape[axis]), packed_strides(shape)[axis]


@lowers("GATHER_ND", "GATHER_ND1", moves=("InputTensor",))
def gather_nd(node: Operands, e: Emitter) -> Tensor:
    """What each tuple of coordinates points to, behind common batch dimensions: GatherND.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_nd1_operator_desc
    """
    op, sizes = node.op, node.output().sizes
    x = _relevant(e, node.tensor("InputTensor"), op.uint("InputDimensionCount"))
    indices = _relevant(e, node.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    batches = op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    length = indices.shape[-1]
    named = x.shape[batches : batches + length]
    if _is_free(node, e, indices, named):
        rows, inner = prod(x.shape[:batches]), prod(x.shape[batches + length :])
        start = _starts(e, rows, x.size // rows, inner)
        columns = _columns(e, indices, x.shape[batches:], rows)
        return e.Reshape(_by_offset(e, x, start, columns), sizes)
    places = _safe(e, indices, named)
    if places.rank == 1:  # a single tuple: no runtime has to know of scalars
        places = e.Reshape(places, (1, length))
    return _aligned(e, e.GatherND(x, e.Cast(places, INT64), batches), sizes)


def _columns(
    e: Emitter, indices: Tensor, sizes: tuple[int, ...], rows: int, width: int = 1
) -> list[tuple[Tensor, int]]:
    """Each coordinate of the tuples along the last axis, as (rows, tuple, 1), and its stride in blocks of ``width``."""
    length = indices.shape[-1]
    count = prod(indices.shape[:-1])
    parts = e.Split(e.Reshape(indices, (count, length)), (1,) * length, 1)
    strides = packed_strides(sizes)
    return [
        (e.Reshape(from_start(e, part, size), (rows, count // rows, 1)), stride // width)
        for part, size, stride in zip(parts, sizes, strides, strict=False)
    ]


# --- writing ---------------------------------------------------------------------------------------------------------


@lowers("SCATTER", moves=("InputTensor", "UpdatesTensor"))
def scatter(node: Operands, e: Emitter) -> Tensor:
    """The input with updates put along Axis: ScatterElements.

    Where computed indices could lie outside, by flat offset into a copy with one more place, which is cut off.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_scatter_operator_desc
    """
    x, updates, axis = node.tensor("InputTensor"), node.tensor("UpdatesTensor"), node.op.uint("Axis")
    indices, size = node.tensor("IndicesTensor"), x.shape[axis]
    if size == 1:  # whatever the index is
        return e.ScatterElements(x, e.constant(np.zeros(indices.shape, np.int64)), updates, axis)
    if _is_open(e, indices) or _are_inside(indices, size):
        return e.ScatterElements(x, _for_onnx(e, indices), updates, axis)
    e.note("indices known only at run time may lie outside: one more place takes their updates")
    step = _step(e, indices, x.shape, axis)
    offsets = _offsets(e, _start(e, x.shape, indices.shape, axis), [step], x.size)
    longer = _with_one_more(e, e.Reshape(x, (x.size, 1)))
    y = e.ScatterElements(
        e.Reshape(longer, (x.size + 1,)),
        e.Reshape(offsets, (offsets.size,)),
        e.Reshape(updates, (updates.size,)),
    )
    return e.Reshape(e.Slice(y, (0,), (x.size,)), x.shape)


def _with_one_more(e: Emitter, rows: Tensor) -> Tensor:
    """Rows and one more, whatever is in it."""
    return e.Concat([rows, e.Slice(rows, (0, 0), (1, rows.shape[1]))], 0)


@lowers("SCATTER_ND", moves=("InputTensor", "UpdatesTensor"))
def scatter_nd(node: Operands, e: Emitter) -> Tensor:
    """The input with updates put where tuples of coordinates point to: ScatterND.

    Where computed ones could point outside, by the number of their row into a copy with one more row.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_scatter_nd_operator_desc
    """
    op, x = node.op, node.tensor("InputTensor")
    indices = _relevant(e, node.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    sizes = x.shape[x.rank - op.uint("InputDimensionCount") :]
    length, tuples = indices.shape[-1], prod(indices.shape[:-1])
    updates, width = node.tensor("UpdatesTensor"), prod(sizes[length:])
    if _is_open(e, indices) or _are_inside(indices, sizes[:length]):
        shape = (*indices.shape[:-1], *sizes[length:])
        y = e.ScatterND(e.Reshape(x, sizes), e.Cast(_for_onnx(e, indices), INT64), e.Reshape(updates, shape))
        return e.Reshape(y, x.shape)
    e.note("indices known only at run time may lie outside: one more row takes their updates")
    count = x.size // width
    columns = _columns(e, indices, sizes, 1, width)
    numbers = e.Reshape(_offsets(e, np.zeros((1, 1, 1), np.int64), columns, count, INT64), (tuples, 1))
    rows = _with_one_more(e, e.Reshape(x, (count, width)))
    y = e.ScatterND(rows, numbers, e.Reshape(updates, (tuples, width)))
    return e.Reshape(e.Slice(y, (0, 0), (count, width)), x.shape)


# --- making and finding ----------------------------------------------------------------------------------------------


@lowers("ONE_HOT", moves=("ValuesTensor",))
def one_hot(node: Operands, e: Emitter) -> Tensor:
    """On where the coordinate along Axis is the index, else off: OneHot.

    An index outside is no coordinate and leaves its whole sequence off [decision X9].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_one_hot_operator_desc
    """
    indices, values = node.broadcastable("IndicesTensor"), node.tensor("ValuesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    return e.OneHot(indices, sizes[axis], e.Reshape(values, (values.size,)), axis)


@lowers("NONZERO_COORDINATES")
def nonzero_coordinates(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """How many elements are not 0, and their coordinates in row-major order; unused rows are 0 [decision X20].

    NonZero has a result of unknown size. Here a running count says where the number of each element goes, those of
    zeros, set to 0, to the end, and divisions make coordinates of numbers.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_nonzero_coordinates_operator_desc
    """
    x, desc = node.widened(node.tensor("InputTensor")), node.output("OutputCoordinatesTensor")
    count, dtype = x.size, _index_type(x.size)
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
    """The row of coordinates for each row-major number."""
    if len(sizes) == 1:
        return numbers
    rank, count = len(sizes), numbers.size
    numbers = e.Reshape(numbers, (1, count))
    # one row per dimension, so that each division has a single divisor
    quotients = e.Div(numbers, e.constant(np.reshape(packed_strides(sizes), (rank, 1)), numbers.dtype))
    whole = e.Mul(
        e.Slice(quotients, (0, 0), (rank - 1, count)), e.constant(np.reshape(sizes[1:], (-1, 1)), numbers.dtype)
    )
    rest = e.Sub(e.Slice(quotients, (1, 0), (rank, count)), whole)
    return e.Transpose(e.Concat([e.Slice(quotients, (0, 0), (1, count)), rest], 0), (1, 0))
