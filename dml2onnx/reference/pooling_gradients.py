"""MAX_UNPOOLING, and the gradients of MAX_POOLING2 and AVERAGE_POOLING."""

from __future__ import annotations

from math import prod

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.pooling import windows
from dml2onnx.reference.registry import Floats, Indices, Inputs, Mask, Outputs, Result, reference


@reference("MAX_UNPOOLING")
def max_unpooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[Indices[i]] = Input[i]`` over the whole tensor, 0 elsewhere (decision P17).

    The driver chooses among values with equal indices; an index outside the output writes nothing.
    """
    x, indices = inputs.tensor("InputTensor"), inputs.tensor("IndicesTensor")
    shape = op.tensor("OutputTensor").sizes
    y = np.zeros(prod(shape), x.dtype)
    written, differs = (np.zeros(prod(shape), np.bool_) for _ in range(2))
    for index, value in zip(indices.reshape(-1).tolist(), x.reshape(-1), strict=True):
        if index < len(y):
            differs[index] |= written[index] and y[index] != value
            y[index], written[index] = value, True
    return {"OutputTensor": Result(y.reshape(shape), None, differs.reshape(shape) if differs.any() else None)}


@reference("MAX_POOLING_GRAD")
def max_pooling_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Adds each window's gradient at its first maximum (decision P18).

    Windows that are all NaN use the first element; with some NaN any element is possible (decision P10). Windows inside
    the padding are dropped, except in the first plane, where they use the plane's first element if it lies between
    elements of the window (decision P18).
    """
    x, gradient = widen(inputs.tensor("InputTensor")), widen(inputs.tensor("InputGradientTensor"))
    planes, shape = x.reshape(*x.shape[:2], -1), gradient.shape
    taps = list(windows(op, x.shape[2:], shape[2:]))
    best, where = np.full(shape, -np.inf), np.zeros(shape, np.int64)
    found, numbers, nans = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for flat, inside in taps:
        candidate = planes[:, :, flat]
        is_nan = np.isnan(candidate)
        # a number replaces NaN; the result is open anyway
        better = inside & (~found | (candidate > best) | (~is_nan & ~numbers))
        best, where = np.where(better, candidate, best), np.where(better, flat, where)
        found, numbers, nans = found | inside, numbers | (inside & ~is_nan), nans | (inside & is_nan)
    found[0, 0] |= _over_the_first(op, shape[2:])
    batch, channel = np.indices(shape)[:2]
    total = _Total(planes.shape)
    total.add((batch[found], channel[found], where[found]), gradient[found])
    mixed = nans & numbers
    marks: Mask = np.zeros(planes.shape, np.bool_)
    for flat, inside in taps:
        touched = mixed & inside
        marks[batch[touched], channel[touched], np.broadcast_to(flat, shape)[touched]] = True
    return {"OutputGradientTensor": total.result(x.shape, marks)}


@reference("AVERAGE_POOLING_GRAD")
def average_pooling_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Adds each window's gradient, over the divisor of its mean, at its elements inside (decisions P3, P4, P19)."""
    gradient, shape = widen(inputs.tensor("InputGradientTensor")), op.tensor("OutputGradientTensor").sizes
    taps = list(windows(op, shape[2:], gradient.shape[2:]))
    counts = sum(inside.astype(np.int64) for _, inside in taps)
    divisor = np.maximum(_padded_counts(op, shape[2:], gradient.shape[2:]) if op.flag("IncludePadding") else counts, 1)
    share = gradient / divisor
    total = _Total((*shape[:2], prod(shape[2:])))
    batch, channel = np.indices(gradient.shape)[:2]
    for flat, inside in taps:
        at, places = np.broadcast_to(inside, share.shape), np.broadcast_to(flat, share.shape)
        total.add((batch[at], channel[at], places[at]), share[at])
    return {"OutputGradientTensor": total.result(shape, np.zeros(total.values.shape, np.bool_))}


def _over_the_first(op: OperatorDesc, shape: tuple[int, ...]) -> Mask:
    """Which windows span the first element."""
    over = np.ones((), np.bool_)
    each = zip(*(op.uints(name) for name in ("WindowSize", "Dilations", "Strides", "StartPadding")), strict=True)
    for (window, dilation, stride, start), size in zip(each, shape, strict=True):
        first = np.arange(size) * stride - start
        over = over[..., None] & (first <= 0) & (first + (window - 1) * dilation >= 0)
    return over


def _padded_counts(op: OperatorDesc, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Indices:
    """The number of elements of each window inside the padded input (decision P19)."""
    counts = np.ones((), np.int64)
    each = zip(*(op.uints(name) for name in ("WindowSize", "Strides", "StartPadding", "EndPadding")), strict=True)
    for (window, stride, start, end), size, n in zip(each, shape, sizes, strict=True):
        places = np.arange(size)[:, None] * stride + np.arange(window)
        counts = counts[..., None] * (places < start + n + end).sum(axis=1)
    return counts


class _Total:
    """Sums of FLOAT32 numbers, in any order, by (batch, channel, place)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.values: Floats = np.zeros(shape)
        self._magnitude: Floats = np.zeros(shape)
        self._terms: Floats = np.zeros(shape)

    def add(self, places: tuple[np.ndarray, ...], numbers: Floats) -> None:
        """Adds each of ``numbers`` at its place."""
        np.add.at(self.values, places, numbers)
        np.add.at(self._magnitude, places, np.abs(numbers))
        np.add.at(self._terms, places, 1)

    def result(self, shape: tuple[int, ...], marks: Mask) -> Result:
        """The sums in the tensor's shape, unspecified where the order decides whether partial sums overflow."""
        size = np.abs(self.values)
        overflows = np.isfinite(self._magnitude) & (self._magnitude > LARGEST_FLOAT32) & (size != self._magnitude)
        # a single term is not summed, but may have been divided
        error = sum_error(self._terms + 1, self._magnitude, ROUNDOFF)
        return Result(self.values.reshape(shape), error.reshape(shape), (marks | overflows).reshape(shape))
