"""Equations between sizes: symbols that are equal or fixed, and the nodes that require it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from math import gcd
from typing import TYPE_CHECKING, Any

from dml2onnx.sizes.expressions import Expr, Size, Symbol, SymbolKind, as_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Requirement:
    """A node with its operator and source, and what it requires in words."""

    node: str
    operator: str
    source: str
    words: str


@dataclass(frozen=True, slots=True)
class FixedSymbol:
    """Why a symbol is fixed."""

    place: Requirement
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that no substitution can ensure: ``expr`` is a multiple of ``divisor``, or 0 if that is 0."""

    expr: Expr
    divisor: int
    place: Requirement
    sides: tuple[Expr, Expr] | None = None
    """The two sides of an equation."""

    def is_met(self, value: Callable[[Symbol], int]) -> bool:
        """Whether it holds at these values of the symbols."""
        found = self.expr.at(value)
        return found % self.divisor == 0 if self.divisor else found == 0

    def converted(self, change: Callable[[Expr], Expr]) -> Guard:
        """The same condition with changed expressions."""
        sides = None if self.sides is None else (change(self.sides[0]), change(self.sides[1]))
        return Guard(change(self.expr), self.divisor, self.place, sides)


@dataclass
class Solver:
    """All symbols of a graph, and what is known about them."""

    bound: dict[Symbol, Expr] = field(default_factory=dict)
    reasons: dict[Symbol, FixedSymbol] = field(default_factory=dict)
    ties: dict[Symbol, FixedSymbol] = field(default_factory=dict)
    guards: dict[tuple[Expr, int], Guard] = field(default_factory=dict)
    quotients: dict[Symbol, tuple[Symbol, int, Requirement]] = field(default_factory=dict)
    """Symbols that are quotients: the dividend, the divisor, and the node that requires it."""
    homes: dict[Symbol, int] = field(default_factory=dict)
    """The dimension of its input that a symbol stands for."""
    _serials: Iterator[int] = field(default_factory=count)
    _resolved: dict[Expr, Expr] = field(default_factory=dict)
    """The last result for each expression, which later substitutions may change."""

    def symbol(self, name: str, old: int, kind: SymbolKind) -> Size:
        """Returns a new variable size."""
        return Size(Expr.of(Symbol(next(self._serials), name, old, kind)))

    # --- Lookup ---

    def resolved(self, expr: Expr) -> Expr:
        """Returns the expression in unbound symbols."""
        bound = self.bound
        known = self._resolved.get(expr, expr)
        if bound.keys().isdisjoint(known.symbols()):
            return known
        while not bound.keys().isdisjoint(known.symbols()):
            known = known.replaced(bound.get)
        self._resolved[expr] = known
        return known

    def size(self, size: int) -> Size:
        """Returns a size in unbound symbols, with its parts."""
        size = as_size(size)
        if size.is_constant:
            return size
        expr = self.resolved(size.expr)
        if expr is size.expr and not size.parts and size.notes is None:
            return size
        return Size(expr, tuple([self.size(part) for part in size.parts]), old=int(size))

    def is_constant(self, size: int) -> bool:
        """Whether a size cannot change."""
        return self.resolved(as_size(size).expr).number is not None

    def dependencies(self, symbol: Symbol) -> list[Symbol]:
        """Returns a symbol and all that it depends on."""
        found = [symbol]
        for item in found:  # which is extended in the loop
            if item in self.bound:
                found += [other for other in self.bound[item].symbols() if other not in found]
        return found

    def conditions(self) -> Iterator[Guard]:
        """Yields all that substitution does not ensure: first that quotients are whole, then the guards."""
        for whole, divisor, place in self.quotients.values():
            yield Guard(Expr.of(whole), divisor, place)
        for guard in self.guards.values():
            yield guard.converted(self.resolved)

    # --- Requirements ---

    def equal(self, left: int, right: int, place: Requirement) -> None:
        """Requires that two sizes are equal."""
        if int(left) != int(right):  # the model breaks this rule, which is reported elsewhere
            return
        self._zero(self.resolved(as_size(left).expr - as_size(right).expr), as_size(left), as_size(right), place)

    def quotient(self, size: int, divisor: int, place: Requirement) -> Size:
        """Requires that a size is a multiple of a number, and returns the quotient."""
        expr = self.resolved(as_size(size).expr)
        if divisor == 1 or not any(number % divisor for _, number in expr.terms):
            return Size(expr.divided(divisor))
        if len(expr.terms) == 1 and len(expr.terms[0][0]) == 1:
            atom, number = expr.terms[0][0][0], expr.terms[0][1]
            need = divisor // gcd(number, divisor)
            if isinstance(atom, Symbol) and atom.old % need == 0:
                part = self.symbol(f"({atom.name}/{need})", atom.old // need, atom.kind)
                symbol = part.expr.symbol
                assert symbol is not None
                self.quotients[symbol] = atom, need, place
                self.bound[atom] = part.expr.scaled(need)
                return Size(self.resolved(expr).divided(divisor))
        self.guards.setdefault((expr, divisor), Guard(expr, divisor, place))
        return Size(expr.divided(divisor))

    def state(self) -> tuple[int, ...]:
        """Returns a mark for :meth:`restore`."""
        return tuple(map(len, self._known()))

    def restore(self, state: tuple[int, ...]) -> None:
        """Drops everything found since the mark; entries are never overwritten."""
        self._resolved.clear()
        for known, length in zip(self._known(), state, strict=True):
            while len(known) > length:
                known.popitem()

    def _known(self) -> tuple[dict[Any, Any], ...]:
        return self.bound, self.reasons, self.ties, self.guards, self.quotients

    def fix(self, sizes: Iterable[int], place: Requirement) -> None:
        """Requires that sizes do not change."""
        for size in sizes:
            expr = self.resolved(as_size(size).expr)
            self._fix(expr.symbols(), FixedSymbol(place, expr, Expr.of(expr.old)))

    def _zero(self, expr: Expr, left: Size, right: Size, place: Requirement) -> None:
        if not expr.terms:
            return
        expr = _reduced(expr)
        why = FixedSymbol(place, self.resolved(left.expr), self.resolved(right.expr))
        for symbol in sorted(expr.symbols(), key=lambda item: item.order, reverse=True):
            other = self._alone(expr, symbol, place)
            if other is None:
                continue
            if other.number is not None:
                self._fix({symbol}, why)
                return
            if symbol.kind is SymbolKind.REQUESTED and self._give_way(other, why):
                self._zero(self.resolved(expr), left, right, place)
                return
            if _follows(symbol, other):
                self.bound[symbol] = other
                self.ties[symbol] = why
                return
        loose = {item for item in expr.symbols() if item.kind is not SymbolKind.REQUESTED}
        if loose:  # fix what was not requested, and try again
            self._fix(loose, why)
            self._zero(self.resolved(expr), left, right, place)
        elif expr.has_quotients:
            self.guards.setdefault((expr, 0), Guard(expr, 0, place, (why.left, why.right)))
        else:
            self._fix(expr.symbols(), why)

    def _give_way(self, other: Expr, why: FixedSymbol) -> bool:
        """Fixes the symbols of ``other`` that were not requested, so that a requested one does not depend on them.

        Of a product, only the factors of size 1 are fixed. Returns whether there were such symbols.
        """
        loose = [item for item in other.symbols() if item.kind is not SymbolKind.REQUESTED]
        single = [item for item in loose if item.old == 1] if len(other.symbols()) > 1 else []
        if loose:
            self._fix(single or loose, why)
        return bool(loose)

    def _alone(self, expr: Expr, symbol: Symbol, place: Requirement) -> Expr | None:
        """The value of a symbol if the expression is 0; ``None`` if it occurs twice, or in a product."""
        number = dict(expr.terms).get((symbol,), 0)
        if not number:
            return None
        rest = expr - Expr({(symbol,): number})
        if symbol in rest.symbols():
            return None
        rest = rest.scaled(-1 if number > 0 else 1)
        whole = rest.over(Expr({(): abs(number)}))
        if whole is None and symbol.kind is not SymbolKind.REQUESTED and len(rest.terms) == 1:
            return self.quotient(Size(rest), abs(number), place).expr
        return whole

    def _fix(self, symbols: Iterable[Symbol], why: FixedSymbol) -> None:
        for symbol in symbols:
            self.bound[symbol] = Expr.of(symbol.old)
            self.reasons[symbol] = why


def _reduced(expr: Expr) -> Expr:
    """The expression without common factors, because no size is 0."""
    shared = expr.common()
    if shared:
        expr = expr.over(Expr({shared: 1})) or expr
    content = expr.content()
    return expr if content == 1 else Expr({monomial: number // content for monomial, number in expr.terms})


def _follows(symbol: Symbol, other: Expr) -> bool:
    """Whether a symbol may be replaced by an expression.

    A requested size, or that of a generated tensor, may become any expression. Others may not become a sum: that ``k``
    could be ``H - 30`` is no reason to change a filter.
    """
    return symbol.kind in (SymbolKind.REQUESTED, SymbolKind.GENERATED) or len(other.terms) == 1
