"""BATCH_NORMALIZATION in training, its gradients, and the gradient of LOCAL_RESPONSE_NORMALIZATION."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.formulas import channel_sums, power
from dml2onnx.lowering.activation import affine, apply_activation
from dml2onnx.lowering.normalization import image_sums
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


def _summed(x: Tensor, parameter: Tensor) -> tuple[int, ...]:
    """Returns the axes along which a parameter is broadcast to more than one element."""
    return tuple(i for i, (n, m) in enumerate(zip(x.shape, parameter.shape, strict=True)) if m == 1 and n > 1)


@lowers("BATCH_NORMALIZATION_TRAINING")
def batch_normalization_training(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """BATCH_NORMALIZATION with the input's own mean and population variance, which are outputs too [decision N10].

    FusedAddTensor is added before the activation. BatchNormalization in training mode does not fit: it returns
    running averages, and only for channels.
    """
    op = node.op
    x, scale, bias = (node.in_float(field) for field in ("InputTensor", "ScaleTensor", "BiasTensor"))
    axes = _summed(x, scale)
    mean = e.ReduceMean(x, axes)
    centred = e.Sub(x, mean)
    variance = e.ReduceMean(e.Mul(centred, centred), axes)
    y = e.Add(e.Mul(centred, e.Div(scale, _deviation(e, variance, op.float("Epsilon")))), bias)
    if op.has("FusedAddTensor"):
        y = e.Add(y, node.in_float("FusedAddTensor"))
    return {
        "OutputTensor": apply_activation(e, op.activation(), y),
        "OutputMeanTensor": mean,
        "OutputVarianceTensor": variance,
    }


def _deviation(e: Emitter, variance: Tensor, epsilon: float) -> Tensor:
    return e.Sqrt(e.Add(variance, e.constant(epsilon, variance.dtype)))


def _epsilon(node: Operands) -> float:
    """Returns the Epsilon of a gradient, which descriptors in JSON may omit."""
    return node.op.float("Epsilon") if node.op.has("Epsilon") else 0.0


@lowers("BATCH_NORMALIZATION_GRAD")
def batch_normalization_grad(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The gradients with fixed statistics: ``dX = dY * Scale / sqrt(Variance + Epsilon)`` [decision N12]."""
    gradient, scale = (node.in_float(field) for field in ("InputGradientTensor", "ScaleTensor"))
    deviation = _deviation(e, node.in_float("VarianceTensor"), _epsilon(node))
    centred = e.Sub(node.in_float("InputTensor"), node.in_float("MeanTensor"))
    axes = _summed(gradient, scale)
    return {
        "OutputGradientTensor": e.Mul(gradient, e.Div(scale, deviation)),
        "OutputScaleGradientTensor": e.Div(e.ReduceSum(e.Mul(gradient, centred), axes), deviation),
        "OutputBiasGradientTensor": e.ReduceSum(gradient, axes),
    }


@lowers("BATCH_NORMALIZATION_TRAINING_GRAD")
def batch_normalization_training_grad(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The gradients through the mean and the variance of the inputs too [decision N11].

    ``dX = Scale / sqrt(v) * (dY - mean(dY) - own * mean(dY * own) / v)`` with ``v = Variance + Epsilon`` and
    ``own = X - Mean``.
    """
    gradient, scale = (node.in_float(field) for field in ("InputGradientTensor", "ScaleTensor"))
    variance = node.in_float("VarianceTensor")
    shifted = e.Add(variance, e.constant(node.op.float("Epsilon"), variance.dtype))
    deviation = e.Sqrt(shifted)
    axes = _summed(gradient, scale)
    own = e.Sub(node.in_float("InputTensor"), node.in_float("MeanTensor"))
    product = e.Mul(gradient, own)
    shared = e.Div(e.ReduceMean(product, axes), shifted)
    through_both = e.Sub(e.Sub(gradient, e.ReduceMean(gradient, axes)), e.Mul(own, shared))
    return {
        "OutputGradientTensor": e.Mul(through_both, e.Div(scale, deviation)),
        "OutputScaleGradientTensor": e.Div(e.ReduceSum(product, axes), deviation),
        "OutputBiasGradientTensor": e.ReduceSum(gradient, axes),
    }


@lowers("LOCAL_RESPONSE_NORMALIZATION_GRAD")
def local_response_normalization_grad(node: Operands, e: Emitter) -> Tensor:
    """The gradient of LOCAL_RESPONSE_NORMALIZATION.

    With ``S = Bias + a * sum(X ** 2)`` over the window around each element, and ``a = Alpha / LocalSize``:
    ``dX = dY * S ** -Beta - 2 * Beta * a * X * sum(dY * X * S ** (-Beta - 1))`` over the same window.
    """
    op, size = node.op, node.op.uint("LocalSize")
    x, gradient = (node.in_float(field) for field in ("InputTensor", "InputGradientTensor"))
    alpha, beta = op.float("Alpha") / size, op.float("Beta")
    sums = channel_sums if op.flag("CrossChannel") else image_sums
    s = affine(e, sums(e, e.Mul(x, x), size), alpha, op.float("Bias"))
    direct = e.Div(gradient, power(e, s, beta))
    shares = sums(e, e.Div(e.Mul(direct, x), s), size)
    with np.errstate(over="ignore"):  # infinite, as the product would be at run time
        factor = np.float32(2 * beta * alpha)
    return e.Sub(direct, e.Mul(e.Mul(x, e.constant(factor)), shares))
