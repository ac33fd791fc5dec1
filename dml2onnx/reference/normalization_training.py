"""Batch normalization in training, its gradients, and the gradient of local response normalization."""

from __future__ import annotations

from math import prod

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.bounded import Bounded, exactly, input_tensor, summed
from dml2onnx.reference.normalization import mean_of, normalized, variance_of, window_sums
from dml2onnx.reference.numeric import widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, reference


def _axes(x: Array, parameter: Array) -> tuple[int, ...]:
    """The dimensions in which the parameters have size 1."""
    assert x.ndim == parameter.ndim
    return tuple(i for i, size in enumerate(parameter.shape) if size == 1)


@reference("BATCH_NORMALIZATION_TRAINING")
def batch_normalization_training(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """BATCH_NORMALIZATION by the input's own mean and population variance, which are outputs too (decision N10).

    FusedAddTensor is added before the fused activation.
    """
    x, scale, bias = (widen(inputs.tensor(name)) for name in ("InputTensor", "ScaleTensor", "BiasTensor"))
    addend = inputs.optional("FusedAddTensor")
    other = np.zeros_like(bias) if addend is None else widen(addend)
    axes = _axes(x, scale)
    mean = mean_of(x, axes)
    variance = variance_of(x, mean, axes)
    no_marks: Mask = np.zeros(x.shape, np.bool_)
    size = np.abs(bias) + np.abs(other)
    return {
        "OutputTensor": normalized(op, x, mean, variance, scale, bias + other, no_marks, size),
        "OutputMeanTensor": mean,
        "OutputVarianceTensor": variance,
    }


@reference("BATCH_NORMALIZATION_GRAD")
def batch_normalization_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``dX = dY * Scale / sqrt(Variance + Epsilon)`` with constant mean and variance (decision N12)."""
    x, gradient, mean, variance, scale = _operands(inputs)
    deviation = (variance + exactly(op.float("Epsilon") if op.has("Epsilon") else 0.0)).root()
    axes = _axes(x.values, scale.values)
    return {
        "OutputGradientTensor": (gradient * (scale / deviation)).result(),
        "OutputScaleGradientTensor": ((gradient * (x - mean)).total(axes) / deviation).result(),
        "OutputBiasGradientTensor": gradient.total(axes).result(),
    }


@reference("BATCH_NORMALIZATION_TRAINING_GRAD")
def batch_normalization_training_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The gradients including those through the mean and variance, whose values are inputs (decision N11)."""
    x, gradient, mean, variance, scale = _operands(inputs)
    shifted = variance + exactly(op.float("Epsilon"))
    deviation = shifted.root()
    axes = _axes(x.values, scale.values)
    count = exactly(prod(x.values.shape[axis] for axis in axes))
    own = x - mean
    shared = (gradient * own).total(axes) / count / shifted
    inner = gradient - gradient.total(axes) / count - own * shared
    return {
        "OutputGradientTensor": (inner * (scale / deviation)).result(),
        "OutputScaleGradientTensor": ((gradient * own).total(axes) / deviation).result(),
        "OutputBiasGradientTensor": gradient.total(axes).result(),
    }


@reference("LOCAL_RESPONSE_NORMALIZATION_GRAD")
def local_response_normalization_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``dX = dY * S ** -Beta - 2 * Beta * a * X * sum(dY * X * S ** (-Beta - 1))`` (decisions N13 to N15).

    ``S = Bias + a * sum(X ** 2)`` and ``a = Alpha / LocalSize``; both sums run over the window around each element.
    """
    x, gradient = (input_tensor(inputs.tensor(name)) for name in ("InputTensor", "InputGradientTensor"))
    size, beta = op.uint("LocalSize"), op.float("Beta")
    alpha = op.float("Alpha") / size
    axes = (1,) if op.flag("CrossChannel") else (2, 3)
    s = exactly(alpha) * _windows(x * x, axes, size) + exactly(op.float("Bias"))
    power, factor = s.power(-beta), exactly(2 * beta) * exactly(alpha)
    direct = gradient * power
    shares = _windows(direct * x / s, axes, size)
    whole = (direct - factor * x * shares).result()
    infinite: Mask = np.isinf(gradient.values)
    if not infinite.any():
        return {"OutputGradientTensor": whole}
    # an infinite gradient is multiplied by the sum of its factors, which is up to the driver (decision N14)
    finite = Bounded(np.where(infinite, 0, direct.values), direct.error, direct.marks)
    rest = factor * x * _windows(finite * x / s, axes, size)
    own = gradient * (power - factor * x * x * power / s) - rest
    values = np.where(infinite, own.values, widen(whole.values))
    return {"OutputGradientTensor": Result(values, whole.error, whole.unspecified).marked(infinite)}


def _windows(x: Bounded, axes: tuple[int, ...], size: int) -> Bounded:
    """:func:`window_sums` of bounded numbers."""
    parts: list[Floats] = [x.values, np.abs(x.values), x.error, x.marks.astype(np.float64)]
    for axis in axes:
        parts = [window_sums(part, axis, size) for part in parts]
    terms = prod(min(size, x.values.shape[axis]) for axis in axes)
    return summed(parts[0], parts[1], parts[2], parts[3] > 0, terms)


def _operands(inputs: Inputs) -> list[Bounded]:
    names = ("InputTensor", "InputGradientTensor", "MeanTensor", "VarianceTensor", "ScaleTensor")
    return [input_tensor(inputs.tensor(name)) for name in names]
