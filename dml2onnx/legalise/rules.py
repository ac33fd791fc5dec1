"""Rules that replace ONNX operators, and the quirks that they belong to.

A rule takes the emitter and the arguments of its operator's method. It returns what that method would return, made of
other nodes, or ``None`` to keep the operator. A rule does not apply to the nodes that it emits, so they may include
its own operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

Rule: TypeAlias = "Callable[..., Any]"


class RuleKind(Enum):
    """When the rules of a quirk apply."""

    NUMBERS = "numbers"
    """Always: ordinary data would give wrong results, or the model would not run."""
    EDGES = "edges"
    """In exact models: only NaN, infinities, signs of zero and last digits differ, which default models leave open."""
    SPEED = "speed"
    """If the target lists it, which the default target never does: the quirk is slow, but correct."""


Numbers: TypeAlias = "tuple[float | int | bool, ...]"


@dataclass(frozen=True, slots=True)
class Shown:
    """The smallest model that shows a quirk."""

    model: str
    """In ONNX's text format, without the graph's name."""
    inputs: tuple[Numbers, ...]
    """The elements of each input."""
    outputs: tuple[Numbers, ...]
    """The elements of each output by the ONNX specification."""
    says: str = ""
    """Part of the runtime's error message; empty if the results are wrong instead."""
    digits: float = 0.0
    """The relative tolerance."""
    versions: tuple[tuple[int, int], tuple[int, int]] = ((1, 24), (9, 0))
    """The first ONNX Runtime with the quirk, and the first without it."""
    opset: int = 21


@dataclass(frozen=True, eq=False)
class Quirk:
    """A deviation of a target's kernels from ONNX, or a slow path.

    Its variable has the name used in ``schemas/targets/*.json``; the string after it describes the quirk.
    """

    kind: RuleKind
    shown: Shown | None = None
    """``None`` for quirks of speed, or of some processors only."""
    rules: dict[str, Rule] = field(default_factory=dict)
    """By ONNX operator or emitter query."""

    def rule(self, operator: str) -> Callable[[Rule], Rule]:
        """Registers a rule for an operator."""

        def mark(rule: Rule) -> Rule:
            assert operator not in self.rules, f"{operator} has a rule of this quirk"
            self.rules[operator] = rule
            return rule

        return mark

    def each(self, *operators: str) -> Callable[[Rule], Rule]:
        """Registers a rule for several operators; it takes the operator's name as its first argument."""

        def mark(rule: Rule) -> Rule:
            for operator in operators:
                self.rule(operator)(partial(rule, operator))
            return rule

        return mark

    def answers(self, question: str, answer: bool) -> None:
        """Registers a constant answer to an emitter query without arguments."""
        self.rule(question)(lambda e: answer)
