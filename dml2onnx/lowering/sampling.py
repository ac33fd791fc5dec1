"""The input coordinates of resampling along one axis, in FLOAT32.

Since shapes are static, all coordinates are known at compile time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dml2onnx.legalise.resizing import Floats, Indices, Rounding, between, clamp, remembered

_HALF = np.float32(0.5)
_FLOAT = np.finfo(np.float32)
SAMPLING_TABLES = 4
"""The minimum number of vectors as long as an axis that computing its coordinates takes."""


@dataclass(frozen=True, slots=True)
class SampledAxis:
    """One axis of a resampling: element ``i`` of ``count`` reads at ``(i - output_offset) / scale - input_offset``."""

    size: int
    count: int
    scale: float
    input_offset: float
    output_offset: float
    is_selected: bool = False
    """Whether NEAREST_NEIGHBOR selects elements of it, at the coordinates of decision S17."""
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        fields = (self.size, self.count, self.scale, self.input_offset, self.output_offset, self.is_selected)
        object.__setattr__(self, "_hash", hash(fields))

    def __hash__(self) -> int:
        return self._hash

    def nearest(self, rounding: Rounding) -> Indices:
        """See :func:`nearest`."""
        return nearest(self, rounding)

    def between(self) -> tuple[Floats, npt.NDArray[np.float64]] | None:
        """Returns the coordinates within the input, and :func:`slack`; ``None`` if LINEAR extrapolates."""
        return None if extrapolation(self) is not None else (inside(self), slack(self))


@remembered
def coordinates(axis: SampledAxis) -> Floats:
    """Returns the coordinate of each output element in FLOAT32 [decision S1]; no axis has size 0."""
    steps = np.arange(axis.count).astype(np.float32) - np.float32(axis.output_offset)
    with np.errstate(all="ignore"):
        quotient = _normal(steps / np.float32(axis.scale))
        return _finite(quotient - np.float32(axis.input_offset))


def _selected(axis: SampledAxis, rounding: Rounding) -> Floats:
    """Returns the coordinates that NEAREST_NEIGHBOR rounds, by a fused product with the reciprocal [decision S17]."""
    steps = np.arange(axis.count).astype(np.float32) - np.float32(axis.output_offset)
    with np.errstate(all="ignore"):
        reciprocal = np.float32(1) / np.float32(axis.scale)
        if rounding == "INCREASING" and float(reciprocal) * float(np.float32(axis.scale)) != 1:
            reciprocal = np.nextafter(reciprocal, np.float32(0))
        product = _normal(steps.astype(np.float64) * float(_normal(reciprocal)))
        return _finite((product - float(np.float32(axis.input_offset))).astype(np.float32))


def _normal(x: npt.ArrayLike) -> npt.NDArray[Any]:
    """Subnormal numbers become 0, or rounding up would skip the first element [decision S16]."""
    return np.where(np.abs(x) < _FLOAT.smallest_normal, 0, x)


def _finite(place: Floats) -> Floats:
    return between(np.where(np.isnan(place), np.float32(0), place), _FLOAT.min, _FLOAT.max)


@remembered
def inside(axis: SampledAxis) -> Floats:
    """Returns the coordinates, clamped to the input [decision S5]."""
    return _inside(coordinates(axis), axis)


@remembered
def nearest(axis: SampledAxis, rounding: Rounding) -> Indices:
    """Returns the element that each output element copies [decisions S2 and S3]."""
    place = _selected(axis, rounding) if axis.is_selected else coordinates(axis)
    if rounding == "HALVES_UP":
        place = np.floor(place + _HALF)
    else:
        place = np.ceil(place) if rounding == "INCREASING" else np.floor(place)
    return clamp(place, axis.size)


@remembered
def whole(axis: SampledAxis) -> Indices | None:
    """Returns the elements that LINEAR copies if all coordinates are whole, else ``None``."""
    place = inside(axis)
    return None if (place != np.floor(place)).any() else place.astype(np.int64)


def weights(axis: SampledAxis) -> Floats:
    """Returns LINEAR's weight of the element above every coordinate; the one below has the rest [decision S6].

    The two are the nearest elements with INCREASING and DECREASING. They are the same for a whole coordinate, with
    weights of 0.5: a weight of 0 would make NaN of an infinite element.
    """
    place = inside(axis)
    weight = place - np.floor(place)
    return np.where(weight == 0, _HALF, weight)


class Extrapolation(NamedTuple):
    """Two elements for each output element, and the weight of the second, which may be above 1 or negative."""

    low: Indices
    high: Indices
    weight: Floats


@remembered
def extrapolation(axis: SampledAxis) -> Extrapolation | None:
    """Returns how LINEAR extrapolates, or ``None`` if all coordinates are between the two elements [decision S5].

    DirectML chooses and clamps the two elements with the offset limited to [0, 1].
    """
    if 0 <= axis.input_offset <= 1 or axis.size == 1:
        return None
    offset = min(max(axis.input_offset, 0.0), 1.0)
    below = np.floor(coordinates(SampledAxis(axis.size, axis.count, axis.scale, offset, axis.output_offset)))
    low, high = clamp(below, axis.size), clamp(below + np.float32(1), axis.size)
    weight = coordinates(axis) - below
    place = inside(axis)
    is_edge = low == high
    if np.where(is_edge, place == low, (weight >= 0) & (weight <= 1)).all():
        return None
    return Extrapolation(low, high, np.where(is_edge, _HALF, weight))


def _inside(place: Floats, axis: SampledAxis) -> Floats:
    return between(place, np.float32(0), np.float32(axis.size - 1))


@remembered
def slack(axis: SampledAxis) -> npt.NDArray[np.float64]:
    """Returns how far other roundings of S1's formula than those in FLOAT32 may move a coordinate."""
    quotient = (np.arange(axis.count) - axis.output_offset) / axis.scale
    wanted = coordinates(axis).astype(np.float64)
    rounded = wanted != quotient - axis.input_offset
    slack = _FLOAT.eps * np.minimum(np.abs(quotient) + np.abs(wanted), axis.size)
    return np.where(rounded, slack, 0)
