"""ROI_ALIGN, ROI_ALIGN1 and ROI_POOLING: RoiAlign, or Gather of the sampled pixels and a reduction."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.lowering.roi_samples import (
    SAMPLES,
    TAPS,
    Corners,
    Crossings,
    as_image,
    crossings,
    finite,
    numbers_of,
    pixels,
    regions,
)
from dml2onnx.onnx_model import FLOAT, INT64

MOST_STACKED = 1 << 27
"""The largest image with all of its maxima, in elements; for larger ones, the elements of each bin are gathered."""

_LARGEST_CORNER = 1 << 40
"""The largest integer coordinate whose products with bins fit into INT64."""


@lowers("ROI_ALIGN", "ROI_ALIGN1")
def roi_align(node: Operands, e: Emitter) -> Tensor:
    """The mean or maximum of the samples of each bin: RoiAlign, or Gather [decisions O1 to O11, O15]."""
    x, corners = e.Cast(node.tensor("InputTensor"), FLOAT), Corners.of(node.op)
    # RoiAlign takes the maximum of weighted corners, not of samples [decision O2]
    is_alike = corners.is_mean and corners.is_linear and not corners.is_aligned and corners.output_offset == -0.5
    if not is_alike or node.op.float("OutOfBoundsInputValue") != 0:
        return _gathered(node, e, x)
    rois, scale = regions(node, e), corners.scale_x
    if corners.scale_x != corners.scale_y or corners.input_offset != 0.5:
        rois, scale = _shifted(e, corners, rois), 1.0
    indices, size = node.tensor("BatchIndicesTensor"), node.output().sizes[2:]
    batches, samples = e.Reshape(indices, (indices.size,)), (corners.fewest, corners.most)
    return e.RoiAlign(x, rois, batches, (size[0], size[1]), samples, scale, partial(_gathered, node, e, x))


def _shifted(e: Emitter, corners: Corners, rois: Tensor) -> Tensor:
    """Returns corners in the image, half a pixel higher, since RoiAlign subtracts that."""
    scaled = e.Mul(rois, e.constant(np.array([corners.scale_x, corners.scale_y] * 2), FLOAT))
    shift = 0.5 - corners.input_offset
    return e.Add(scaled, e.constant(shift, FLOAT)) if shift else scaled


def _gathered(node: Operands, e: Emitter, x: Tensor, only: Tensor | None = None) -> Tensor:
    """The general form; with ``only``, for the regions where that is true."""
    sizes = node.output().sizes
    at = crossings(node, e, x.shape, (sizes[2], sizes[3]), only)
    found, weights = e.Gather(pixels(e, x), at.numbers), at.weights(e)
    if weights is not None:
        found = e.Mul(found, e.Mul(*weights))
    # OutOfBoundsInputValue, rounded to the type of the tensor
    outside = float(np.asarray(node.op.float("OutOfBoundsInputValue"), node.output().data_type.dtype))
    if node.op.enum("ReductionFunction") == "AVERAGE":
        y = _mean(e, at, e.ReduceSum(found, TAPS + SAMPLES), outside)
    else:
        values = found if weights is None else e.ReduceSum(found, TAPS)
        if outside:
            values = e.Where(at.counts(e), values, e.constant(outside, FLOAT))
        y = e.ReduceMax(values, SAMPLES)
    return as_image(e, e.Reshape(y, (y.size // sizes[1], sizes[1])), sizes)


def _mean(e: Emitter, at: Crossings, total: Tensor, outside: float) -> Tensor:
    """Returns the mean, in which samples outside the image have the value ``outside`` [decision O4]."""
    y, count = e.Reshape(total, total.shape[4:]), at.samples_per_output(e)
    if outside:
        inside = e.ReduceSum(e.Cast(at.counts(e), FLOAT), TAPS + SAMPLES)
        missing = e.Sub(count, e.Reshape(inside, inside.shape[4:]))
        part, zero = e.Mul(missing, e.constant(outside, FLOAT)), e.constant(0, FLOAT)
        y = e.Add(y, part if np.isfinite(outside) else e.Where(e.Equal(missing, zero), zero, part))
    return y if count.value is not None and (count.value == 1).all() else e.Div(y, count)


@lowers("ROI_POOLING")
def roi_pooling(node: Operands, e: Emitter) -> Tensor:
    """The largest element of each bin of a region [decisions O11 and O14]: MaxPool, Gather and ReduceMax.

    MaxRoiPool divides in FLOAT, which makes some bounds of bins wrong.
    """
    x, sizes = e.from_lowest(node.tensor("InputTensor")), node.output().sizes
    x, image = e.Cast(x, FLOAT), x.shape
    rois = node.tensor("ROITensor")
    rois = e.Cast(e.Reshape(rois, (rois.size // 5, 5)), FLOAT)
    batch, x1, y1, x2, y2 = (e.Slice(rois, (0, i), (rois.shape[0], i + 1)) for i in range(5))
    scale = node.op.float("SpatialScale")
    rows = _bins(e, (y1, y2), scale, sizes[2], image[2])
    columns = _bins(e, (x1, x2), scale, sizes[3], image[3])
    item = e.Clip(finite(e, batch), 0.0, float(image[0] - 1))
    levels = image[2].bit_length() * image[3].bit_length()
    if levels * x.size > MOST_STACKED:
        lines = _elements(e, *rows), _elements(e, *columns)
    else:
        x, lines = _stacked(e, x, rows, columns)
    numbers = numbers_of(e, x.shape, *lines, e.Reshape(item, (item.size,)))
    y = e.ReduceMax(e.Gather(pixels(e, x), numbers), SAMPLES)
    return as_image(e, e.Reshape(y, (y.size // sizes[1], sizes[1])), sizes)


def _bins(e: Emitter, ends: tuple[Tensor, Tensor], scale: float, count: int, size: int) -> tuple[Tensor, Tensor]:
    """Returns start and end of each bin as INT64 (region, bin)."""
    first, last = (_whole(e, e.Mul(end, e.constant(scale, FLOAT))) for end in ends)
    one, bins = e.constant(1, INT64), e.constant(count, INT64)
    length = e.Max(e.Add(e.Sub(last, first), one), one)
    number = e.arange(count, INT64)
    lower = e.Div(e.Mul(length, number), bins)
    upper = e.Div(e.Add(e.Mul(length, e.Add(number, one)), e.constant(count - 1, INT64)), bins)
    start, end = (e.Clip(e.Add(part, first), 0, size) for part in (lower, upper))
    return start, end


def _elements(e: Emitter, start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the elements of each bin as (1, element, region, bin), padded with its last element."""
    start, end = e.Cast(start, FLOAT), e.Cast(end, FLOAT)
    width = e.Sub(end, start)
    largest = e.Reshape(e.ReduceMax(width, (0, 1)), ())
    # an empty bin has one element that does not count
    limit = e.Max(e.Cast(largest, INT64), e.constant(1, INT64))
    element = e.Add(e.Cast(e.Unsqueeze(e.Range(limit), (1, 2)), FLOAT), start)
    index = e.Max(e.Min(element, e.Sub(end, e.constant(1, FLOAT))), e.constant(0, FLOAT))
    return e.Unsqueeze(index, (0,)), e.Unsqueeze(e.Greater(width, e.constant(0, FLOAT)), (0,))


_Line: TypeAlias = "tuple[Tensor, Tensor]"


def _stacked(e: Emitter, x: Tensor, rows: _Line, columns: _Line) -> tuple[Tensor, tuple[_Line, _Line]]:
    """Returns maxima over 1, 2, 4, .. rows and columns, concatenated, and the indices of those that cover each bin.

    Two ranges of the largest such length that fits cover a bin of any size, so that no shape depends on regions.
    """
    e.note("a bin is covered by maxima over powers of two, so that no shape depends on its size")
    count, _, height, width = x.shape
    for axis, size in ((0, height), (1, width)):
        sides = [tuple(1 << k if i == axis else 1 for i in (0, 1)) for k in range(1, size.bit_length())]
        windows = (Window(side, (1, 1), (1, 1), (0, 0), (side[0] - 1, side[1] - 1)) for side in sides)
        x = e.Concat([x, *(e.MaxPool(x, window) for window in windows)], 0)
    return x, (
        _covered(e, *rows, height, count * height),
        _covered(e, *columns, width, count * height.bit_length() * height * width),
    )


def _covered(e: Emitter, start: Tensor, end: Tensor, size: int, step: int) -> _Line:
    """Returns the first elements of the two ranges over each bin as (1, 2, region, bin), plus ``step`` per level."""
    width = e.Max(e.Sub(end, start), e.constant(0, INT64))
    powers = [max(number.bit_length() - 1, 0) for number in range(size + 1)]
    level = e.Gather(e.constant([power * step for power in powers], INT64), width)
    length = e.Gather(e.constant([1 << power for power in powers], INT64), width)
    # an empty bin may start after the last element: use any element of the image
    zero, last = e.constant(0, INT64), e.constant(size - 1, INT64)
    pair = [e.Unsqueeze(item, (0,)) for item in (e.Min(start, last), e.Max(e.Sub(end, length), zero))]
    index = e.Add(e.Concat(pair, 0), level)
    return e.Unsqueeze(index, (0,)), e.Unsqueeze(e.Greater(width, zero), (0,))


def _whole(e: Emitter, x: Tensor) -> Tensor:
    """Rounds to INT64, halves to even."""
    near = e.Clip(finite(e, x), float(-_LARGEST_CORNER), float(_LARGEST_CORNER))
    return e.Cast(e.Round(near), INT64)
