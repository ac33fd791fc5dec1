"""Which sizes a model with names is made of, and in which ranges it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.codes import sizing as codes
from dml2onnx.diagnostics import DmlError, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dml2onnx.sizes.named import NamedGraph, Values

Ranges = dict[str, tuple[int, int]]
TRIES = 8
"""How often other sizes are tried where two sizes of a graph are equal by chance."""
SPREAD = 0.381966
"""How far from each other sizes of several names are, as a part of their ranges: so that many of them never meet."""
MOST = 64
"""The last size of a name that nobody states a range for, or four times its own."""


def ranges_of(graph: NamedGraph, stated: Mapping[str, tuple[int, int]], is_right: Callable[[Values], bool]) -> Ranges:
    """The first and the last size of each name: as stated, or as the graph can have them."""
    for name in stated:
        if name not in graph.names:
            known = ", ".join(graph.names)
            message = f"{quote(name)} stands for no size; the names are: {known}"
            raise DmlError(codes.RANGE.at(message, expected=known, found=name))
    found: Ranges = {}
    for name in graph.names:
        if name in stated:
            low, high = stated[name]
            found[name] = _end(graph, name, low, high), _end(graph, name, high, low)
            continue
        low = graph.lowest(name, is_right)
        wanted = max(MOST, 4 * graph.old(name))
        found[name] = low, graph.nearest(name, wanted, graph.old(name)) or graph.old(name)
    return found


def _end(graph: NamedGraph, name: str, size: int, other: int) -> int:
    """The end of a stated range, or the next size that is a multiple of what it has to be."""
    while True:
        problems = graph.problems({**_own(graph), name: size})
        if not problems:
            return size
        if size == other or not all(item.expected.startswith("a multiple") for item in problems):
            raise DmlError(*problems)
        size += 1 if size < other else -1


def _own(graph: NamedGraph) -> dict[str, int]:
    return {name: graph.old(name) for name in graph.names}


def points_of(graph: NamedGraph, ranges: Ranges) -> list[dict[str, int]]:
    """The last size, two at which no two sizes of the graph are equal by chance, and the first; and then some more."""
    lowest = {name: low for name, (low, _) in ranges.items()}
    highest = {name: high for name, (_, high) in ranges.items()}
    expressions = list(graph.expressions())
    for attempt in range(TRIES):
        pair = _pair(graph, ranges, attempt)
        points = [highest, *pair, lowest]
        if len({tuple(graph.number(expr, point) for point in points) for expr in expressions}) == len(expressions):
            break
    return [*points, *_pair(graph, ranges, TRIES - 1), *_pair(graph, ranges, TRIES - 2)]


def _pair(graph: NamedGraph, ranges: Ranges, attempt: int) -> list[dict[str, int]]:
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for number, (name, (low, high)) in enumerate(ranges.items()):
        part = SPREAD * (number + 1) + attempt / TRIES
        start, other = (low + int((high - low) * ((part + more) % 1)) for more in (0, 0.3))
        first[name] = _inside(graph, name, max(start, low + 1), low, high, ())
        second[name] = _inside(graph, name, max(other, low + 1), low, high, (first[name], 2 * first[name]))
    return [first, second]


def _inside(graph: NamedGraph, name: str, start: int, low: int, high: int, taken: tuple[int, ...]) -> int:
    """The first size from there on that fits and is not taken, or one below."""
    size: int
    for size in (*range(start, high + 1), *range(min(start, high), low - 1, -1)):
        if size not in taken and not graph.problems({**_own(graph), name: size}):
            return size
    return low
