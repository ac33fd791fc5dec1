"""ROI_ALIGN, ROI_ALIGN1 and ROI_POOLING; :mod:`dml2onnx.reference.roi_samples` computes the samples."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF
from dml2onnx.reference.numeric import bound, sum_error, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, reference
from dml2onnx.reference.roi_samples import RegionSamples, Samples, line_of, samples_of

_LARGEST_CORNER = float(1 << 30)
"""Larger corners may not fit the integers that they are rounded to."""


@reference("ROI_ALIGN", "ROI_ALIGN1")
def roi_align(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The mean or maximum of samples in each bin of a region (decisions O1 to O11, O15)."""
    x, desc = widen(inputs.tensor("InputTensor")), op.tensor("OutputTensor")
    outside = float(bound(op.float("OutOfBoundsInputValue"), desc.data_type))
    y, error, marks = np.zeros(desc.sizes), np.zeros(desc.sizes), np.zeros(desc.sizes, np.bool_)
    for number, image, rows, columns in regions(op, inputs, x, desc.sizes):
        samples = samples_of(image, rows, columns, outside)
        shape = (*desc.sizes[1:3], rows.count, desc.sizes[3], columns.count)
        reduced = _mean if op.enum("ReductionFunction") == "AVERAGE" else _largest
        y[number], error[number], marks[number] = reduced(samples, shape)
    unlike = np.zeros(desc.sizes, np.bool_)
    unlike[_adapted_otherwise(op, inputs, desc.sizes)] = True
    is_selection = op.enum("InterpolationMode") == "NEAREST_NEIGHBOR" and (
        op.enum("ReductionFunction") == "MAX" or op.uint("MaximumSamplesPerOutput") <= 1
    )
    return {"OutputTensor": Result(y, None if is_selection else error, marks, unlike)}


def _adapted_otherwise(op: OperatorDesc, inputs: Inputs, sizes: tuple[int, ...]) -> Mask:
    """The regions for which RoiAlign takes a different number of samples: empty, inverted or too large."""
    corners = widen(inputs.tensor("ROITensor")).reshape(-1, 4)
    scales = np.array([op.float("SpatialScaleX"), op.float("SpatialScaleY")])
    most = max(op.uint("MaximumSamplesPerOutput"), 1)
    if max(op.uint("MinimumSamplesPerOutput"), 1) >= most:
        return np.zeros(len(corners), np.bool_)
    length = (corners[:, 2:] - corners[:, :2]) * scales
    fits = (length > 0) & (length / np.array([sizes[3], sizes[2]]) <= most)
    result: Mask = ~fits.all(1)
    return result


def regions(
    op: OperatorDesc, inputs: Inputs, x: Floats, sizes: tuple[int, ...]
) -> list[tuple[int, Floats, RegionSamples, RegionSamples]]:
    """The index, image, and samples along y and x of every region.

    Rows of ROITensor are x1, y1, x2, y2 (decision O7); batch indices are clamped (decision O11).
    """
    corners = widen(inputs.tensor("ROITensor")).reshape(-1, 4)
    batches = inputs.tensor("BatchIndicesTensor").reshape(-1)
    result = []
    for number, ((x1, y1, x2, y2), batch) in enumerate(zip(corners.tolist(), batches.tolist(), strict=True)):
        rows = line_of(op, "Y", (y1, y2), sizes[2], x.shape[2])
        columns = line_of(op, "X", (x1, x2), sizes[3], x.shape[3])
        result.append((number, x[min(batch, len(x) - 1)], rows, columns))
    return result


def _mean(samples: Samples, shape: tuple[int, ...]) -> tuple[Floats, Floats, Mask]:
    """The mean of all samples, including those outside the image (decision O4)."""
    count = shape[2] * shape[4]
    mean, error, size = (
        item.reshape(shape).sum((2, 4)) / count for item in (samples.values, samples.error, samples.reach)
    )
    marks = _any(samples.marks.reshape(shape))
    marks[size * count > LARGEST_FLOAT32] = True
    return mean, error + sum_error(4 * count + 2, size, ROUNDOFF), marks


def _any(x: Mask) -> Mask:
    """Whether the mask holds for any sample of an output element."""
    return np.asarray(x.any((2, 4)), np.bool_)


def _largest(samples: Samples, shape: tuple[int, ...]) -> tuple[Floats, Floats, Mask]:
    """The maximum of the samples, unspecified if one is NaN (decision G1)."""
    values, error, marks = (item.reshape(shape) for item in (samples.values, samples.error, samples.marks))
    return values.max((2, 4)), error.max((2, 4)), _any(marks | np.isnan(values))


@reference("ROI_POOLING")
def roi_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The largest element of each bin of a region (decisions O11 and O14)."""
    x, rois = inputs.tensor("InputTensor"), widen(inputs.tensor("ROITensor")).reshape(-1, 5)
    sizes = op.tensor("OutputTensor").sizes
    y, marks = np.zeros(sizes, x.dtype), np.zeros(sizes, np.bool_)
    for number, (batch, *corners) in enumerate(rois.tolist()):
        # the product is rounded to FLOAT32 before it is rounded to an integer
        scaled = [float(np.float32(corner * op.float("SpatialScale"))) for corner in corners]
        if not np.isfinite([batch, *scaled]).all() or max(map(abs, scaled)) > _LARGEST_CORNER:
            marks[number] = True
            continue
        image = x[int(min(max(batch, 0), len(x) - 1))]
        x1, y1, x2, y2 = (int(np.rint(item)) for item in scaled)
        for row, (top, bottom) in enumerate(_bins(y1, y2, sizes[2], x.shape[2])):
            for column, (left, right) in enumerate(_bins(x1, x2, sizes[3], x.shape[3])):
                seen: Array = image[:, top:bottom, left:right].reshape(sizes[1], -1)
                if seen.size:
                    # starts at the lowest number and ignores NaN (decisions P7, P10)
                    y[number, :, row, column] = np.fmax.reduce(seen, 1, initial=np.finfo(str(x.dtype)).min)
    return {"OutputTensor": Result(y, None, marks)}


def _bins(start: int, end: int, count: int, size: int) -> list[tuple[int, int]]:
    """The half-open range of each bin, in whole elements, clamped to the image."""
    length = max(end - start + 1, 1)
    lows = [number * length // count + start for number in range(count)]
    highs = [-(-(number + 1) * length // count) + start for number in range(count)]
    return [(min(max(a, 0), size), min(max(b, 0), size)) for a, b in zip(lows, highs, strict=True)]
