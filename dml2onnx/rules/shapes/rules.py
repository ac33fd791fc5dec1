"""Marks for the functions that state in code what the catalogue states in words."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from dml2onnx.rules.shapes.sizes import compared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Never

    from dml2onnx.rules.findings import Check
    from dml2onnx.rules.shapes.sizes import SizeFormula


_NOTHING: Mapping[str, Never] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Formula:
    """The sizes of a tensor, computed from the other fields.

    ``rank`` is the dimension count of a tensor that nobody has described yet, that of the first input where it is
    ``None``. ``always`` is false where valid descriptors leave sizes to their author.
    """

    sizes: SizeFormula
    rank: int | None = None
    always: bool = True
    like: tuple[str, ...] = ()
    """Fields of which the first that is given has the dimension count, before ``rank`` is asked."""


@dataclass(frozen=True, slots=True)
class WordedRule:
    """A check with the constraints that it stands for, named by their ids, and what these say of outputs."""

    check: Check
    constraints: tuple[str, ...]
    formulas: Mapping[str, Formula]
    """How the sizes of an output follow."""
    data_types: Mapping[str, tuple[str, int]]
    """Of which tensor of an array an output has the data type: ``("QuantizationTensors", 0)``."""


def rule(
    *constraints: str,
    formulas: Mapping[str, Formula] = _NOTHING,
    data_types: Mapping[str, tuple[str, int]] = _NOTHING,
) -> Callable[[Check], WordedRule]:
    """The function checks these constraints of the catalogue, named by their ids."""
    return lambda check: WordedRule(check, constraints, formulas, data_types)


def formula(
    *constraints: str, tensor: str, rank: int | None = None, always: bool = True
) -> Callable[[SizeFormula], WordedRule]:
    """The function gives the sizes that these constraints demand of ``tensor``; the check compares."""

    def marked(sizes: SizeFormula) -> WordedRule:
        return WordedRule(
            lambda subject: compared(subject, tensor, sizes), constraints, {tensor: Formula(sizes, rank, always)}, {}
        )

    return marked
