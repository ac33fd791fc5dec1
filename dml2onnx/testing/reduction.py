"""Trying what hypothesis draws by a seed, outside of a test, and the smallest of what goes wrong."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import hypothesis

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

BATCH = 50
"""Drawn for a seed."""


def smallest(
    seed: int,
    strategy: SearchStrategy[T],
    check: Callable[[int, T], str],
    size: Callable[[T], int],
    seconds: float,
) -> tuple[T | None, str] | None:
    """Draws a batch for a seed, and of what fails ever smaller ones, until the time is up.

    ``check`` gets the seed and what was drawn, and says what is wrong, if anything. Returns the smallest that is wrong
    with what is said of it; nothing for it where the drawing itself failed; ``None`` if all is right.
    """
    failing: list[tuple[T, str]] = []
    ends: list[float] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
    )
    @hypothesis.given(strategy)
    def drawn(sample: T) -> None:
        if ends and time.monotonic() >= ends[0]:
            return  # which ends hypothesis' search
        problem = check(seed, sample)
        if problem:
            ends.append(time.monotonic() + seconds)
            failing.append((sample, problem))
            raise AssertionError(problem)

    try:
        drawn()
    except Exception as error:  # hypothesis has its own for what does not happen again
        if not failing:
            return None, f"{type(error).__name__}: {error}"
    return min(failing, key=lambda item: size(item[0])) if failing else None
