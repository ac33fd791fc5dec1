"""ELEMENT_WISE operators on one or two tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, isnan

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.operator import OperatorDesc, Scalar, ScaleBias
from dml2onnx.legalise.formulas import integer_limits, truncated
from dml2onnx.lowering.activation import affine, apply_activation, clamp
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT, DType

_ARITHMETIC: Mapping[str, Callable[[Emitter, Tensor, Tensor], Tensor]] = {
    "ADD": Emitter.Add,
    "DIVIDE": Emitter.Div,
    "MULTIPLY": Emitter.Mul,
    "SUBTRACT": Emitter.Sub,
}


@lowers(*(f"ELEMENT_WISE_{name}" for name in ("ADD", "ADD1", "SUBTRACT", "MULTIPLY", "DIVIDE")))
def arithmetic(node: Operands, e: Emitter) -> Tensor:
    """``ATensor + BTensor`` and so on: Add, Sub and Mul, in which integers wrap [decision G2], and Div.

    The activation of ADD1 is computed before broadcasting. Integer division truncates [decisions E1 to E3].
    """
    name = node.op.type.removeprefix("ELEMENT_WISE_")
    y = _ARITHMETIC[name.rstrip("1")](e, *operands(node))
    return apply_activation(e, node.op.activation(), y) if name == "ADD1" else y


def _copied(op: OperatorDesc) -> tuple[str, ...]:
    return ("InputTensor",) if is_unscaled(op.scale_bias()) else ()


@lowers("ELEMENT_WISE_IDENTITY", moves=_copied)
def identity(node: Operands, e: Emitter) -> Tensor:
    """``InputTensor * Scale + Bias``; without ScaleBias a copy of the bits, which needs no node [decision X24]."""
    factors = node.op.scale_bias()
    if is_unscaled(factors):
        return node.tensor("InputTensor")
    x = node.widened(node.broadcastable("InputTensor"))
    return scaled(e, x, factors)


@lowers("ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1")
def clip(node: Operands, e: Emitter) -> Tensor:
    """``max(Min, min(x * Scale + Bias, Max))`` with bounds of the tensor's type [decision E7]: Clip."""
    x = scaled(e, node.widened(node.broadcastable("InputTensor")), node.op.scale_bias())
    low, high = limits(node.op, node.output().data_type.dtype)
    # min ignores NaN, so that the result is the maximum of both bounds
    return e.unless_nan(x, clamp(e, x, low, high), max(high, low))


def operands(node: Operands) -> tuple[Tensor, Tensor]:
    """Returns ATensor and BTensor in the type for arithmetic."""
    return node.widened(node.broadcastable("ATensor")), node.widened(node.broadcastable("BTensor"))


# --- ScaleBias -------------------------------------------------------------------------------------------------------


def is_unscaled(factors: ScaleBias | None) -> bool:
    """Whether ``x * Scale + Bias`` is ``x``."""
    return factors is None or (factors.scale, factors.bias) == (1, 0)


def scaled(e: Emitter, x: Tensor, factors: ScaleBias | None) -> Tensor:
    """``x * Scale + Bias`` in the type of ``x``, the first step of operators with a ScaleBias [decisions G3, G4].

    Integers wrap for whole factors; for fractional factors they are converted to FLOAT32 and back as by CAST.
    """
    if factors is None or is_unscaled(factors):
        return x
    scale, bias = factors.scale, factors.bias
    if x.dtype.kind == "f":
        return affine(e, x, scale, bias)
    if scale.is_integer() and bias.is_integer():
        product = e.Mul(x, e.constant(_low_bits(scale, x.dtype)))
        return product if bias == 0 else e.Add(product, e.constant(_low_bits(bias, x.dtype)))
    e.note("fractional factors on integers: computed in FLOAT32, then truncated")
    y = affine(e, e.Cast(x, FLOAT), scale, bias)
    if not (isfinite(scale) and isfinite(bias)):
        y = e.Where(e.IsNaN(y), e.constant(0, FLOAT), y)
    return truncated(e, y, x.dtype)


def _low_bits(whole: float, dtype: DType) -> np.ndarray:
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return np.asarray(int(whole) % (1 << 8 * dtype.itemsize), unsigned).view(dtype)


# --- CLIP ------------------------------------------------------------------------------------------------------------


def limits(op: OperatorDesc, dtype: DType) -> tuple[float, float]:
    """Returns Min and Max, which are FLOAT in the first version of an operator and scalars in later ones."""
    low, high = (op.get(name) for name in ("Min", "Max"))
    if isinstance(low, Scalar) and isinstance(high, Scalar):
        return low.value, high.value
    floats = op.float("Min"), op.float("Max")
    if dtype.name == "float16":
        # DirectML makes these bounds finite, so that infinities are clipped too [decision E7]
        largest = float(np.finfo(np.float16).max)
        floats = float(np.clip(floats[0], -largest, largest)), float(np.clip(floats[1], -largest, largest))
    return bound(floats[0], dtype), bound(floats[1], dtype)


def bound(value: float, dtype: DType) -> float:
    """Converts a FLOAT attribute to the tensor's type; integers saturate [decision E7]."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(np.asarray(value, dtype))
    low, high = integer_limits(dtype)
    return 0 if isnan(value) else int(min(max(value, low), high))


def fill(value: float, dtype: DType) -> float:
    """Converts a FLOAT attribute to the value of an element; integers wrap [decisions D7 and X18]."""
    if dtype.kind == "f" or not isfinite(value):
        return bound(value, dtype)
    low, high = integer_limits(dtype)
    return int((int(value) - low) % (high - low + 1) + low)
