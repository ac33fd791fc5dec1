"""The ranges of named sizes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from dml2onnx.codes import sizing as codes
from dml2onnx.diagnostics import DmlError, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from dml2onnx.sizes.named import NamedGraph, Values

Ranges = dict[str, tuple[int, int]]
STEPS = 200
"""The longest search for a possible size from a drawn one."""
MOST = 64
"""The default last size of a name, or four times the model's own if that is larger."""


def ranges_of(graph: NamedGraph, stated: Mapping[str, tuple[int, int]], is_valid: Callable[[Values], bool]) -> Ranges:
    """Returns the first and the last size of each name: as stated, or as the graph allows."""
    for name in stated:
        if name not in graph.names:
            known = ", ".join(graph.names)
            message = f"{quote(name)} is not the name of a size; the names are: {known}"
            raise DmlError(codes.RANGE.at(message, expected=known, found=name))
    found: Ranges = {}
    for name in graph.names:
        if name in stated:
            low, high = stated[name]
            found[name] = _end(graph, name, low, high), _end(graph, name, high, low)
            continue
        if graph.is_bound(name):
            raise DmlError(*graph.problems({**graph.own_values(), name: graph.old(name) + 1}))
        low = graph.lowest(name, is_valid)
        wanted = max(MOST, 4 * graph.old(name))
        found[name] = low, graph.nearest(name, wanted, graph.old(name)) or graph.old(name)
    return found


def _end(graph: NamedGraph, name: str, size: int, other: int) -> int:
    """The end of a stated range, or the next multiple of the required step."""
    while True:
        problems = graph.problems({**graph.own_values(), name: size})
        if not problems:
            return size
        if size == other or not all(item.expected.startswith("a multiple") for item in problems):
            raise DmlError(*problems)
        size += 1 if size < other else -1


def drawn(
    graph: NamedGraph, ranges: Mapping[str, tuple[int, int]], count: int, random: Random
) -> Iterator[dict[str, int]]:
    """Yields up to ``count`` random possible sizes within the ranges."""
    for _ in range(count):
        point: dict[str, int] = {}
        for name, (low, high) in ranges.items():
            start = random.randint(low, high)
            found = graph.nearest(name, start, min(high, start + STEPS))
            point[name] = graph.nearest(name, start, max(low, start - STEPS)) or high if found is None else found
        if graph.is_possible(point):
            yield point
