"""Slices whose numbers differ between sizes although they all mean the last element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dml2onnx.onnx_model import INT64, Array, OnnxNode

BEHIND = (1 << 63) - 1
"""The end of a Slice after all elements."""
BEFORE = -BEHIND
"""The end of a Slice with a negative step before all elements."""


def open_ended(nodes: Sequence[OnnxNode], initializers: Sequence[Mapping[str, Array]]) -> dict[int, list[Array]]:
    """Returns the constants of a Slice at several sizes by position, with the ends of dimensions generalized.

    Returns nothing for other nodes.
    """
    if nodes[0].op_type != "Slice":
        return {}
    slices = [_windows(node, own) for node, own in zip(nodes, initializers, strict=True)]
    for same in zip(*slices, strict=True):
        _generalize(same)
    starts, ends, steps = (
        [np.array([getattr(window, name) for window in windows], INT64) for windows in slices]
        for name in ("start", "end", "step")
    )
    return {1: starts, 2: ends, 4: steps} if all(slices) else {}


@dataclass
class _Window:
    """The start, end and step of a Slice in a dimension of ``size`` elements."""

    size: int
    start: int
    end: int
    step: int

    def taken(self, end: int, step: int) -> int:
        """The number of elements with another end and step."""
        return len(range(*slice(self.start, None if end < -self.size else end, step).indices(self.size)))


def _windows(node: OnnxNode, initializers: Mapping[str, Array]) -> list[_Window]:
    """The windows of a Slice, one for each axis; none if any of its inputs is computed."""
    data, *operands = node.inputs
    rows = [initializers[value.name].tolist() for value in operands if value is not None and value.name in initializers]
    if data is None or len(rows) != len(operands) or len(rows) < 3:
        return []
    steps = rows[3] if len(rows) == 4 else [1] * len(rows[0])
    return [_Window(data.shape[axis], *row) for axis, *row in zip(rows[2], rows[0], rows[1], steps, strict=True)]


def _generalize(windows: Sequence[_Window]) -> None:
    """Gives the windows along one dimension a common end and step if possible, and the last element as -1."""
    step = windows[0].step
    edge = BEHIND if step > 0 else BEFORE
    differ = len({(window.end, window.step) for window in windows}) > 1
    if differ and all(window.taken(edge, step) == window.taken(window.end, window.step) for window in windows):
        for window in windows:  # the step of a single element is arbitrary
            window.end, window.step = edge, step
    if len({window.start for window in windows}) > 1 and all(
        step < 0 and window.start == window.size - 1 for window in windows
    ):
        for window in windows:
            window.start = -1
