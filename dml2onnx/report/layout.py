"""Places the boxes of a graph in layers from top to bottom, with few crossings of edges.

The steps are those of Sugiyama, Tagawa and Toda, 1981, https://doi.org/10.1109/TSMC.1981.4308636: layers by longest
paths, waypoints where an edge passes a layer, ordering of layers by the mean of neighbours, and positions as close to
the neighbours as the order allows, by isotonic regression. All steps except sorting are linear in boxes and edges, and
graphs may have cycles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Point: TypeAlias = tuple[float, float]
Edge: TypeAlias = tuple[int, int]

GAP = 28.0
"""The distance between boxes of a layer."""
LAYER_GAP = 36.0
PASSAGE = 10.0
"""Width of a waypoint."""
LONGEST_ROUTE = 24
"""The most layers that an edge with waypoints passes; longer edges are straight, to limit the number of waypoints."""
ORDERINGS = 8
PLACINGS = 9
STRAIGHTNESS = 4.0
"""The weight of a waypoint's position; that of a box is 1."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The centres of boxes, and for each edge the points from the bottom of one box to the top of another."""

    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def lay_out(sizes: Sequence[Point], edges: Sequence[Edge]) -> Placement:
    """Places boxes with these widths and heights. Equal edges share a route; an edge from a box to itself has none."""
    if not sizes:
        return Placement((), tuple(() for _ in edges), 0.0, 0.0)
    layers = _layers(len(sizes), _without_cycles(len(sizes), edges))
    plan = _Plan(sizes, layers, edges)
    plan.order()
    plan.place()
    return plan.layout(edges)


# --- Layers -----------------------------------------------------------------------------------------------------------


def _without_cycles(count: int, edges: Iterable[Edge]) -> list[Edge]:
    """The edges; those that close a cycle in a depth-first search are reversed."""
    readers: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        if source != target:
            readers[source].append(target)
    done, on_path = 2, 1
    state = [0] * count
    kept: list[Edge] = []
    for start in range(count):
        if state[start]:
            continue
        state[start] = on_path
        path = [(start, iter(readers[start]))]
        while path:
            box, rest = path[-1]
            reader = next(rest, None)
            if reader is None:
                state[box] = done
                path.pop()
                continue
            kept.append((reader, box) if state[reader] == on_path else (box, reader))
            if not state[reader]:
                state[reader] = on_path
                path.append((reader, iter(readers[reader])))
    return kept


def _layers(count: int, edges: Iterable[Edge]) -> list[int]:
    """The layer of each box: below its sources, or directly above its first reader if it has no sources."""
    readers: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in edges:
        readers[source].append(target)
        waiting[target] += 1
    heads = [box for box in range(count) if not waiting[box]]
    layers = [0] * count
    ready = list(heads)
    for box in ready:
        for reader in readers[box]:
            layers[reader] = max(layers[reader], layers[box] + 1)
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    for box in heads:
        if readers[box]:
            layers[box] = min(layers[reader] for reader in readers[box]) - 1
    return layers


# --- Order and place --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Spot:
    """A box, or a waypoint of an edge."""

    width: float
    weight: float
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    x: float = 0.0


class _Plan:
    """Boxes and waypoints in their layers. Edges from one box share their waypoints."""

    def __init__(self, sizes: Sequence[Point], layers: Sequence[int], edges: Sequence[Edge]) -> None:
        self._sizes = sizes
        self._layer_of = layers
        self._spots = [_Spot(width, 1.0) for width, _ in sizes]
        self._rows: list[list[int]] = [[] for _ in range(max(layers) + 1)]
        for box, layer in enumerate(layers):
            self._rows[layer].append(box)
        self._chains: dict[int, list[int]] = {}
        for source, target in dict.fromkeys(edges):
            span = layers[target] - layers[source]
            if 0 < abs(span) <= LONGEST_ROUTE:
                low, high = (source, target) if span > 0 else (target, source)
                self._join(self._passage(low, layers[high]), high)

    def _passage(self, source: int, layer: int) -> int:
        """The last waypoint of ``source`` above ``layer``, or the box itself; adds missing waypoints."""
        chain = self._chains.setdefault(source, [source])
        first = self._layer_of[source]
        while first + len(chain) < layer:
            self._rows[first + len(chain)].append(len(self._spots))
            self._spots.append(_Spot(PASSAGE, STRAIGHTNESS))
            self._join(chain[-1], len(self._spots) - 1)
            chain.append(len(self._spots) - 1)
        return chain[layer - first - 1]

    def _join(self, upper: int, lower: int) -> None:
        self._spots[upper].below.append(lower)
        self._spots[lower].above.append(upper)

    def order(self) -> None:
        """Sorts each layer by the mean of its neighbours, downwards and upwards in turn, and keeps the best order."""
        self._number()
        best, fewest = [list(row) for row in self._rows], self._crossings()
        for turn in range(ORDERINGS):
            down = turn % 2 == 0
            for row in self._rows[1:] if down else self._rows[-2::-1]:
                row.sort(key=self._middle_above if down else self._middle_below)
                self._number(row)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self._rows], crossings
            if not crossings:
                break
        self._rows = best
        self._number()

    def _number(self, row: Sequence[int] | None = None) -> None:
        for spots in self._rows if row is None else (row,):
            for position, spot in enumerate(spots):
                self._spots[spot].x = position

    def _middle_above(self, spot: int) -> float:
        return self._middle(spot, self._spots[spot].above)

    def _middle_below(self, spot: int) -> float:
        return self._middle(spot, self._spots[spot].below)

    def _middle(self, spot: int, neighbours: Sequence[int]) -> float:
        spots = self._spots
        return sum(spots[other].x for other in neighbours) / len(neighbours) if neighbours else spots[spot].x

    def _crossings(self) -> int:
        """The number of crossings between adjacent layers: inversions, counted with a Fenwick tree."""
        total = 0
        for row, next_row in pairwise(self._rows):
            tree = [0] * (len(next_row) + 1)
            seen = 0
            for spot in row:
                ends = sorted(int(self._spots[other].x) for other in self._spots[spot].below)
                for end in ends:
                    total += seen - _sum(tree, end + 1)
                for end in ends:
                    _add(tree, end + 1)
                seen += len(ends)
        return total

    def place(self) -> None:
        """Moves the spots of each layer to the mean of their neighbours, as far as their order allows."""
        for row in self._rows:
            self._spread(row, lambda spot: self._spots[spot].x * 100)
        for turn in range(PLACINGS):  # downwards last, so that a single reader is straight below its source
            down = turn % 2 == 0
            for row in self._rows if down else reversed(self._rows):
                self._spread(row, self._middle_above if down else self._middle_below)
        leftmost = min(spot.x - spot.width / 2 for spot in self._spots)
        for spot in self._spots:
            spot.x -= leftmost

    def _spread(self, row: Sequence[int], wanted: Callable[[int], float]) -> None:
        """Moves each spot to the position it wants, or the nearest one that keeps the gaps."""
        spots = self._spots
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + (spots[left].width + spots[right].width) / 2 + GAP)
        targets = [wanted(spot) - offset for spot, offset in zip(row, offsets, strict=True)]
        places = _isotonic(targets, [spots[spot].weight for spot in row])
        for spot, offset, place in zip(row, offsets, places, strict=True):
            spots[spot].x = place + offset

    def layout(self, edges: Sequence[Edge]) -> Placement:
        """The finished layout."""
        tops: list[float] = []
        bottom = 0.0
        for row in self._rows:
            height = max((self._sizes[spot][1] for spot in row if spot < len(self._sizes)), default=0.0)
            tops.append(bottom + height / 2)
            bottom += height + LAYER_GAP
        centres = [(self._spots[box].x, tops[layer]) for box, layer in enumerate(self._layer_of)]
        routes = tuple(self._route(source, target, centres, tops) for source, target in edges)
        width = max(spot.x + spot.width / 2 for spot in self._spots)
        return Placement(tuple(centres), routes, width, bottom - LAYER_GAP)

    def _route(self, source: int, target: int, centres: Sequence[Point], tops: Sequence[float]) -> tuple[Point, ...]:
        if source == target:
            return ()
        first, last = self._layer_of[source], self._layer_of[target]
        side = 1 if last > first else -1
        points = [(centres[source][0], centres[source][1] + side * self._sizes[source][1] / 2)]
        if abs(last - first) <= LONGEST_ROUTE:
            low, steps = (source, last - first) if side > 0 else (target, first - last)
            chain = self._chains.get(low, [])[1:steps]
            passed = [(self._spots[spot].x, tops[self._layer_of[low] + 1 + n]) for n, spot in enumerate(chain)]
            points += passed if side > 0 else passed[::-1]
        points.append((centres[target][0], centres[target][1] - side * self._sizes[target][1] / 2))
        return tuple(points)


def _isotonic(targets: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing numbers closest to ``targets`` by least squares, by the pool-adjacent-violators algorithm."""
    pools: list[tuple[float, float, int]] = []
    for target, weight in zip(targets, weights, strict=True):
        mean, total, count = target, weight, 1
        while pools and pools[-1][0] > mean:
            other, more, others = pools.pop()
            mean = (mean * total + other * more) / (total + more)
            total, count = total + more, count + others
        pools.append((mean, total, count))
    return [mean for mean, _, count in pools for _ in range(count)]


def _sum(tree: Sequence[int], end: int) -> int:
    total = 0
    while end:
        total += tree[end]
        end &= end - 1
    return total


def _add(tree: list[int], place: int) -> None:
    while place < len(tree):
        tree[place] += 1
        place += place & -place
