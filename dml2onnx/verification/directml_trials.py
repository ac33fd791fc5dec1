"""Single operators in DirectML itself: whether it takes them, and what it computes, beside ``check`` and the compiler.

Of accepted operators floats agree within 1e-3 of the larger of themselves and 1 % of the output's largest, integers
exactly; what is unspecified may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.compiler import compile_outputs
from dml2onnx.diagnostics import Severity
from dml2onnx.directml import graphs, runner
from dml2onnx.directml.cases import Case, Outcome
from dml2onnx.reference import evaluate_results, memory
from dml2onnx.verification.descriptor_trials import STEPS
from dml2onnx.verification.lone import lone_node
from dml2onnx.verification.trial import feeds_of
from dml2onnx.verification.variations import changed_field, findings, is_small, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.directml.installation import Installation
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.model import Array

RELATIVE, OF_LARGEST = 1e-3, 1e-2
INVALID_ARGUMENT = 0x80070057


@dataclass(frozen=True, slots=True)
class Answer:
    """One operator: what ``check`` says, what DirectML did, and where the two, or their numbers, differ."""

    op: OperatorDesc
    refused: bool
    outcome: Outcome
    problem: str
    """Nothing is ``""``."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An operator that ``check`` accepts, the compiled model's outputs, and what of them is unspecified."""

    graph: Graph
    case: Case
    compiled: dict[str, Array]
    unspecified: dict[str, Array]


def drawn(bases: Sequence[OperatorDesc], seed: int) -> list[OperatorDesc]:
    """Descriptors that a seed leads to, right ones and wrong ones: a walk along right ones, with a look aside."""
    random = Random(seed)
    op = random.choice(bases)
    found = {op: None}
    for _ in range(STEPS):
        changed = together(op, random)[0] if random.random() < 0.5 else changed_field(op, random)[0]
        if changed == op or not is_small(changed):
            continue
        found[changed] = None
        if not _is_refused(changed):
            op = changed
    return list(found)


def ask(ops: Sequence[OperatorDesc], seed: int, installation: Installation) -> list[Answer]:
    """Each operator with random contents, all of them in one run of DirectML."""
    refused = [_is_refused(op) for op in ops]
    prepared: list[_Prepared | str] = []
    for op, wrong in zip(ops, refused, strict=True):
        prepared.append("" if wrong else _prepare(op, seed))
    cases = [item.case if isinstance(item, _Prepared) else Case((op,)) for op, item in zip(ops, prepared, strict=True)]
    outcomes = runner.run(cases, installation)
    return [
        Answer(op, wrong, outcome, _problem(wrong, item, outcome))
        for op, wrong, item, outcome in zip(ops, refused, prepared, outcomes, strict=True)
    ]


def _is_refused(op: OperatorDesc) -> bool:
    return any(item.severity is Severity.ERROR for item in findings(op))


def _prepare(op: OperatorDesc, seed: int) -> _Prepared | str:
    """The case of an operator; a sentence where the compiled model or the reference does not run it."""
    graph = lone_node(op)
    try:
        model = compile_outputs(graph, graph.outputs)
        feeds = feeds_of(model, seed)
        with np.errstate(all="ignore"):
            compiled, wanted = model.run(feeds), evaluate_results(graph, feeds)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    known = {item.value: np.ascontiguousarray(feeds[item.name]).tobytes() for item in graph.inputs}
    unspecified = {
        name: np.zeros(result.values.shape, np.bool_) if result.unspecified is None else result.unspecified
        for name, result in wanted.items()
    }
    return _Prepared(graph, graphs.single(graph.nodes[0], known), compiled, unspecified)


def _problem(refused: bool, item: _Prepared | str, outcome: Outcome) -> str:
    if refused:
        return "check refuses it, and DirectML takes it" if outcome.created == 0 else ""
    if outcome.died or outcome.created == INVALID_ARGUMENT:
        return f"check takes it, and DirectML does not: {graphs.failure(outcome)}"
    if isinstance(item, str):
        return item
    if outcome.dispatched != 0:
        return f"DirectML does not run it: {graphs.failure(outcome)}"
    values = graphs.written(item.graph.nodes[0], item.case, outcome)
    for output in item.graph.outputs:
        raw = np.frombuffer(values[output.value], np.uint8).copy()
        got = memory.read(raw, output.desc)
        wrong = differences(item.compiled[output.name], got, item.unspecified[output.name])
        if wrong.any():
            at = tuple(int(axis[0]) for axis in np.nonzero(wrong))
            ours = item.compiled[output.name][at]
            return f"{output.name}{list(at)} is {got[at]} in DirectML, and {ours} here ({wrong.sum()} of {wrong.size})"
    return ""


def differences(ours: Array, directml: Array, unspecified: Array) -> Array:
    """Which elements differ by more than is allowed."""
    if ours.dtype.kind != "f":
        unequal: Array = (ours != directml) & ~unspecified
        return unequal
    one, other = ours.astype(np.float64), directml.astype(np.float64)
    largest = np.abs(other).max(initial=0, where=np.isfinite(other) & ~unspecified)
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= RELATIVE * np.maximum(np.abs(other), OF_LARGEST * largest)
    same = (near & np.isfinite(other)) | (one == other) | (np.isnan(one) & np.isnan(other))
    different: Array = ~same & ~unspecified
    return different
