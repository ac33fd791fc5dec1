"""The windows of a pool: which elements each covers, and how many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter.windows import Window

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PoolWindows:
    """The windows of a pooling operator over spatial ``sizes``, one per element of ``output``."""

    window: Window
    sizes: tuple[int, ...]
    output: tuple[int, ...]

    @classmethod
    def over(cls, sizes: tuple[int, ...], window: Window) -> PoolWindows:
        """All windows that fit into these sizes and the padding."""
        return cls(window, sizes, window.output_sizes(sizes))

    @property
    def is_padded(self) -> bool:
        """Whether there is padding."""
        return any(self.window.start) or any(self.window.end)

    @property
    def picks(self) -> bool:
        """Whether every window covers exactly one input element."""
        return not self.is_padded and prod(self.window.shape) == 1

    @property
    def fits(self) -> bool:
        """Whether the pads are smaller than the window."""
        return all(max(a, b) < k for a, b, k in zip(self.window.start, self.window.end, self.window.shape, strict=True))

    @property
    def is_global(self) -> bool:
        """Whether one window covers everything."""
        reached = all(k - a >= n for k, a, n in zip(self.window.shape, self.window.start, self.sizes, strict=True))
        return prod(self.output) == 1 and reached and not self.window.is_dilated

    def places(self, axis: int) -> Counts:
        """Input coordinates of the windows' elements, inside or outside, of shape (output, window)."""
        w = self.window
        first = np.arange(self.output[axis])[:, None] * w.strides[axis] - w.start[axis]
        return first + np.arange(w.shape[axis]) * w.dilations[axis]

    @property
    def padded(self) -> tuple[int, ...]:
        """Sizes with the padding."""
        return tuple(a + n + b for a, n, b in zip(self.window.start, self.sizes, self.window.end, strict=True))

    def flat_places(self, count: int) -> Counts:
        """Row-major positions in the first ``count`` padded axes, ``[elements of the window.., windows..]``."""
        total: Counts = np.zeros((1,) * 2 * count, np.int64)
        for d in range(count):
            shape = [1] * 2 * count
            shape[d], shape[count + d] = self.window.shape[d], self.output[d]
            places = self.places(d).T + self.window.start[d]
            total = total * self.padded[d] + places.reshape(shape)
        return total

    def reaching(self, axis: int) -> tuple[int, int]:
        """The half-open range of windows that neither end before the input nor begin after it."""
        w = self.window
        first = max(0, -(-(w.start[axis] - w.extent(axis) + 1) // w.strides[axis]))
        return first, min(self.output[axis], -(-(w.start[axis] + self.sizes[axis]) // w.strides[axis]))

    @property
    def table_size(self) -> int:
        """Elements that :meth:`inside` computes."""
        return prod(self.output) + sum(self.output)

    def inside(self) -> Counts:
        """How many elements of each window are in the input, of shape ``output``."""
        result: Counts = reduce(np.multiply.outer, [self.within(axis, 0, n) for axis, n in enumerate(self.sizes)])
        return result

    def within(self, axis: int, low: int, high: int) -> Counts:
        """How many elements of each window along an axis are in [``low``, ``high``).

        Computed by arithmetic: windows may be far longer than the tensors.
        """
        w = self.window
        first = np.arange(self.output[axis]) * w.strides[axis] - w.start[axis] - low
        step = w.dilations[axis]
        before = np.maximum(-(first // step), 0)
        to_end = np.minimum((high - low - 1 - first) // step + 1, w.shape[axis])
        counts: Counts = np.maximum(to_end - before, 0)
        return counts

    def over_first(self) -> npt.NDArray[np.bool_]:
        """Which windows span the first element of the input."""
        lines = []
        for axis, (start, stride) in enumerate(zip(self.window.start, self.window.strides, strict=True)):
            first = np.arange(self.output[axis]) * stride - start
            lines.append((first <= 0) & (first + self.window.extent(axis) > 0))
        result: npt.NDArray[np.bool_] = reduce(np.logical_and.outer, lines)
        return result

    @property
    def has_empty(self) -> bool:
        """Whether some window is in padding only."""
        return self.may_have_empty and not self.inside().all()

    @property
    def may_have_empty(self) -> bool:
        """Whether :attr:`has_empty` must examine every window."""
        return self.is_padded and not (self.fits and not self.window.is_dilated)
