"""Finds the attributes with which Resize samples given coordinates, as kernels evaluate them.

With static shapes every coordinate is known at compile time. Coordinates are computed in FLOAT32, one axis at a time,
as in ONNX Runtime's kernel, so a Resize is used only if it matches at every element.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model.records import Attribute

Floats: TypeAlias = npt.NDArray[np.float32]
Indices: TypeAlias = npt.NDArray[np.int64]

F = TypeVar("F", bound="Callable[..., object]")

Rounding = Literal["HALVES_UP", "INCREASING", "DECREASING"]
"""How a coordinate becomes an index."""

Scaling = Literal["sizes", "scales"]
"""Which input of Resize determines the output size."""

_HALF = np.float32(0.5)
REMEMBERED = 4096
"""Capacity of the caches in distinct axes: more than any network has."""


class Sampled(Protocol):
    """One axis to resample, by any rule."""

    @property
    def size(self) -> int:
        """Number of input elements."""

    @property
    def count(self) -> int:
        """Number of output elements."""

    @property
    def scale(self) -> float:
        """Approximately ``count / size``."""

    def nearest(self, rounding: Rounding) -> Indices:
        """The input index of each output element."""

    def __hash__(self) -> int:
        """Hashes by value: axes are cache keys."""

    def between(self) -> tuple[Floats, npt.NDArray[np.float64]] | None:
        """The coordinate at which each element interpolates, and its tolerance; ``None`` for other mixtures."""


_SHORT, _LONG = 1 << 10, 1 << 16
"""Limits of cached axes, many short and few long ones; without them a process that compiles thousands of models would
cache gigabytes."""


def remembered(function: F) -> F:
    """Caches the vectors that a function computes for an axis, up to some 16 MiB."""
    short, long = lru_cache(1024)(function), lru_cache(16)(function)

    @wraps(function)
    def of(axis: Sampled, *args: Hashable) -> object:
        length = max(axis.count, axis.size)
        return (short if length <= _SHORT else long if length <= _LONG else function)(axis, *args)

    return cast("F", of)


@dataclass(frozen=True, slots=True)
class ResizedAxis:
    """One axis of an existing Resize."""

    size: int
    count: int
    scale: float
    mode: str
    """``coordinate_transformation_mode``."""
    rounds: str
    """``nearest_mode``; empty in mode ``linear``."""

    @property
    def place(self) -> Floats:
        """The input coordinate of each output element, clamped to the input."""
        steps, scale = np.arange(self.count).astype(np.float32), np.float32(self.scale)
        place = COORDINATES[self.mode](steps, scale, self.size, self.count)
        return between(place, np.float32(0), np.float32(self.size - 1))

    def nearest(self, rounding: Rounding) -> Indices:
        """The input index of each output element; ``rounding`` is ignored."""
        return clamp(NEAREST[self.rounds](self.place), self.size)

    def between(self) -> tuple[Floats, npt.NDArray[np.float64]] | None:
        """See :class:`Sampled`."""
        return self.place, np.zeros(self.count)

    def replaced(self, e: Emitter, x: Tensor, axis: int) -> Tensor:
        """Replaces Resize along an axis of ``x`` by Slice, Gather, or a weighted sum of two."""
        if self.rounds:
            places = self.nearest("DECREASING")
            part = as_slice(places)
            return e.Gather(x, e.positions(places), axis) if part is None else sliced(e, x, {axis: part})
        low = np.floor(self.place)
        weight = self.place - low
        # at whole coordinates both are one element: no neighbor leaks into the result as 0 * inf
        weight = np.where(weight == 0, _HALF, weight).reshape(-1, *(1,) * (x.rank - 1 - axis))
        first, second = (replace(self, rounds=mode).replaced(e, x, axis) for mode in ("floor", "ceil"))
        return e.Add(e.Mul(first, e.constant(1 - weight, x.dtype)), e.Mul(second, e.constant(weight, x.dtype)))


def resized_axes(
    x: Tensor, sizes: tuple[int, ...] | None, scales: tuple[float, ...] | None, attributes: Mapping[str, Attribute]
) -> dict[int, ResizedAxis]:
    """The axes that a Resize changes."""
    mode = str(attributes.get("coordinate_transformation_mode", "half_pixel"))
    rounds = "" if attributes.get("mode") == "linear" else str(attributes.get("nearest_mode", "round_prefer_floor"))
    found = {}
    for axis, size in enumerate(x.shape):
        if scales is None:
            count = (sizes or x.shape)[axis]
            scale = np.float32(count) / np.float32(size)
        else:
            scale = np.float32(scales[axis])
            count = int(np.floor(np.float32(size) * scale))
        if count != size or scale != 1:
            found[axis] = ResizedAxis(size, count, float(scale), mode, rounds)
    return found


class ResizeForm(NamedTuple):
    """Attributes of an ONNX Resize, and whether ``sizes`` or ``scales`` define the scale."""

    coordinates: str
    nearest: str
    by: Scaling


def as_slice(places: Indices) -> slice | None:
    """The slice of indices with a constant positive step, if they have one."""
    first, last = int(places[0]), int(places[-1])
    step = int(places[1]) - first if len(places) > 1 else 1
    if step < 1 or last - first != step * (len(places) - 1) or (np.diff(places) != step).any():
        return None
    return slice(first, last + 1, step)


def sliced(e: Emitter, x: Tensor, parts: Mapping[int, slice]) -> Tensor:
    """Slices some axes."""
    whole = [parts.get(i, slice(0, n, 1)) for i, n in enumerate(x.shape)]
    return e.Slice(x, [p.start for p in whole], [p.stop for p in whole], [p.step for p in whole])


def resized(e: Emitter, x: Tensor, axes: Mapping[int, Sampled], form: ResizeForm, mode: str) -> Tensor:
    """Resize of some axes with the attributes of ``form``."""
    attributes = {"mode": mode, "coordinate_transformation_mode": form.coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = form.nearest
    e.note(f"one Resize samples the same coordinates: {', '.join(attributes.values())}, by {form.by}")
    sizes = tuple(axes[i].count if i in axes else n for i, n in enumerate(x.shape))
    scales = tuple(axes[i].scale if i in axes else 1.0 for i in range(x.rank))
    return e.Resize(x, sizes, None, **attributes) if form.by == "sizes" else e.Resize(x, None, scales, **attributes)


def _align_corners(i: Floats, scale: np.float32, size: int, count: int) -> Floats:
    return i * np.float32(size - 1) / np.float32(count - 1) if count > 1 else np.zeros_like(i)


COORDINATES: dict[str, Callable[[Floats, np.float32, int, int], Floats]] = {
    "asymmetric": lambda i, scale, size, count: i / scale,
    "half_pixel": lambda i, scale, size, count: (i + _HALF) / scale - _HALF,
    "align_corners": _align_corners,
}


def _halves_away_from_zero(x: Floats) -> Floats:
    towards = np.trunc(x)
    return towards + np.where(np.abs(x - towards) >= _HALF, np.copysign(np.float32(1), x), np.float32(0))


def _halves_down(x: Floats) -> Floats:
    return np.where(x == np.trunc(x) + _HALF, np.floor(x), _halves_away_from_zero(x))


NEAREST: dict[str, Callable[[Floats], Floats]] = {
    "floor": np.floor,
    "round_prefer_ceil": _halves_away_from_zero,
    "round_prefer_floor": _halves_down,
    "ceil": np.ceil,
}

_REACHES = {"floor": (0, 1), "round_prefer_ceil": (-0.5, 0.5), "round_prefer_floor": (-0.5, 0.5), "ceil": (-1, 0)}
"""Range of coordinate minus index in each rounding mode, the fastest mode first."""

_TIE = np.float32(1e-5)
"""Newer kernels treat a coordinate within 1e-6 of a tie as a tie.

https://github.com/microsoft/onnxruntime/issues/28291
"""


def _selects(mode: str, place: Floats, size: int, wanted: Indices) -> bool:
    """Whether old and new kernels both round the coordinates to these indices."""
    index = NEAREST[mode]
    if (clamp(index(place), size) != wanted).any():
        return False
    if not mode.startswith("round"):
        return True
    tie = np.floor(place) + _HALF
    is_tie = np.abs(place - tie) < _TIE
    return not is_tie.any() or not (clamp(index(np.where(is_tie, tie, place)), size) != wanted).any()


@remembered
def _places(axis: Sampled, rule: str, by: Scaling) -> Floats | None:
    """The coordinates of a coordinate mode; ``None`` if it yields another number of elements."""
    if axis.size == axis.count:
        return None  # kernels copy, whatever the scale
    size, scale = np.float32(axis.size), np.float32(axis.scale)
    ratio = np.float32(axis.count) / size
    if by == "scales":
        with np.errstate(all="ignore"):
            if scale == ratio or np.floor(size * scale) != axis.count:
                return None
    i = np.arange(axis.count).astype(np.float32)
    return COORDINATES[rule](i, ratio if by == "sizes" else scale, axis.size, axis.count)


_WAYS: tuple[tuple[str, Scaling], ...] = tuple((name, by) for name in COORDINATES for by in ("sizes", "scales"))
_LINEAR_FORMS = tuple(ResizeForm(name, "", by) for name, by in _WAYS)


def nearest_form(axes: Iterable[Sampled], rounding: Rounding, *, settled: bool = False) -> ResizeForm | None:
    """The fastest nearest-neighbor Resize that takes the same elements along all axes.

    ``settled``: kernels ignore ``nearest_mode``, round asymmetric coordinates down, and others to nearest, halves up.
    """
    axes = tuple(axes)
    for rule, by in _WAYS:
        least, most = zip(*(_distances(axis, rounding, rule, by) for axis in axes), strict=True)
        for mode, (lowest, highest) in _REACHES.items():
            if lowest <= min(least) and max(most) <= highest:
                form = ResizeForm(rule, mode, by)
                if settled and mode != ("floor" if rule == "asymmetric" else "round_prefer_ceil"):
                    continue
                if all(_selects_same(axis, rounding, form) for axis in axes):
                    return form
    return None


def linear_form(axes: Iterable[Sampled]) -> ResizeForm | None:
    """The linear Resize that samples the same coordinates along all axes."""
    axes = tuple(axes)
    return next((form for form in _LINEAR_FORMS if all(_samples_same(axis, form) for axis in axes)), None)


@lru_cache(REMEMBERED)
def _selects_same(axis: Sampled, rounding: Rounding, form: ResizeForm) -> bool:
    place = _places(axis, form.coordinates, form.by)
    return place is not None and _selects(form.nearest, place, axis.size, axis.nearest(rounding))


@lru_cache(REMEMBERED)
def _distances(axis: Sampled, rounding: Rounding, rule: str, by: Scaling) -> tuple[float, float]:
    """The smallest and largest difference between a mode's coordinates and the wanted indices."""
    place = _places(axis, rule, by)
    if place is None:
        return -np.inf, np.inf
    difference = within(place, axis.size) - axis.nearest(rounding)
    return float(difference.min()), float(difference.max())


@lru_cache(REMEMBERED)
def _samples_same(axis: Sampled, form: ResizeForm) -> bool:
    """Whether the coordinates match within the tolerance."""
    wanted = axis.between()
    place = _places(axis, form.coordinates, form.by)
    if wanted is None or place is None:
        return False
    place = between(place, np.float32(0), np.float32(axis.size - 1))
    return bool((np.abs(place - wanted[0]) <= wanted[1]).all())


def between(place: Floats, least: np.float32, most: np.float32) -> Floats:
    """``numpy.clip``, but several times as fast for short vectors."""
    bounded: Floats = np.minimum(np.maximum(place, least), most)
    return bounded


def within(place: Floats, size: int) -> npt.NDArray[np.float64]:
    """Coordinates clamped to the first and last element."""
    bounded: npt.NDArray[np.float64] = np.minimum(np.maximum(place.astype(np.float64), 0), size - 1)
    return bounded


def clamp(place: Floats, size: int) -> Indices:
    """Coordinates clamped and converted to indices."""
    return within(place, size).astype(np.int64)
