"""Sliding windows: what convolutions and pools have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.model.records import Attribute

    Counts = npt.NDArray[np.int64]


class Window(NamedTuple):
    """A sliding window over the spatial axes: what Conv and the pools share. All tuples have one entry per axis."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]

    def is_all_of(self, sizes: tuple[int, ...]) -> bool:
        """Whether there is one window, which is all there is and nothing else."""
        padded = any(self.start) or any(self.end) or any(step != 1 for step in self.dilations)
        return self.shape == sizes and not padded

    def extent(self, axis: int) -> int:
        """Elements from the first to the last that a window covers."""
        return (self.shape[axis] - 1) * self.dilations[axis] + 1

    def output_size(self, axis: int, size: int) -> int:
        """Windows that fit, those that hang over the end not counted."""
        return (size + self.start[axis] + self.end[axis] - self.extent(axis)) // self.strides[axis] + 1

    def output_sizes(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """``output_size`` of every spatial axis."""
        return _output_sizes(self, sizes)

    def reaching(self, sizes: tuple[int, ...], output: tuple[int, ...]) -> Window:
        """The same with as much padding at the end as that many windows need, whatever they were said to have.

        Where all of them fit without any there may be more of them: the first ones are those that are wanted.
        """
        if self.output_sizes(sizes) == output:
            return self
        axes = zip(range(len(sizes)), sizes, output, strict=True)
        needed = [(m - 1) * self.strides[i] + self.extent(i) - self.start[i] - n for i, n, m in axes]
        return self._replace(end=tuple(max(n, 0) for n in needed))

    def in_padding(self, axis: int, size: int) -> tuple[int, int]:
        """How many windows lie wholly in front of the elements, and how many wholly behind them."""
        step, extent, start = self.strides[axis], self.extent(axis), self.start[axis]
        # those that begin in the padding, even if a stride is longer than a window
        before = min((start - extent) // step + 1, start // step) if start >= extent else 0
        reached = -(-(start + size) // step)
        return before, max(self.output_size(axis, size) - max(reached, before), 0)

    def without(self, axis: int, size: int, before: int, behind: int) -> Window:
        """The same without that many windows at the start and at the end of an axis, all of them in padding."""
        start = self.start[axis] - before * self.strides[axis]
        last = (self.output_size(axis, size) - before - behind - 1) * self.strides[axis]
        end = max(last + self.extent(axis) - start - size, 0) if behind else self.end[axis]
        return self._replace(
            start=(*self.start[:axis], start, *self.start[axis + 1 :]),
            end=(*self.end[:axis], end, *self.end[axis + 1 :]),
        )

    def attributes(self) -> Mapping[str, Attribute]:
        """As ONNX attributes of pooling, also where they have their defaults."""
        return _attributes(self)


@lru_cache(maxsize=4096)
def _output_sizes(window: Window, sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(window.output_size(axis, size) for axis, size in enumerate(sizes))


@lru_cache(maxsize=4096)
def _attributes(window: Window) -> Mapping[str, Attribute]:
    # as exporters write them: some tools stop where they are left to their defaults
    result: dict[str, Attribute] = {"kernel_shape": window.shape, "pads": window.start + window.end}
    if any(step != 1 for step in window.dilations):  # which AveragePool and LpPool do not have in all opsets
        result["dilations"] = window.dilations
    return {**result, "strides": window.strides}


@dataclass(frozen=True, slots=True)
class Pool:
    """The windows of one pooling operator, over spatial ``sizes``, one for each element of ``output``."""

    window: Window
    sizes: tuple[int, ...]
    output: tuple[int, ...]

    @classmethod
    def over(cls, sizes: tuple[int, ...], window: Window) -> Pool:
        """All windows that fit over these sizes and the padding."""
        return cls(window, sizes, window.output_sizes(sizes))

    @property
    def is_padded(self) -> bool:
        """Whether any window reaches outside."""
        return any(self.window.start) or any(self.window.end)

    @property
    def is_dilated(self) -> bool:
        """Whether any window skips elements."""
        return any(step != 1 for step in self.window.dilations)

    @property
    def picks(self) -> bool:
        """Whether every window is one element of the input."""
        return not self.is_padded and prod(self.window.shape) == 1

    @property
    def fits(self) -> bool:
        """Whether the pads are smaller than the window, as ONNX Runtime wants them."""
        return all(max(a, b) < k for a, b, k in zip(self.window.start, self.window.end, self.window.shape, strict=True))

    @property
    def is_global(self) -> bool:
        """Whether one window covers everything."""
        reached = all(k - a >= n for k, a, n in zip(self.window.shape, self.window.start, self.sizes, strict=True))
        return prod(self.output) == 1 and reached and not self.is_dilated

    def places(self, axis: int) -> Counts:
        """Input coordinates of the windows' elements, inside or not, of shape (output, window)."""
        w = self.window
        first = np.arange(self.output[axis])[:, None] * w.strides[axis] - w.start[axis]
        return first + np.arange(w.shape[axis]) * w.dilations[axis]

    @property
    def padded(self) -> tuple[int, ...]:
        """Sizes with the padding."""
        return tuple(a + n + b for a, n, b in zip(self.window.start, self.sizes, self.window.end, strict=True))

    def flat_places(self, count: int) -> Counts:
        """Row-major positions in the first ``count`` padded axes alone, ``[elements of the window.., windows..]``."""
        total: Counts = np.zeros((1,) * 2 * count, np.int64)
        for d in range(count):
            shape = [1] * 2 * count
            shape[d], shape[count + d] = self.window.shape[d], self.output[d]
            places = self.places(d).T + self.window.start[d]
            total = total * self.padded[d] + places.reshape(shape)
        return total

    def reaching(self, axis: int) -> tuple[int, int]:
        """The first window that does not end before the input, and the first after it that begins behind the input."""
        w = self.window
        first = max(0, -(-(w.start[axis] - w.extent(axis) + 1) // w.strides[axis]))
        return first, min(self.output[axis], -(-(w.start[axis] + self.sizes[axis]) // w.strides[axis]))

    @property
    def table_size(self) -> int:
        """Elements of what :meth:`inside` makes."""
        return prod(self.output) + sum(self.output)

    def inside(self) -> Counts:
        """How many elements of each window lie in the input, of shape ``output``."""
        result: Counts = reduce(np.multiply.outer, [self.within(axis, 0, n) for axis, n in enumerate(self.sizes)])
        return result

    def within(self, axis: int, low: int, high: int) -> Counts:
        """How many elements of each window along an axis lie from ``low`` on and before ``high``.

        By arithmetic: windows may be as long as numbers go, whatever the tensors hold.
        """
        w = self.window
        first = np.arange(self.output[axis]) * w.strides[axis] - w.start[axis] - low
        step = w.dilations[axis]
        before = np.maximum(-(first // step), 0)
        to_end = np.minimum((high - low - 1 - first) // step + 1, w.shape[axis])
        counts: Counts = np.maximum(to_end - before, 0)
        return counts

    @property
    def has_empty(self) -> bool:
        """Whether some window lies wholly in padding."""
        return self.may_have_empty and not self.inside().all()

    @property
    def may_have_empty(self) -> bool:
        """Whether :attr:`has_empty` has to look at every window."""
        return self.is_padded and not (self.fits and not self.is_dilated)
