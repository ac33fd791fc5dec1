"""GATHER, SCATTER and their relatives, ONE_HOT, NONZERO_COORDINATES: elements by index.

Indices of signed types count from the end where negative. ONNX counts so too, and leaves open what an index outside
gives: ONNX Runtime refuses to run with one. DirectML clamps what is read and drops what is written there [decisions X1
to X3, X8], and so do exact models. Constant indices are brought into range when compiling.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.tensor import packed_strides
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import DOUBLE, FLOAT, INT64
from dml2onnx.targets import Quirk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.lowering.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands
    from dml2onnx.model import Array, DType

INT32: DType = np.dtype(np.int32)
UINT32: DType = np.dtype(np.uint32)
_WHOLE_FLOATS = 1 << 24
"""Up to here FLOAT has every whole number."""


# --- indices ---------------------------------------------------------------------------------------------------------


def _index_type(largest: int) -> DType:
    """INT32 where it holds the largest index: half the memory."""
    return INT32 if largest < 1 << 31 else INT64


def _clamped(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """Indices that ONNX Runtime accepts for axes of ``sizes``: one for all, or one for each of the last axis.

    They lie in [-size, size - 1]: negative ones need no node, ONNX counts them from the end as DirectML does.
    """
    count = np.array(sizes[:1] if len(set(sizes)) == 1 else sizes, np.int64)
    if indices.value is not None:
        return e.positions(_known_clamped(indices.value, count))
    if not e.exact:
        return _as_index(e, indices)
    if indices.dtype.kind == "u":
        return e.Cast(e.Min(indices, e.constant(count - 1, indices.dtype)), _index_type(max(sizes)))
    # ONNX Runtime orders some INT64 numbers wrongly; those that DOUBLE rounds lie outside any axis before and after
    work = indices.dtype if indices.dtype == INT32 and max(sizes) < 1 << 31 else DOUBLE
    x = e.Cast(indices, work)
    if count.size == 1:
        x = e.Clip(x, -count.item(), count.item() - 1)
    else:
        x = e.Min(e.Max(x, e.constant(-count, work)), e.constant(count - 1, work))
    return x if work == INT32 else e.Cast(x, INT64)


def _as_index(e: Emitter, indices: Tensor) -> Tensor:
    """Indices in a type that ONNX takes."""
    return indices if indices.dtype in (INT32, INT64) else e.Cast(indices, INT64)


def _known_clamped(indices: np.ndarray, count: np.ndarray) -> Array:
    if indices.dtype.kind == "u":
        return np.asarray(np.minimum(indices, (count - 1).astype(indices.dtype)), np.int64)
    wide = indices.astype(np.int64)
    return np.asarray(np.clip(np.where(wide < 0, wide + count, wide), 0, count - 1))


def _slots(e: Emitter, indices: Tensor, sizes: npt.ArrayLike, dtype: DType) -> Tensor:
    """Indices counted from the start, and ``size`` itself for those outside; ``sizes`` broadcast to the indices."""
    count = np.asarray(sizes, np.int64)
    if indices.dtype == INT32 and count.max() >= 1 << 31:
        indices = e.Cast(indices, INT64)
    if indices.dtype.kind == "i":
        from_end = e.Add(indices, e.constant(count, indices.dtype))
        indices = e.Where(e.Less(indices, e.constant(0, indices.dtype)), from_end, indices)
        # what is still negative becomes a large number
        indices = e.Cast(indices, np.dtype(f"u{indices.dtype.itemsize}"))
    return e.Cast(e.Min(indices, e.constant(count, indices.dtype)), dtype)


def _aligned(e: Emitter, x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """``x``, some of whose axes may be broadcast, behind as many leading ones as ``sizes`` has."""
    shape = x.shape[max(x.rank - len(sizes), 0) :]
    return e.Expand(e.Reshape(x, (1,) * (len(sizes) - len(shape)) + shape), sizes)


def _relevant(e: Emitter, x: Tensor, count: int) -> Tensor:
    """The last ``count`` axes, at the first coordinate of those in front."""
    front = x.rank - count
    first = e.Slice(x, (0,) * x.rank, (*(1,) * front, *x.shape[front:]))
    return e.Reshape(first, x.shape[front:])


# --- reading ---------------------------------------------------------------------------------------------------------


COLUMNS_WORTH_TURNING = 1 << 14
"""Elements from which on two Transposes cost less than copying elements one by one."""


@lowers("GATHER", moves=("InputTensor",))
def gather(node: Operands, e: Emitter) -> Tensor:
    """Slices of the input along Axis, in the order of the indices: Gather, or GatherElements from a vector.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_operator_desc
    """
    x, indices = node.broadcastable("InputTensor"), node.tensor("IndicesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    shape = indices.shape[indices.rank - node.op.uint("IndexDimensions") :]
    if x.shape[axis] == 1:
        whole = (*x.shape[:axis], *(1,) * len(shape), *x.shape[axis + 1 :])
        return _aligned(e, e.Reshape(x, whole), sizes)
    places = _clamped(e, e.Reshape(indices, shape or (1,)), x.shape[axis : axis + 1])
    whole = (*x.shape[:axis], *shape, *x.shape[axis + 1 :])
    return _aligned(e, e.Reshape(_gathered(e, x, places, axis), whole), sizes)


def _gathered(e: Emitter, x: Tensor, places: Tensor, axis: int) -> Tensor:
    """Gather, which is fast where it copies rows.

    On the CPU provider it takes ten times as long as need be for single elements: there a vector is gathered by
    GatherElements, and columns of a large tensor as the rows of its transpose.
    """
    if not e.target.has(Quirk.GATHER_ELEMENT_BY_ELEMENT):
        return e.Gather(x, places, axis)
    last = x.rank - 1
    if x.size > x.shape[axis]:
        few = min(x.size, x.size // x.shape[axis] * places.size) < COLUMNS_WORTH_TURNING
        if few or prod(x.shape[axis + 1 :]) > 1:
            return e.Gather(x, places, axis)
        rest = [i for i in range(x.rank) if i != axis]
        rows = e.Gather(e.Transpose(x, (axis, *rest)), places, 0)
        indices = tuple(range(places.rank))
        before = tuple(range(places.rank, places.rank + axis))
        after = tuple(range(places.rank + axis, places.rank + last))
        return e.Transpose(rows, (*before, *indices, *after))
    flat = e.GatherElements(e.Reshape(x, (x.size,)), e.Reshape(places, (places.size,)), 0)
    return e.Reshape(flat, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))


@lowers("GATHER_ELEMENTS", moves=("InputTensor",))
def gather_elements(node: Operands, e: Emitter) -> Tensor:
    """``output[.., k, ..] = input[.., indices[.., k, ..], ..]``: GatherElements.

    Gather, which copies whole rows, where zero strides say that the indices do not vary along other dimensions.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_elements_operator_desc
    """
    x, indices = node.tensor("InputTensor"), node.broadcastable("IndicesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    if x.shape[axis] == 1:
        return e.Expand(x, sizes)
    places = _clamped(e, indices, x.shape[axis : axis + 1])
    if places.size == places.shape[axis]:
        return e.Expand(_gathered(e, x, e.Reshape(places, (places.size,)), axis), sizes)
    return e.GatherElements(x, e.Expand(places, sizes), axis)


@lowers("GATHER_ND", "GATHER_ND1", moves=("InputTensor",))
def gather_nd(node: Operands, e: Emitter) -> Tensor:
    """What each tuple of coordinates points to, behind common batch dimensions: GatherND, or Gather along one axis.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gather_nd1_operator_desc
    """
    op = node.op
    x = _relevant(e, node.tensor("InputTensor"), op.uint("InputDimensionCount"))
    indices = _relevant(e, node.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    batches = op.uint("BatchDimensionCount") if op.has("BatchDimensionCount") else 0
    length = indices.shape[-1]
    places = _clamped(e, indices, x.shape[batches : batches + length])
    if length == 1 and prod(x.shape[:batches]) == 1 and e.exact:
        x = e.Reshape(x, x.shape[batches:])
        return _aligned(e, _gathered(e, x, e.Reshape(places, places.shape[:-1]), 0), node.output().sizes)
    return _aligned(e, e.GatherND(x, e.Cast(places, INT64), batches), node.output().sizes)


# --- writing ---------------------------------------------------------------------------------------------------------


@lowers("SCATTER", moves=("InputTensor", "UpdatesTensor"))
def scatter(node: Operands, e: Emitter) -> Tensor:
    """The input with updates put along Axis; those with an index outside are dropped [decision X8].

    ScatterElements; exactly, where computed indices could lie outside, into a copy with one more place, which is cut
    off.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_scatter_operator_desc
    """
    x, updates, axis = node.tensor("InputTensor"), node.tensor("UpdatesTensor"), node.op.uint("Axis")
    size, indices = x.shape[axis], node.tensor("IndicesTensor")
    if not e.exact and indices.value is None:
        return e.ScatterElements(x, _as_index(e, indices), updates, axis)
    slots = _slots(e, indices, size, _index_type(size))
    if _are_inside(slots, size):
        return e.ScatterElements(x, slots, updates, axis)
    e.note("indices known only at run time may lie outside: one more place along the axis takes their updates")
    one, whole = ((*x.shape[:axis], count, *x.shape[axis + 1 :]) for count in (1, size))
    longer = e.Concat([x, e.Slice(x, (0,) * x.rank, one)], axis)
    return e.Slice(e.ScatterElements(longer, slots, updates, axis), (0,) * x.rank, whole)


@lowers("SCATTER_ND", moves=("InputTensor", "UpdatesTensor"))
def scatter_nd(node: Operands, e: Emitter) -> Tensor:
    """The input with updates put where tuples of coordinates point to; those that point outside are dropped.

    ScatterND; exactly over rows, each tuple being the number of a row, and otherwise as SCATTER.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_scatter_nd_operator_desc
    """
    op, x = node.op, node.tensor("InputTensor")
    indices = _relevant(e, node.tensor("IndicesTensor"), op.uint("IndicesDimensionCount"))
    sizes = x.shape[x.rank - op.uint("InputDimensionCount") :]
    length, tuples = indices.shape[-1], prod(indices.shape[:-1])
    if not e.exact and (indices.value is None or _are_known_inside(indices.value, sizes)):
        updates = e.Reshape(node.tensor("UpdatesTensor"), (*indices.shape[:-1], *sizes[length:]))
        return e.Reshape(e.ScatterND(e.Reshape(x, sizes), e.Cast(indices, INT64), updates), x.shape)
    count, width = prod(sizes[:length]), prod(sizes[length:])
    numbers = _row_numbers(e, e.Reshape(indices, (tuples, length)), sizes[:length])
    updates = e.Reshape(node.tensor("UpdatesTensor"), (tuples, width))
    rows = e.Reshape(x, (x.size // width, width))
    if _are_inside(numbers, count):
        return e.Reshape(e.ScatterND(rows, numbers, updates), x.shape)
    e.note("indices known only at run time may lie outside: one more row takes their updates")
    longer = e.Concat([e.Slice(rows, (0, 0), (count, width)), e.Slice(rows, (0, 0), (1, width))], 0)
    y = e.Slice(e.ScatterND(longer, numbers, updates), (0, 0), (count, width))
    if count < rows.shape[0]:
        y = e.Concat([y, e.Slice(rows, (count, 0), rows.shape)], 0)
    return e.Reshape(y, x.shape)


def _row_numbers(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor:
    """The row-major number (INT64) of each tuple of coordinates, and how many there are for one that is outside."""
    if len(sizes) == 1:
        return _slots(e, indices, sizes, INT64)
    # one row per coordinate, so that each operation has long operands; of floats, which have a Min that can be trusted
    columns = [np.reshape(item, (-1, 1)) for item in (sizes, packed_strides(sizes))]
    exact = FLOAT if len(sizes) * prod(sizes) <= _WHOLE_FLOATS else DOUBLE
    slots = _slots(e, e.Transpose(indices, (1, 0)), columns[0], exact)
    count = e.constant(prod(sizes), exact)
    parts = e.Mul(slots, e.constant(columns[1], exact))
    parts = e.Where(e.Equal(slots, e.constant(columns[0], exact)), count, parts, no_minus_zero=True)
    return e.Reshape(e.Cast(e.Min(e.ReduceSum(parts, (0,)), count), INT64), (indices.shape[0], 1))


def _are_known_inside(indices: Array, sizes: Sequence[int]) -> bool:
    """Whether constant tuples of coordinates name places that are there."""
    limits = np.array(sizes[: indices.shape[-1]])
    wide = indices.astype(np.int64)
    return bool(((wide >= -limits) & (wide < limits)).all())


def _are_inside(slots: Tensor, size: int) -> bool:
    return slots.value is not None and bool((slots.value != size).all())


# --- making and finding ----------------------------------------------------------------------------------------------


@lowers("ONE_HOT", moves=("ValuesTensor",))
def one_hot(node: Operands, e: Emitter) -> Tensor:
    """On where the coordinate along Axis is the index, else off: OneHot.

    An index outside is no coordinate and leaves its whole sequence off [decision X9]. OneHot has a handful of types;
    for others, and exactly, GatherElements takes the one of the two values that Equal says.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_one_hot_operator_desc
    """
    indices, values = node.broadcastable("IndicesTensor"), node.tensor("ValuesTensor")
    axis, sizes = node.op.uint("Axis"), node.output().sizes
    if not e.exact and e.takes_one_hot(values.dtype) and indices.rank > 1:
        flat = e.Reshape(indices, (*indices.shape[:axis], *indices.shape[axis + 1 :]))
        pair = e.Slice(e.Reshape(values, (values.size,)), (0,), (2,))
        return e.Expand(e.OneHot(e.Cast(flat, INT64), sizes[axis], pair, axis), sizes)
    e.budget.require(sizes[axis])
    places = np.arange(sizes[axis]).reshape([-1 if i == axis else 1 for i in range(len(sizes))])
    if indices.dtype.kind == "i":
        from_end = e.Add(indices, e.constant(sizes[axis], indices.dtype))
        indices = e.Where(e.Less(indices, e.constant(0, indices.dtype)), from_end, indices)
    is_on = e.Equal(indices, e.constant(places.astype(indices.dtype)))
    which = e.Reshape(e.Cast(is_on, INT32), (is_on.size,))
    chosen = e.GatherElements(e.Reshape(values, (values.size,)), which, 0)
    return e.Expand(e.Reshape(chosen, is_on.shape), sizes)


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
