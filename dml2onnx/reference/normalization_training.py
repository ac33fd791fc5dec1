"""Batch normalization as it is trained: its statistics and gradients, and the gradient of response normalization."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.normalization import either, mean_of, normalized, variance_of, window_sums
from dml2onnx.reference.numeric import (
    LARGEST_FLOAT32,
    SMALLEST_FLOAT32,
    UNIT_ROUNDOFF,
    sum_error,
    through,
    widen,
)
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, reference

_ROUNDOFF = UNIT_ROUNDOFF[DataType.FLOAT32]
_ACCURACY = 1e-5
"""What DirectML promises, relative to the result, of a power (decision G13)."""


def _axes(x: Array, parameter: Array) -> tuple[int, ...]:
    """The dimensions in which the parameters have size 1."""
    assert x.ndim == parameter.ndim
    return tuple(i for i, size in enumerate(parameter.shape) if size == 1)


@reference("BATCH_NORMALIZATION_TRAINING")
def batch_normalization_training(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """BATCH_NORMALIZATION with the input's own mean and population variance, which it also gives (decision N10).

    FusedAddTensor is added before the fused activation.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_batch_normalization_training_operator_desc
    """
    x, scale, bias = (widen(inputs.tensor(name)) for name in ("InputTensor", "ScaleTensor", "BiasTensor"))
    addend = inputs.optional("FusedAddTensor")
    other = np.zeros_like(bias) if addend is None else widen(addend)
    axes = _axes(x, scale)
    mean = mean_of(x, axes)
    variance = variance_of(x, mean, axes)
    nothing: Mask = np.zeros(x.shape, np.bool_)
    size = np.abs(bias) + np.abs(other)
    return {
        "OutputTensor": normalized(op, x, mean, variance, scale, bias + other, nothing, size),
        "OutputMeanTensor": mean,
        "OutputVarianceTensor": variance,
    }


@reference("BATCH_NORMALIZATION_GRAD")
def batch_normalization_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``dX = dY * Scale / sqrt(Variance + Epsilon)``, mean and variance being constants (decision N12).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_batch_normalization_grad_operator_desc
    """
    x, gradient, mean, variance, scale = _operands(inputs)
    deviation = (variance + _exactly(op.float("Epsilon") if op.has("Epsilon") else 0.0)).root()
    axes = _axes(x.values, scale.values)
    return {
        "OutputGradientTensor": (gradient * (scale / deviation)).result(),
        "OutputScaleGradientTensor": ((gradient * (x - mean)).total(axes) / deviation).result(),
        "OutputBiasGradientTensor": gradient.total(axes).result(),
    }


@reference("BATCH_NORMALIZATION_TRAINING_GRAD")
def batch_normalization_training_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The gradients through the mean and the variance too (decision N11).

    The gradient of the input takes the mean of the input itself, as the page writes; the variance is the given one.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_batch_normalization_training_grad_operator_desc
    """
    x, gradient, mean, variance, scale = _operands(inputs)
    shifted = variance + _exactly(op.float("Epsilon"))
    deviation = shifted.root()
    axes = _axes(x.values, scale.values)
    count = _exactly(prod(x.values.shape[axis] for axis in axes))
    own = x - x.total(axes) / count
    shared = (gradient * own).total(axes) / count / shifted
    inner = gradient - gradient.total(axes) / count - own * shared
    return {
        "OutputGradientTensor": (inner * (scale / deviation)).result(),
        "OutputScaleGradientTensor": ((gradient * (x - mean)).total(axes) / deviation).result(),
        "OutputBiasGradientTensor": gradient.total(axes).result(),
    }


@reference("LOCAL_RESPONSE_NORMALIZATION_GRAD")
def local_response_normalization_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``dX = dY * S ** -Beta - 2 * Beta * a * X * sum(dY * X * S ** (-Beta - 1))`` (decisions N13 to N15).

    ``S = Bias + a * sum(X ** 2)`` over the window around each element, ``a = Alpha / LocalSize``; the other sum runs
    over the elements whose windows hold this one.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_local_response_normalization_grad_operator_desc
    """
    x, gradient = (_given(inputs.tensor(name)) for name in ("InputTensor", "InputGradientTensor"))
    size, beta = op.uint("LocalSize"), op.float("Beta")
    alpha = op.float("Alpha") / size
    axes = (1,) if op.flag("CrossChannel") else (2, 3)
    s = _exactly(alpha) * (x * x).windows(axes, size, (size - 1) // 2) + _exactly(op.float("Bias"))
    direct = gradient * s.power(-beta)
    shares = (direct * x / s).windows(axes, size, size // 2)
    return {"OutputGradientTensor": (direct - _exactly(2 * beta) * _exactly(alpha) * x * shares).result()}


# --- arithmetic that knows how far it may be off ---------------------------------------------------------------------


def _operands(inputs: Inputs) -> list[_Bounded]:
    names = ("InputTensor", "InputGradientTensor", "MeanTensor", "VarianceTensor", "ScaleTensor")
    return [_given(inputs.tensor(name)) for name in names]


def _given(x: Array) -> _Bounded:
    values = widen(x)
    return _Bounded(values, np.zeros_like(values), np.zeros(values.shape, np.bool_))


def _exactly(value: float) -> _Bounded:
    return _Bounded(np.asarray(value, np.float64), np.zeros(()), np.zeros((), np.bool_))


@dataclass(frozen=True, slots=True)
class _Bounded:
    """Numbers, how far FLOAT32 arithmetic may be from them, and where that overflows, and so on: unspecified."""

    values: Floats
    error: Floats
    marks: Mask

    def result(self) -> Result:
        return Result(self.values, self.error, self.marks)

    def __add__(self, other: _Bounded) -> _Bounded:
        return _rounded(self.values + other.values, self.error + other.error, self.marks | other.marks)

    def __sub__(self, other: _Bounded) -> _Bounded:
        return _rounded(self.values - other.values, self.error + other.error, self.marks | other.marks)

    def __mul__(self, other: _Bounded) -> _Bounded:
        a, b = np.abs(self.values), np.abs(other.values)
        error = a * other.error + b * self.error + self.error * other.error
        marks = self.marks | other.marks | (self._may_vanish() & np.isinf(b)) | (other._may_vanish() & np.isinf(a))
        return _rounded(self.values * other.values, error, marks)

    def __truediv__(self, other: _Bounded) -> _Bounded:
        quotient, nearest = self.values / other.values, np.abs(other.values) - other.error
        error = (self.error + np.abs(quotient) * other.error) / np.where(nearest > 0, nearest, np.inf)
        # the sign of an infinity is that of a 0
        marks = self.marks | other.marks | other._may_vanish() | np.signbit(other.values) & (other.values == 0)
        marks = marks | ((other.values == 0) & self._may_vanish())
        return _rounded(quotient, error, marks)

    def root(self) -> _Bounded:
        return self._through(0.5, 0)

    def power(self, exponent: float) -> _Bounded:
        return self._through(exponent, _ACCURACY)

    def _through(self, exponent: float, accuracy: float) -> _Bounded:
        y = through(lambda x: x**exponent, Result(self.values, self.error, self.marks))
        assert y.error is not None
        values = widen(y.values)
        marks = either(self._may_vanish() & (self.values != 0), y.unspecified)
        return _rounded(values, y.error + accuracy * np.where(np.isfinite(values), np.abs(values), 0), marks)

    def total(self, axes: tuple[int, ...]) -> _Bounded:
        """The sum over axes, which stay with size 1."""
        terms = prod(self.values.shape[axis] for axis in axes)
        total, magnitude, error = (
            item.sum(axis=axes, keepdims=True) for item in (self.values, np.abs(self.values), self.error)
        )
        marks: Mask = np.any(self.marks, axis=axes, keepdims=True)
        return _summed(total, magnitude, error, marks, terms)

    def windows(self, axes: tuple[int, ...], size: int, before: int) -> _Bounded:
        """For each element the sum over a window, see :func:`window_sums`."""
        parts: list[Floats] = [self.values, np.abs(self.values), self.error, self.marks.astype(np.float64)]
        for axis in axes:
            parts = [window_sums(part, axis, size, before) for part in parts]
        terms = prod(min(size, self.values.shape[axis]) for axis in axes)
        return _summed(parts[0], parts[1], parts[2], parts[3] > 0, terms)

    def _may_vanish(self) -> Mask:
        """Where FLOAT32 may have a 0 for another number."""
        return (self.error > 0) & (np.abs(self.values) <= self.error)


def _summed(total: Floats, magnitude: Floats, error: Floats, marks: Mask, terms: int) -> _Bounded:
    overflow = np.isfinite(magnitude) & (magnitude > LARGEST_FLOAT32)
    # means times the number of their elements round a few times more
    return _rounded(total, error + sum_error(terms + 3, magnitude, _ROUNDOFF), marks | overflow)


def _rounded(values: Floats, error: Floats, marks: Mask) -> _Bounded:
    """After one more rounding; what is below the smallest normal number may be 0 (decision G8)."""
    size = np.abs(values)
    error = np.where(np.isfinite(error), error, 0)
    error = error + np.where(np.isfinite(size) & (size > 0), 2 * _ROUNDOFF * size + SMALLEST_FLOAT32, 0)
    return _Bounded(values, error, marks | (np.isfinite(size) & (size + error > LARGEST_FLOAT32)))
