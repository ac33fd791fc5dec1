"""Finds the expression in names of a number, from its values at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from random import Random

from dml2onnx.onnx_model import NamedSize
from dml2onnx.sizes.expressions import Expr, Symbol
from dml2onnx.sizes.named import NamedGraph, Values, refused
from dml2onnx.sizes.ranges import drawn

SAMPLES = 6
"""At how many sizes two expressions are compared besides: enough to see that they are not one."""
NEARBY = 16
"""Sizes in a row at either end of a range at which it is looked whether the model fits: steps of windows are fewer."""


class Numbers:
    """The expressions of a graph by their values."""

    def __init__(self, graph: NamedGraph, points: Sequence[Values], ranges: Mapping[str, tuple[int, int]]) -> None:
        self.graph = graph
        self.ranges = ranges
        self.points = points
        self.old = {
            name: old if low <= (old := graph.old(name)) <= high else low for name, (low, high) in ranges.items()
        }
        """The sizes at which whoever needs an example makes one: the model's own, where they are among those."""
        self.by_text: dict[str, Expr] = {}
        """What the text of a size stands for."""
        self._known: dict[tuple[int, ...], Expr] = {}
        self._require_distinct()
        self._samples = list(drawn(graph, ranges, SAMPLES, Random(0)))
        self._negative: dict[Expr, Values | None] = {}
        self._doubtful: set[tuple[int, ...]] = set()
        """Numbers that are those of two expressions, which differ at other sizes."""
        solver = graph.traced.solver
        for expr in graph.expressions():
            own = tuple(graph.number(expr, point) for point in points)
            first = self._known.setdefault(own, solver.resolved(expr))
            if len(set(own)) > 1 and not self._is_one(first, expr):
                self._doubtful.add(own)

    def _is_one(self, one: Expr, other: Expr) -> bool:
        return all(self.graph.number(one, point) == self.graph.number(other, point) for point in self._samples)

    def ratio(self, one: int | Expr, other: int | Expr) -> Fraction | None:
        """How many times one size is another, at all sizes; ``None`` where that differs."""
        points = (*self.points, *self._samples)
        ratios = {Fraction(self._number(one, point), self._number(other, point)) for point in points}
        return ratios.pop() if len(ratios) == 1 else None

    def below_zero(self, expr: Expr) -> Values | None:
        """A size at which an expression is negative, of those that are looked at; ``None`` where there is none."""
        if expr not in self._negative:
            resolved = self.graph.traced.solver.resolved(expr)
            self._negative[expr] = next((point for point, value in self._nearby if resolved.at(value) < 0), None)
        return self._negative[expr]

    @cached_property
    def _nearby(self) -> list[tuple[Values, Callable[[Symbol], int]]]:
        """Sizes that the model is made of, some more, and near the ends of each range as many as steps may have."""
        highest = {name: high for name, (_, high) in self.ranges.items()}
        lowest = {name: low for name, (low, _) in self.ranges.items()}
        rows = [
            base | {name: size}
            for name, (low, high) in self.ranges.items()
            for base, sizes in (
                (highest, range(max(low, high - NEARBY), high + 1)),
                (lowest, range(low, min(high, low + NEARBY) + 1)),
            )
            for size in sizes
        ]
        points = [point for point in (*self.points, *self._samples, *rows) if self.graph.is_possible(point)]
        return [(point, self.graph.values_at(point)) for point in points]

    def _number(self, size: int | Expr, point: Values) -> int:
        return self.graph.number(size, point) if isinstance(size, Expr) else size

    def _require_distinct(self) -> None:
        """Numbers say which name they are only where no two names have the same sizes everywhere."""
        seen: dict[tuple[int, ...], str] = {}
        for name, (low, high) in self.ranges.items():
            own = tuple(point[name] for point in self.points)
            if low < high and (other := seen.setdefault(own, name)) != name:
                raise refused(f"{other} and {name} have so few sizes that they cannot be told apart")

    def of(self, values: Sequence[int]) -> int | Expr | None:
        """A number that is the same at all sizes, an expression, or ``None`` where none is known."""
        found = tuple(map(int, values))
        if len(set(found)) == 1:
            return found[0]
        if found in self._doubtful:
            raise refused(f"a size is {', '.join(map(str, found))} at the sizes looked at, which says two things")
        if found in self._known:
            return self._known[found]
        for known, expr in list(self._known.items()):
            times = self._times(found, known, expr)
            if times is not None:
                self._known[found] = times
                return times
        return self._product(found)

    def _product(self, found: tuple[int, ...]) -> Expr | None:
        """Two known expressions times a number: rows of all pictures and channels, which no tensor has."""
        for known, expr in list(self._known.items()):
            ratios = _ratios(found, known)
            for other, factor in list(self._known.items()) if ratios else ():
                times = _ratios(ratios, other)
                if times and len(set(times)) == 1:
                    self._known[found] = (expr * factor).scaled(times[0])
                    return self._known[found]
        return None

    def _times(self, found: tuple[int, ...], known: tuple[int, ...], expr: Expr) -> Expr | None:
        """A known expression times, or divided by, a number, or times another one."""
        ratios = _ratios(found, known)
        if ratios and len(set(ratios)) == 1:
            return expr.scaled(ratios[0])
        if ratios in self._known:
            return expr * self._known[ratios]
        ratios = _ratios(known, found)
        if ratios and len(set(ratios)) == 1:
            return expr.divided(ratios[0])
        differences = {number - value for number, value in zip(found, known, strict=True)}
        if len(differences) == 1:
            return expr + Expr.of(differences.pop())
        return None

    def text(self, expr: Expr) -> str:
        """An expression in the names that callers know."""
        return str(self.graph.in_names(expr))

    def named(self, expr: Expr) -> NamedSize:
        """A size as the model states it."""
        text = self.text(expr)
        self.by_text[text] = self.graph.traced.solver.resolved(expr)
        return NamedSize(self.graph.number(expr, self.old), text, self.ranges.get(text))


def _ratios(numbers: Sequence[int], of: Sequence[int]) -> tuple[int, ...]:
    """How many times each number is another one; nothing where one is no multiple."""
    pairs = list(zip(numbers, of, strict=True))
    return tuple(number // other for number, other in pairs) if all(b and a % b == 0 for a, b in pairs) else ()
