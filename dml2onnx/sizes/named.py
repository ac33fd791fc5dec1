"""Graphs whose inputs have named sizes: the possible values of the names, and the graph at any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import TYPE_CHECKING

from dml2onnx.codes import sizing as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.sizes.expressions import Expr, Floor, Size, Symbol, SymbolKind, as_size
from dml2onnx.sizes.request import SizeRequest, is_possible, request, value_of, values_for
from dml2onnx.sizes.resized import Resizer
from dml2onnx.sizes.solver import Solver
from dml2onnx.sizes.tracing import SizedNode, Traced, trace

if TYPE_CHECKING:
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.sizes.expressions import Monomial

Values = Mapping[str, int]
"""The values of the names."""


@dataclass(frozen=True)
class NamedGraph:
    """A graph with named sizes."""

    graph: Graph
    traced: Traced
    requested: SizeRequest

    @classmethod
    def of(
        cls, graph: Graph, sizes: Mapping[str, Sequence[int | str]], is_valid: Callable[[OperatorDesc], bool]
    ) -> NamedGraph:
        """Names the sizes of a graph; raises :class:`DmlError` if the sizes do not match an input."""
        solver = Solver()
        requested = request(graph, sizes, solver)
        value = value_of(requested, solver)

        def judge(traced: Traced, node: SizedNode) -> bool:
            return is_valid(Resizer(traced, lambda symbol: _other(symbol, value)).operator(node))

        traced = trace(graph, solver, requested.sizes, judge)
        named = cls(graph, traced, requested)
        named._settle()
        return named

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order in which they were stated."""
        return tuple(self.requested.names)

    def old(self, name: str) -> int:
        """The size of a name in the model."""
        return self.requested.names[name].old

    def own_values(self) -> dict[str, int]:
        """The sizes of all names in the model."""
        return {name: self.old(name) for name in self.names}

    def is_bound(self, name: str) -> bool:
        """Whether a name cannot be chosen: it is constant, or follows from others."""
        solver, symbol = self.traced.solver, self.requested.names[name]
        return symbol in solver.ties or solver.resolved(Expr.of(symbol)).number is not None

    def problems(self, values: Values) -> list[Diagnostic]:
        """Returns why the graph cannot have these sizes."""
        return values_for(self._at(values), self.traced)[1]

    def is_possible(self, values: Values) -> bool:
        """Whether there are no problems; faster than :meth:`problems`."""
        return is_possible(self._at(values), self.traced)

    def at(self, values: Values) -> Graph:
        """Returns the graph at these sizes."""
        value, problems = values_for(self._at(values), self.traced)
        if problems:
            raise DmlError(*problems)
        return Resizer(self.traced, value).graph()

    def number(self, expr: Expr, values: Values) -> int:
        """The value of an expression at these sizes."""
        return self.traced.solver.resolved(expr).at(self.values_at(values))

    def values_at(self, values: Values) -> Callable[[Symbol], int]:
        """Returns a function from symbols to their values at these sizes."""
        return value_of(self._at(values), self.traced.solver)

    def _at(self, values: Values) -> SizeRequest:
        wanted = {self.requested.names[name]: value for name, value in values.items()}
        return SizeRequest(self.requested.sizes, {**self.requested.wanted, **wanted}, names=self.requested.names)

    def expressions(self) -> Iterator[Expr]:
        """Yields all variable sizes of the graph without duplicates, those of inputs first."""
        solver = self.traced.solver
        seen: set[Expr] = set()
        for symbol in self.requested.names.values():
            expr = solver.resolved(Expr.of(symbol))
            seen.add(expr)
            yield expr
        for size in self._sizes():
            expr = solver.resolved(size.expr)
            if expr.number is None and expr not in seen:
                seen.add(expr)
                yield expr

    def _sizes(self) -> Iterator[Size]:
        for _, sized in self.traced.inputs.values():
            yield from sized.sizes
        for node in self.traced.nodes.values():
            for view in node.views.values():
                yield from view.sizes

    def _settle(self) -> None:
        """Fixes the sizes that have no names."""
        solver = self.traced.solver
        for size in self._sizes():
            for symbol in solver.resolved(size.expr).symbols():
                if symbol.kind is not SymbolKind.REQUESTED:
                    solver.bound[symbol] = Expr.of(symbol.old)

    def shown(self, size: int) -> str:
        """A size as text, in the stated names if possible."""
        return str(self.in_names(as_size(size).expr))

    def in_names(self, expr: Expr) -> Expr:
        """An expression in the stated names, if possible."""
        resolved = self.traced.solver.resolved(expr)
        for symbol in self.requested.names.values():
            if self.traced.solver.resolved(Expr.of(symbol)) == resolved:
                return Expr.of(symbol)
        return spelled(resolved, self.traced.solver)

    def of_names(self, expr: Expr) -> Expr:
        """An expression in the stated names only: quotients of them are rounded down, and other sizes are numbers.

        It has the same value as ``expr`` wherever the solver's conditions hold.
        """
        names, quotients, value = set(self.requested.names.values()), self.traced.solver.quotients, self.values_at({})

        def changed(symbol: Symbol) -> Expr | None:
            if symbol in names:
                return None
            if symbol not in quotients:
                return Expr.of(value(symbol))
            whole, divisor, _ = quotients[symbol]
            return Expr.of(whole).divided(divisor)

        expr = self.in_names(expr)
        while not expr.symbols() <= names:
            expr = expr.replaced(changed)
        return expr

    def lowest(self, name: str, is_valid: Callable[[Values], bool]) -> int:
        """The smallest possible size of a name, if all sizes between it and the model's own are possible."""
        low, high = 1, self.old(name)
        while low < high:
            middle = (low + high) // 2
            nearest = self.nearest(name, middle, high)
            if nearest is not None and is_valid(self._one(name, nearest)):
                high = nearest if nearest < high else middle
            else:
                low = middle + 1
        return self.nearest(name, low, self.old(name)) or self.old(name)

    def nearest(self, name: str, low: int, high: int) -> int | None:
        """The first possible size from ``low`` to ``high``, while all other names keep the model's sizes."""
        step = 1 if low <= high else -1
        for size in range(low, high + step, step):
            if self.is_possible(self._one(name, size)):
                return size
        return None

    def _one(self, name: str, size: int) -> dict[str, int]:
        return self.own_values() | {name: size}


def spelled(expr: Expr, solver: Solver) -> Expr:
    """Returns an expression in sizes that callers can read, instead of the quotients that replaced them.

    If ``H`` is a multiple of 8, ``16*(H/8)`` is ``2*H``, and ``floor(((H/8) + 1)/2)`` is ``floor((H + 8)/16)``.
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
    """The factor that removes the quotients from a product."""
    monomial, number = term
    whole = 1
    for atom in monomial:
        while isinstance(atom, Symbol) and atom in solver.quotients:
            atom, divisor, _ = solver.quotients[atom]
            whole *= divisor
    return whole // gcd(whole, number)


def _other(symbol: Symbol, value: Callable[[Symbol], int]) -> int:
    """Twice the model's size for a name, which keeps its divisors; the model's size for other symbols.

    Sizes without names stay, because a filter of twice the height would be invalid anyway.
    """
    found = value(symbol)
    return found if found != symbol.old or symbol.kind is not SymbolKind.REQUESTED else symbol.old * 2


def refused(message: str, node: str = "", operator: str = "") -> DmlError:
    """Returns the error that there is no single model for all these sizes."""
    return DmlError(codes.NO_ONE_MODEL.at(message, node=node, operator=operator))
