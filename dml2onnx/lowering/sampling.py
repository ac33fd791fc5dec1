"""Where resampling looks: input coordinates per output element, and which ONNX Resize looks at the same places.

Static shapes make every coordinate known at compile time. They are computed here in FLOAT32, one axis at a time, both
by DirectML's rule and by those that ONNX Runtime's Resize kernel evaluates, so that a Resize is emitted only where the
two were seen to agree at every element.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float32]
    Indices: TypeAlias = npt.NDArray[np.int64]

F = TypeVar("F", bound="Callable[..., object]")

Rounding = Literal["HALVES_UP", "INCREASING", "DECREASING"]
"""How NEAREST_NEIGHBOR makes an index of a coordinate."""

Scaling = Literal["sizes", "scales"]
"""Which input tells a Resize how large its output is."""

_HALF = np.float32(0.5)
_FLOAT = np.finfo(np.float32)
REMEMBERED = 4096
"""Distinct axes of which it is kept what was found out: more than any network has."""


SAMPLING_TABLES = 4
"""How many vectors as long as an axis are made, at least, to find out where its elements look."""


_SHORT, _LONG = 1 << 10, 1 << 16
"""Elements of the axes whose vectors are kept: of many short ones, and of a few long ones, or a process that compiles
thousands of models would come to keep gigabytes."""


def remembered(function: F) -> F:
    """Remembers the vectors that a function makes of an axis, up to some 16 MiB of them."""
    short, long = lru_cache(1024)(function), lru_cache(16)(function)

    @wraps(function)
    def of(axis: Axis, *args: Hashable) -> object:
        length = max(axis.count, axis.size)
        return (short if length <= _SHORT else long if length <= _LONG else function)(axis, *args)

    return cast("F", of)


class ResizeForm(NamedTuple):
    """Attributes of an ONNX Resize, and whether ``sizes`` or ``scales`` tell it the scale."""

    coordinates: str
    nearest: str
    by: Scaling


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a resampling: element ``i`` of ``count`` looks at ``(i - output_offset) / scale - input_offset``."""

    size: int
    count: int
    scale: float
    input_offset: float
    output_offset: float
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        given = (self.size, self.count, self.scale, self.input_offset, self.output_offset)
        object.__setattr__(self, "_hash", hash(given))

    def __hash__(self) -> int:
        return self._hash


@remembered
def coordinates(axis: Axis) -> Floats:
    """Where each output element looks, in FLOAT32 [decision S1]; an axis of size 0 does not exist."""
    steps = np.arange(axis.count).astype(np.float32) - np.float32(axis.output_offset)
    with np.errstate(all="ignore"):
        quotient = steps / np.float32(axis.scale)
        # what underflows is 0, lest rounding up should leave the first element [decision S16]
        quotient[np.abs(quotient) < _FLOAT.smallest_normal] = 0
        place = quotient - np.float32(axis.input_offset)
    return _between(np.where(np.isnan(place), np.float32(0), place), _FLOAT.min, _FLOAT.max)


@remembered
def inside(axis: Axis) -> Floats:
    """The coordinates, clamped: beyond the input its edge repeats [decision S5]."""
    return _inside(coordinates(axis), axis)


@remembered
def nearest(axis: Axis, rounding: Rounding) -> Indices:
    """The element that each output element takes [decisions S2 and S3]."""
    place = coordinates(axis)
    if rounding == "HALVES_UP":
        place = np.floor(place + _HALF)
    else:
        place = np.ceil(place) if rounding == "INCREASING" else np.floor(place)
    return _clamp(place, axis.size)


@remembered
def whole(axis: Axis) -> Indices | None:
    """The elements that LINEAR takes where no coordinate of the axis falls between two, else ``None``."""
    place = inside(axis)
    return None if (place != np.floor(place)).any() else place.astype(np.int64)


def weights(axis: Axis) -> Floats:
    """How much of the element above every coordinate LINEAR takes; the rest is of the one below [decision S6].

    The two are the nearest elements with INCREASING and DECREASING. They are one where the coordinate is whole, and
    are mixed half and half there: no other element can leak into the result as ``0 * inf``.
    """
    place = inside(axis)
    weight = place - np.floor(place)
    return np.where(weight == 0, _HALF, weight)


class Extrapolation(NamedTuple):
    """Two elements for each output element, and how much of the second it takes: more than all of it, or less than
    nothing."""

    low: Indices
    high: Indices
    weight: Floats


@remembered
def extrapolation(axis: Axis) -> Extrapolation | None:
    """What LINEAR takes where its coordinates lie elsewhere than between the elements, else ``None`` [decision S5].

    The two elements are chosen, and clamped, by no more of the offset than lies between 0 and a pixel.
    """
    if 0 <= axis.input_offset <= 1 or axis.size == 1:
        return None
    offset = min(max(axis.input_offset, 0.0), 1.0)
    below = np.floor(coordinates(Axis(axis.size, axis.count, axis.scale, offset, axis.output_offset)))
    low, high = _clamp(below, axis.size), _clamp(below + np.float32(1), axis.size)
    weight = coordinates(axis) - below
    place = inside(axis)
    is_edge = low == high
    if np.where(is_edge, place == low, (weight >= 0) & (weight <= 1)).all():
        return None
    return Extrapolation(low, high, np.where(is_edge, _HALF, weight))


def _inside(place: Floats, axis: Axis) -> Floats:
    return _between(place, np.float32(0), np.float32(axis.size - 1))


def _between(place: Floats, least: np.float32, most: np.float32) -> Floats:
    """``numpy.clip``, which takes several times as long for vectors as short as these."""
    bounded: Floats = np.minimum(np.maximum(place, least), most)
    return bounded


def _within(place: Floats, size: int) -> npt.NDArray[np.float64]:
    bounded: npt.NDArray[np.float64] = np.minimum(np.maximum(place.astype(np.float64), 0), size - 1)
    return bounded


def _clamp(place: Floats, size: int) -> Indices:
    return _within(place, size).astype(np.int64)


# --- what ONNX Runtime's Resize does ---------------------------------------------------------------------------------


def _align_corners(i: Floats, scale: np.float32, size: int, count: int) -> Floats:
    return i * np.float32(size - 1) / np.float32(count - 1) if count > 1 else np.zeros_like(i)


_COORDINATES: dict[str, Callable[[Floats, np.float32, int, int], Floats]] = {
    "asymmetric": lambda i, scale, size, count: i / scale,
    "half_pixel": lambda i, scale, size, count: (i + _HALF) / scale - _HALF,
    "align_corners": _align_corners,
}


def _halves_away_from_zero(x: Floats) -> Floats:
    towards = np.trunc(x)
    return towards + np.where(np.abs(x - towards) >= _HALF, np.copysign(np.float32(1), x), np.float32(0))


def _halves_down(x: Floats) -> Floats:
    return np.where(x == np.trunc(x) + _HALF, np.floor(x), _halves_away_from_zero(x))


_NEAREST: dict[str, Callable[[Floats], Floats]] = {
    "floor": np.floor,
    "round_prefer_ceil": _halves_away_from_zero,
    "round_prefer_floor": _halves_down,
    "ceil": np.ceil,
}

_REACHES = {"floor": (0, 1), "round_prefer_ceil": (-0.5, 0.5), "round_prefer_floor": (-0.5, 0.5), "ceil": (-1, 0)}
"""How far coordinates may lie behind the elements that a mode makes of them, the fastest first."""

_TIE = np.float32(1e-5)
"""Newer kernels take a coordinate for a tie when it is within 1e-6 of one.

https://github.com/microsoft/onnxruntime/issues/28291
"""


def _takes(mode: str, place: Floats, size: int, wanted: Indices) -> bool:
    """Whether kernels old and new make these indices of the coordinates."""
    index = _NEAREST[mode]
    if (_clamp(index(place), size) != wanted).any():
        return False
    if not mode.startswith("round"):
        return True
    tie = np.floor(place) + _HALF
    is_tie = np.abs(place - tie) < _TIE
    return not is_tie.any() or not (_clamp(index(np.where(is_tie, tie, place)), size) != wanted).any()


@remembered
def _places(axis: Axis, rule: str, by: Scaling) -> Floats | None:
    """Where one rule of Resize looks; ``None`` where it does not give this count of elements."""
    if axis.size == axis.count:
        return None  # a copy to the kernel, whatever the scale
    size, scale = np.float32(axis.size), np.float32(axis.scale)
    ratio = np.float32(axis.count) / size
    if by == "scales":
        with np.errstate(all="ignore"):
            if scale == ratio or np.floor(size * scale) != axis.count:
                return None
    i = np.arange(axis.count).astype(np.float32)
    return _COORDINATES[rule](i, ratio if by == "sizes" else scale, axis.size, axis.count)


_WAYS: tuple[tuple[str, Scaling], ...] = tuple((name, by) for name in _COORDINATES for by in ("sizes", "scales"))
_LINEAR_FORMS = tuple(ResizeForm(name, "", by) for name, by in _WAYS)


def nearest_form(axes: Iterable[Axis], rounding: Rounding, *, settled: bool = False) -> ResizeForm | None:
    """The fastest nearest-neighbour Resize that takes the same elements along all axes.

    ``settled`` says that kernels round down where coordinates are asymmetric, else to the nearest, halves up.
    """
    axes = tuple(axes)
    for rule, by in _WAYS:
        least, most = zip(*(_distances(axis, rounding, rule, by) for axis in axes), strict=True)
        for mode, (lowest, highest) in _REACHES.items():
            if lowest <= min(least) and max(most) <= highest:
                form = ResizeForm(rule, mode, by)
                if settled and mode != ("floor" if rule == "asymmetric" else "round_prefer_ceil"):
                    continue
                if all(_takes_same(axis, rounding, form) for axis in axes):
                    return form
    return None


def linear_form(axes: Iterable[Axis]) -> ResizeForm | None:
    """The linear Resize that looks at the same places along all axes."""
    axes = tuple(axes)
    return next((form for form in _LINEAR_FORMS if all(_looks_same(axis, form) for axis in axes)), None)


@lru_cache(REMEMBERED)
def _takes_same(axis: Axis, rounding: Rounding, form: ResizeForm) -> bool:
    place = _places(axis, form.coordinates, form.by)
    return place is not None and _takes(form.nearest, place, axis.size, nearest(axis, rounding))


@lru_cache(REMEMBERED)
def _distances(axis: Axis, rounding: Rounding, rule: str, by: Scaling) -> tuple[float, float]:
    """How far the places of a rule lie behind the elements that are wanted: at least, and at most."""
    place = _places(axis, rule, by)
    if place is None:
        return -np.inf, np.inf
    behind = _within(place, axis.size) - nearest(axis, rounding)
    return float(behind.min()), float(behind.max())


@remembered
def _slack(axis: Axis) -> npt.NDArray[np.float64]:
    """By how much other roundings of S1's formula than those in FLOAT32 may move a coordinate."""
    quotient = (np.arange(axis.count) - axis.output_offset) / axis.scale
    wanted = coordinates(axis).astype(np.float64)
    rounded = wanted != quotient - axis.input_offset
    slack = _FLOAT.eps * np.minimum(np.abs(quotient) + np.abs(wanted), axis.size)
    return np.where(rounded, slack, 0)


@lru_cache(REMEMBERED)
def _looks_same(axis: Axis, form: ResizeForm) -> bool:
    """The same but for the order of the roundings of S1's formula."""
    if extrapolation(axis) is not None:
        return False
    place = _places(axis, form.coordinates, form.by)
    return place is not None and bool((np.abs(_inside(place, axis) - inside(axis)) <= _slack(axis)).all())
