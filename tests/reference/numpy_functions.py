"""Functions for the table of ``test_numpy.py`` that take more than a line of numpy or SciPy."""

from __future__ import annotations

from functools import partial
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import helper
from scipy import ndimage

from tests.reference.evaluator import onnx_results


def windows(o, x, fill, counts=None):
    """All windows of a padded tensor [N, C, ...] as [N, C, counts..., window...]; they may extend past the padding."""
    sizes = getattr(o, "WindowSize", None) or o.WindowSizes
    n, steps = len(sizes), getattr(o, "Dilations", (1,) * len(sizes))
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, steps, strict=True)]
    reached = [(c - 1) * s + span for c, s, span in zip(counts or (0,) * n, o.Strides, spans, strict=True)]
    ends = np.maximum(o.EndPadding, np.subtract(np.subtract(reached, o.StartPadding), x.shape[-n:]))
    x = np.pad(x, [(0, 0)] * (x.ndim - n) + list(zip(o.StartPadding, ends, strict=True)), constant_values=fill)
    view: Any = sliding_window_view(x, spans, tuple(range(-n, 0)))
    view = view[..., *(slice(None, None, s) for s in (*o.Strides, *steps))]
    return view[..., *map(slice, counts or view.shape[-2 * n : -n]), *[slice(None)] * n]


def flat(o, x, fill, counts):
    view = windows(o, x, fill, counts)
    return view.reshape(*view.shape[: -len(counts)], -1)


def average(o, x, counts):
    own = flat(o, np.ones(x.shape), 0, counts)
    return flat(o, x, 0, counts).sum(-1) / (own.shape[-1] if o.IncludePadding else own.sum(-1))


def largest(o, x, counts):
    """The largest element of each window, and its index in the tensor."""
    values = flat(o, x, -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min, counts)
    at = flat(o, places(x), -1, counts)
    return values.max(-1), np.take_along_axis(at, values.argmax(-1)[..., None], -1)[..., 0]


def convolved(o, x, kernel, counts):
    n, groups = len(counts), getattr(o, "GroupCount", 1)
    o = SimpleNamespace(**{**vars(o), "WindowSize": kernel.shape[2:]})
    axes = (1, *range(-n, 0)), tuple(range(1, 2 + n))
    pairs = zip(np.split(x, groups, 1), np.split(kernel, groups), strict=True)
    return np.concatenate([np.moveaxis(np.tensordot(windows(o, a, 0, counts), b, axes), -1, 1) for a, b in pairs], 1)


def convolution(o, x, kernel, bias):
    kernel = np.flip(kernel, tuple(range(2, kernel.ndim))) if o.Mode == "CONVOLUTION" else kernel
    if o.Direction == "FORWARD":
        return convolved(o, x, kernel, o.sizes[2:]) + plus(bias)
    return adjoint(lambda y: convolved(o, y, kernel, x.shape[2:]), x, o.sizes) + plus(bias)


def adjoint(linear, gradient, sizes):
    """The product of a gradient with the transposed matrix of a linear function."""
    units = np.eye(prod(sizes), dtype=gradient.dtype).reshape(-1, *sizes)
    return np.array([(gradient * linear(unit)).sum(dtype=gradient.dtype) for unit in units]).reshape(sizes)


def unfold(o, x):
    n = len(o.WindowSizes)
    x = x.reshape(x.shape[-n - 2 :])
    view = np.moveaxis(windows(o, x, 0), range(2, n + 2), range(-n, 0))
    return view.reshape(x.shape[0], x.shape[1] * prod(o.WindowSizes), -1)


def interpolated(o, x, sizes, scales, inner, outer, direction=None):
    """Interpolates along one axis after the other, at the input coordinates of output elements."""
    direction = direction or ("DECREASING" if x.dtype.itemsize == 1 else "NEAREST")  # decision S2
    half, whole = (0.5, np.floor) if direction == "NEAREST" else (0, np.ceil if direction == "INCREASING" else np.floor)
    for axis, size in enumerate(sizes):
        before, after, scale = map(np.float32, (outer[axis], inner[axis], scales[axis]))  # decision S1
        at = (np.arange(size, dtype=np.float32) - before) / scale - after
        if o.InterpolationMode == "LINEAR":
            x = np.apply_along_axis(partial(np.interp, at, np.arange(x.shape[axis])), axis, x)
        else:
            x = x.take(whole(at + half).astype(int), axis, mode="clip")
    return x


OFFSETS = ("InputPixelOffsets", "OutputPixelOffsets")


def resample(o, x, sizes, inner=OFFSETS[0], outer=OFFSETS[1]):
    offsets = getattr(o, inner, (0.5,) * x.ndim), getattr(o, outer, (-0.5,) * x.ndim)
    return interpolated(o, x, sizes, o.Scales, *offsets, getattr(o, "RoundingDirection", None))


def upsample(o, x):
    scales = (*(1,) * (x.ndim - 2), o.ScaleSize.height, o.ScaleSize.width)
    offset = 0.5 if o.InterpolationMode == "LINEAR" else 0
    return interpolated(o, x, o.sizes, scales, (offset,) * x.ndim, (-offset,) * x.ndim, "DECREASING")


def sliced(o, x, sizes):
    fields = o.InputWindowOffsets, o.InputWindowSizes, o.InputWindowStrides, sizes
    for axis, (start, size, step, count) in enumerate(zip(*fields, strict=True)):
        x = x.take(np.arange(start, start + size)[::step][:count], axis)
    return x


def padded(o, x):
    mode = {"REFLECTION": "reflect"}.get(o.PaddingMode, o.PaddingMode.lower())
    value = {"constant_values": o.PaddingValue} if mode == "constant" else {}
    return np.pad(x, list(zip(o.StartPadding, o.EndPadding, strict=True)), mode, **value)


def places(x):
    return np.arange(x.size).reshape(x.shape)


def put(x, at, values):
    x = x.copy()
    np.put(x, at, values)
    return x


def gathered(o, x, at, batch=0):
    x, at = x.reshape(x.shape[-o.InputDimensionCount :]), at.reshape(at.shape[-o.IndicesDimensionCount :]).astype(int)
    return np.array([x[i][tuple(np.moveaxis(at[i], -1, 0))] for i in np.ndindex(x.shape[:batch])])


def one_hot(o, at, values):
    is_on = np.isin(np.indices(o.sizes)[o.Axis] - at.astype(int), (0, o.sizes[o.Axis]))
    return np.take(values, is_on.astype(int))


def arg(function, o, x):
    kept = [axis for axis in range(x.ndim) if axis not in o.Axes]
    rows = x.transpose(*kept, *sorted(o.Axes)).reshape(*(x.shape[axis] for axis in kept), -1)
    last = getattr(o, "AxisDirection", "INCREASING") == "DECREASING"
    return rows.shape[-1] - 1 - function(rows[..., ::-1], -1) if last else function(rows, -1)


def running(function, first, o, x, exclusive):
    backward = o.AxisDirection == "DECREASING"
    x = np.insert(np.flip(x, o.Axis) if backward else x, 0, first, o.Axis)
    y = function.accumulate(x, o.Axis, dtype=x.dtype).take(range(not exclusive, x.shape[o.Axis] - exclusive), o.Axis)
    return np.flip(y, o.Axis) if backward else y


def top(o, x, direction):
    order = np.argsort(-x.astype(float) if direction == "DECREASING" else x, o.Axis, kind="stable")
    at = order.take(range(o.K), o.Axis)
    return np.take_along_axis(x, at, o.Axis), at


def reversed_starts(o, x, lengths):
    at, lengths = np.indices(x.shape)[o.Axis], lengths.astype(int)
    return np.take_along_axis(x, np.where(at < lengths, lengths - 1 - at, at), o.Axis)


def nonzero(o, x):
    rows, columns = o.OutputCoordinatesTensor.sizes[-2:]
    found = np.argwhere(x.reshape(x.shape[-columns:]))
    return np.array(len(found)), np.pad(found, ((0, rows - len(found)), (0, 0)))


def to_depth(o, x):
    n, c, h, w = x.shape
    order = (0, 1, 3, 5, 2, 4) if getattr(o, "Order", "") == "COLUMN_ROW_DEPTH" else (0, 3, 5, 1, 2, 4)
    return x.reshape(n, c, h // o.BlockSize, o.BlockSize, w // o.BlockSize, o.BlockSize).transpose(order)


def band(o, x):
    """The value on the half-open range of diagonals, or on all others if the range is inverted."""
    rows, columns = o.sizes[-2:]
    until, before = (np.tri(rows, columns, k - 1, dtype=bool) for k in (o.DiagonalFillEnd, o.DiagonalFillBegin))
    is_filled = until ^ before ^ (o.DiagonalFillBegin > o.DiagonalFillEnd)
    return np.where(is_filled, o.Value, np.zeros(o.sizes) if x is None else x)


def plus(x):
    return 0 if x is None else x


def normalized(o, x, scale, bias, axes, mean, variance):
    x = x - x.mean(axes, keepdims=True) if mean else x
    x = x / np.sqrt((x**2).mean(axes, keepdims=True) + o.Epsilon) if variance else x
    return x * (1 if scale is None else scale) + plus(bias)


def batch_normalized(o, x, mean, variance, scale, bias):
    return scale * (x - mean) / np.sqrt(variance + o.Epsilon) + bias


def trained(o, x, scale, bias, added):
    axes = tuple(i for i, size in enumerate(scale.shape) if size == 1)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return batch_normalized(o, x, mean, variance, scale, bias) + plus(added), mean, variance


def adam(o, x, first, second, gradient, step):
    """Algorithm 1 of Kingma and Ba in the order of section 2, which adds epsilon to the uncorrected root."""
    first = o.Beta1 * first + (1 - o.Beta1) * gradient
    second = o.Beta2 * second + (1 - o.Beta2) * gradient**2
    rate = o.LearningRate * np.sqrt(1 - o.Beta2 ** step.astype(float)) / (1 - o.Beta1 ** step.astype(float))
    return x - rate * first / (np.sqrt(second) + o.Epsilon), first, second


def roi_align(o, x, rois, batches):
    """RoiAlign of ONNX, which has a different maximum, no nearest neighbour, and no aligned corners."""
    aligned = getattr(o, "AlignRegionsToCorners", False)
    if aligned or (o.ReductionFunction, o.InterpolationMode) != ("AVERAGE", "LINEAR"):
        return NotImplemented
    node = helper.make_node(
        "RoiAlign", ["x", "rois", "batches"], ["y"], output_height=o.sizes[2], output_width=o.sizes[3],
        sampling_ratio=o.MinimumSamplesPerOutput, spatial_scale=o.SpatialScaleX,
    )  # fmt: skip
    return onnx_results(node, {"x": x, "rois": rois, "batches": batches.astype(int)})[0]


def response(o, x):
    size = (1, o.LocalSize, 1, 1) if o.CrossChannel else (1, 1, o.LocalSize, o.LocalSize)
    total = ndimage.convolve(x**2, np.ones(size), mode="constant")
    return x / (o.Bias + o.Alpha / o.LocalSize * total) ** o.Beta


def blocks(x, sizes):
    """Each element repeated for its block; 0 without a tensor."""
    for axis, size in enumerate(sizes if x is not None else ()):
        x = x.repeat(size // x.shape[axis], axis)
    return 0.0 if x is None else x.astype(float)


def dequantized(x, scale, zero=None):
    """The dequantised numbers; ``scale`` may be ``None``."""
    return (x - blocks(zero, x.shape)) * (1 if scale is None else blocks(scale, x.shape))


def middle(o, data_type):
    """The default zero point: half of an unsigned range (decision Q3)."""
    is_unsigned = getattr(o, "QuantizationType", "") == "SCALE" and not data_type.is_signed
    return 1 << data_type.bits - 1 if is_unsigned else 0


def quantized(o, x, scale, zero=None):
    return np.clip(np.rint(x / blocks(scale, x.shape)) + blocks(zero, x.shape) + middle(o, o.type), *o.type.limits)


def dynamically_quantized(o, x):
    low, high = o.type.limits
    least, most = min(x.min(), 0), max(x.max(), 0)
    scale = np.full((1,) * x.ndim, (most - least) / (high - low))
    zero = np.clip(np.rint(low - least / scale), low, high)
    return quantized(o, x, scale, zero), scale, zero


def bits(o, *several):
    """The bits of numbers, as unsigned integers."""
    return [x.astype(o.own.dtype).view(f"u{o.own.bits // 8}") for x in several]


def bound(x, value):
    """A bound converted to the type of the numbers."""
    if x.dtype.kind == "f":
        return value
    return np.clip(np.trunc(value), np.iinfo(x.dtype).min, np.iinfo(x.dtype).max).astype(x.dtype)
