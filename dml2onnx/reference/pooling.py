"""MAX_POOLING, AVERAGE_POOLING and LP_POOLING, all versions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import ACCURACY, LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.integer_products import Sums, along, requantized
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.registry import Floats, Indices, Inputs, Mask, Outputs, Result, reference


def windows(op: OperatorDesc, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[Indices, Mask]]:
    """Yields, for every element of the window in row-major order, its position for each output element.

    Positions are clamped flat indices into the spatial ``sizes`` of the input, and a mask of those inside. Both have
    the spatial ``shape`` of the output, which determines the number of windows (decision P2).
    """
    strides, starts = op.uints("Strides"), op.uints("StartPadding")
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(sizes)
    for tap in np.ndindex(op.uints("WindowSize")):
        flat, inside = np.zeros((), np.int64), np.ones((), np.bool_)
        for j, dilation, stride, start, size, n in zip(tap, dilations, strides, starts, shape, sizes, strict=True):
            place = np.arange(size) * stride + j * dilation - start
            flat = flat[..., None] * n + np.clip(place, 0, n - 1)
            inside = inside[..., None] & (place >= 0) & (place < n)
        yield flat, inside


def counts_inside(op: OperatorDesc, sizes: tuple[int, ...], shape: tuple[int, ...]) -> Indices:
    """The number of elements of each output element's window inside the input."""
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(sizes)
    steps = zip(op.uints("WindowSize"), dilations, op.uints("Strides"), op.uints("StartPadding"), strict=True)
    counts = np.ones((), np.int64)
    for (window, dilation, stride, start), size, n in zip(steps, shape, sizes, strict=True):
        places = np.arange(size)[:, None] * stride + np.arange(window) * dilation - start
        counts = counts[..., None] * ((places >= 0) & (places < n)).sum(axis=1)
    return counts


def seen_by_windows(op: OperatorDesc, x: Any, shape: tuple[int, ...], rim: float) -> Iterator[Any]:
    """Yields the elements at the positions of :func:`windows`, as views of the input padded with ``rim``."""
    strides, starts, window = op.uints("Strides"), op.uints("StartPadding"), op.uints("WindowSize")
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(window)
    steps = list(zip(shape, strides, dilations, starts, x.shape[2:], window, strict=True))
    ends = [max(0, (n - 1) * s + (k - 1) * d + 1 - start - size) for n, s, d, start, size, k in steps]
    pads = list(zip(starts, ends, strict=True))
    if any(map(any, pads)):
        x = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=rim)
    for tap in np.ndindex(window):
        yield x[(..., *(slice(j * d, j * d + (n - 1) * s + 1, s) for j, (n, s, d, *_) in zip(tap, steps, strict=True)))]


@reference("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
def max_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The first maximum of each window and its index in the whole tensor (decisions P6 to P10)."""
    x = inputs.tensor("InputTensor")
    batch, channels, *spatial = x.shape
    # the index of each plane's first element in the whole tensor
    base = np.arange(batch * channels).reshape(batch, channels, *(1 for _ in spatial)) * prod(spatial)
    shape = op.tensor("OutputTensor").sizes
    # the maximum starts at the lowest number, the result of windows without a larger one (decision P7)
    lowest = float(np.finfo(str(x.dtype)).min) if x.dtype.kind == "f" else int(np.iinfo(str(x.dtype)).min)
    best = np.full(shape, lowest, x.dtype)
    index = np.zeros(shape, np.int64)
    candidates = seen_by_windows(op, x, shape[2:], lowest)
    if not op.has("OutputIndicesTensor"):
        # NaN is ignored (decision G1)
        return {"OutputTensor": Result(reduce(np.fmax, candidates, best))}
    found = np.zeros(shape, np.bool_)
    for candidate, (flat, inside) in zip(candidates, windows(op, tuple(spatial), shape[2:]), strict=True):
        # the first of equal elements wins (decision P9)
        better = (candidate > best) & inside
        np.copyto(best, candidate, where=better)
        np.copyto(index, base + flat, where=better)
        found |= better
    dtype = op.tensor("OutputIndicesTensor").data_type.dtype
    # runtimes differ in the index where nothing is larger than the lowest number (decision P10)
    return {
        "OutputTensor": Result(best),
        "OutputIndicesTensor": Result(index.astype(dtype), None, ~found),
    }


@reference("AVERAGE_POOLING", "AVERAGE_POOLING1")
def average_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The mean of each window's elements inside the input (decisions P3 to P5).

    With IncludePadding the divisor is the full window, even where it extends past the padding.
    """
    x = widen(inputs.tensor("InputTensor"))
    shape = op.tensor("OutputTensor").sizes
    total, count = _window_sums(op, x, shape), counts_inside(op, x.shape[2:], shape[2:])
    terms = prod(op.uints("WindowSize"))
    divisor: Indices = np.full_like(count, terms) if op.flag("IncludePadding") else count
    # a window without elements is 0 / 0 (decision P5)
    y = np.where(divisor == 0, np.nan, total / np.maximum(divisor, 1))
    if inputs.values_only:
        return {"OutputTensor": Result(y)}
    magnitude = finite = _window_sums(op, np.abs(x), shape)
    if not np.isfinite(magnitude).all():
        finite = _window_sums(op, np.where(np.isfinite(x), np.abs(x), 0), shape)
    error: Floats = sum_error(terms + 1, magnitude / np.maximum(divisor, 1), ROUNDOFF)
    # the sum may overflow where the mean does not
    return {"OutputTensor": Result(y, error, (finite > LARGEST_FLOAT32) | (divisor == 0))}


def _window_sums(op: OperatorDesc, x: Floats, shape: tuple[int, ...]) -> Floats:
    total = np.zeros(shape)
    for element in seen_by_windows(op, x, shape[2:], 0):
        total += element
    return total


@reference("LP_POOLING", "LP_POOLING1")
def lp_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(|x1| ** P + ... + |xn| ** P) ** (1 / P)`` of each window's elements inside the input (decisions P11, P12).

    Nothing is promised where powers overflow FLOAT32 and the root would not; powers below the smallest normal number
    may be 0 (decision G8).
    """
    x, p = np.abs(widen(inputs.tensor("InputTensor"))), op.uint("P")
    shape = op.tensor("OutputTensor").sizes
    total, largest, terms = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for element in seen_by_windows(op, x, shape[2:], 0):
        total += element**p
        largest = np.maximum(largest, element)
        terms += element != 0
    if p == 1:
        return {"OutputTensor": Result(total, sum_error(terms + 1, total, ROUNDOFF))}
    power = 0 if p == 2 else ACCURACY
    off = sum_error(terms + 2, total, ROUNDOFF) + power * total + terms * SMALLEST_FLOAT32
    y = total ** (1 / p)
    ends = np.stack([np.maximum(total - off, 0), total + off]) ** (1 / p)
    error = np.abs(ends - y).max(axis=0) + (power + 2 * ROUNDOFF) * y
    return {"OutputTensor": Result(y, error, np.isfinite(largest) & (total > LARGEST_FLOAT32))}


@reference("QUANTIZED_LINEAR_AVERAGE_POOLING")
def quantized_linear_average_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The mean of ``Input - InputZeroPoint`` times InputScale, quantized (decisions P1 to P5, Q15, Q17)."""
    x, zero_point = widen(inputs.tensor("InputTensor")), inputs.optional("InputZeroPointTensor")
    if zero_point is not None:
        x = x - along(zero_point, x.ndim, 1).astype(np.float64)
    shape = op.tensor("OutputTensor").sizes
    total, magnitude = _window_sums(op, x, shape), _window_sums(op, np.abs(x), shape)
    count = counts_inside(op, x.shape[2:], shape[2:])
    terms = prod(op.uints("WindowSize"))
    divisor: Indices = np.full_like(count, terms) if op.flag("IncludePadding") else count
    least = np.maximum(divisor, 1)
    # sums of integers are exact up to 2**24
    error: Floats = sum_error(3 if terms * 255 <= 2**24 else terms + 3, magnitude / least, ROUNDOFF)
    scale, output = (along(inputs.tensor(f"{name}ScaleTensor"), x.ndim, 1) for name in ("Input", "Output"))
    offset = inputs.optional("OutputZeroPointTensor")
    offset = None if offset is None else along(offset, x.ndim, 1)
    scales = [scale, np.ones_like(scale), output]
    sums = Sums(terms, lambda: magnitude / least)
    y = requantized(total / least, scales, offset, op.tensor("OutputTensor").data_type, error, sums)
    return {"OutputTensor": y.marked(divisor == 0)}
