"""Progress of a verification, and its time limit."""

from __future__ import annotations

import time
from collections.abc import Callable

from dml2onnx.ir.graph import Node


class TimeLimitError(Exception):
    """The time limit is reached before the next node."""


class Progress:
    """Reports each node before it runs and stops at the time limit."""

    def __init__(
        self, nodes: int, rounds: int, limit: float | None = None, report: Callable[[str], object] | None = None
    ) -> None:
        """``limit`` is in seconds from now; ``report`` is called with a line before every node."""
        self._nodes = nodes
        self._rounds = rounds
        self._end = None if limit is None else time.monotonic() + limit
        self._report = report

    def callback(self, round_index: int, what: str) -> Callable[[Node], None]:
        """A function to call before each node of a round; it raises :class:`TimeLimitError`."""
        count = 0

        def before(node: Node) -> None:
            nonlocal count
            count += 1
            if self._end is not None and time.monotonic() >= self._end:
                raise TimeLimitError
            if self._report is not None:
                self._report(f"round {round_index + 1} of {self._rounds}, {what}: node {count} of {self._nodes}")

        return before
