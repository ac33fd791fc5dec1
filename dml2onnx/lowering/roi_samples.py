"""The sample positions of ROI_ALIGN, ROI_ALIGN1 and ROI_ALIGN_GRAD, computed at run time.

Tensors of one line of samples have axes (tap, sample, region, output); a tap is an element of the image that a sample
reads, two along an axis for LINEAR. At the crossings of rows and columns the axes are (tap, sample) of y, (tap,
sample) of x, region, output y, output x. If the number of samples depends on the region, tensors are as large as for
the region with most samples, and surplus samples of the others are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.legalise.regions import LARGEST
from dml2onnx.lowering.operands import Operands
from dml2onnx.onnx_model import FLOAT, INT64, DType

INT32: DType = np.dtype(np.int32)

TAPS, SAMPLES, CHANNEL = (0, 2), (1, 3), 7
"""Axes of what is gathered at crossings; the last axis is the channel."""

MOST_STATIC_SAMPLES = 8
"""The maximum of samples along an axis up to which tensors have a static size for that maximum."""
MOST_STATIC_ELEMENTS = 1 << 22
"""The number of elements up to which tensors have a static size for any maximum of samples."""


@dataclass(frozen=True, slots=True)
class Corners:
    """The parameters that turn corners of regions into coordinates."""

    scale_x: float
    scale_y: float
    input_offset: float
    output_offset: float
    is_aligned: bool
    is_linear: bool
    is_mean: bool
    fewest: int
    most: int

    @staticmethod
    def of(op: OperatorDesc) -> Corners:
        """Reads the fields of an operator; the offsets of ROI_ALIGN are half a pixel [decision O9]."""
        is_first = op.type == "ROI_ALIGN"
        most = max(op.uint("MaximumSamplesPerOutput"), 1)
        return Corners(
            op.float("SpatialScaleX"),
            op.float("SpatialScaleY"),
            0.5 if is_first else op.float("InputPixelOffset"),
            -0.5 if is_first else op.float("OutputPixelOffset"),
            not is_first and op.flag("AlignRegionsToCorners"),
            op.enum("InterpolationMode") == "LINEAR",
            op.enum("ReductionFunction") == "AVERAGE",
            min(max(op.uint("MinimumSamplesPerOutput"), 1), most),
            most,
        )


@dataclass(frozen=True, slots=True)
class AxisSamples:
    """The samples of all regions along one axis of the image."""

    count: Tensor
    """The number of samples per output element, FLOAT: (region, 1), or a scalar for all."""
    number: Tensor
    """The numbers 0, 1, .. of the samples of an output element, INT64: (sample, 1, 1)."""
    index: Tensor
    """The elements of the image, FLOAT."""
    counts: Tensor
    """Whether a sample is inside the image and not surplus, BOOL without the axis of taps."""
    weight: Tensor | None
    """The weights of the taps, FLOAT; ``None`` for a single tap."""
    place: Tensor
    """Coordinates before clamping, FLOAT, 0 for samples that do not count; without the axis of taps."""


def line_of(
    e: Emitter,
    corners: Corners,
    scale: float,
    ends: tuple[Tensor, Tensor],
    outputs: int,
    size: int,
    only: Tensor | None = None,
    *,
    is_static: bool,
) -> AxisSamples:
    """Returns the samples between two corners (region, 1) [decisions O1, O3, O5, O6, O8, O10].

    With ``only`` (region, 1), the regions where it is false have no samples. With ``is_static``, tensors are as large
    as the maximum of samples requires, else as large as the region with most samples requires.
    """
    first, last = (e.Mul(end, e.constant(scale, FLOAT)) for end in ends)
    length = finite(e, e.Sub(last, first))
    count, number = _numbers(e, corners, length, outputs, only, is_static=is_static)
    sample, needed = _needed(e, corners, count, e.Cast(number, FLOAT))
    samples = e.Add(e.Mul(e.arange(outputs, FLOAT), count), sample)
    steps, parts = _steps(e, corners, samples, e.Mul(count, e.constant(outputs, FLOAT)))
    place = e.Add(e.Mul(steps, e.Div(length, parts)), first)
    if corners.input_offset:
        place = e.Sub(place, e.constant(corners.input_offset, FLOAT))
    counts = _inside(e, corners, place, size)
    counts = counts if needed is None else e.And(counts, needed)
    place = e.Where(counts, place, e.constant(0, FLOAT))
    if not corners.is_linear:
        clamped = e.Clip(place, 0.0, float(size - 1))
        nearest = e.Clip(e.Floor(e.Add(clamped, e.constant(0.5, FLOAT))), 0.0, float(size - 1))
        return AxisSamples(count, number, e.Unsqueeze(nearest, (0,)), counts, None, place)
    index, weight = linear_taps(e, place, size)
    return AxisSamples(count, number, index, counts, weight, place)


def linear_taps(e: Emitter, place: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Returns the two elements around each coordinate, and their weights."""
    place = e.Clip(place, 0.0, float(size - 1))
    below, above = e.Floor(place), e.Ceil(place)
    # 0.5 each if both are the same element, so that no weight is 0: 0 * inf would be NaN
    fraction = e.Where(e.Equal(below, above), e.constant(0.5, FLOAT), e.Sub(place, below))
    rest = e.Sub(e.constant(1, FLOAT), fraction)
    return beside(e, below, above), beside(e, rest, fraction)


def beside(e: Emitter, *taps: Tensor) -> Tensor:
    """Concatenates tensors along a new axis of taps."""
    return e.Concat([e.Unsqueeze(item, (0,)) for item in taps], 0)


def _inside(e: Emitter, corners: Corners, place: Tensor, size: int) -> Tensor:
    """Whether samples are in the image, or less than a pixel outside [decisions O3 and O8]; false for NaN."""
    if corners.is_aligned:
        low, high = e.constant(0, FLOAT), e.constant(size - 1, FLOAT)
        return e.And(e.GreaterOrEqual(place, low), e.LessOrEqual(place, high))
    return e.And(e.Greater(place, e.constant(-1, FLOAT)), e.Less(place, e.constant(size, FLOAT)))


def finite(e: Emitter, x: Tensor) -> Tensor:
    """Replaces NaN, and numbers that are too large for steps of a pixel, by 0."""
    return e.Where(e.LessOrEqual(e.Abs(x), e.constant(LARGEST, FLOAT)), x, e.constant(0, FLOAT))


def _numbers(
    e: Emitter, corners: Corners, length: Tensor, outputs: int, only: Tensor | None, *, is_static: bool
) -> tuple[Tensor, Tensor]:
    """Returns the number of samples per output element, and 0, 1, .. up to the largest of these numbers."""
    count = e.constant(corners.most, FLOAT)
    if corners.fewest == corners.most and only is None:
        return count, e.Reshape(e.arange(corners.most, INT64), (corners.most, 1, 1))
    if corners.fewest < corners.most:
        ratio = e.Div(e.Abs(length), e.constant(outputs, FLOAT))
        count = e.Clip(e.Ceil(ratio), float(corners.fewest), float(corners.most))
    if only is not None:
        count = e.Where(only, count, e.constant(0, FLOAT))
    if is_static:
        return count, e.Reshape(e.arange(corners.most, INT64), (corners.most, 1, 1))
    largest = e.Reshape(e.ReduceMax(count, tuple(range(count.rank))), ())
    return count, e.Unsqueeze(e.Range(e.Cast(largest, INT64)), (1, 2))


def _needed(e: Emitter, corners: Corners, count: Tensor, number: Tensor) -> tuple[Tensor, Tensor | None]:
    """Returns the sample to use for each number, and whether it is not surplus (``None``: always)."""
    if count.rank == 0:
        return number, None
    if corners.is_mean:
        return number, e.Less(number, count)
    # repeating the last sample does not change the maximum
    return e.Min(number, e.Sub(count, e.constant(1, FLOAT))), None


def _steps(e: Emitter, corners: Corners, samples: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the number of steps from the first corner to each sample, and across the region."""
    steps = e.Sub(samples, e.constant(corners.output_offset, FLOAT)) if corners.output_offset else samples
    if not corners.is_aligned:
        return steps, total
    one = e.constant(1, FLOAT)
    is_single = e.LessOrEqual(total, one)
    return e.Where(is_single, e.constant(0.5, FLOAT), steps), e.Where(is_single, one, e.Sub(total, one))


@dataclass(frozen=True, slots=True)
class Crossings:
    """The pixels that all samples read, and their weights."""

    rows: AxisSamples
    columns: AxisSamples
    numbers: Tensor
    """Rows of :func:`pixels`: the last one for samples that do not count."""

    def counts(self, e: Emitter) -> Tensor:
        """Returns which samples count, as BOOL that broadcasts to (.., channel)."""
        rows, columns = (e.Unsqueeze(line.counts, (0,)) for line in (self.rows, self.columns))
        return e.Unsqueeze(e.And(of_rows(e, rows), of_columns(e, columns)), (CHANNEL,))

    def weights(self, e: Emitter) -> tuple[Tensor, Tensor] | None:
        """Returns the weights of taps along y and x, which broadcast to (.., channel); ``None`` for single taps."""
        if self.rows.weight is None or self.columns.weight is None:
            return None
        y, x = of_rows(e, self.rows.weight), of_columns(e, self.columns.weight)
        return e.Unsqueeze(y, (CHANNEL,)), e.Unsqueeze(x, (CHANNEL,))

    def samples_per_output(self, e: Emitter) -> Tensor:
        """Returns the number of samples per output element: a scalar, or (region, 1, 1, 1)."""
        counts = (self.rows.count, self.columns.count)
        y, x = (e.Reshape(count, (count.size, 1, 1, 1)) if count.rank else count for count in counts)
        return e.Mul(y, x)


def of_rows(e: Emitter, x: Tensor) -> Tensor:
    """(tap, sample, region, output) along y among the axes of crossings."""
    return e.Unsqueeze(x, (2, 3, 6))


def of_columns(e: Emitter, x: Tensor) -> Tensor:
    """The same along x."""
    return e.Unsqueeze(x, (0, 1, 5))


def crossings(
    node: Operands, e: Emitter, image: tuple[int, ...], outputs: tuple[int, int], only: Tensor | None = None
) -> Crossings:
    """Returns the samples of all regions in images (batch, channel, height, width)."""
    corners, rois = Corners.of(node.op), regions(node, e)
    x1, y1, x2, y2 = (e.Slice(rois, (0, i), (rois.shape[0], i + 1)) for i in range(4))
    elements = rois.shape[0] * prod(outputs) * image[1] * corners.most**2 * (4 if corners.is_linear else 1)
    is_static = only is None and (corners.most <= MOST_STATIC_SAMPLES or elements <= MOST_STATIC_ELEMENTS)
    rows = line_of(e, corners, corners.scale_y, (y1, y2), outputs[0], image[2], only, is_static=is_static)
    columns = line_of(e, corners, corners.scale_x, (x1, x2), outputs[1], image[3], only, is_static=is_static)
    batch = batch_indices(node, e, image[0])
    found = numbers_of(e, image, (rows.index, rows.counts), (columns.index, columns.counts), batch)
    return Crossings(rows, columns, found)


def regions(node: Operands, e: Emitter) -> Tensor:
    """Returns the corners as FLOAT (region, 4)."""
    rois = node.tensor("ROITensor")
    return e.Cast(e.Reshape(rois, (rois.size // 4, 4)), FLOAT)


def batch_indices(node: Operands, e: Emitter, batches: int) -> Tensor:
    """Returns one INT64 index per region; too large ones are clamped [decision O11]."""
    indices = node.tensor("BatchIndicesTensor")
    indices = e.Min(indices, e.constant(batches - 1, indices.dtype))
    return e.Cast(e.Reshape(indices, (indices.size,)), INT64)


def numbers_of(
    e: Emitter, image: tuple[int, ...], rows: tuple[Tensor, Tensor], columns: tuple[Tensor, Tensor], batch: Tensor
) -> Tensor:
    """Returns the number of the pixel at each crossing; the number of pixels if a row or a column does not count.

    Rows and columns are FLOAT indices (tap, sample, region, output), and whether they count, without taps.
    """
    batches, _, height, width = image
    count = batches * height * width
    dtype = INT32 if 2 * count < 1 << 31 else INT64
    behind = e.constant(count, dtype)
    first = e.Mul(e.Cast(batch, dtype), e.constant(height * width, dtype))
    start = e.Mul(e.Cast(rows[0], dtype), e.constant(width, dtype))
    start = e.Add(start, e.Reshape(first, (first.size, 1)))
    start = e.Where(rows[1], start, behind)
    rest = e.Where(columns[1], e.Cast(columns[0], dtype), behind)
    return e.Min(e.Add(of_rows(e, start), of_columns(e, rest)), behind)


def pixels(e: Emitter, x: Tensor) -> Tensor:
    """Returns one row of channels per pixel of (batch, channel, height, width), and a final row of zeros."""
    rows = e.Reshape(e.Transpose(x, (0, 2, 3, 1)), (x.size // x.shape[1], x.shape[1]))
    return e.Concat([rows, e.ConstantOfShape((1, x.shape[1]), 0, x.dtype)], 0)


def as_image(e: Emitter, rows: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Reverses :func:`pixels`, for any (item, channel, height, width)."""
    count, channels, height, width = sizes
    flat = e.Reshape(e.Slice(rows, (0, 0), (prod(sizes) // channels, channels)), (count, height, width, channels))
    return e.Transpose(flat, (0, 3, 1, 2))
