"""Graphs whose inputs have names for sizes: their allowed values, and the graph at any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import TYPE_CHECKING

from dml2onnx.codes import sizing as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.sizes.expressions import Expr, Floor, Kind, Symbol, as_size
from dml2onnx.sizes.request import Request, is_possible, request, value_of, values_for
from dml2onnx.sizes.resized import Resizer
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import SizedNode, Traced, trace

if TYPE_CHECKING:
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.sizes.expressions import Monomial

Values = Mapping[str, int]
"""The sizes that names stand for."""


@dataclass(frozen=True)
class NamedGraph:
    """A graph in sizes that have names."""

    graph: Graph
    traced: Traced
    asked: Request

    @classmethod
    def of(
        cls, graph: Graph, sizes: Mapping[str, Sequence[int | str]], is_right: Callable[[OperatorDesc], bool]
    ) -> NamedGraph:
        """What is asked for; raises :class:`DmlError` where it is about no input."""
        solver = Solver()
        asked = request(graph, sizes, solver)
        value = value_of(asked, solver)

        def judge(traced: Traced, node: SizedNode) -> bool:
            return is_right(Resizer(traced, lambda symbol: _other(symbol, value)).operator(node))

        traced = trace(graph, solver, asked.sizes, judge)
        _settle(traced)
        return cls(graph, traced, asked)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order in which they were given."""
        return tuple(self.asked.names)

    def old(self, name: str) -> int:
        """The size that the model has."""
        return self.asked.names[name].old

    def own_values(self) -> dict[str, int]:
        """The sizes that the model has, by names."""
        return {name: self.old(name) for name in self.names}

    def is_bound(self, name: str) -> bool:
        """Whether a name can be nothing but the size that the model has, or follows from others."""
        solver, symbol = self.traced.solver, self.asked.names[name]
        return symbol in solver.ties or solver.resolved(Expr.of(symbol)).number is not None

    def problems(self, values: Values) -> list[Diagnostic]:
        """Why the graph cannot have these sizes."""
        return values_for(self._at(values), self.traced)[1]

    def is_possible(self, values: Values) -> bool:
        """Whether there are no such problems, which is found out faster."""
        return is_possible(self._at(values), self.traced)

    def at(self, values: Values) -> Graph:
        """The graph where the names are these sizes."""
        value, problems = values_for(self._at(values), self.traced)
        if problems:
            raise DmlError(*problems)
        return Resizer(self.traced, value).graph()

    def number(self, expr: Expr, values: Values) -> int:
        """An expression where the names are these sizes."""
        return self.traced.solver.resolved(expr).at(self.values_at(values))

    def values_at(self, values: Values) -> Callable[[Symbol], int]:
        """What symbols are where the names are these sizes."""
        return value_of(self._at(values), self.traced.solver)

    def _at(self, values: Values) -> Request:
        wanted = {self.asked.names[name]: value for name, value in values.items()}
        return Request(self.asked.sizes, {**self.asked.wanted, **wanted}, names=self.asked.names)

    def expressions(self) -> Iterator[Expr]:
        """All sizes of the graph that vary, those of inputs first, each once."""
        solver = self.traced.solver
        seen: set[Expr] = set()
        sizes = [size for _, sized in self.traced.inputs.values() for size in sized.sizes]
        sizes += [size for node in self.traced.nodes.values() for sized in node.views.values() for size in sized.sizes]
        for symbol in self.asked.names.values():
            expr = solver.resolved(Expr.of(symbol))
            seen.add(expr)
            yield expr
        for size in sizes:
            expr = solver.resolved(size.expr)
            if expr.number is None and expr not in seen:
                seen.add(expr)
                yield expr

    def shown(self, size: int) -> str:
        """A size in the names that were given, as far as these are in it."""
        return str(self.in_names(as_size(size).expr))

    def in_names(self, expr: Expr) -> Expr:
        """An expression in the names that were given, as far as these are in it."""
        resolved = self.traced.solver.resolved(expr)
        for symbol in self.asked.names.values():
            if self.traced.solver.resolved(Expr.of(symbol)) == resolved:
                return Expr.of(symbol)
        return spelled(resolved, self.traced.solver)

    def lowest(self, name: str, is_right: Callable[[Values], bool]) -> int:
        """The smallest size that the graph can have in the place of its own, all in between being possible."""
        low, high = 1, self.old(name)
        while low < high:
            middle = (low + high) // 2
            nearest = self.nearest(name, middle, high)
            if nearest is not None and is_right(self._one(name, nearest)):
                high = nearest if nearest < high else middle
            else:
                low = middle + 1
        return self.nearest(name, low, self.old(name)) or self.old(name)

    def nearest(self, name: str, low: int, high: int) -> int | None:
        """The first size from ``low`` on that fits where all other names have their own sizes."""
        step = 1 if low <= high else -1
        for size in range(low, high + step, step):
            if self.is_possible(self._one(name, size)):
                return size
        return None

    def _one(self, name: str, size: int) -> dict[str, int]:
        return self.own_values() | {name: size}


def _settle(traced: Traced) -> None:
    """What nobody has given a name keeps its size."""
    solver = traced.solver
    sizes = [size for _, sized in traced.inputs.values() for size in sized.sizes]
    sizes += [size for node in traced.nodes.values() for sized in node.views.values() for size in sized.sizes]
    for size in sizes:
        for symbol in solver.resolved(size.expr).symbols():
            if symbol.kind is not Kind.GIVEN:
                solver.bound[symbol] = Expr.of(symbol.old)


def spelled(expr: Expr, solver: Solver) -> Expr:
    """An expression in sizes that callers know, in the place of the parts that these were found to consist of.

    With ``H`` in steps of 8, ``16*(H/8)`` is ``2*H``, and ``floor(((H/8) + 1)/2)`` is ``floor((H + 8)/16)``.
    """
    total = Expr({})
    for monomial, number in expr.terms:
        product = Expr({(): 1})
        for atom in monomial:
            if isinstance(atom, Floor):
                factor = lcm(*(_parts(term, solver) for term in atom.dividend.terms))
                product = product * spelled(atom.dividend.scaled(factor), solver).divided(atom.divisor * factor)
                continue
            known = atom
            while known in solver.quotients and number % solver.quotients[known][1] == 0:
                known, divisor, _ = solver.quotients[known]
                number //= divisor
            product = product * Expr.of(known)
        total = total + product.scaled(number)
    return total


def _parts(term: tuple[Monomial, int], solver: Solver) -> int:
    """What a product has to be multiplied by to have no parts of sizes in it."""
    monomial, number = term
    whole = 1
    for atom in monomial:
        while isinstance(atom, Symbol) and atom in solver.quotients:
            atom, divisor, _ = solver.quotients[atom]
            whole *= divisor
    return whole // gcd(whole, number)


def _other(symbol: Symbol, value: Callable[[Symbol], int]) -> int:
    """Twice the size that the model has, for a name: that is divisible by all that its own size is divisible by.

    What nobody has asked for stays: a filter of twice the height would be wrong whatever the names stand for.
    """
    found = value(symbol)
    return found if found != symbol.old or symbol.kind is not Kind.GIVEN else symbol.old * 2


def refused(message: str, node: str = "", operator: str = "") -> DmlError:
    """No one model is made for all these sizes."""
    return DmlError(codes.NO_ONE_MODEL.at(message, node=node, operator=operator))
