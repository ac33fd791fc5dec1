"""Which sizes a model with names is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.sizes.named import NamedGraph
    from dml2onnx.sizes.ranges import Ranges

TRIES = 8
"""How often other sizes are tried where two sizes of a graph are equal by chance."""
SPREAD = 0.381966
"""How far from each other sizes of several names are, as a part of their ranges: so that many of them never meet."""


FEW = 4
"""Sizes of a range of which two names would often have the same."""


MORE = 6
"""Sizes behind such a range at which the model is looked at as well, where they are possible."""


def points_of(graph: NamedGraph, ranges: Ranges) -> Iterator[dict[str, int]]:
    """The last size, two at which no two sizes of the graph are equal by chance, and the first; and then some more."""
    lowest = {name: low for name, (low, _) in ranges.items()}
    highest = {name: high for name, (_, high) in ranges.items()}
    expressions = list(graph.expressions())
    most, points = 0, [highest, lowest]
    for attempt in range(TRIES):
        tried = [highest, *_pair(graph, ranges, attempt), lowest]
        distinct = len({tuple(graph.number(expr, point) for point in tried) for expr in expressions})
        if distinct > most:
            most, points = distinct, tried
        if most == len(expressions):  # there may be fewer: some are one number all over a small range
            break
    yield from points
    yield from _pair(graph, ranges, TRIES - 1)
    yield from _pair(graph, ranges, TRIES - 2)


def _pair(graph: NamedGraph, ranges: Ranges, attempt: int) -> list[dict[str, int]]:
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for number, (name, (low, high)) in enumerate(ranges.items()):
        if high - low < FEW and not graph.problems({**graph.own_values(), name: high + MORE}):
            high += MORE  # sizes outside tell as much, and more of what is different at 1
        part = SPREAD * (number + 1) + attempt / TRIES
        start, other = (low + int((high - low) * ((part + more) % 1)) for more in (0, 0.3))
        first[name] = _inside(graph, name, max(start, low + 1), low, high, ())
        second[name] = _inside(graph, name, max(other, low + 1), low, high, (first[name], 2 * first[name]))
        if high - low < FEW:  # the same two sizes, in as many orders as there are
            both = first[name], second[name]
            orders = (both, both[::-1], both[:1] * 2, both[1:] * 2)
            first[name], second[name] = orders[number % len(orders)]
    return [first, second]


def _inside(graph: NamedGraph, name: str, start: int, low: int, high: int, taken: tuple[int, ...]) -> int:
    """The first size from there on that fits and is not taken, or one below."""
    size: int
    for size in (*range(start, high + 1), *range(min(start, high), low - 1, -1)):
        if size not in taken and not graph.problems({**graph.own_values(), name: size}):
            return size
    return low
