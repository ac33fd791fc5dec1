"""Runs hypothesis outside of a test, from a seed, and returns the smallest failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import hypothesis
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

BATCH = 50
"""Examples per seed."""


def smallest(
    seed: int, strategy: SearchStrategy[T], check: Callable[[int, T], str], size: Callable[[T], int], seconds: float
) -> tuple[T | None, str] | None:
    """Draws a batch of examples for a seed, and shrinks a failure for up to ``seconds``.

    ``check`` receives the seed and an example, and returns a problem or ``""``. Returns the smallest failing example
    with its problem, ``(None, problem)`` if drawing failed, or ``None`` without a failure.
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
            return  # ends hypothesis' search
        problem = check(seed, sample)
        if problem:
            ends.append(time.monotonic() + seconds)
            failing.append((sample, problem))
            raise AssertionError(problem)

    try:
        drawn()
    except Exception as error:  # hypothesis also raises its own, for flaky failures
        if not failing:
            return None, f"{type(error).__name__}: {error}"
    return min(failing, key=lambda item: size(item[0])) if failing else None
