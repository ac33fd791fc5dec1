"""Decorators for functions that implement constraints that the catalogue states in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Never

from dml2onnx.rules.findings import Check
from dml2onnx.rules.shapes.sizes import SizeFormula, compared

_NOTHING: Mapping[str, Never] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Formula:
    """The sizes of a tensor, computed from the other fields.

    ``rank`` is the dimension count of a tensor without a description; ``None`` is that of the first input. ``always``
    is false if the sizes of some valid descriptors cannot be computed.
    """

    sizes: SizeFormula
    rank: int | None = None
    always: bool = True
    like: tuple[str, ...] = ()
    """The first of these fields that is present has the dimension count; ``rank`` is the fallback."""


@dataclass(frozen=True, slots=True)
class WordedRule:
    """A check, the ids of the constraints that it implements, and what they imply about outputs."""

    check: Check
    constraints: tuple[str, ...]
    formulas: Mapping[str, Formula]
    """The sizes of outputs."""
    data_types: Mapping[str, tuple[str, int]]
    """The tensor of an array with the data type of an output: ``("QuantizationTensors", 0)``."""


def rule(
    *constraints: str,
    formulas: Mapping[str, Formula] = _NOTHING,
    data_types: Mapping[str, tuple[str, int]] = _NOTHING,
) -> Callable[[Check], WordedRule]:
    """Marks a function as the check of these constraints of the catalogue, named by their ids."""
    return lambda check: WordedRule(check, constraints, formulas, data_types)


def formula(
    *constraints: str, tensor: str, rank: int | None = None, always: bool = True
) -> Callable[[SizeFormula], WordedRule]:
    """Marks a function that computes the sizes of ``tensor`` by these constraints; the check compares them."""

    def marked(sizes: SizeFormula) -> WordedRule:
        return WordedRule(
            lambda subject: compared(subject, tensor, sizes), constraints, {tensor: Formula(sizes, rank, always)}, {}
        )

    return marked
