"""Which dimensions of an input may change, which depend on others, and which are fixed, and by which node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.limits import step_of
from dml2onnx.sizes.named import NamedGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.sizes.named import Values

PROBES = 130
"""The number of sizes that are tried to find the step: common blocks have up to 64 elements."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """What is known about one dimension of an input."""

    size: int
    """The size in the model."""
    first: int
    """The smallest possible size while all others keep theirs; the model's own if it is fixed or follows."""
    last: int | None
    """The largest size that was tried successfully; ``None`` if there is no limit."""
    step: int
    """The step between possible sizes; 0 if they are irregular."""
    follows: str
    """The dimensions that it follows from: ``picture[2]``, ``2*past[0]``."""
    is_fixed: bool
    """Whether it cannot be chosen: it is constant, or follows from others."""
    node: str = ""
    operator: str = ""
    reason: str = ""
    """The node that limits it, and why."""


def freedom(
    graph: Graph,
    name: str,
    sizes: Sequence[int],
    is_valid: Callable[[OperatorDesc], bool],
    problem_of: Callable[[Graph], Diagnostic | None],
) -> tuple[Dimension, ...]:
    """Returns what is known about every dimension of an input of a checked graph.

    ``is_valid`` returns whether an operator is valid, ``problem_of`` returns an error of a graph.
    """
    labels = [f"d{i}" for i in range(len(sizes))]
    named = NamedGraph.of(graph, {name: labels}, is_valid)
    return tuple(_dimension(named, name, i, label, problem_of) for i, label in enumerate(labels))


def _dimension(
    named: NamedGraph, name: str, i: int, label: str, problem_of: Callable[[Graph], Diagnostic | None]
) -> Dimension:
    solver, symbol = named.traced.solver, named.requested.names[label]
    old, expr = symbol.old, solver.resolved(Expr.of(symbol))
    why = solver.reasons.get(symbol) or solver.ties.get(symbol)
    if why is None and expr.number is not None:
        why = next((solver.reasons[item] for item in solver.dependencies(symbol) if item in solver.reasons), None)
    if why is not None:
        place = why.place
        follows = "" if expr.number is not None else _renamed(str(expr), name)
        return Dimension(old, old, old, 1, follows, True, place.node, place.operator, place.words)

    def is_possible(values: Values) -> bool:
        return problem_of(named.at(values)) is None

    first = named.lowest(label, is_possible)
    last = _last(named, label, old, is_possible)
    limit = None if last is None else _problem(named, label, last + 1, problem_of)
    reason = ("", "", "") if limit is None else (limit.node, limit.operator, _renamed(limit.message, name))
    return Dimension(old, first, last, _step(named, label, old), "", first == old == last, *reason)


def _problem(
    named: NamedGraph, label: str, size: int, problem_of: Callable[[Graph], Diagnostic | None]
) -> Diagnostic | None:
    """Why a size is not possible."""
    values = named.own_values() | {label: size}
    problems = named.problems(values)
    return problems[0] if problems else problem_of(named.at(values))


def _renamed(text: str, name: str) -> str:
    """The text with the input's dimensions instead of the internal names for them."""
    for i in reversed(range(8)):
        text = text.replace(f"d{i}", f"{name}[{i}]")
    return text


def _step(named: NamedGraph, label: str, old: int) -> int:
    """The step between possible sizes; 0 if they are irregular."""
    own = named.own_values()
    return step_of(size for size in range(old, old + PROBES) if named.is_possible({**own, label: size}))


def _last(named: NamedGraph, label: str, old: int, is_possible: Callable[[Mapping[str, int]], bool]) -> int | None:
    """The largest possible size up to about four times the model's own; ``None`` if that is possible."""
    own = named.own_values()

    def fits(size: int) -> bool:
        near = named.nearest(label, size, max(size - PROBES, old))
        return near is not None and is_possible({**own, label: near})

    low, high = old, 4 * old + PROBES
    if fits(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return named.nearest(label, low, old) or old
