"""RESAMPLE, RESAMPLE1, RESAMPLE2, RESAMPLE3 and UPSAMPLE_2D."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc, Size2D
from dml2onnx.reference.accuracy import ROUNDOFF
from dml2onnx.reference.numeric import truncate_within, widen
from dml2onnx.reference.registry import Floats, Indices, Inputs, Mask, Outputs, Result, reference

Coordinates = npt.NDArray[np.float32]

_SIMPLE = 64
"""FLOAT32 is exact for the product of an 8-bit integer with weights of two axes that are multiples of 1/64."""


@reference("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
def resample(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Resizes by Scales (decision S1). RESAMPLE uses pixel centres (S10); RESAMPLE3 may antialias (S9)."""
    scales = op.floats("Scales")
    if op.type == "RESAMPLE":
        return _resample(op, inputs, scales, (0.5,) * len(scales), (-0.5,) * len(scales))
    return _resample(op, inputs, scales, op.floats("InputPixelOffsets"), op.floats("OutputPixelOffsets"))


@reference("UPSAMPLE_2D")
def upsample_2d(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """RESAMPLE by integer factors: repetition, or LINEAR with pixel centres (decision S11)."""
    x, size = inputs.tensor("InputTensor"), op.get("ScaleSize")
    assert isinstance(size, Size2D)
    if op.enum("InterpolationMode") == "NEAREST_NEIGHBOR":
        return {"OutputTensor": Result(x.repeat(size.height, -2).repeat(size.width, -1))}
    scales = (*(1.0 for _ in x.shape[:-2]), float(size.height), float(size.width))
    return _resample(op, inputs, scales, (0.5,) * x.ndim, (-0.5,) * x.ndim)


def nearest_of(op: OperatorDesc) -> Callable[[Coordinates], Coordinates]:
    """The rounding of NEAREST_NEIGHBOR, which RoundingDirection selects (decision S3).

    Versions without that field round halves up, or down to the element below for 8-bit integers (S2).
    """
    if op.has("RoundingDirection"):
        return np.ceil if op.enum("RoundingDirection") == "INCREASING" else np.floor
    return halves_up if op.tensor(op.schema.input_fields[0].name).data_type.is_float else np.floor


def halves_up(x: Coordinates) -> Coordinates:
    """Rounds to nearest (decision S2)."""
    rounded: Coordinates = np.floor(x + np.float32(0.5))
    return rounded


def coordinates(size: int, scale: float, input_offset: float, output_offset: float) -> Coordinates:
    """``(x - OutputPixelOffset) / Scale - InputPixelOffset`` for every output coordinate, in FLOAT32 (decision S1)."""
    quotient = (np.arange(size).astype(np.float32) - np.float32(output_offset)) / np.float32(scale)
    return (_flushed(quotient) - np.float32(input_offset)).astype(np.float32)


def _flushed(x: npt.ArrayLike) -> npt.NDArray[Any]:
    """What underflows is 0, so that rounding up does not skip the first element (decision S16)."""
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.float32(0), x)


def selected(size: int, scale: float, input_offset: float, output_offset: float, *, upward: bool) -> Coordinates:
    """The coordinates that NEAREST_NEIGHBOR rounds: by the reciprocal of Scale, fused (decision S17).

    Where they are rounded ``upward`` and Scale is no power of 2, its reciprocal is one unit in the last place smaller.
    """
    reciprocal = np.float32(1) / np.float32(scale)
    if upward and np.frexp(np.float32(scale))[0] != 0.5:
        reciprocal = np.nextafter(reciprocal, np.float32(0))
    steps = (np.arange(size).astype(np.float32) - np.float32(output_offset)).astype(np.float64)
    product = _flushed(steps * float(_flushed(reciprocal)))  # exact in FLOAT64
    return (product - float(np.float32(input_offset))).astype(np.float32)


def _resample(
    op: OperatorDesc,
    inputs: Inputs,
    scales: tuple[float, ...],
    input_offsets: tuple[float, ...],
    output_offsets: tuple[float, ...],
) -> Outputs:
    x, sizes = inputs.tensor("InputTensor"), op.tensor("OutputTensor").sizes
    axes = list(zip(sizes, scales, input_offsets, output_offsets, strict=True))
    if op.enum("InterpolationMode") == "NEAREST_NEIGHBOR":
        upward = nearest_of(op) is np.ceil
        places = [
            clamp(nearest_of(op)(selected(*axis, upward=upward)), n) for axis, n in zip(axes, x.shape, strict=True)
        ]
        return {"OutputTensor": Result(x[np.ix_(*places)])}
    data_type = op.tensor("OutputTensor").data_type
    antialiased = op.type == "RESAMPLE3" and op.flag("Antialiased")
    values = widen(x)
    nowhere = np.zeros(x.shape, np.bool_)
    line = _Line(values, np.zeros(x.shape), data_type.is_float, ~np.isfinite(values), nowhere, nowhere)
    shrinks = antialiased and any(scale < 0.5 for scale in scales)
    passes = max(2, *(len(antialiasing_steps(*pair)) for pair in zip(x.shape, sizes, strict=True)))
    for axis, (size, scale, input_offset, output_offset) in enumerate(axes):
        if not shrinks:
            line = line.sampled(axis, size, scale, input_offset, output_offset)
            continue
        steps = antialiasing_steps(x.shape[axis], size)
        for step in (*steps, *[size] * (passes - len(steps))):
            line = line.sampled(axis, step, step / line.values.shape[axis], input_offset, output_offset)
    if data_type.is_float:
        result = Result(line.values, line.error, line.near & line.weightless)
    else:
        result = truncate_within(line.values, line.error, data_type)
    if any(not 0 <= offset <= 1 for offset in input_offsets):
        # kernels differ in what they clamp and what they multiply by 0 (decision S5)
        known = False if result.unspecified is None else result.unspecified
        result = replace(result, unspecified=np.broadcast_to(line.extrapolated | line.near | known | shrinks, sizes))
    return {"OutputTensor": result}


def antialiasing_steps(size: int, output: int) -> list[int]:
    """The sizes of the passes that shrink an axis, if any axis shrinks to less than half (decision S9).

    All powers of two between ``size`` and ``output``, in descending order, then ``output``; only ``output`` if it is at
    least half of ``size``.
    """
    if size <= 2 * output:
        return [output]
    powers = [1 << exponent for exponent in range((size - 1).bit_length())]
    return [*(power for power in reversed(powers) if power > output), output]


def clamp(x: Floats | Coordinates, n: int) -> Indices:
    """Indices clamped to the input (decision S5)."""
    return np.clip(x.astype(np.float64), 0, n - 1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Line:
    """A tensor that is sampled linearly along one axis after another, with its error bound.

    An infinity next to a whole coordinate is multiplied by 0 (decision S6), unless a runtime skips it or computes
    a slightly different coordinate.
    """

    values: Floats
    error: Floats
    is_float: bool
    near: Mask
    """Whether an element next to the coordinates, whatever its weight, is not finite."""
    weightless: Mask
    """Whether the weight of an element next to the coordinates may be 0."""
    extrapolated: Mask
    """Whether the coordinate is not between its two elements; some kernels of DirectML clamp these."""

    def sampled(self, axis: int, size: int, scale: float, input_offset: float, output_offset: float) -> _Line:
        """Samples the next axis (decisions S5 and S6)."""
        place = coordinates(size, scale, input_offset, output_offset).astype(np.float64)
        # elements are chosen and clamped with the offset limited to [0, 1]
        base = coordinates(size, scale, min(max(input_offset, 0.0), 1.0), output_offset).astype(np.float64)
        below = np.floor(base)
        column = tuple(-1 if i == axis else 1 for i in range(self.values.ndim))
        weight = (place - below).reshape(column)
        low, high = (clamp(below + step, self.values.shape[axis]) for step in (0, 1))
        a, b = np.take(self.values, low, axis), np.take(self.values, high, axis)
        # at the edge both elements are the same
        is_edge = (low == high).reshape(column)
        values = np.where(is_edge, a, a * (1 - weight) + b * weight)
        far = np.where(is_edge, 1, np.maximum(np.abs(weight) + np.abs(1 - weight), 1))
        rounding = 4 * ROUNDOFF * (np.abs(a) + np.abs(b)) * far * (weight != 0)
        if not self.is_float:
            # sums of small integers with simple weights, such as quarters, are exact in FLOAT32 in any order, which
            # matters before truncation; with weights of 24 bits the sum depends on the order
            simple = np.round(weight * _SIMPLE) == weight * _SIMPLE
            in_float32 = a.astype(np.float32) * (1 - weight).astype(np.float32)
            in_float32 = in_float32 + b.astype(np.float32) * weight.astype(np.float32)
            rounding = np.where(simple & (in_float32 == values), 0, rounding)
        doubt = doubt_of(place, size, scale, input_offset, output_offset)
        own = rounding + np.abs(b - a) * doubt.reshape(column)
        inherited = np.maximum(np.take(self.error, low, axis), np.take(self.error, high, axis)) * far
        error = inherited + np.where(np.isfinite(own), own, 0)
        near, weightless = self._leaks(axis, place if 0 <= input_offset <= 1 else base, doubt, column)
        inside = np.clip(place, 0, self.values.shape[axis] - 1)
        beyond = np.where(low == high, inside != low, (place < below) | (place >= below + 1)).reshape(column)
        extrapolated = np.take(self.extrapolated, low, axis) | np.take(self.extrapolated, high, axis) | beyond
        return _Line(values, error, self.is_float, near, weightless, extrapolated)

    def _leaks(self, axis: int, place: Floats, doubt: Floats, column: tuple[int, ...]) -> tuple[Mask, Mask]:
        """``near`` and ``weightless`` after the next axis; whole coordinates and edges have a weight of 0."""
        end = self.values.shape[axis] - 1
        inside = np.clip(place, 0, end)
        is_whole = (np.abs(inside - np.round(inside)) <= doubt).reshape(column)
        low, high = (clamp(np.floor(moved), end + 1) for moved in (place - doubt, place + doubt))
        near, weightless = (
            np.take(mask, low, axis) | np.take(mask, high, axis) | np.take(mask, np.minimum(high + 1, end), axis)
            for mask in (self.near, self.weightless)
        )
        return near, weightless | is_whole


def doubt_of(place: Floats, size: int, scale: float, input_offset: float, output_offset: float) -> Floats:
    """How far coordinates may differ with other FLOAT32 steps, such as multiplication by 1 / Scale."""
    quotient = (np.arange(size) - output_offset) / scale
    inexact = place != quotient - input_offset
    return np.where(inexact, 2 * ROUNDOFF * (np.abs(quotient) + np.abs(place)), 0)
