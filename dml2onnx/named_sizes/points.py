"""Chooses the sizes at which models are compiled and merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import gcd
from typing import TypeAlias

from dml2onnx.sizes.named import NamedGraph
from dml2onnx.sizes.ranges import Ranges

Fits: TypeAlias = "Callable[[str, int], bool]"
"""Whether a size of a name is possible while all others keep theirs."""

CANDIDATES = 2
"""How many sizes :func:`_other` compares to find one at an odd distance."""
TRIES = 8
"""The most attempts to find sizes at which no two expressions are equal by chance."""
SPREAD = 0.381966
"""The distance between the sizes of two names, as a fraction of their ranges, so that they rarely coincide."""
SMALL = 4
"""Ranges shorter than this are extended, because sizes of two names often coincide in them."""
EXTENSION = 6
"""How many sizes beyond a small range are used, if they are possible."""


def points_of(graph: NamedGraph, ranges: Ranges) -> Iterator[dict[str, int]]:
    """Yields the last sizes, two at which no expressions are equal by chance, the first sizes, and then more."""

    @cache
    def fits(name: str, size: int) -> bool:
        return graph.is_possible({**graph.own_values(), name: size})

    lowest = {name: low for name, (low, _) in ranges.items()}
    highest = {name: high for name, (_, high) in ranges.items()}
    expressions = list(graph.expressions())
    most, points = 0, [highest, lowest]
    for attempt in range(TRIES):
        tried = [highest, *_pair(ranges, attempt, fits), lowest]
        distinct = len({tuple(graph.number(expr, point) for point in tried) for expr in expressions})
        if distinct > most:
            most, points = distinct, tried
        if most == len(expressions):  # may never be reached: in a small range some are constant
            break
    yield from points
    yield from _pair(ranges, TRIES - 1, fits)
    yield from _pair(ranges, TRIES - 2, fits)
    yield from _beyond(graph, ranges)


def _beyond(graph: NamedGraph, ranges: Ranges) -> Iterator[dict[str, int]]:
    """Yields sizes beyond the ranges, in case only the last sizes inside have the form for large sizes."""
    for more in (1, 2):
        point = {}
        for number, (name, (low, high)) in enumerate(ranges.items()):
            start = high + more * (number + 2) + 1 if low < high else high
            point[name] = graph.nearest(name, start, start + EXTENSION * SMALL) or high
        if graph.is_possible(point):
            yield point


def _pair(ranges: Ranges, attempt: int, fits: Fits) -> list[dict[str, int]]:
    """Two points inside the ranges; each attempt gives others."""
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for number, (name, (low, high)) in enumerate(ranges.items()):
        if high - low < SMALL and fits(name, high + EXTENSION):
            high += EXTENSION  # a size beyond the range serves as well, and differs more from 1
        part = SPREAD * (number + 1) + attempt / TRIES
        start, other = (low + int((high - low) * ((part + more) % 1)) for more in (0, 0.3))
        first[name] = _inside(fits, name, max(start, low + 1), low, high, ())
        second[name] = _other(fits, name, max(other, low + 1), low, high, first[name])
        if high - low < SMALL:  # the same two sizes, in another order for each name
            both = first[name], second[name]
            orders = (both, both[::-1], both[:1] * 2, both[1:] * 2)
            first[name], second[name] = orders[number % len(orders)]
    return [first, second]


def _other(fits: Fits, name: str, start: int, low: int, high: int, first: int) -> int:
    """A second size, at an odd distance from the first one if possible, because windows may depend on parity."""
    taken = [first, 2 * first]
    found: list[int] = []
    while len(found) < CANDIDATES:
        size = _inside(fits, name, start, low, high, taken)
        if size in taken:
            break
        taken.append(size)
        found.append(size)
    if not found:
        return low
    step = gcd(*(size - first for size in found))
    return next((size for size in found if (size - first) // step % 2), found[0])


def _inside(fits: Fits, name: str, start: int, low: int, high: int, taken: Sequence[int]) -> int:
    """The first possible size from ``start`` upwards, else downwards, that is not in ``taken``; ``low`` if none is."""
    size: int
    for size in (*range(start, high + 1), *range(min(start, high), low - 1, -1)):
        if size not in taken and fits(name, size):
            return size
    return low
