"""FILL_VALUE_CONSTANT, FILL_VALUE_SEQUENCE, DIAGONAL_MATRIX and RANDOM_GENERATOR."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import working_roundoff
from dml2onnx.reference.numeric import fill, sum_error
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference

Words: TypeAlias = npt.NDArray[np.uint64]
"""Numbers below ``2**32``, so that products of two are exact."""

WORD = 0xFFFFFFFF
PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
PHILOX_ROUNDS = 10


@reference("FILL_VALUE_CONSTANT")
def fill_value_constant(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Value everywhere (decision X15)."""
    output = op.tensor("OutputTensor")
    return {"OutputTensor": Result(np.full(output.sizes, op.scalar("Value").value, output.data_type.dtype))}


@reference("FILL_VALUE_SEQUENCE")
def fill_value_sequence(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``ValueStart + k * ValueDelta``, k in row-major order; integers wrap (decision X14)."""
    output = op.tensor("OutputTensor")
    start, delta = op.scalar("ValueStart").value, op.scalar("ValueDelta").value
    k = np.arange(output.element_count, dtype=np.uint64).reshape(output.sizes)
    dtype = output.data_type.dtype
    if output.data_type.is_float:
        product = k.astype(np.float64) * delta
        # the index, its product and the sum are rounded
        error = sum_error(2, np.abs(product) + abs(start), working_roundoff(output.data_type))
        return {"OutputTensor": Result(product + start, error)}
    wrapped = np.uint64(int(start) % 2**64) + k * np.uint64(int(delta) % 2**64)
    return {"OutputTensor": Result(wrapped.astype(f"u{dtype.itemsize}").view(dtype))}


@reference("DIAGONAL_MATRIX")
def diagonal_matrix(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Value where ``column - row == Offset`` and 0 elsewhere, in every matrix (decisions X16, X18)."""
    output = op.tensor("OutputTensor")
    y = np.zeros(output.sizes, output.data_type.dtype)
    y[..., _diagonals(output.sizes) == op.uint("Offset")] = fill(op.float("Value"), output.data_type)
    return {"OutputTensor": Result(y)}


@reference("DIAGONAL_MATRIX1")
def diagonal_matrix1(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Value on the diagonals Begin to End, the input or 0 elsewhere; inverted when Begin > End (decision X17)."""
    output, x = op.tensor("OutputTensor"), inputs.optional("InputTensor")
    begin, end = op.uint("DiagonalFillBegin"), op.uint("DiagonalFillEnd")
    t = _diagonals(output.sizes)
    y = np.zeros(output.sizes, output.data_type.dtype) if x is None else x.copy()
    y[..., (end >= begin) ^ (t >= begin) ^ (t < end)] = op.scalar("Value").value
    return {"OutputTensor": Result(y)}


def _diagonals(sizes: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """``column - row`` of the elements of one matrix."""
    height, width = sizes[-2:]
    return np.arange(width) - np.arange(height)[:, None]


@reference("RANDOM_GENERATOR")
def random_generator(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The words of consecutive Philox4x32-10 blocks, starting at the state's counter (decisions Z1, Z2, Z3)."""
    output, state = op.tensor("OutputTensor"), inputs.tensor("InputStateTensor")
    *counter, key0, key1 = (int(word) for word in state.reshape(-1))
    first = sum(word << 32 * i for i, word in enumerate(counter))
    blocks = -(-output.element_count // 4)
    words = philox_4x32_10(_counters(first, blocks), (key0, key1))
    after = first + blocks
    new_state = [*(after >> 32 * i & WORD for i in range(4)), key0, key1]
    return {
        "OutputTensor": Result(words.reshape(-1)[: output.element_count].reshape(output.sizes)),
        "OutputStateTensor": Result(np.array(new_state, np.uint32).reshape(state.shape)),
    }


def _counters(first: int, count: int) -> Words:
    """``first``, ``first + 1``, ... modulo ``2**128`` as ``[count, 4]`` words, least significant first."""
    step = np.arange(count, dtype=np.uint64)
    low = step + np.uint64(first & WORD)
    high = np.full(count, first >> 32 & WORD, np.uint64) + (low >> np.uint64(32))
    words = [low, high]
    for i in (2, 3):
        words.append(np.full(count, first >> 32 * i & WORD, np.uint64) + (words[-1] >> np.uint64(32)))
    return np.stack(words, -1) & np.uint64(WORD)


def philox_4x32_10(counters: Words, key: tuple[int, int]) -> npt.NDArray[np.uint32]:
    """One block of four words per counter, ``[n, 4]``.

    Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011), section 4.3.
    """
    c0, c1, c2, c3 = counters.T
    low_word, shift = np.uint64(WORD), np.uint64(32)
    m0, m1 = (np.uint64(m) for m in PHILOX_MULTIPLIERS)
    for i in range(PHILOX_ROUNDS):
        k0, k1 = (np.uint64((k + i * step) & WORD) for k, step in zip(key, PHILOX_KEY_STEPS, strict=True))
        p0, p1 = m0 * c0, m1 * c2
        c0, c1, c2, c3 = (p1 >> shift) ^ c1 ^ k0, p1 & low_word, (p0 >> shift) ^ c3 ^ k1, p0 & low_word
    return np.stack((c0, c1, c2, c3), -1).astype(np.uint32)
