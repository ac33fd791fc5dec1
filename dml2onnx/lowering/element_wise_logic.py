"""ELEMENT_WISE operators for comparisons, selection, tests and bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.bits import bit_counts
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import BOOL

_COMPARISONS: Mapping[str, Callable[[Emitter, Tensor, Tensor], Tensor]] = {
    "ELEMENT_WISE_LOGICAL_EQUALS": Emitter.Equal,
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": Emitter.Greater,
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": Emitter.GreaterOrEqual,
    "ELEMENT_WISE_LOGICAL_LESS_THAN": Emitter.Less,
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": Emitter.LessOrEqual,
}

_CONNECTIVES: Mapping[str, Callable[[Emitter, Tensor, Tensor], Tensor]] = {
    "ELEMENT_WISE_LOGICAL_AND": Emitter.And,
    "ELEMENT_WISE_LOGICAL_OR": Emitter.Or,
    "ELEMENT_WISE_LOGICAL_XOR": Emitter.Xor,
}

_BIT_OPERATORS: Mapping[str, Callable[[Emitter, Tensor, Tensor], Tensor]] = {
    "ELEMENT_WISE_BIT_AND": Emitter.BitwiseAnd,
    "ELEMENT_WISE_BIT_OR": Emitter.BitwiseOr,
    "ELEMENT_WISE_BIT_XOR": Emitter.BitwiseXor,
}

# --- truth values ----------------------------------------------------------------------------------------------------


@lowers(*_COMPARISONS)
def comparison(node: Operands, e: Emitter) -> Tensor:
    """1 where the comparison of ATensor with BTensor is true, else 0, also for NaN [decision E22].

    The ONNX operator of the same name, and a Cast.
    """
    return _COMPARISONS[node.op.type](e, node.broadcastable("ATensor"), node.broadcastable("BTensor"))


@lowers(*_CONNECTIVES)
def connective(node: Operands, e: Emitter) -> Tensor:
    """And, Or and Xor; any value but 0 is true [decision G10]."""
    a, b = (is_true(e, node.broadcastable(name)) for name in ("ATensor", "BTensor"))
    return _CONNECTIVES[node.op.type](e, a, b)


@lowers("ELEMENT_WISE_LOGICAL_NOT")
def logical_not(node: Operands, e: Emitter) -> Tensor:
    """1 for 0, and 0 for all other values: Not."""
    return e.Not(is_true(e, node.broadcastable("InputTensor")))


@lowers("ELEMENT_WISE_IS_NAN")
def is_nan(node: Operands, e: Emitter) -> Tensor:
    """1 for NaN, else 0: IsNaN."""
    return e.IsNaN(node.broadcastable("InputTensor"))


@lowers("ELEMENT_WISE_IS_INFINITY")
def is_infinity(node: Operands, e: Emitter) -> Tensor:
    """1 for infinities with the sign that InfinityMode selects, else 0: IsInf."""
    mode = node.op.enum("InfinityMode")
    return e.IsInf(node.broadcastable("InputTensor"), negative=mode != "POSITIVE", positive=mode != "NEGATIVE")


@lowers("ELEMENT_WISE_IF", moves=("ATensor", "BTensor"))
def if_(node: Operands, e: Emitter) -> Tensor:
    """ATensor where the condition is not 0, else BTensor; the other one has no effect [decision E23].

    Where; GatherElements for bits of floats.
    """
    condition = is_true(e, node.broadcastable("ConditionTensor"))
    choose = e.Choose if node.moves_bits_of_floats() else e.Where
    return choose(condition, node.broadcastable("ATensor"), node.broadcastable("BTensor"))


def is_true(e: Emitter, x: Tensor) -> Tensor:
    """Casts unsigned truth values to BOOL."""
    return e.Cast(x, BOOL)


# --- bits ------------------------------------------------------------------------------------------------------------


@lowers(*_BIT_OPERATORS, by_bits=True)
def bit_operator(node: Operands, e: Emitter) -> Tensor:
    """BitwiseAnd, BitwiseOr and BitwiseXor, for floats of their bits as integers [decision E15]."""
    a, b = node.bits("ATensor"), node.bits("BTensor")
    _note_bits_of_floats(node, e, "ATensor")
    return _BIT_OPERATORS[node.op.type](e, a, b)


@lowers("ELEMENT_WISE_BIT_NOT", by_bits=True)
def bit_not(node: Operands, e: Emitter) -> Tensor:
    """BitwiseNot, for floats of their bits as integers [decision E15]."""
    x = node.bits("InputTensor")
    _note_bits_of_floats(node, e, "InputTensor")
    return e.BitwiseNot(x)


@lowers("ELEMENT_WISE_BIT_SHIFT_LEFT", "ELEMENT_WISE_BIT_SHIFT_RIGHT")
def bit_shift(node: Operands, e: Emitter) -> Tensor:
    """BitShift [decision E14]."""
    a, b, out = node.broadcastable("ATensor"), node.broadcastable("BTensor"), node.output()
    direction: Literal["LEFT", "RIGHT"] = "LEFT" if node.op.type.endswith("LEFT") else "RIGHT"
    return e.Cast(e.BitShift(a, e.Cast(b, a.dtype), direction), out.data_type.dtype)


@lowers("ELEMENT_WISE_BIT_COUNT", by_bits=True)
def bit_count(node: Operands, e: Emitter) -> Tensor:
    """The number of bits that are set, for floats in their bits as integers [decision E15]."""
    x, out = node.bits("InputTensor"), node.output()
    _note_bits_of_floats(node, e, "InputTensor")
    return e.Cast(bit_counts(e, x), out.data_type.dtype)


def _note_bits_of_floats(node: Operands, e: Emitter, field: str) -> None:
    if node.op.tensor(field).data_type.is_float:
        e.note("ONNX has no operator for the bits of floats: they are computed, and NaNs lose their payload")
