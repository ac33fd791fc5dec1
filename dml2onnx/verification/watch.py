"""How far a verification is, and when its time is up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.ir.graph import Node


class TimeUpError(Exception):
    """There is no time left for another node."""


class Watch:
    """Counts the nodes of every round."""

    def __init__(
        self, nodes: int, rounds: int, limit: float | None = None, tell: Callable[[str], object] | None = None
    ) -> None:
        """``limit`` is in seconds from now on; ``tell`` gets a line before every node."""
        self._nodes = nodes
        self._rounds = rounds
        self._end = None if limit is None else time.monotonic() + limit
        self._tell = tell

    def of(self, round_index: int, what: str) -> Callable[[Node], None]:
        """What is to be called before each node of a round; it raises :class:`TimeUpError`."""
        count = 0

        def before(node: Node) -> None:
            nonlocal count
            count += 1
            if self._end is not None and time.monotonic() >= self._end:
                raise TimeUpError
            if self._tell is not None:
                self._tell(f"round {round_index + 1} of {self._rounds}, {what}: node {count} of {self._nodes}")

        return before
