"""Runs single operators in DirectML, and compares its verdicts with ``check`` and its results with compiled models.

Results match if floats differ by at most 1e-3 of the larger of themselves and 1 % of the output's largest element, or
integers are equal, or both results are within the reference's error. Unspecified elements, operators that are accepted
but not compiled (DML2010), and descriptors that can be marshalled in several ways are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from dml2onnx.catalog import LATEST
from dml2onnx.checks import check, uncompiled
from dml2onnx.codes.checking import ARRAY_LENGTH
from dml2onnx.compiler import compile_outputs
from dml2onnx.directml import graphs, runner
from dml2onnx.directml.cases import Case, Outcome
from dml2onnx.directml.installation import Installation
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.onnx_model import Array
from dml2onnx.reference import Result, disagreements, evaluate_results, memory, operator_results
from dml2onnx.reference.promise import promised
from dml2onnx.targets import DEFAULT_TARGET, EXACT_TARGET
from dml2onnx.test_cases.descriptor_trials import STEPS
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.trial import feeds_of, sentence
from dml2onnx.test_cases.variations import changed_field, findings, is_small, together
from dml2onnx.verification.indices import within

RELATIVE, OF_LARGEST = 1e-3, 1e-2
INVALID_ARGUMENT = 0x80070057


@dataclass(frozen=True, slots=True)
class DirectMLTrial:
    """The verdicts of ``check`` and DirectML on one operator, and the problem if they or the results differ."""

    op: OperatorDesc
    refused: bool
    outcome: Outcome
    problem: str
    """``""`` if there is none."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An operator that ``check`` accepts, with the outputs of the compiled model and of the reference."""

    graph: Graph
    case: Case
    compiled: dict[str, Array]
    wanted: dict[str, Result]


def drawn(bases: Sequence[OperatorDesc], seed: int) -> list[OperatorDesc]:
    """Valid and invalid descriptors by random changes: a walk from one valid descriptor to the next."""
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


def compare(
    ops: Sequence[OperatorDesc], seed: int, installation: Installation, *, exact: bool = True
) -> list[DirectMLTrial]:
    """Runs operators with random contents in one run of DirectML, and compares them with exact or default models."""
    found_of = [findings(op) for op in ops]
    refused = [any(item.is_error for item in found) for found in found_of]
    prepared: list[_Prepared | str | None] = []
    for op, found, wrong in zip(ops, found_of, refused, strict=True):
        is_compiled = not wrong and not uncompiled(single_node(op), found, LATEST)
        prepared.append(_prepare(op, seed, exact) if is_compiled else None)
    cases = [item.case if isinstance(item, _Prepared) else Case((op,)) for op, item in zip(ops, prepared, strict=True)]
    outcomes = runner.run(cases, installation)
    return [
        DirectMLTrial(op, wrong, outcome, _problem(op, wrong, item, outcome))
        for op, wrong, item, outcome in zip(ops, refused, prepared, outcomes, strict=True)
    ]


def _is_refused(op: OperatorDesc) -> bool:
    return any(item.is_error for item in findings(op))


def _has_many_forms(op: OperatorDesc) -> bool:
    """Whether a count differs from the length of its array, past which DirectML would read."""
    return any(item.code == ARRAY_LENGTH for item in check(single_node(op), documented=True, remedies=False))


def _prepare(op: OperatorDesc, seed: int, exact: bool) -> _Prepared | str:
    """The case of an operator, or the problem if the compiled model or the reference fails."""
    graph = single_node(op)
    try:
        target = EXACT_TARGET if exact else DEFAULT_TARGET
        model = compile_outputs(graph, graph.outputs, target=target, exact=exact)
        feeds = feeds_of(model, seed) if exact else within(graph, feeds_of(model, seed))
        with np.errstate(all="ignore"):
            compiled, wanted = model.run(feeds), evaluate_results(graph, feeds)
    except Exception as error:
        return sentence(error)
    known = {item.value: np.ascontiguousarray(feeds[item.name]).tobytes() for item in graph.inputs}
    if not exact and not any(op.updates(item.name) for item in op.schema.output_fields):
        wanted = _promised(op, feeds)
    return _Prepared(graph, graphs.single(graph.nodes[0], known), compiled, wanted)


def _promised(op: OperatorDesc, feeds: Mapping[str, Array]) -> dict[str, Result]:
    """The results that a default model promises."""
    views: dict[str, list[Array]] = {}
    for item in op.schema.input_fields:
        for index, desc in enumerate(op.tensors(item.name)):
            raw = np.ascontiguousarray(feeds[f"{item.name}{index}"]).tobytes().ljust(desc.total_bytes, b"\0")
            views.setdefault(item.name, []).append(memory.read(np.frombuffer(raw, np.uint8).copy(), desc))
    with np.errstate(all="ignore"):
        results = promised(op, operator_results(op, views))
    return {f"{name}{index}": result for name in results for index, result in enumerate(results[name])}


def _problem(op: OperatorDesc, refused: bool, item: _Prepared | str | None, outcome: Outcome) -> str:
    if refused:
        if outcome.created != 0 or _has_many_forms(op):
            return ""
        return "check refuses it, but DirectML accepts it"
    if outcome.created == INVALID_ARGUMENT or (outcome.died and item is not None):
        if item is None and _has_many_forms(op):
            return ""
        return f"check accepts it, but DirectML does not: {graphs.failure(outcome)}"
    if item is None or isinstance(item, str):
        return item or ""
    if outcome.dispatched != 0:
        return f"DirectML fails to run it: {graphs.failure(outcome)}"
    values = graphs.written(item.graph.nodes[0], item.case, outcome)
    for output in item.graph.outputs:
        raw = np.frombuffer(values[output.value], np.uint8).copy()
        got, ours = memory.read(raw, output.desc), item.compiled[output.name]
        wrong = different(ours, got, item.wanted[output.name], output.desc.data_type)
        if wrong.any():
            at = tuple(int(axis[0]) for axis in np.nonzero(wrong))
            count = f"{wrong.sum()} of {wrong.size}"
            return f"{output.name}{list(at)} is {got[at]} in DirectML, but {ours[at]} here ({count})"
    return ""


def different(ours: Array, directml: Array, wanted: Result, data_type: DataType) -> Array:
    """Where the two differ by more than the tolerance, and one of them from the reference by more than its error."""
    unspecified = np.zeros(ours.shape, np.bool_) if wanted.unspecified is None else wanted.unspecified
    wrong = differences(ours, directml, np.broadcast_to(unspecified, ours.shape))
    if not wrong.any():
        return wrong
    # DirectML may round every step of a FLOAT16 operator, even toward zero
    outside = disagreements(ours, wanted, data_type, True) | disagreements(directml, wanted, data_type, True)
    result: Array = wrong & outside
    return result


def differences(ours: Array, directml: Array, unspecified: Array) -> Array:
    """Which elements differ by more than the tolerance."""
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
