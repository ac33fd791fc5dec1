"""Equations between sizes: symbols that are equal or fixed, and the node that requires it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import TYPE_CHECKING, Any

from dml2onnx.sizes.expressions import Expr, Kind, Size, Symbol, as_size, serials

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Place:
    """Who demands something: a node, its operator, where it stands, and the demand in words."""

    node: str
    operator: str
    source: str
    words: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """Why a symbol keeps its size."""

    place: Place
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Guard:
    """What sizes have to fulfil that no symbol can be made to: ``expr`` is 0, or a multiple of ``divisor``."""

    expr: Expr
    divisor: int
    place: Place
    sides: tuple[Expr, Expr] | None = None
    """What has to be equal."""


@dataclass
class Solver:
    """All symbols of a graph and what is known of them."""

    bound: dict[Symbol, Expr] = field(default_factory=dict)
    reasons: dict[Symbol, Fixed] = field(default_factory=dict)
    ties: dict[Symbol, Fixed] = field(default_factory=dict)
    guards: dict[tuple[Expr, int], Guard] = field(default_factory=dict)
    quotients: dict[Symbol, tuple[Symbol, int, Place]] = field(default_factory=dict)
    """Symbols that stand for a part of another one, which is that many times as large."""
    homes: dict[Symbol, int] = field(default_factory=dict)
    """Which dimension of an input a symbol is."""
    _serials: Iterator[int] = field(default_factory=serials)
    _resolved: dict[Expr, Expr] = field(default_factory=dict)
    """What expressions were resolved to, which may be resolved further since."""

    def symbol(self, name: str, old: int, kind: Kind) -> Size:
        """A new size that may change."""
        return Size(Expr.of(Symbol(next(self._serials), name, old, kind)))

    # --- Looking up ---

    def resolved(self, expr: Expr) -> Expr:
        """The expression in symbols that nothing is known of."""
        bound = self.bound
        known = self._resolved.get(expr, expr)
        if bound.keys().isdisjoint(known.symbols()):
            return known
        while not bound.keys().isdisjoint(known.symbols()):
            known = known.replaced(bound.get)
        self._resolved[expr] = known
        return known

    def size(self, size: int) -> Size:
        """A size in such symbols, its parts too."""
        size = as_size(size)
        if size.is_constant:
            return size
        expr = self.resolved(size.expr)
        if expr is size.expr and not size.parts and size.notes is None:
            return size
        return Size(expr, tuple([self.size(part) for part in size.parts]), old=int(size))

    def is_constant(self, size: int) -> bool:
        """Whether a size can only be what it is."""
        return self.resolved(as_size(size).expr).number is not None

    # --- Demanding ---

    def equal(self, left: int, right: int, place: Place) -> None:
        """Two sizes are one."""
        if int(left) != int(right):  # the model breaks this rule itself, which is said elsewhere
            return
        self._zero(self.resolved(as_size(left).expr - as_size(right).expr), as_size(left), as_size(right), place)

    def quotient(self, size: int, divisor: int, place: Place) -> Size:
        """A size, which is a multiple of a number, divided by it."""
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
        """How much is known, to go back to."""
        return tuple(map(len, self._known()))

    def restore(self, state: tuple[int, ...]) -> None:
        """Forgets what has been found out since: nothing is ever found out twice."""
        self._resolved.clear()
        for known, count in zip(self._known(), state, strict=True):
            while len(known) > count:
                known.popitem()

    def _known(self) -> tuple[dict[Any, Any], ...]:
        return self.bound, self.reasons, self.ties, self.guards, self.quotients

    def fix(self, sizes: Iterable[int], place: Place) -> None:
        """Sizes stay what they are."""
        for size in sizes:
            expr = self.resolved(as_size(size).expr)
            self._fix(expr.symbols(), Fixed(place, expr, Expr.of(expr.old)))

    def _zero(self, expr: Expr, left: Size, right: Size, place: Place) -> None:
        if not expr.terms:
            return
        expr = _reduced(expr)
        why = Fixed(place, self.resolved(left.expr), self.resolved(right.expr))
        for symbol in sorted(expr.symbols(), key=lambda item: item.order, reverse=True):
            other = self._alone(expr, symbol, place)
            if other is None:
                continue
            if other.number is not None:
                self._fix({symbol}, why)
                return
            if symbol.kind is Kind.GIVEN and self._give_way(other, why):
                self._zero(self.resolved(expr), left, right, place)
                return
            if _follows(symbol, other):
                self.bound[symbol] = other
                self.ties[symbol] = why
                return
        loose = {item for item in expr.symbols() if item.kind is not Kind.GIVEN}
        if loose:  # what nobody has asked for stays, and then another look
            self._fix(loose, why)
            self._zero(self.resolved(expr), left, right, place)
        elif expr.has_quotients:
            self.guards.setdefault((expr, 0), Guard(expr, 0, place, (why.left, why.right)))
        else:
            self._fix(expr.symbols(), why)

    def _give_way(self, other: Expr, why: Fixed) -> bool:
        """Whether what nobody has asked for stays, so that a size that was asked for follows from nothing of it.

        Of a product all factors but one do: those of one element.
        """
        loose = [item for item in other.symbols() if item.kind is not Kind.GIVEN]
        single = [item for item in loose if item.old == 1] if len(other.symbols()) > 1 else []
        if loose:
            self._fix(single or loose, why)
        return bool(loose)

    def _alone(self, expr: Expr, symbol: Symbol, place: Place) -> Expr | None:
        """What a symbol is where the expression is 0; ``None`` where it stands twice, or in a product."""
        number = dict(expr.terms).get((symbol,), 0)
        if not number:
            return None
        rest = expr - Expr({(symbol,): number})
        if symbol in rest.symbols():
            return None
        rest = rest.scaled(-1 if number > 0 else 1)
        whole = rest.over(Expr({(): abs(number)}))
        if whole is None and symbol.kind is not Kind.GIVEN and len(rest.terms) == 1:
            return self.quotient(Size(rest), abs(number), place).expr
        return whole

    def _fix(self, symbols: Iterable[Symbol], why: Fixed) -> None:
        for symbol in symbols:
            self.bound[symbol] = Expr.of(symbol.old)
            self.reasons[symbol] = why


def _reduced(expr: Expr) -> Expr:
    """Without factors that all products have: no size is 0."""
    shared = expr.common()
    if shared:
        expr = expr.over(Expr({shared: 1})) or expr
    content = expr.content()
    return expr if content == 1 else Expr({monomial: number // content for monomial, number in expr.terms})


def _follows(symbol: Symbol, other: Expr) -> bool:
    """Whether a size may follow another.

    Of what the caller has asked for one size is another one or stays. An input, or what is repeated, becomes a product;
    that ``k`` might be ``H - 30`` is no reason to change a filter.
    """
    if symbol.kind is Kind.GIVEN:
        return True
    if symbol.kind is Kind.MADE:
        return True
    return len(other.terms) == 1
