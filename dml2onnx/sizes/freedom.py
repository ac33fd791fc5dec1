"""Which dimensions of an input may change, which depend on others, and which are fixed, and by which node."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.named import NamedGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.sizes.expressions import Symbol
    from dml2onnx.sizes.named import Values

PROBES = 130
"""How many sizes are tried to see in which steps they come: blocks of 64 are the largest that are usual."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """What is known of one dimension of an input."""

    size: int
    """The model's own."""
    first: int
    """The smallest that it may have where all others have their own; its own size where it is fixed or follows."""
    last: int | None
    """The largest, as far as anybody has looked; ``None`` for any."""
    step: int
    """In which steps; 0 where some sizes in between are possible and others are not, without an order."""
    follows: str
    """The other dimensions that it follows from: ``picture[2]``, ``2*past[0]``."""
    is_fixed: bool
    """Whether it has no other size by itself: it stays, or follows."""
    node: str = ""
    operator: str = ""
    reason: str = ""
    """Who says so, or that it is no larger, and why."""


def freedom(
    graph: Graph,
    name: str,
    sizes: Sequence[int],
    is_operator: Callable[[OperatorDesc], bool],
    is_graph: Callable[[Graph], Diagnostic | None],
) -> tuple[Dimension, ...]:
    """Every dimension of the input of this name, which a checked graph has.

    The functions say whether an operator is right, and what is wrong with a graph.
    """
    labels = [f"d{i}" for i in range(len(sizes))]
    named = NamedGraph.of(graph, {name: labels}, is_operator)
    return tuple(_dimension(named, name, i, label, is_graph) for i, label in enumerate(labels))


def _dimension(
    named: NamedGraph, name: str, i: int, label: str, is_graph: Callable[[Graph], Diagnostic | None]
) -> Dimension:
    solver, symbol = named.traced.solver, named.asked.names[label]
    old, expr = symbol.old, solver.resolved(Expr.of(symbol))
    why = solver.reasons.get(symbol) or solver.ties.get(symbol)
    if why is None and expr.number is not None:
        why = next((solver.reasons[item] for item in _behind(symbol, named) if item in solver.reasons), None)
    if why is not None:
        place = why.place
        follows = "" if expr.number is not None else _renamed(str(expr), name)
        return Dimension(old, old, old, 1, follows, True, place.node, place.operator, place.words)

    def is_right(values: Values) -> bool:
        return is_graph(named.at(values)) is None

    first = named.lowest(label, is_right)
    last = _last(named, label, old, is_right)
    limit = None if last is None else _problem(named, label, last + 1, is_graph)
    said = ("", "", "") if limit is None else (limit.node, limit.operator, _renamed(limit.message, name))
    return Dimension(old, first, last, _step(named, label, old), "", first == old == last, *said)


def _problem(
    named: NamedGraph, label: str, size: int, is_graph: Callable[[Graph], Diagnostic | None]
) -> Diagnostic | None:
    """Why a size is not possible."""
    values = {other: named.old(other) for other in named.names} | {label: size}
    problems = named.problems(values)
    return problems[0] if problems else is_graph(named.at(values))


def _behind(symbol: Symbol, named: NamedGraph) -> list[Symbol]:
    found = [symbol]
    for item in found:  # which grows
        bound = named.traced.solver.bound.get(item)
        found += [] if bound is None else [other for other in bound.symbols() if other not in found]
    return found


def _renamed(text: str, name: str) -> str:
    """With the dimensions of the input in the place of our names for them."""
    for i in reversed(range(8)):
        text = text.replace(f"d{i}", f"{name}[{i}]")
    return text


def _step(named: NamedGraph, label: str, old: int) -> int:
    """In which steps sizes fit; 0 where there is no order in them."""
    own = {other: named.old(other) for other in named.names}
    sizes = [size for size in range(old, old + PROBES) if not named.problems({**own, label: size})]
    steps = {following - size for size, following in pairwise(sizes)}
    if not steps:
        return 1
    return steps.pop() if len(steps) == 1 else 0


def _last(named: NamedGraph, label: str, old: int, is_right: Callable[[Mapping[str, int]], bool]) -> int | None:
    """The largest size, between the model's own and four times that; ``None`` where that is possible."""
    own = {other: named.old(other) for other in named.names}

    def fits(size: int) -> bool:
        near = named.nearest(label, size, max(size - PROBES, old))
        return near is not None and near > old and is_right({**own, label: near})

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
