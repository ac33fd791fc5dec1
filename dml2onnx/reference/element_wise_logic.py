"""ELEMENT_WISE operators on truth values and bits: comparisons, logic, selection, tests of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.numeric import as_integers
from dml2onnx.reference.registry import Array, Inputs, Mask, Outputs, Result, reference

Bits: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

_COMPARISONS: dict[str, Callable[[Any, Any], Mask]] = {
    "ELEMENT_WISE_LOGICAL_EQUALS": np.equal,
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": np.greater,
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": np.greater_equal,
    "ELEMENT_WISE_LOGICAL_LESS_THAN": np.less,
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": np.less_equal,
}

_CONNECTIVES: dict[str, Callable[[Mask, Mask], Mask]] = {
    "ELEMENT_WISE_LOGICAL_AND": np.logical_and,
    "ELEMENT_WISE_LOGICAL_OR": np.logical_or,
    "ELEMENT_WISE_LOGICAL_XOR": np.logical_xor,
}

_BITWISE: dict[str, Callable[[Bits, Bits], Bits]] = {
    "ELEMENT_WISE_BIT_AND": np.bitwise_and,
    "ELEMENT_WISE_BIT_OR": np.bitwise_or,
    "ELEMENT_WISE_BIT_XOR": np.bitwise_xor,
}


def _truth(op: OperatorDesc, holds: Mask) -> Outputs:
    """1 or 0 in the type of the output (decision G10)."""
    return {"OutputTensor": Result(holds.astype(op.tensor("OutputTensor").data_type.dtype))}


@reference(*_COMPARISONS)
def compare(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Whether ``a`` is equal to, greater or less than ``b``; false for NaN (decisions E22, E31, G10)."""
    return _truth(op, _COMPARISONS[op.type](inputs.tensor("ATensor"), inputs.tensor("BTensor")))


@reference(*_CONNECTIVES)
def connect(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """AND, OR, XOR; every nonzero value is true (decision G10)."""
    a, b = (inputs.tensor(name) != 0 for name in ("ATensor", "BTensor"))
    return _truth(op, _CONNECTIVES[op.type](a, b))


@reference("ELEMENT_WISE_LOGICAL_NOT")
def logical_not(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """1 for 0, else 0 (decision G10)."""
    return _truth(op, inputs.tensor("InputTensor") == 0)


@reference("ELEMENT_WISE_IF")
def select(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``a`` where the condition is not 0, else ``b`` (decision E23)."""
    condition, a, b = (inputs.tensor(name) for name in ("ConditionTensor", "ATensor", "BTensor"))
    return {"OutputTensor": Result(np.where(condition != 0, a, b))}


@reference("ELEMENT_WISE_IS_NAN")
def is_nan(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """1 for NaN, else 0 (decision E24)."""
    x = inputs.tensor("InputTensor")
    return _truth(op, x != x)


@reference("ELEMENT_WISE_IS_INFINITY")
def is_infinity(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """1 for an infinity of a sign that InfinityMode accepts, else 0 (decision E24)."""
    x, mode = inputs.tensor("InputTensor"), op.enum("InfinityMode")
    positive, negative = x == np.inf, x == -np.inf
    return _truth(op, (positive & (mode != "NEGATIVE")) | (negative & (mode != "POSITIVE")))


def _bits(x: Array) -> Bits:
    """The stored bits; only the width of the data type matters (decision E15)."""
    bits: Bits = x.view(f"u{x.dtype.itemsize}")
    return bits


def _any_nan(*operands: Array) -> Mask | None:
    """Where an operand is NaN. IEEE 754-2019 (6.2.3) leaves the bits of a computed NaN open."""
    marks: Mask | None = None
    for x in operands:
        if x.dtype.kind == "f" and np.isnan(x).any():
            marks = np.isnan(x) if marks is None else marks | np.isnan(x)
    return marks


@reference(*_BITWISE)
def bitwise(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``a & b``, ``a | b``, ``a ^ b`` of the stored bits (decision E15)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    return {"OutputTensor": Result(_BITWISE[op.type](_bits(a), _bits(b)).view(a.dtype), None, _any_nan(a, b))}


@reference("ELEMENT_WISE_BIT_NOT")
def bit_not(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``~x`` of the stored bits (decision E15)."""
    x = inputs.tensor("InputTensor")
    return {"OutputTensor": Result((~_bits(x)).view(x.dtype), None, _any_nan(x))}


@reference("ELEMENT_WISE_BIT_COUNT")
def bit_count(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The number of stored bits that are 1 (decision E15)."""
    x = np.ascontiguousarray(inputs.tensor("InputTensor"))
    bits = np.unpackbits(x[..., np.newaxis].view(np.uint8), axis=-1)
    count = bits.sum(axis=-1, dtype=op.tensor("OutputTensor").data_type.dtype)
    return {"OutputTensor": Result(count, None, _any_nan(x))}


@reference("ELEMENT_WISE_BIT_SHIFT_LEFT", "ELEMENT_WISE_BIT_SHIFT_RIGHT")
def bit_shift(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``a << b`` or ``a >> b``, with the count modulo the width, at least 32 bits (decision E14)."""
    a, b = (as_integers(inputs.tensor(name)) for name in ("ATensor", "BTensor"))
    wide = np.promote_types(a.dtype, np.uint32).type
    count = b.astype(wide) % wide(wide().itemsize * 8)
    shifted = a.astype(wide) << count if op.type.endswith("LEFT") else a.astype(wide) >> count
    # ONNX defines no result for counts of the width or more
    beyond: Mask = b >= b.dtype.type(8 * a.dtype.itemsize)
    # DirectML was seen to truncate 64-bit counts to 6 bits in one half and to 5 in the other
    undefined: Mask = beyond & (a.dtype.itemsize == 8)
    return {"OutputTensor": Result(shifted.astype(a.dtype), None, undefined if undefined.any() else None, beyond)}
