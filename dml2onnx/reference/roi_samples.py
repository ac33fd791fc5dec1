"""Sample coordinates and sample values of the regions of ROI_ALIGN and its variants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import ROUNDOFF
from dml2onnx.reference.registry import Floats, Indices, Mask

_SIMPLE = 1 << 18
"""Numbers with up to 18 significant bits stay exact in FLOAT32 in every way of computing a coordinate."""
_OTHER_STEPS = 4
"""Roundings in which two ways of computing a coordinate may differ."""
_MOST_SAMPLES = 1 << 22
"""Limit of samples along one axis of one region; the contents of ROITensor could request any number."""
WINDOW = (-1, 0, 1, 2)
"""Elements that an inexact coordinate may touch, relative to the one below it."""


@dataclass(frozen=True, slots=True)
class _Number:
    """FLOAT32 numbers, and how far other ways of computing them may deviate: 0 where all steps are exact."""

    value: Floats
    doubt: Floats

    @staticmethod
    def rounded(exact: Floats, doubt: Floats) -> _Number:
        """The result of one step, to which the errors of its operands contribute ``doubt``."""
        mantissa = np.frexp(exact)[0] * _SIMPLE
        simple = np.round(mantissa) == mantissa
        value = exact.astype(np.float32).astype(np.float64)
        return _Number(value, doubt + np.where(simple, 0, _OTHER_STEPS * ROUNDOFF * np.abs(exact)))


@dataclass(frozen=True, slots=True)
class RegionSamples:
    """The samples of one region along one axis of the image, ``count`` per output element, in order."""

    count: int
    size: int
    place: Floats
    """Unclamped coordinates in the image."""
    doubt: Floats
    below: Indices
    above: Indices
    weight: Floats
    """The weight of ``above``; 0 for NEAREST_NEIGHBOR, which has one element."""
    is_linear: bool
    inside: Mask
    marks: Mask
    """Unspecified samples: rounding decides which element is nearest, or whether or where there is a sample."""
    is_lost: bool
    """Whether samples may be anywhere because the region's coordinates are not finite."""


def line_of(op: OperatorDesc, axis: str, corners: tuple[float, float], outputs: int, size: int) -> RegionSamples:
    """Samples between two corners (decisions O1, O3, O5, O6 and O8 to O10)."""
    scale = np.float64(op.float(f"SpatialScale{axis}"))
    is_first = op.type == "ROI_ALIGN"
    input_offset, output_offset = (
        (0.5, -0.5) if is_first else (op.float("InputPixelOffset"), op.float("OutputPixelOffset"))
    )
    aligned = not is_first and op.flag("AlignRegionsToCorners")
    none = np.zeros(())
    first, last = (_Number.rounded(np.asarray(np.float64(corner) * scale), none) for corner in corners)
    start, end = (_shifted(item, input_offset) for item in (first, last))
    size_of = _Number.rounded(last.value - first.value, start.doubt + end.doubt)
    ratio = _Number.rounded(size_of.value / outputs, size_of.doubt / outputs)
    count, is_open = _count(op, ratio)
    if outputs * count > _MOST_SAMPLES:
        raise MemoryError  # the interpreter reports it with the node
    samples = np.arange(outputs * count).astype(np.float64)
    if aligned and len(samples) == 1:
        # in the middle, whatever OutputPixelOffset is (decision O8)
        steps, parts = _Number(samples + 0.5, np.zeros_like(samples)), 1
    else:
        steps = _Number.rounded(samples - output_offset, np.zeros_like(samples))
        parts = len(samples) - aligned
    step = _Number.rounded(size_of.value / parts, (size_of.doubt + ratio.doubt) / parts)
    reach = _Number.rounded(steps.value * step.value, np.abs(steps.value) * step.doubt + steps.doubt * abs(step.value))
    place = _Number.rounded(reach.value + start.value, reach.doubt + start.doubt)
    return _looked_up(op, count, size, place, is_open, aligned)


def _shifted(corner: _Number, shift: float) -> _Number:
    """``corner - shift``, which may be computed with an intermediate shift of half a pixel either way."""
    at = _Number.rounded(corner.value - shift, corner.doubt)
    for way in (0.5, -0.5):
        at = _Number(at.value, at.doubt + _Number.rounded(corner.value + way, np.zeros(())).doubt)
    return at


def _count(op: OperatorDesc, ratio: _Number) -> tuple[int, bool]:
    """The number of samples per output element, and whether it depends on rounding."""
    low, high = (max(op.uint(f"{end}SamplesPerOutput"), 1) for end in ("Minimum", "Maximum"))

    def clamped(x: Floats) -> int:
        return int(np.minimum(np.maximum(np.ceil(x), low), high)) if np.isfinite(x) else 1

    # inverted regions have as many samples as upright ones (decision O6)
    size = np.abs(ratio.value)
    ends = {clamped(size - ratio.doubt), clamped(size), clamped(size + ratio.doubt)}
    return clamped(size), len(ends) > 1 or not np.isfinite(size)


def _looked_up(op: OperatorDesc, count: int, size: int, at: _Number, is_open: bool, aligned: bool) -> RegionSamples:
    place = np.where(np.isfinite(at.value), at.value, 0)
    marks = (~np.isfinite(at.value)) | is_open
    is_lost = not np.isfinite(at.value).all()
    # samples may be up to one pixel outside the image, exclusive; those of aligned regions are inside up to the corners
    # of the image, inclusive (decisions O3 and O8)
    inside = (place >= 0) & (place <= size - 1) if aligned else (place > -1) & (place < size)
    for border in (0, size - 1) if aligned else (-1, size):
        marks |= np.abs(place - border) <= at.doubt
    clamped = np.clip(place, 0, size - 1)
    if op.enum("InterpolationMode") == "LINEAR":
        below = np.floor(clamped).astype(np.int64)
        above = np.minimum(below + 1, size - 1)
        return RegionSamples(count, size, place, at.doubt, below, above, clamped - below, True, inside, marks, is_lost)
    # halves go up (decision O10)
    half = _Number.rounded(clamped + 0.5, at.doubt)
    low, middle, high = (
        np.clip(np.floor(end), 0, size - 1).astype(np.int64)
        for end in (half.value - half.doubt, clamped + 0.5, half.value + half.doubt)
    )
    zero = np.zeros_like(place)
    return RegionSamples(count, size, place, zero, middle, middle, zero, False, inside, marks | (low != high), is_lost)


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples at all pairs of rows and columns, as (channels, rows, columns)."""

    values: Floats
    error: Floats
    reach: Floats
    """The largest finite magnitude around each sample."""
    near_nonfinite: Mask
    """Whether an element around the sample is not finite."""
    marks: Mask


def samples_of(image: Floats, rows: RegionSamples, columns: RegionSamples, outside: float) -> Samples:
    """Interpolation in an image of (channels, height, width) (decisions O1 to O4)."""
    weights = rows.weight[:, None], columns.weight[None, :]
    (a, b), (c, d) = (
        (image[:, y][:, :, columns.below], image[:, y][:, :, columns.above]) for y in (rows.below, rows.above)
    )
    value = _mixed(_mixed(a, b, weights[1]), _mixed(c, d, weights[1]), weights[0])
    is_linear = rows.is_linear
    offsets = WINDOW if is_linear else (0,)
    nonfinite = ~np.isfinite(image)
    magnitudes = np.where(nonfinite, 0, np.abs(image))
    sizes, near_nonfinite = (_around(item, rows, columns, offsets) for item in (magnitudes, nonfinite))
    inside = rows.inside[:, None] & columns.inside[None, :]
    marks: Mask = rows.marks[:, None] | columns.marks[None, :]
    if not is_linear:
        size = np.where(inside, sizes, abs(outside))
        zero = np.zeros(size.shape)
        return Samples(
            np.where(inside, value, outside), zero, size, near_nonfinite & inside, np.broadcast_to(marks, size.shape)
        )
    doubt = rows.doubt[:, None] + columns.doubt[None, :]
    # an infinity with weight 0 may become NaN or be skipped
    is_weightless = (weights[0] == 0) | (weights[1] == 0) | (doubt > 0)
    beyond = abs(outside) if np.isfinite(outside) else 0.0
    return Samples(
        np.where(inside, value, outside),
        np.where(inside, sizes * (2 * doubt + 8 * ROUNDOFF), 4 * ROUNDOFF * beyond),
        np.where(inside, sizes, beyond),
        near_nonfinite & inside,
        (near_nonfinite & is_weightless & inside) | marks,
    )


def _around(image: np.ndarray, rows: RegionSamples, columns: RegionSamples, offsets: tuple[int, ...]) -> np.ndarray:
    """The maximum over elements at ``offsets`` from the one below each coordinate, in both directions."""
    for axis, line in ((1, rows), (2, columns)):
        places = [np.clip(line.below + offset, 0, line.size - 1) for offset in offsets]
        image = np.maximum.reduce([image.take(place, axis) for place in places])
    return image


def _mixed(a: Floats, b: Floats, weight: Floats) -> Floats:
    return np.where(weight == 0, a, a * (1 - weight) + b * weight)
