"""The values that the names of a model may have: their ranges, and the conditions of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dml2onnx.sizes.request import misfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.sizes.named import NamedGraph, Values
    from dml2onnx.sizes.ranges import Ranges
    from dml2onnx.sizes.solver import Guard


@dataclass(frozen=True, slots=True)
class Limits:
    """The values that the names of a model may have, as text: ``N=1..64, H=2..128 in steps of 2``."""

    ranges: Ranges
    steps: Mapping[str, int]
    """The step between possible sizes of each name; 0 if it is irregular."""
    conditions: tuple[Guard, ...]
    """What the names have to fulfil; all symbols are names."""

    @classmethod
    def of(cls, graph: NamedGraph, ranges: Ranges) -> Limits:
        """The limits of a graph with these ranges, whose ends are possible."""
        found = [guard.converted(graph.of_names) for guard in graph.traced.solver.conditions()]
        conditions = tuple(guard for guard in found if not _is_always_met(guard))
        steps = {}
        for name, (low, high) in ranges.items():
            own = [guard for guard in conditions if _names(guard) == {name}]
            steps[name] = step_of(size for size in range(low, high + 1) if _are_met(own, size)) if own else 1
        return cls(ranges, steps, conditions)

    def __str__(self) -> str:
        rest = [guard for guard in self.conditions if len(names := _names(guard)) > 1 or not self.steps[names.pop()]]
        condition = f", if {' and '.join(map(_written, rest))}" if rest else ""
        return ", ".join(map(self.shown, self.ranges)) + condition

    def shown(self, name: str) -> str:
        """The range of a name with its step, as text."""
        (low, high), step = self.ranges[name], self.steps[name]
        return f"{name}={low}..{high}" + (f" in steps of {step}" if step > 1 else "")

    def problems(self, values: Values) -> Iterator[Diagnostic]:
        """Yields why the graph cannot have these sizes, which are in range; unknown names may be missing."""
        known = {name: low for name, (low, high) in self.ranges.items() if low == high} | dict(values)
        for guard in self.conditions:
            names = _names(guard)
            if names <= known.keys() and not guard.is_met(lambda symbol: known[symbol.name]):
                shown = ", ".join(self.shown(name) for name in self.ranges if name in names)
                yield misfit(guard, lambda symbol: known[symbol.name], f"; {shown}")


def step_of(sizes: Iterable[int]) -> int:
    """Returns the step between sizes in ascending order; 0 if it is irregular, and 1 for a single size."""
    step = 0
    for size, following in pairwise(sizes):
        if step not in (0, following - size):
            return 0
        step = following - size
    return step or 1


def _is_always_met(guard: Guard) -> bool:
    numbers = [number for _, number in guard.expr.terms]
    return not any(number % guard.divisor if guard.divisor else number for number in numbers)


def _are_met(guards: Iterable[Guard], size: int) -> bool:
    """Whether conditions of a single name hold at this size."""
    return all(guard.is_met(lambda _: size) for guard in guards)


def _names(guard: Guard) -> set[str]:
    return {symbol.name for symbol in guard.expr.symbols()}


def _written(guard: Guard) -> str:
    """``N*H is a multiple of 4``, or ``2*floor(H/2) is H``."""
    if guard.divisor:
        return f"{guard.expr} is a multiple of {guard.divisor}"
    left, right = guard.sides or (guard.expr, 0)
    return f"{left} is {right}"
