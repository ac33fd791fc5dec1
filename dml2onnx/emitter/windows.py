"""Sliding windows of convolutions and pools."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from dml2onnx.onnx_model.records import Attribute

DILATED_SINCE = {"AveragePool": 19, "LpPool": 18}
"""The first opset with dilations; other operators have them in all opsets."""


def may_be_dilated(op: str, opset: int) -> bool:
    """Whether an operator with windows has dilations in an opset."""
    return opset >= DILATED_SINCE.get(op, 0)


class Window(NamedTuple):
    """A sliding window over the spatial axes. All tuples have one entry per axis."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]
    output_padding: tuple[int, ...] = ()
    """Elements after the result of a transposed convolution, each less than the stride or the dilation, if any."""

    @property
    def is_dilated(self) -> bool:
        """Whether a window skips elements."""
        return any(step != 1 for step in self.dilations)

    def is_all_of(self, sizes: tuple[int, ...]) -> bool:
        """Whether a single window covers exactly the input."""
        padded = any(self.start) or any(self.end) or self.is_dilated
        return self.shape == sizes and not padded

    def extent(self, axis: int) -> int:
        """Number of elements from the first to the last that a window covers."""
        return (self.shape[axis] - 1) * self.dilations[axis] + 1

    def transposed_sizes(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The output sizes of a transposed convolution; ``start`` and ``end`` crop them."""
        more = self.output_padding or (0,) * len(sizes)
        return tuple(
            (size - 1) * self.strides[i] + self.extent(i) + more[i] - self.start[i] - self.end[i]
            for i, size in enumerate(sizes)
        )

    def output_size(self, axis: int, size: int) -> int:
        """Number of windows that fit completely."""
        return (size + self.start[axis] + self.end[axis] - self.extent(axis)) // self.strides[axis] + 1

    def output_sizes(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """``output_size`` of every spatial axis."""
        return _output_sizes(self, sizes)

    def reaching(self, sizes: tuple[int, ...], output: tuple[int, ...]) -> Window:
        """Returns the window with the padding at the end that ``output`` windows need.

        If they need none, more windows may fit; the first ones are wanted.
        """
        if self.output_sizes(sizes) == output:
            return self
        axes = zip(range(len(sizes)), sizes, output, strict=True)
        needed = [(m - 1) * self.strides[i] + self.extent(i) - self.start[i] - n for i, n, m in axes]
        return self._replace(end=tuple(max(n, 0) for n in needed))

    def attributes(self, op: str, group: int | None = None) -> Mapping[str, Attribute]:
        """Attributes of an ONNX operator, including defaults; convolutions also have a group."""
        return _attributes(self, op, group)


@lru_cache(maxsize=4096)
def _output_sizes(window: Window, sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(window.output_size(axis, size) for axis, size in enumerate(sizes))


@lru_cache(maxsize=4096)
def _attributes(window: Window, op: str, group: int | None) -> Mapping[str, Attribute]:
    # including defaults, as exporters write them: some tools fail without
    result: dict[str, Attribute] = {}
    if window.is_dilated or op not in DILATED_SINCE:
        result["dilations"] = window.dilations
    if group is not None:
        result["group"] = group
    return {**result, "kernel_shape": window.shape, "pads": window.start + window.end, "strides": window.strides}
