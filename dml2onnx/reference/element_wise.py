"""ELEMENT_WISE operators on one or two tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import FEW, ROUNDOFF
from dml2onnx.reference.activation import apply_activation
from dml2onnx.reference.numeric import (
    as_integers,
    limit,
    scale_and_bias_floats,
    scale_and_bias_integers,
    scaled_integers_in_doubt,
    widen,
)
from dml2onnx.reference.registry import Array, Inputs, Outputs, Result, reference


@reference("ELEMENT_WISE_IDENTITY")
def identity(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """A copy of the bits, or ``x * Scale + Bias`` (decisions G3, G4, X24)."""
    x, factors, data_type = inputs.tensor("InputTensor"), op.scale_bias(), op.tensor("InputTensor").data_type
    if factors is None:
        return {"OutputTensor": Result(x)}
    if data_type.is_float:
        return {"OutputTensor": scale_and_bias_floats(x, factors, data_type)}
    doubt = scaled_integers_in_doubt(x, factors, data_type)
    return {"OutputTensor": Result(scale_and_bias_integers(x, factors, data_type), None, doubt)}


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "ELEMENT_WISE_ADD": np.add,
    "ELEMENT_WISE_ADD1": np.add,
    "ELEMENT_WISE_MULTIPLY": np.multiply,
    "ELEMENT_WISE_SUBTRACT": np.subtract,
}


@reference(*_ARITHMETIC)
def arithmetic(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``a + b``, ``a - b``, ``a * b``, and for ADD1 ``FusedActivation(a + b)``; integers wrap (decisions G2, G6)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    combine = _ARITHMETIC[op.type]
    if a.dtype.kind != "f":
        return {"OutputTensor": Result(combine(as_integers(a), as_integers(b)))}
    y = combine(widen(a), widen(b))
    if op.type != "ELEMENT_WISE_ADD1":
        return {"OutputTensor": float_result(y)}
    # the sum is rounded once before the activation
    error = ROUNDOFF * np.abs(y) if op.activation() else None
    return {"OutputTensor": apply_activation(op.activation(), y, error)}


@reference("ELEMENT_WISE_DIVIDE")
def divide(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``a / b``; integers truncate toward zero (decisions E1 to E3, G7)."""
    a, b = inputs.tensor("ATensor"), inputs.tensor("BTensor")
    if a.dtype.kind == "f":
        y = widen(a) / widen(b)
        # a reciprocal and a product, accurate to a few units in the last place (decision G7)
        return {"OutputTensor": Result(y, FEW * np.abs(y))}
    return {"OutputTensor": _divide_integers(a, b)}


def _divide_integers(a: Array, b: Array) -> Result:
    n, d = as_integers(a), as_integers(b)
    signed = n.dtype.kind == "i"
    unspecified = d == 0
    quotient = n // np.where(d == 0, 1, d).astype(d.dtype)
    if signed:
        lowest = np.iinfo(n.dtype).min
        unspecified = unspecified | ((n == lowest) & (d == -1))
        rounded_down = (n != quotient * d) & ((n < 0) != (d < 0))
        quotient = quotient + rounded_down.astype(n.dtype)
    # dividing the magnitudes gives all ones, then the sign of the dividend applies (decision E2)
    if not signed:
        by_zero = np.full_like(n, np.iinfo(n.dtype).max)
    else:
        by_zero = np.where(n < 0, 1, -1).astype(n.dtype) * (a.dtype.itemsize < 8)
    return Result(np.where(d == 0, by_zero, quotient), None, unspecified)


@reference("ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1")
def clip(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``max(Min, min(x * Scale + Bias, Max))``, bounds converted to the tensor's type (decisions E6, E7, G1)."""
    return clipped(op, inputs, *bounds(op))


def bounds(op: OperatorDesc) -> tuple[Array, Array]:
    """Min and Max in the tensor's type, which second versions of operators store them in."""
    data_type = op.tensor("InputTensor").data_type
    if op.type.endswith("1"):
        low, high = (np.asarray(op.scalar(name).value, data_type.dtype) for name in ("Min", "Max"))
    else:
        low, high = (limit(op.float(name), data_type) for name in ("Min", "Max"))
    return low, high


def clipped(op: OperatorDesc, inputs: Inputs, low: Array, high: Array) -> Outputs:
    """``min(max(x, low), high)`` of the scaled input."""
    x, data_type = inputs.tensor("InputTensor"), op.tensor("InputTensor").data_type
    if not data_type.is_float:
        scaled = as_integers(scale_and_bias_integers(x, op.scale_bias(), data_type))
        y = np.maximum(as_integers(low), np.minimum(scaled, as_integers(high)))
        return {"OutputTensor": Result(y, None, scaled_integers_in_doubt(x, op.scale_bias(), data_type))}
    before = scale_and_bias_floats(x, op.scale_bias(), data_type)
    # max and min ignore NaN (decision G1)
    y = np.fmax(widen(low), np.fmin(before.values, widen(high)))
    # clipped elements have no error, but an x near a bound may or may not be clipped
    error = None if op.scale_bias() is None else before.error
    return {"OutputTensor": Result(y, error)}


def float_result(y: Array) -> Result:
    """A result of IEEE 754 whose only rounding is the last one."""
    return Result(y, np.zeros(y.shape))
