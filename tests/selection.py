"""Selects the cases of a parametrised test: all of them, or enough to cover every value of every parameter.

``pytest`` runs all. ``pytest --cases each``, which ``scripts/test.py`` runs without ``--exhaustive``, skips cases
without a new value: a test of 60 operators with 10 data types keeps some 60 cases of 600, which cover every operator
and every data type, though not every pair. Tests of random examples then draw at most ``EXAMPLES``.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import is_hypothesis_test, settings

FEW = 6
"""A function with at most this many cases keeps them all."""

FEW_PRODUCTS = 24
"""The same for functions with a value without plain text, such as a function that builds a graph."""

EXAMPLES = 50
"""The most random examples of a test if not all cases are run: half of Hypothesis's default."""

PLAIN = (str, int, float, bool, type(None), enum.Enum, type, np.dtype)


def parameters(case: Any) -> list[tuple[str, str]]:
    """Returns name and value of each parameter of a case, with the index of a value that has no plain text."""
    indices = case.indices
    return [
        (name, repr(value) if _is_plain(value) else f"case {indices.get(name)}") for name, value in case.params.items()
    ]


def one_in(items: Iterable[pytest.Item], number: int) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Splits off every case of each function but the first of each ``number``; returns those kept and those skipped."""
    counts: dict[str, int] = defaultdict(int)
    kept: list[pytest.Item] = []
    skipped: list[pytest.Item] = []
    for item in items:
        function = function_of(item.nodeid)
        (skipped if counts[function] % number else kept).append(item)
        counts[function] += 1
    return kept, skipped


def without(items: Iterable[pytest.Item], names: frozenset[str]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Splits off the tests of the named functions and files; returns those kept and those skipped."""
    kept: list[pytest.Item] = []
    skipped: list[pytest.Item] = []
    for item in items:
        is_named = function_of(item.nodeid) in names or item.nodeid.partition("::")[0] in names
        (skipped if is_named else kept).append(item)
    return kept, skipped


def function_of(nodeid: str) -> str:
    """Returns the ID of a test function without its case."""
    return nodeid.partition("[")[0]


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(part) for part in value)
    return isinstance(value, PLAIN)


def each_value_once(cases: list[list[tuple[str, str]]]) -> list[int]:
    """Returns the indices, in order, of cases that together have every value of every parameter.

    Greedy: takes the cases with the most new values first. Deterministic.
    """
    if len(cases) <= FEW:
        return list(range(len(cases)))
    missing = {pair for case in cases for pair in case}
    taken = []
    for wanted in range(max(map(len, cases)), 0, -1):
        for place, case in enumerate(cases):
            new = missing.intersection(case)
            if len(new) >= wanted:
                taken.append(place)
                missing -= new
    return sorted(set(taken))


def thin(metafunc: pytest.Metafunc) -> int:
    """Removes the cases of a function that cover no new value; returns how many."""
    cases = getattr(metafunc, CASES)
    if len(cases) <= FEW_PRODUCTS and not all(_is_plain(value) for case in cases for value in case.params.values()):
        return 0
    kept = [cases[place] for place in each_value_once([parameters(case) for case in cases])]
    skipped = len(cases) - len(kept)
    cases[:] = kept
    return skipped


CASES = "_calls"
"""Where pytest keeps the cases of a function before it makes a test of each; there is no public way to choose them."""


def draw_fewer(items: Iterable[pytest.Item]) -> None:
    """Limits tests of random examples to ``EXAMPLES``."""
    for item in items:
        test = getattr(item, "function", None)
        if is_hypothesis_test(test):
            wanted = getattr(test, SETTINGS, None)
            if wanted is not None and wanted.max_examples > EXAMPLES:
                setattr(test, SETTINGS, settings(wanted, max_examples=EXAMPLES))


SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis looks for the settings of a test; there is no public way to change them."""
