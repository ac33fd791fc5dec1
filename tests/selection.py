"""Which cases of a parametrised test are run: all of them, or enough that every value of every parameter is.

``pytest`` runs all. ``pytest --cases each``, which ``scripts/test.py`` does without ``--exhaustive``, leaves out cases
of a function in which nothing is new: a test of 60 operators with 10 data types keeps some 60 cases of 600, in which
every operator and every data type is found, though not every pair of both. Tests of random examples draw no more than
``EXAMPLES`` of them then.
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
"""A function with as many cases or fewer keeps them all."""

FEW_PRODUCTS = 24
"""As many are kept where a value has no plain text, such as a function that builds a graph: a product by hand."""

EXAMPLES = 50
"""What a test draws at most where not all cases are run: half of what Hypothesis does by itself."""

PLAIN = (str, int, float, bool, type(None), enum.Enum, type, np.dtype)


def parameters(case: Any) -> list[tuple[str, str]]:
    """Name and value of each parameter of a case; values that have no plain text are told apart by their places."""
    indices = case.indices
    return [
        (name, repr(value) if _is_plain(value) else f"case {indices.get(name)}") for name, value in case.params.items()
    ]


def one_in(items: Iterable[pytest.Item], number: int) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """One case in so many of each function, the first among them, and the others."""
    counts: dict[str, int] = defaultdict(int)
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        function = function_of(item.nodeid)
        (left if counts[function] % number else kept).append(item)
        counts[function] += 1
    return kept, left


def without(items: Iterable[pytest.Item], names: frozenset[str]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Tests of other functions and files than those of these names, and the others."""
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        is_named = function_of(item.nodeid) in names or item.nodeid.partition("::")[0] in names
        (left if is_named else kept).append(item)
    return kept, left


def function_of(nodeid: str) -> str:
    """The name of a test without that of its case."""
    return nodeid.partition("[")[0]


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(part) for part in value)
    return isinstance(value, PLAIN)


def each_value_once(cases: list[list[tuple[str, str]]]) -> list[int]:
    """Places of cases in which together every parameter has every value that it has in any; in order.

    Cases with the most values that no earlier one has come first, so few are needed; which ones, depends on nothing but
    the cases.
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
    """Leaves a function as many cases as meet each value of each parameter; returns how many are left out."""
    cases = getattr(metafunc, CASES)
    if len(cases) <= FEW_PRODUCTS and not all(_is_plain(value) for case in cases for value in case.params.values()):
        return 0
    kept = [cases[place] for place in each_value_once([parameters(case) for case in cases])]
    left = len(cases) - len(kept)
    cases[:] = kept
    return left


CASES = "_calls"
"""Where pytest keeps the cases of a function before it makes a test of each, which it offers no other way to choose."""


def draw_fewer(items: Iterable[pytest.Item]) -> None:
    """Lets tests of random examples draw ``EXAMPLES`` at most."""
    for item in items:
        test = getattr(item, "function", None)
        if is_hypothesis_test(test):
            wanted = getattr(test, SETTINGS, None)
            if wanted is not None and wanted.max_examples > EXAMPLES:
                setattr(test, SETTINGS, settings(wanted, max_examples=EXAMPLES))


SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis looks for the settings of a test, which it offers no other way to change."""
