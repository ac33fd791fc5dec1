"""ACTIVATION operators, standalone and fused.

https://learn.microsoft.com/windows/ai/directml/dml-fused-activations
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.legalise.formulas import shrunk
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT

_ONE_NODE: Mapping[str, tuple[Callable[..., Tensor], tuple[str, ...]]] = {
    "ACTIVATION_CELU": (Emitter.Celu, ("Alpha",)),
    "ACTIVATION_ELU": (Emitter.Elu, ("Alpha",)),
    "ACTIVATION_HARD_SIGMOID": (Emitter.HardSigmoid, ("Alpha", "Beta")),
    "ACTIVATION_LEAKY_RELU": (Emitter.LeakyRelu, ("Alpha",)),
    "ACTIVATION_GELU": (Emitter.Gelu, ()),
    "ACTIVATION_RELU": (Emitter.Relu, ()),
    "ACTIVATION_SCALED_ELU": (Emitter.Selu, ("Alpha", "Gamma")),
    "ACTIVATION_SOFTSIGN": (Emitter.Softsign, ()),
    "ACTIVATION_SIGMOID": (Emitter.Sigmoid, ()),
    "ACTIVATION_TANH": (Emitter.Tanh, ()),
    "ACTIVATION_THRESHOLDED_RELU": (Emitter.ThresholdedRelu, ("Alpha",)),
}
"""Activations that map to one ONNX operator, and the fields that become its attributes, in order."""

_ALONG_AXES: Mapping[str, Callable[[Emitter, Tensor, int], Tensor]] = {
    "ACTIVATION_HARDMAX": Emitter.Hardmax,
    "ACTIVATION_HARDMAX1": Emitter.Hardmax,
    "ACTIVATION_LOG_SOFTMAX": Emitter.LogSoftmax,
    "ACTIVATION_LOG_SOFTMAX1": Emitter.LogSoftmax,
    "ACTIVATION_SOFTMAX": Emitter.Softmax,
    "ACTIVATION_SOFTMAX1": Emitter.Softmax,
}
"""Activations of slices, not of single elements."""

_SOFTPLUS_IS_X = 32.0
"""The argument from which ``ln(1 + exp(x))`` rounds to x."""


def apply_activation(e: Emitter, activation: OperatorDesc | None, x: Tensor) -> Tensor:
    """Applies a fused activation to the host's result before rounding [decision F4]; returns ``x`` if there is none.

    ``x`` has the type of floating-point arithmetic. It may have any shape for element-wise activations; SOFTMAX and
    SOFTMAX1 need the shape of the host's output.
    """
    if activation is None:
        return x
    if activation.type in _ONE_NODE:
        emit, fields = _ONE_NODE[activation.type]
        return emit(e, x, *map(activation.float, fields))
    if activation.type in _ALONG_AXES:
        return _over_slices(e, activation, x)
    return _FORMULAS[activation.type](e, activation, x)


# --- one element at a time -------------------------------------------------------------------------------------------


def affine(e: Emitter, x: Tensor, scale: float, bias: float) -> Tensor:
    """``x * scale + bias`` on floats, without a factor of 1 or a term of 0."""
    product = e.Mul(x, e.constant(scale, x.dtype))
    return e.Add(product, e.constant(bias, x.dtype)) if bias != 0 else product


def clamp(e: Emitter, x: Tensor, low: float, high: float) -> Tensor:
    """``max(low, min(x, high))`` as Clip, where the larger bound wins if ``low > high`` [decision E6].

    A NaN bound is ignored, as min and max ignore NaN [decision G1].
    """
    if (low, high) == (0, math.inf):
        return e.Relu(x)
    return e.Clip(x, low if low > -math.inf else None, max(high, low) if high < math.inf else None)


def _between_factors(f: Callable[[Emitter, Tensor], Tensor], e: Emitter, op: OperatorDesc, x: Tensor) -> Tensor:
    """``Alpha * f(Beta * x)``."""
    return affine(e, f(e, affine(e, x, op.float("Beta"), 0)), op.float("Alpha"), 0)


def _softplus(e: Emitter, op: OperatorDesc, x: Tensor) -> Tensor:
    """``ln(1 + exp(Steepness * x)) / Steepness`` [decision A3]."""
    steepness = op.float("Steepness")
    if steepness == 1:
        return e.Softplus(x)
    divisor = e.constant(steepness, x.dtype)
    if steepness < 1:
        return e.Div(e.Softplus(affine(e, x, steepness, 0)), divisor)
    e.note("the result is x if Steepness * x is large, since that could overflow")
    near = e.Clip(x, None, _SOFTPLUS_IS_X / steepness)
    return e.Max(x, e.Div(e.Softplus(affine(e, near, steepness, 0)), divisor))


def _swish(e: Emitter, op: OperatorDesc, x: Tensor) -> Tensor:
    """``x * sigmoid(SigmoidInputScale * x)``, NaN for the infinity whose sigmoid is 0 [decision A7]."""
    return e.Swish(x, op.float("SigmoidInputScale"))


def _hard_swish(e: Emitter, op: OperatorDesc, x: Tensor) -> Tensor:
    """``x * clamp(Alpha * x + Beta, 0, 1)``, NaN for the infinity whose factor is 0 [decision A7]: HardSwish."""
    return e.HardSwish(x, op.float("Alpha"), op.float("Beta"))


def _shrink(e: Emitter, op: OperatorDesc, x: Tensor) -> Tensor:
    """``x - Bias`` above Threshold, else ``x + Bias`` below -Threshold, else 0: Shrink.

    Shrink compares with -Threshold first, which differs for a negative Threshold.
    """
    bias, threshold = op.float("Bias"), op.float("Threshold")
    return e.Shrink(x, bias, threshold) if threshold >= 0 else shrunk(e, x, bias, threshold)


_FORMULAS: Mapping[str, Callable[[Emitter, OperatorDesc, Tensor], Tensor]] = {
    "ACTIVATION_HARD_SWISH": _hard_swish,
    "ACTIVATION_IDENTITY": lambda e, op, x: x,
    "ACTIVATION_LINEAR": lambda e, op, x: affine(e, x, op.float("Alpha"), op.float("Beta")),
    "ACTIVATION_PARAMETRIC_SOFTPLUS": partial(_between_factors, Emitter.Softplus),
    "ACTIVATION_SCALED_TANH": partial(_between_factors, Emitter.Tanh),
    "ACTIVATION_SHRINK": _shrink,
    "ACTIVATION_SOFTPLUS": _softplus,
    "ACTIVATION_SWISH": _swish,
    "ELEMENT_WISE_CLIP": lambda e, op, x: clamp(e, x, op.float("Min"), op.float("Max")),
}


# --- slices along axes -----------------------------------------------------------------------------------------------


def _over_slices(e: Emitter, op: OperatorDesc, x: Tensor) -> Tensor:
    """One ONNX operator on one axis; several axes are merged by Reshape, after a Transpose if they are not adjacent."""
    emit = _ALONG_AXES[op.type]
    axes = sorted(op.uints("Axes")) if op.type.endswith("1") else [x.rank - 1]
    wide = [axis for axis in axes if x.shape[axis] > 1] or axes[-1:]
    if len(wide) == 1:
        return emit(e, x, wide[0])
    first, last = wide[0], wide[-1] + 1
    if prod(x.shape[first:last]) == prod(x.shape[axis] for axis in wide):
        merged = (*x.shape[:first], prod(x.shape[first:last]), *x.shape[last:])
        return e.Reshape(emit(e, e.Reshape(x, merged), first), x.shape)
    order = [*(axis for axis in range(x.rank) if axis not in wide), *wide]
    moved = e.Transpose(x, order)
    count = prod(x.shape[axis] for axis in wide)
    rows = emit(e, e.Reshape(moved, (x.size // count, count)), 1)
    return e.Transpose(e.Reshape(rows, moved.shape), [order.index(axis) for axis in range(x.rank)])


@lowers(*_ALONG_AXES)
def over_slices(node: Operands, e: Emitter) -> Tensor:
    """SOFTMAX, LOG_SOFTMAX, HARDMAX over all Axes together, or the last [decisions A14 to A16].

    Softmax, LogSoftmax and Hardmax: they too subtract the maximum and choose the first of equal elements.
    """
    return apply_activation(e, node.op, node.widened(node.tensor("InputTensor")))


# --- operators of their own ------------------------------------------------------------------------------------------


@lowers(
    *_ONE_NODE,
    "ACTIVATION_HARD_SWISH",
    "ACTIVATION_LINEAR",
    "ACTIVATION_PARAMETRIC_SOFTPLUS",
    "ACTIVATION_SCALED_TANH",
    "ACTIVATION_SOFTPLUS",
    "ACTIVATION_SWISH",
)
def element_wise(node: Operands, e: Emitter) -> Tensor:
    """An element-wise activation; the tables of this module have its ONNX form.

    https://learn.microsoft.com/windows/ai/directml/dml-fused-activations lists them.
    """
    x = node.widened(node.broadcastable("InputTensor"))
    y = apply_activation(e, node.op, x)
    if node.op.type in _WITHOUT_NAN:
        # a slope of 0 makes NaN of an infinity before the clamp
        source = y if node.op.type == "ACTIVATION_HARD_SIGMOID" and node.op.float("Alpha") == 0 else x
        y = e.unless_nan(source, y, _WITHOUT_NAN[node.op.type])
        y.is_bounded = True
    return y


_WITHOUT_NAN = {"ACTIVATION_HARD_SIGMOID": 0.0, "ACTIVATION_RELU": 0.0}
"""Activations that are max and min, and their result for NaN [decision G1]."""


@lowers("ACTIVATION_IDENTITY", moves=("InputTensor",))
def identity(node: Operands, e: Emitter) -> Tensor:
    """A copy: no node at all."""
    return node.tensor("InputTensor")


@lowers("ACTIVATION_SHRINK")
def shrink(node: Operands, e: Emitter) -> Tensor:
    """Shrink; integers are compared and summed in FLOAT32, and rounded [decision A13]."""
    x = node.widened(node.broadcastable("InputTensor"))
    if x.dtype.kind == "f":
        return _shrink(e, node.op, x)
    return e.Cast(e.Round(_shrink(e, node.op, e.Cast(x, FLOAT))), x.dtype)


@lowers("ACTIVATION_PARAMETERIZED_RELU")
def parameterized_relu(node: Operands, e: Emitter) -> Tensor:
    """``x`` where ``x >= 0``, else ``SlopeTensor * x``; integer products wrap [decision A11].

    PRelu, or for integers, which not every runtime's PRelu supports, Mul by 1 or the slope.
    """
    x, slope = (node.widened(node.broadcastable(name)) for name in ("InputTensor", "SlopeTensor"))
    if x.dtype.kind == "f":
        return e.PRelu(e.Expand(x, np.broadcast_shapes(x.shape, slope.shape)), slope)
    positive = e.GreaterOrEqual(x, e.constant(0, x.dtype))
    return e.Mul(x, e.Where(positive, e.constant(1, x.dtype), slope))


@lowers("ACTIVATION_RELU_GRAD")
def relu_grad(node: Operands, e: Emitter) -> Tensor:
    """The gradient where ``x > 0``, else 0, for NaN too [decision A1]: Where."""
    x, gradient = (node.widened(node.broadcastable(name)) for name in ("InputTensor", "InputGradientTensor"))
    passes = e.Greater(x, e.constant(0, x.dtype))
    return e.Where(passes, gradient, e.constant(0, gradient.dtype))
