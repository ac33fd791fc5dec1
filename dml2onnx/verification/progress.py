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
        self, nodes: int, rounds: int, limit: float | None = None, tell: Callable[[str], object] | None = None
    ) -> None:
        """``limit`` is in seconds from now on; ``tell`` gets a line before every node."""
        self._nodes = nodes
        self._rounds = rounds
        self._end = None if limit is None else time.monotonic() + limit
        self._tell = tell

    def callback(self, round_index: int, what: str) -> Callable[[Node], None]:
        """A function to call before each node of a round; it raises :class:`TimeLimitError`."""
        count = 0

        def before(node: Node) -> None:
            nonlocal count
            count += 1
            if self._end is not None and time.monotonic() >= self._end:
                raise TimeLimitError
            if self._tell is not None:
                self._tell(f"round {round_index + 1} of {self._rounds}, {what}: node {count} of {self._nodes}")

        return before
