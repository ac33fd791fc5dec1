"""Rules: for which ONNX operator, and what takes its place.

A rule is a function of the emitter and of all that its operator's method is given. It returns what that method would,
made of other nodes, or ``None`` where the operator itself will do. What it emits no longer concerns the rule itself,
so that it may end in its own operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

Rule: TypeAlias = "Callable[..., Any]"


class Kind(Enum):
    """When a quirk counts."""

    NUMBERS = "numbers"
    """Always: ordinary contents would give other numbers, or the model would not run."""
    EDGES = "edges"
    """In exact models: it shows in NaN, infinities, signs of zero and last digits, which others leave open."""
    SPEED = "speed"
    """Where a target has it, which is never the default one: it costs time."""


Numbers: TypeAlias = "tuple[float | int | bool, ...]"


@dataclass(frozen=True, slots=True)
class Shown:
    """The smallest model that shows a quirk."""

    model: str
    """In ONNX's text form, without its name."""
    inputs: tuple[Numbers, ...]
    """The elements of each."""
    outputs: tuple[Numbers, ...]
    """What ONNX says that comes out."""
    says: str = ""
    """Part of what the runtime says where it refuses the model; empty where it gives other numbers."""
    digits: float = 0.0
    """The relative error that would do."""
    versions: tuple[tuple[int, int], tuple[int, int]] = ((1, 24), (9, 0))
    """The first ONNX Runtime that answers otherwise, and the first that does not any more."""
    opset: int = 21


@dataclass(frozen=True, eq=False)
class Quirk:
    """What kernels of a target do otherwise than ONNX says, or slowly.

    It is called as ``schemas/targets/*.json`` name it; what it is stands behind it, and so do its rules.
    """

    kind: Kind
    shown: Shown | None = None
    """Nothing where it is about time, or about some processors."""
    rules: dict[str, Rule] = field(default_factory=dict)
    """By ONNX operator, or question of the emitter."""

    def rule(self, operator: str) -> Callable[[Rule], Rule]:
        """Marks what takes the place of an operator."""

        def mark(rule: Rule) -> Rule:
            assert operator not in self.rules, f"{operator} has a rule of this quirk"
            self.rules[operator] = rule
            return rule

        return mark

    def each(self, *operators: str) -> Callable[[Rule], Rule]:
        """Marks what takes the place of several operators, and is given the operator's name first."""

        def mark(rule: Rule) -> Rule:
            for operator in operators:
                self.rule(operator)(partial(rule, operator))
            return rule

        return mark

    def answers(self, question: str, answer: bool) -> None:
        """What an emitter is to be told that asks a question without arguments."""
        self.rule(question)(lambda e: answer)
