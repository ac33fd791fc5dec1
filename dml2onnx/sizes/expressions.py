"""Sizes as expressions: integers, names, sums, products, and quotients rounded down.

:class:`Size` is an integer to the rules of an operator, and records the expression that computes it. So one formula
gives both the current size and the size for other inputs.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from math import gcd
from typing import TypeAlias


class SymbolKind(enum.IntEnum):
    """The source of a symbol; of two symbols that have to be equal, the larger kind is substituted."""

    REQUESTED = 0
    """The caller, who stated a size or a name."""
    INPUT = 1
    """An input without a stated size: it keeps its size unless it has to follow another one."""
    GENERATED = 2
    """A node that makes a tensor of any size: FILL_VALUE_CONSTANT, or a stride of 0."""
    REPEATED = 3
    """A dimension of one element in a node's view, which a stride of 0 can repeat."""


@total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class Symbol:
    """A size that may change."""

    serial: int
    name: str
    old: int
    kind: SymbolKind

    def __lt__(self, other: Symbol) -> bool:
        return self.serial < other.serial

    def __str__(self) -> str:
        return self.name

    @property
    def order(self) -> tuple[int, int]:
        """Of two symbols, the larger one is substituted."""
        return self.kind, self.serial


class Floor:
    """A quotient rounded down."""

    __slots__ = ("_hash", "dividend", "divisor", "text")

    def __init__(self, dividend: Expr, divisor: int) -> None:
        self.dividend = dividend
        self.divisor = divisor
        text = str(dividend)
        self.text = f"floor(({text})/{divisor})" if " " in text else f"floor({text}/{divisor})"
        """Cached, because it determines the order of products."""
        self._hash = hash((dividend, divisor))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Floor) and self.divisor == other.divisor and self.dividend == other.dividend
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


Atom: TypeAlias = "Symbol | Floor"
Monomial: TypeAlias = tuple[Atom, ...]


def _rank(atom: Atom) -> tuple[int, int, str]:
    return (0, atom.serial, "") if isinstance(atom, Symbol) else (1, 0, atom.text)


def _order(term: tuple[Monomial, int]) -> tuple[int, list[tuple[int, int, str]]]:
    return -len(term[0]), [_rank(atom) for atom in term[0]]


class Expr:
    """A polynomial with integer coefficients over symbols and rounded quotients."""

    __slots__ = ("_hash", "_symbols", "terms")

    terms: tuple[tuple[Monomial, int], ...]
    _symbols: frozenset[Symbol] | None

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = [item for item in terms.items() if item[1]]
        if len(kept) > 1:
            kept.sort(key=_order)
        self.terms = tuple(kept)
        self._hash = hash(self.terms)
        self._symbols = None

    @classmethod
    def of(cls, value: int | Symbol | Expr | Size) -> Expr:
        """Converts an integer, a symbol or a size."""
        if isinstance(value, Expr):
            return value
        if isinstance(value, Size):
            return value.expr
        if isinstance(value, Symbol):
            return cls({(value,): 1})
        return _whole(int(value))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expr) and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    @property
    def number(self) -> int | None:
        """The value of an expression without symbols, or ``None``."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def symbol(self) -> Symbol | None:
        """The symbol, if the expression is a single one, or ``None``."""
        if len(self.terms) == 1:
            monomial, number = self.terms[0]
            if number == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol):
                return monomial[0]
        return None

    def symbols(self) -> frozenset[Symbol]:
        """All symbols, including those inside quotients."""
        if self._symbols is None:
            found: set[Symbol] = set()
            for monomial, _ in self.terms:
                for atom in monomial:
                    found |= {atom} if isinstance(atom, Symbol) else atom.dividend.symbols()
            self._symbols = frozenset(found)
        return self._symbols

    @property
    def has_quotients(self) -> bool:
        """Whether any part is rounded."""
        return any(isinstance(atom, Floor) for monomial, _ in self.terms for atom in monomial)

    def __add__(self, other: Expr) -> Expr:
        if not other.terms:
            return self
        terms = dict(self.terms)
        for monomial, number in other.terms:
            terms[monomial] = terms.get(monomial, 0) + number
        return Expr(terms)

    def scaled(self, factor: int) -> Expr:
        """The expression times an integer."""
        if factor == 1:
            return self
        return Expr({monomial: number * factor for monomial, number in self.terms})

    def __sub__(self, other: Expr) -> Expr:
        return self + other.scaled(-1)

    def __mul__(self, other: Expr) -> Expr:
        number = other.number
        if number is not None:
            return self.scaled(number)
        number = self.number
        if number is not None:
            return other.scaled(number)
        terms: dict[Monomial, int] = {}
        for left, number in self.terms:
            for right, factor in other.terms:
                both = tuple(sorted(left + right, key=_rank))
                terms[both] = terms.get(both, 0) + number * factor
        return Expr(terms)

    def divided(self, divisor: int) -> Expr:
        """The quotient by a positive integer, rounded down."""
        whole = {monomial: number // divisor for monomial, number in self.terms if number % divisor == 0}
        rest = Expr({monomial: number for monomial, number in self.terms if number % divisor})
        constant = dict(rest.terms).get((), 0)
        if constant:  # 5 / 2 is 2, and 1 / 2 remains
            whole[()] = whole.get((), 0) + constant // divisor
            rest = rest + Expr({(): constant % divisor - constant})
        if not any(monomial for monomial, _ in rest.terms):
            return Expr(whole)
        if rest.terms[0][1] < 0:  # rounded up: -floor(-x / d) is floor((x + d - 1) / d)
            return Expr(whole) - (rest.scaled(-1) + Expr({(): divisor - 1})).divided(divisor)
        return Expr(whole) + Expr({(_quotient(rest, divisor),): 1})

    def over(self, divisor: Expr) -> Expr | None:
        """The exact quotient by a single product, or ``None``."""
        if len(divisor.terms) != 1:
            return None
        atoms, factor = divisor.terms[0]
        terms: dict[Monomial, int] = {}
        for monomial, number in self.terms:
            left = list(monomial)
            for atom in atoms:
                if atom not in left:
                    return None
                left.remove(atom)
            if number % factor:
                return None
            terms[tuple(left)] = number // factor
        return Expr(terms)

    def at(self, values: Callable[[Symbol], int]) -> int:
        """The value for these values of the symbols."""
        total = 0
        for monomial, number in self.terms:
            for atom in monomial:
                if isinstance(atom, Symbol):
                    number *= values(atom)
                else:
                    number *= atom.dividend.at(values) // atom.divisor
            total += number
        return total

    @property
    def old(self) -> int:
        """The value in the model."""
        return self.at(lambda symbol: symbol.old)

    def replaced(self, values: Callable[[Symbol], Expr | None]) -> Expr:
        """The expression with symbols substituted."""
        if not any(values(symbol) is not None for symbol in self.symbols()):
            return self
        total = Expr({})
        for monomial, number in self.terms:
            product = Expr({(): number})
            for atom in monomial:
                if isinstance(atom, Symbol):
                    product = product * (values(atom) or Expr.of(atom))
                else:
                    product = product * atom.dividend.replaced(values).divided(atom.divisor)
            total = total + product
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        if self.symbol is not None:
            return self.symbol.name.removeprefix("(").removesuffix(")")
        text = ""
        for monomial, number in self.terms:
            factors = [str(atom) for atom in monomial]
            if abs(number) != 1 or not factors:
                factors.insert(0, str(abs(number)))
            sign = "-" if number < 0 else "+" if text else ""
            text += (f" {sign} " if text else sign) + "*".join(factors)
        return text

    __repr__ = __str__

    def content(self) -> int:
        """The greatest common divisor of all coefficients."""
        return gcd(*(number for _, number in self.terms))

    def common(self) -> Monomial:
        """The symbols that all products share."""
        if not self.terms:
            return ()
        shared = list(self.terms[0][0])
        for monomial, _ in self.terms[1:]:
            left = list(monomial)
            shared = [atom for atom in shared if atom in left and not left.remove(atom)]  # type: ignore[func-returns-value]  # None
        return tuple(shared)


def _quotient(dividend: Expr, divisor: int) -> Floor:
    """``floor(floor(x / a) + c) / b)`` is ``floor((x + a * c) / (a * b))``."""
    inner = [(monomial, number) for monomial, number in dividend.terms if monomial]
    if len(inner) == 1 and inner[0][1] == 1 and len(inner[0][0]) == 1 and isinstance(inner[0][0][0], Floor):
        floor = inner[0][0][0]
        constant = dict(dividend.terms).get((), 0)
        whole = (floor.dividend + Expr({(): constant * floor.divisor})).divided(floor.divisor * divisor)
        if len(whole.terms) == 1 and isinstance(whole.terms[0][0][0] if whole.terms[0][0] else None, Floor):
            return whole.terms[0][0][0]  # type: ignore[return-value]  # a Floor, see above
    return Floor(dividend, divisor)


Notes: TypeAlias = "list[tuple[Size, Size]]"


@lru_cache(maxsize=1 << 12)
def _whole(number: int) -> Expr:
    return Expr({(): number})


class Size(int):
    """A number of a model that may change with its inputs.

    In comparisons and decisions it is the model's number; ``expr`` is the expression that computes it. ``parts`` are
    the known factors of a product in memory order, outermost first, so that merged dimensions can be split again.
    Comparisons for equality that are true are appended to ``notes``, if there are any.
    """

    expr: Expr
    parts: tuple[Size, ...]
    notes: Notes | None

    def __new__(
        cls, value: Expr | int, parts: tuple[Size, ...] = (), notes: Notes | None = None, old: int | None = None
    ) -> Size:
        expr = Expr.of(value)
        size = super().__new__(cls, expr.old if old is None else old)
        size.expr = expr
        size.parts = parts
        size.notes = notes
        return size

    __hash__ = int.__hash__

    @property
    def factors(self) -> tuple[Size, ...]:
        """The parts, or the size itself."""
        return self.parts or (self,)

    @property
    def is_constant(self) -> bool:
        """Whether the expression is an integer."""
        return self.expr.number is not None

    def noting(self, notes: Notes | None) -> Size:
        """The same size with comparisons recorded in ``notes``."""
        return Size(self.expr, self.parts, notes, int(self))

    def _derived(self, expr: Expr, other: object, parts: tuple[Size, ...] = ()) -> Size:
        return Size(expr, parts, self.notes or (other.notes if isinstance(other, Size) else None))

    def __eq__(self, other: object) -> bool:
        equal = int.__eq__(self, other) if isinstance(other, int) else NotImplemented
        if equal is True:
            self._note(other)
        return equal

    def __ne__(self, other: object) -> bool:
        different = int.__ne__(self, other) if isinstance(other, int) else NotImplemented
        if different is False:
            self._note(other)
        return different

    def _note(self, other: object) -> None:
        notes = self.notes if self.notes is not None else other.notes if isinstance(other, Size) else None
        if notes is not None and isinstance(other, int):
            notes.append((self, other if isinstance(other, Size) else Size(other)))

    def __add__(self, other: int) -> Size:
        return self._derived(self.expr + Expr.of(other), other)

    __radd__ = __add__

    def __sub__(self, other: int) -> Size:
        return self._derived(self.expr - Expr.of(other), other)

    def __rsub__(self, other: int) -> Size:
        return self._derived(Expr.of(other) - self.expr, other)

    def __neg__(self) -> Size:
        return self._derived(self.expr.scaled(-1), None)

    def __mul__(self, other: int) -> Size:
        if not isinstance(other, int):
            return NotImplemented
        return self._derived(self.expr * Expr.of(other), other, _product(self, other))

    def __rmul__(self, other: int) -> Size:
        if not isinstance(other, int):
            return NotImplemented
        return self._derived(self.expr * Expr.of(other), other, _product(other, self))

    def __floordiv__(self, other: int) -> Size | int:
        divisor = Expr.of(other)
        number = divisor.number
        if number is not None and number > 0:
            return self._derived(self.expr.divided(number), other)
        quotient = self.expr.over(divisor)
        return int(self) // int(other) if quotient is None else self._derived(quotient, other)

    def __rfloordiv__(self, other: int) -> Size | int:
        return Size(other) // self

    def __repr__(self) -> str:
        return f"Size({self.expr})"

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


def _product(left: int, right: int) -> tuple[Size, ...]:
    """The factors of a product other than 1; none if a factor is not positive."""
    if left < 1 or right < 1:
        return ()
    factors: list[Size] = []
    for side in (left, right):
        own = side.factors if isinstance(side, Size) else (Size(side),)
        factors += [factor for factor in own if factor.expr.number != 1]
    return tuple(factors) if len(factors) > 1 else ()


def as_size(value: int) -> Size:
    """Converts an integer to a size."""
    return value if isinstance(value, Size) else Size(value)


def product(sizes: Iterable[int]) -> Size:
    """Returns the product with its parts."""
    result = Size(1)
    for size in sizes:
        result = result * size
    return result
