"""Finds the expression of a number from its values at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from random import Random

from dml2onnx.onnx_model import NamedSize
from dml2onnx.sizes.expressions import Expr, Symbol
from dml2onnx.sizes.limits import Limits
from dml2onnx.sizes.named import NamedGraph, Values, refused
from dml2onnx.sizes.ranges import drawn

SAMPLES = 6
"""The number of other sizes at which two expressions are compared."""
NEARBY = 16
"""The number of consecutive sizes at either end of a range that are checked; window strides are smaller."""


class Numbers:
    """The expressions of a graph, by their values at several sizes."""

    def __init__(self, graph: NamedGraph, points: Sequence[Values], limits: Limits) -> None:
        self.graph = graph
        self.limits = limits
        self.ranges = limits.ranges
        self.points = points
        self.old = {
            name: old if low <= (old := graph.old(name)) <= high else low for name, (low, high) in limits.ranges.items()
        }
        """Example sizes: the model's own, if they are within the ranges."""
        self.by_text: dict[str, Expr] = {}
        """The expressions of sizes, by their text."""
        self._known: dict[tuple[int, ...], Expr] = {}
        self._require_distinct()
        self._samples = list(drawn(graph, limits.ranges, SAMPLES, Random(0)))
        self._negative: dict[Expr, Values | None] = {}
        self._doubtful: set[tuple[int, ...]] = set()
        """Values of two expressions that differ at other sizes."""
        solver = graph.traced.solver
        for expr in graph.expressions():
            own = tuple(graph.number(expr, point) for point in points)
            first = self._known.setdefault(own, solver.resolved(expr))
            if len(set(own)) > 1 and not self._is_one(first, expr):
                self._doubtful.add(own)

    def _is_one(self, one: Expr, other: Expr) -> bool:
        return all(self.graph.number(one, point) == self.graph.number(other, point) for point in self._samples)

    def ratio(self, one: int | Expr, other: int | Expr) -> Fraction | None:
        """The constant ratio of two sizes, or ``None``."""
        points = (*self.points, *self._samples)
        ratios = {Fraction(self._number(one, point), self._number(other, point)) for point in points}
        return ratios.pop() if len(ratios) == 1 else None

    def below_zero(self, expr: Expr) -> Values | None:
        """A checked size at which an expression is negative, or ``None``."""
        if expr not in self._negative:
            resolved = self.graph.traced.solver.resolved(expr)
            self._negative[expr] = next((point for point, value in self._nearby if resolved.at(value) < 0), None)
        return self._negative[expr]

    @cached_property
    def _nearby(self) -> list[tuple[Values, Callable[[Symbol], int]]]:
        """The sizes of the models, random ones, and those near both ends of each range."""
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
        """Requires that no two names have the same values at all points."""
        seen: dict[tuple[int, ...], str] = {}
        for name, (low, high) in self.ranges.items():
            own = tuple(point[name] for point in self.points)
            if low < high and (other := seen.setdefault(own, name)) != name:
                raise refused(f"{other} and {name} have too few sizes to be distinguished")

    def of(self, values: Sequence[int]) -> int | Expr | None:
        """The integer or the expression with these values at the points; ``None`` if there is none."""
        found = tuple(map(int, values))
        if len(set(found)) == 1:
            return found[0]
        if found in self._doubtful:
            raise refused(f"a size is {', '.join(map(str, found))} at the sizes tried, which is ambiguous")
        if found in self._known:
            return self._known[found]
        for known, expr in list(self._known.items()):
            times = self._times(found, known, expr)
            if times is not None:
                self._known[found] = times
                return times
        return self._product(found)

    def _product(self, found: tuple[int, ...]) -> Expr | None:
        """The product of two known expressions and a number, such as batch times channels."""
        for known, expr in list(self._known.items()):
            ratios = _ratios(found, known)
            for other, factor in list(self._known.items()) if ratios else ():
                times = _ratios(ratios, other)
                if times and len(set(times)) == 1:
                    self._known[found] = (expr * factor).scaled(times[0])
                    return self._known[found]
        return None

    def _times(self, found: tuple[int, ...], known: tuple[int, ...], expr: Expr) -> Expr | None:
        """The sum, product or quotient of a known expression and a number, or the product of two expressions."""
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
        """An expression as text, in the names of the caller."""
        return str(self.graph.in_names(expr))

    def named(self, expr: Expr) -> NamedSize:
        """The size of a model for an expression."""
        text = self.text(expr)
        self.by_text[text] = self.graph.traced.solver.resolved(expr)
        return NamedSize(self.graph.number(expr, self.old), text, self.graph.of_names(expr), self.limits)


def _ratios(numbers: Sequence[int], of: Sequence[int]) -> tuple[int, ...]:
    """The ratios of two rows of numbers; empty if any is not an integer."""
    pairs = list(zip(numbers, of, strict=True))
    return tuple(number // other for number, other in pairs) if all(b and a % b == 0 for a, b in pairs) else ()
