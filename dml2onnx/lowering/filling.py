"""Generated tensors: FILL_VALUE_CONSTANT, FILL_VALUE_SEQUENCE, DIAGONAL_MATRIX, RANDOM_GENERATOR.

Small tensors become constants of the model. Large ones are computed at run time from a column and a row that
broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import isfinite

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.element_wise import fill
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT, INT64, Array, DType

Choice = Callable[[Tensor, Tensor, Tensor], Tensor]
Steps = npt.NDArray[np.uint64]

_INT32 = np.dtype(np.int32)
_UINT32 = np.dtype(np.uint32)
_UINT64 = np.dtype(np.uint64)

_ROW = 1 << 12
"""Elements per row of a sequence."""

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


@lowers("FILL_VALUE_CONSTANT")
def fill_value_constant(node: Operands, e: Emitter) -> Tensor:
    """Value everywhere [decision X15]: a constant, or an Expand of one element."""
    output = node.output()
    return e.ConstantOfShape(output.sizes, node.op.scalar("Value").value, output.data_type.dtype)


# --- sequences -------------------------------------------------------------------------------------------------------


@lowers("FILL_VALUE_SEQUENCE")
def fill_value_sequence(node: Operands, e: Emitter) -> Tensor:
    """``ValueStart + k * ValueDelta``, k in row-major order; integers wrap [decision X14]: a constant, or Add.

    Adds the first number of each row and the offsets within a row: Range would accumulate rounding errors.
    """
    e.budget.require(node.output().element_count // _ROW)
    output, start, delta = node.output(), node.op.scalar("ValueStart").value, node.op.scalar("ValueDelta").value
    dtype, count = output.data_type.dtype, output.element_count
    if dtype.kind != "f":
        first, inside = _steps(count)
        rows, row = _multiples(first, int(delta), int(start), dtype), _multiples(inside, int(delta), 0, dtype)
        return _unrolled(e, e.Add(e.constant(rows), e.constant(row)), output.sizes)
    if not isfinite(delta):  # only the first element is NaN, as 0 * infinity
        parts = [e.constant([start + 0 * delta], FLOAT)]
        if count > 1:
            parts.append(e.ConstantOfShape((count - 1,), start + delta, FLOAT))
        return e.Reshape(e.Concat(parts, 0), output.sizes)
    first, inside = _steps(count)
    total = e.Add(e.constant(first * delta + start), e.constant(inside * delta))
    # no support table has FLOAT64
    return _unrolled(e, e.Cast(total, FLOAT), output.sizes)


def _steps(count: int) -> tuple[Steps, Steps]:
    """Returns UINT64 ``[rows, 1]`` and ``[1, columns]`` whose sums count from 0 to at least ``count - 1``."""
    columns = min(count, _ROW)
    rows = np.arange(-(-count // columns), dtype=np.uint64) * np.uint64(columns)
    return rows.reshape(-1, 1), np.arange(columns, dtype=np.uint64).reshape(1, -1)


def _multiples(steps: Steps, factor: int, term: int, dtype: DType) -> Array:
    """``steps * factor + term``, modulo 2 ** bits of the type."""
    with np.errstate(over="ignore"):
        wrapped = steps * np.uint64(factor % (1 << 64)) + np.uint64(term % (1 << 64))
    low_bits: Array = wrapped.astype(f"u{dtype.itemsize}").view(dtype)
    return low_bits


def _unrolled(e: Emitter, x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Returns the first elements of ``x`` in row-major order, in the shape ``sizes``."""
    count = int(np.prod(sizes, dtype=np.int64))
    return e.Reshape(e.Slice(e.Reshape(x, (x.size,)), (0,), (count,)), sizes)


# --- diagonals -------------------------------------------------------------------------------------------------------


@lowers("DIAGONAL_MATRIX", "DIAGONAL_MATRIX1", moves=("InputTensor",))
def diagonal_matrix(node: Operands, e: Emitter) -> Tensor:
    """Value where ``Begin <= column - row < End``, the input or 0 elsewhere; inverted if Begin > End.

    DIAGONAL_MATRIX has one diagonal and no input. Where, with a constant mask unless the matrix is large;
    GatherElements for bits of floats [decisions X16 to X18].
    """
    op, output = node.op, node.output()
    if op.type == "DIAGONAL_MATRIX":
        begin, end = op.uint("Offset"), op.uint("Offset") + 1
        number = fill(op.float("Value"), output.data_type.dtype)
    else:
        begin, end, number = op.uint("DiagonalFillBegin"), op.uint("DiagonalFillEnd"), op.scalar("Value").value
    value = e.constant(node.as_moved(number))
    x = node.broadcastable("InputTensor") if op.has("InputTensor") else e.constant(0, value.dtype)
    choose = e.Choose if node.moves_bits_of_floats() else e.Where
    inside, outside = (value, x) if begin <= end else (x, value)
    return _on_diagonals(e, output.sizes, min(begin, end), max(begin, end), inside, outside, choose)


def _on_diagonals(
    e: Emitter, sizes: tuple[int, ...], begin: int, end: int, inside: Tensor, outside: Tensor, choose: Choice
) -> Tensor:
    """``inside`` where ``begin <= column - row < end``, else ``outside``; both broadcast to ``sizes``."""
    height, width = sizes[-2:]
    begin, end = (min(max(diagonal, 1 - height), width) for diagonal in (begin, end))
    if begin >= end:
        return outside
    dtype = _INT32 if height + width < 1 << 31 else INT64
    e.budget.require(height + width)
    columns, rows = e.constant(np.arange(width), dtype), np.arange(height).reshape(-1, 1)
    from_begin, from_end = (e.constant(rows + diagonal, dtype) for diagonal in (begin, end))
    bounded = begin > 1 - height, end < width
    if end == begin + 1:
        mask = e.Equal(columns, from_begin)
    elif all(bounded):
        mask = e.And(e.GreaterOrEqual(columns, from_begin), e.Less(columns, from_end))
    elif any(bounded):
        mask = e.GreaterOrEqual(columns, from_begin) if bounded[0] else e.Less(columns, from_end)
    else:
        return inside
    return choose(mask, inside, outside)


# --- random numbers --------------------------------------------------------------------------------------------------


@lowers("RANDOM_GENERATOR")
def random_generator(node: Operands, e: Emitter) -> dict[str, Tensor]:
    """The words of the Philox4x32-10 blocks that follow the state's counter [decisions Z1, Z2, Z3].

    Integer arithmetic: one UINT32 tensor has words 1 and 3 of all blocks, another words 2 and 4.
    """
    output, state = node.output(), node.tensor("InputStateTensor")
    counter, key = e.Split(e.Cast(e.Reshape(state, (3, 2)), _UINT64), (2, 1), 0)
    blocks = -(-output.element_count // 4)
    words = philox_4x32_10(e, _advanced(e, counter, *_steps(blocks)), e.Reshape(key, (2, 1, 1)))
    results = {"OutputTensor": _unrolled(e, e.Transpose(e.Concat(words, 2), (1, 0, 2)), output.sizes)}
    if node.has_output("OutputStateTensor"):
        after = e.Concat(_words(e, _advanced(e, counter, np.array([[blocks]]))), 2)
        whole = e.Concat([e.Reshape(after, (2, 2)), e.Cast(key, _UINT32)], 0)
        results["OutputStateTensor"] = e.Reshape(whole, state.shape)
    return results


def _advanced(e: Emitter, counter: Tensor, *steps: Array) -> Tensor:
    """Adds ``steps``, whose sum is below 2**64, to the 128-bit counter; returns lower and upper halves as UINT64."""
    lower, upper = e.Split(counter, (1, 1), 1)
    low, high = e.Split(e.Add(lower, e.Mul(upper, e.constant(1 << 32, _UINT64))), (1, 1), 0)
    total = reduce(e.Add, (e.constant(step, _UINT64) for step in steps), low)
    halves = total, e.Add(high, e.Cast(e.Less(total, low), _UINT64))
    return e.Concat([e.Reshape(half, (1, half.size, 1)) for half in halves], 0)


def _words(e: Emitter, x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the lower and the upper half of UINT64 numbers."""
    return e.Cast(x, _UINT32), e.Cast(e.BitShift(x, e.constant(32, _UINT64), "RIGHT"), _UINT32)


def philox_4x32_10(e: Emitter, counters: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """Returns words 1 and 3, and words 2 and 4, of the block of each counter, as [2, blocks, 1].

    Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011), section 4.3.
    """
    offsets = np.array(_KEY_STEPS, np.uint64).reshape(2, 1, 1) * np.arange(_ROUNDS, dtype=np.uint64).reshape(1, -1, 1)
    keys = e.Split(e.Cast(e.Add(key, e.constant(offsets)), _UINT32), (1,) * _ROUNDS, 1)
    multipliers, swapped = e.constant(np.reshape(_MULTIPLIERS, (2, 1, 1)), _UINT64), e.constant([1, 0], INT64)
    first, second = _words(e, counters)
    for added in keys:
        product = e.Gather(e.Mul(e.Cast(first, _UINT64), multipliers), swapped)
        low, high = _words(e, product)
        first, second = e.BitwiseXor(high, second, added), low
    return first, second
