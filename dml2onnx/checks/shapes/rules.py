"""Marks for the functions that state in code what the catalogue states in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.checks.findings import Check


@dataclass(frozen=True, slots=True)
class WordedRule:
    """A check with the constraints that it stands for, named by their ids."""

    check: Check
    constraints: tuple[str, ...]


def rule(*constraints: str) -> Callable[[Check], WordedRule]:
    """The function checks these constraints of the catalogue, named by their ids."""
    return lambda check: WordedRule(check, constraints)
