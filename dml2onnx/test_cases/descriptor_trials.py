"""Random descriptors: those without findings must work, and the findings of others must name the wrong field."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from dml2onnx.catalog import FieldType
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.test_cases.batch import trials
from dml2onnx.test_cases.coverage import Cell, cells
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.trial import trial
from dml2onnx.test_cases.variations import (
    changed_field,
    findings,
    is_small,
    laid_out,
    of_row,
    smaller,
    together,
    weight,
)

SECONDS = 60.0
"""Time limit for reducing a descriptor."""

TRIES = 5000
"""Limit of changes to reach a cell; about ten are typical."""

STEPS = 16
"""Changes in a walk; about half are kept."""

MUTANTS = ("still valid", "refused by name", "refused by a rule that reads it")
"""Valid outcomes of a change of one field."""


@dataclass(frozen=True, slots=True)
class DescriptorTrial:
    """A descriptor without findings, the seed of its contents, and the problem with its results."""

    op: OperatorDesc
    seed: int
    problem: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The descriptors of a walk, and the count of each of ``MUTANTS`` among changes of one field."""

    trials: tuple[DescriptorTrial, ...]
    mutants: Counter[str]
    failures: tuple[str, ...]
    """Descriptors for which a check raised an exception, or whose findings do not mention the changed field."""


def walk(bases: Sequence[OperatorDesc], seed: int) -> Walk:
    """Distinct descriptors without findings, by random changes from one of ``bases``, tried as one model."""
    kept, mutants, failures = along(bases, seed)
    cases = [(item, STEPS * seed + number) for number, item in enumerate(kept)]
    problems = trials([(single_node(item), number) for item, number in cases])
    tried = [DescriptorTrial(*case, problem) for case, problem in zip(cases, problems, strict=True)]
    return Walk(tuple(tried), mutants, tuple(failures))


def along(bases: Sequence[OperatorDesc], seed: int) -> tuple[list[OperatorDesc], Counter[str], list[str]]:
    """The descriptors, mutants and failures of a walk."""
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
    """A descriptor without findings that covers a cell, by random changes from those in ``bases`` with its operator.

    ``None`` if ``TRIES`` changes do not find one.
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
    """The outcome of a change of these fields, one of ``MUTANTS``; empty if no finding is about any of them."""
    if not found:
        return MUTANTS[0]
    if any(mentions(item, name) for item in found for name in names):
        return MUTANTS[1]
    if any(name in path.split("/") for item in found for path in item.related for name in names):
        return MUTANTS[2]
    return ""


def mentions(item: Diagnostic, field: str) -> bool:
    """Whether a finding names a field."""
    return field in f"{item.field} {item.pointer} {item.message} {item.expected} {item.found}"


def reduced(op: OperatorDesc, seed: int, problem: str, seconds: float = SECONDS) -> tuple[OperatorDesc, str]:
    """Reduces a failing descriptor for up to ``seconds``; returns the smallest one and its problem."""
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
    """The descriptor with flags as ``bool`` and float scalars as ``float``."""
    values = []
    for item, value in op.items():
        if item.type is FieldType.BOOL and value is not None:
            value = bool(value)
        elif isinstance(value, Scalar) and value.data_type.is_float:
            value = Scalar(value.data_type, float(value.value))
        values.append(value)
    return OperatorDesc(op.schema, tuple(values))
