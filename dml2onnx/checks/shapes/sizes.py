"""Findings about sizes that follow from a formula, shared by the families."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.checks.findings import Finding
from dml2onnx.codes import checking as codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def wrong_size(tensor: str, i: int, found: int, expected: object, formula: str) -> Finding:
    """One size that is not what its formula gives; ``formula`` is the formula with its numbers."""
    message = f"{tensor}.Sizes[{i}] is {found}; it has to be {expected} = {formula}."
    return Finding(codes.WRONG_SIZE, f"{tensor}/Sizes/{i}", message, expected, found)


def wrong_sizes(tensor: str, found: Sequence[int], expected: Sequence[int], formula: str) -> Iterator[Finding]:
    """Sizes that differ from those that the formula, in words, gives."""
    if tuple(found) != tuple(expected):
        message = f"{tensor} has sizes {list(found)}; they have to be {list(expected)}: {formula}."
        yield Finding(codes.WRONG_SIZE, f"{tensor}/Sizes", message, list(expected), list(found))


def not_multiple(path: str, label: str, found: int, divisor: int, of: str) -> Iterator[Finding]:
    """A number that is no multiple of ``divisor``, which ``of`` names."""
    if found % divisor:
        message = f"{label} is {found}, not a multiple of {of}, {divisor}."
        yield Finding(codes.INDIVISIBLE, path, message, f"a multiple of {divisor}", found)
