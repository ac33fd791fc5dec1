"""Descriptors that a seed leads to: those without findings have to work, those with any have to be told why."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldType
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.verification.lone import lone_node
from dml2onnx.verification.trial import trial
from dml2onnx.verification.variations import changed_field, findings, is_small, smaller, valid_walk, weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.diagnostics import Diagnostic

STEPS = (0, 2, 6, 12)
"""Changes from a descriptor that is known to a valid one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A valid descriptor, what is wrong with what it computes, and what came of one further change."""

    op: OperatorDesc
    problem: str
    ran: bool
    mutant: str
    """``"still valid"``, ``"refused by name"`` or ``"refused by the name of another field"``."""


def attempt(bases: Sequence[OperatorDesc], seed: int) -> Outcome:
    """The descriptor of a seed, compiled, run and compared; and one change away from it."""
    random = Random(seed)
    op = valid_walk(random.choice(bases), random, random.choice(STEPS))
    mutant, name = changed_field(op, random)
    try:
        found = findings(mutant)
    except Exception as error:
        return Outcome(op, f"checks of {mutant}: {type(error).__name__}: {error}", False, "no findings but a failure")
    kind = "still valid"
    if found:
        kind = "refused by name" if any(names(item, name) for item in found) else "refused by the name of another field"
    small = is_small(op)
    return Outcome(op, trial(lone_node(op), seed) if small else "", small, kind)


def names(item: Diagnostic, field: str) -> bool:
    """Whether a finding says which field it is about, or mentions it."""
    return field in f"{item.field} {item.pointer} {item.message} {item.expected} {item.found}"


def reduced(op: OperatorDesc, seed: int, problem: str) -> tuple[OperatorDesc, str]:
    """The smallest descriptor near ``op`` that goes wrong as well, and how."""
    better = True
    while better:
        better = False
        for candidate in smaller(op):
            if weight(candidate) >= weight(op) or findings(candidate):
                continue
            found = trial(lone_node(candidate), seed)
            if found:
                op, problem, better = candidate, found, True
                break
    return op, problem


def normal(op: OperatorDesc) -> OperatorDesc:
    """With True and False for flags and floats for floats, where somebody wrote 0 and 1."""
    values = []
    for item, value in op.items():
        if item.type is FieldType.BOOL and value is not None:
            value = bool(value)
        elif isinstance(value, Scalar) and value.data_type.is_float:
            value = Scalar(value.data_type, float(value.value))
        values.append(value)
    return OperatorDesc(op.schema, tuple(values))
