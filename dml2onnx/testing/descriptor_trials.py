"""Descriptors drawn from a seed: those without findings must work, the others must have findings that say why not."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from dml2onnx.catalog import FieldType
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.testing.batch import trials
from dml2onnx.testing.coverage import cells
from dml2onnx.testing.single_node import single_node
from dml2onnx.testing.trial import trial
from dml2onnx.testing.variations import (
    changed_field,
    findings,
    is_small,
    laid_out,
    of_row,
    smaller,
    together,
    weight,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.testing.coverage import Cell

SECONDS = 60.0
"""For making a descriptor smaller."""

TRIES = 5000
"""Changes on the way to a cell, which takes some ten as a rule."""

STEPS = 16
"""Changes along a walk, of which about half are kept."""

MUTANTS = ("still valid", "refused by name", "refused by a rule that reads it")
"""What may come of a change of one field; anything else is a failure."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A descriptor without findings, the seed of its contents, and what is wrong with what it computes."""

    op: OperatorDesc
    seed: int
    problem: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The descriptors along a walk, and how many of the changes of one field were what of ``MUTANTS``."""

    trials: tuple[Trial, ...]
    mutants: Counter[str]
    failures: tuple[str, ...]
    """Descriptors of which the checks could not say anything, or nothing of the field that was changed."""


def walk(bases: Sequence[OperatorDesc], seed: int) -> Walk:
    """Descriptors that a seed leads to, from one of ``bases`` on, each without findings and unlike those before it.

    They are tried together, see :func:`~dml2onnx.testing.batch.trials`.
    """
    kept, mutants, failures = along(bases, seed)
    cases = [(item, STEPS * seed + number) for number, item in enumerate(kept)]
    problems = trials([(single_node(item), number) for item, number in cases])
    tried = [Trial(*case, problem) for case, problem in zip(cases, problems, strict=True)]
    return Walk(tuple(tried), mutants, tuple(failures))


def along(bases: Sequence[OperatorDesc], seed: int) -> tuple[list[OperatorDesc], Counter[str], list[str]]:
    """The descriptors of a walk, and what it says of changes."""
    random = Random(seed)
    op = random.choice(bases)
    kept = {op: None}
    mutants: Counter[str] = Counter()
    failures = []
    for _ in range(STEPS):
        changed, names = together(op, random) if random.random() < 0.5 else changed_field(op, random)
        if changed == op:
            continue
        try:
            found = findings(changed)
        except Exception as error:
            failures.append(f"checks of {changed}: {type(error).__name__}: {error}")
            continue
        if names:
            outcome = _outcome(found, names)
            if outcome:
                mutants[outcome] += 1
            else:
                failures.append(f"{changed.type}: {'/'.join(names)} was changed, and {found[0]}")
        if not found and is_small(changed):
            op = changed
            kept[op] = None
    return list(kept), mutants, failures


def start_in(cell: Cell, bases: Sequence[OperatorDesc], seed: int) -> OperatorDesc | None:
    """A descriptor without findings that reaches a cell, found by changes of those of its operator among ``bases``.

    ``None`` where ``TRIES`` of them do not lead there.
    """
    name, number, _ = cell
    random = Random(seed)
    near = [op for op in bases if op.type == name]
    row = near[0].schema.support[number]
    op = random.choice(near)
    changes: tuple[Callable[[], OperatorDesc], ...] = (
        lambda: of_row(op, row, random),
        lambda: laid_out(op, random),
        lambda: together(op, random)[0],
        lambda: changed_field(op, random)[0],
    )
    for _ in range(TRIES):
        if cell in cells(op):
            return op
        if random.random() < 0.02:
            op = random.choice(near)
        (change,) = random.choices(changes, (2, 2, 1, 2))
        changed = change()
        if changed != op and is_small(changed) and not findings(changed):
            op = changed
    return None


def _outcome(found: Sequence[Diagnostic], names: Sequence[str]) -> str:
    """Which of ``MUTANTS`` came of a change of these fields; empty where no finding has to do with any of them."""
    if not found:
        return MUTANTS[0]
    if any(mentions(item, name) for item in found for name in names):
        return MUTANTS[1]
    if any(name in path.split("/") for item in found for path in item.related for name in names):
        return MUTANTS[2]
    return ""


def mentions(item: Diagnostic, field: str) -> bool:
    """Whether a finding says which field it is about, or mentions it."""
    return field in f"{item.field} {item.pointer} {item.message} {item.expected} {item.found}"


def reduced(op: OperatorDesc, seed: int, problem: str, seconds: float = SECONDS) -> tuple[OperatorDesc, str]:
    """The smallest descriptor near ``op`` that goes wrong as well, and how; as small as it is when the time is up."""
    end = time.monotonic() + seconds
    better = True
    while better:
        better = False
        for candidate in smaller(op):
            if time.monotonic() >= end:
                return op, problem
            if weight(candidate) >= weight(op) or findings(candidate):
                continue
            found = trial(single_node(candidate), seed)
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
