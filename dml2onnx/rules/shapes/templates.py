"""Symbolic shapes of the catalogue's fields, such as ``{ batchSize, headCount * headSize }``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import prod
from typing import NamedTuple


class _Product(NamedTuple):
    """``3 * hidden_size``."""

    number: int
    names: tuple[str, ...]


@cache
def terms(shape: str) -> tuple[str, ...]:
    """The terms of a shape."""
    return tuple(term.strip() for term in shape.strip("{} ").split(","))


def value(term: str, names: Mapping[str, int]) -> int | None:
    """Evaluates ``3 * hidden_size`` or ``past + new``; ``None`` if a name has no value."""
    total = 0
    for product in _products(term):
        result = product.number
        for name in product.names:
            if name not in names:
                return None
            result *= names[name]
        total += result
    return total


def solved(term: str, size: int, names: Mapping[str, int]) -> tuple[str, int] | None:
    """Solves a product with one unknown name for that name: the name and its value."""
    products = _products(term)
    unknown = [name for product in products for name in product.names if name not in names]
    if len(products) != 1 or len(unknown) != 1:
        return None
    known = products[0].number * prod(names[name] for name in products[0].names if name in names)
    return (unknown[0], size // known) if known >= 1 and size % known == 0 else None


@cache
def _products(term: str) -> tuple[_Product, ...]:
    factors = [product.replace(" ", "").split("*") for product in term.split("+")]
    return tuple(
        _Product(
            prod(int(factor) for factor in product if factor.isdigit()),
            tuple(factor for factor in product if not factor.isdigit()),
        )
        for product in factors
    )
