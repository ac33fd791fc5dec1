"""Compares the verdicts of ``check`` with those of DirectML."""

from __future__ import annotations

from collections import Counter

from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.codes import checking as codes
from dml2onnx.codes.compiling import NOT_COMPILED_AS_ACCEPTED
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.trial import trial
from tests.directml.observed import Verdict, acceptance, described, lines, needs_observations, refusals

pytestmark = needs_observations

LARGEST = 1 << 16
"""Limit of bytes of a tensor in a descriptor that is compiled and run."""


def test_verdicts() -> None:
    """999 of 1,000 match; the others could be marshalled in several ways."""
    different: Counter[str] = Counter()
    total = 0
    for verdict in acceptance():
        total += 1
        why = refusals(verdict)
        if verdict.accepted is bool(why):
            different[f"{verdict.type} {verdict.field} {verdict.hresult} {why[0][:7] if why else ''}"] += 1
    shown = "\n".join(f"{count:5} {name}" for name, count in different.most_common())
    assert total > 29_000
    assert sum(different.values()) <= total // 1000, shown


def test_descriptors_that_ran_have_no_errors() -> None:
    verdicts = [Verdict(record["type"], "", record["desc"], "00000000") for record in lines("numbers.jsonl.xz")]
    assert [(verdict.type, why[0]) for verdict in verdicts if (why := refusals(verdict))] == []


def test_documented_is_stricter() -> None:
    """``documented`` turns each warning about accepted descriptors into an error with the code of the rule."""
    accepted = {code.id for code in codes.ACCEPTED}
    seen: Counter[str] = Counter()
    for op in _accepted():
        found = findings_of(op, LATEST)
        strict = findings_of(op, LATEST, documented=True)
        assert any(item.severity is Severity.ERROR for item in strict) == any(item.accepted for item in found)
        assert not any(item.code in accepted for item in strict)
        seen.update(item.code for item in found if item.accepted)
        assert all("DirectML accepts this: " in item.message for item in found if item.accepted)
    assert set(seen) == accepted


def test_accepted_descriptors_compile_or_give_dml2010() -> None:
    """DML2010 is for descriptors that break a rule and whose results are unknown."""
    compiled, refused = 0, 0
    for op in _accepted():
        unknown = any(item.accepted and not item.compiled for item in findings_of(op, LATEST))
        assert _errors(op) == ({NOT_COMPILED_AS_ACCEPTED.id} if unknown else set()), op
        refused += unknown
        compiled += not unknown
    assert compiled > 100
    assert refused > 300


def test_compiled_accepted_descriptors_match_the_reference() -> None:
    compiled = [op for op in _accepted() if all(item.compiled for item in findings_of(op, LATEST) if item.accepted)]
    assert [(op.type, problem) for op in compiled if (problem := trial(single_node(op), 7))] == []


def _errors(op: OperatorDesc) -> set[str]:
    """The codes of errors of compiling a descriptor."""
    try:
        model = compile(single_node(op))
    except DmlError as error:
        return {item.code for item in error.diagnostics if item.severity is Severity.ERROR}
    assert model.node_count > 0
    return set()


def _accepted() -> list[OperatorDesc]:
    """Small descriptors that DirectML accepts although its documentation forbids them."""
    found: dict[OperatorDesc, None] = {}
    for verdict in acceptance():
        op = described(verdict) if verdict.accepted else None
        if op is None or not any(item.accepted for item in findings_of(op, LATEST)):
            continue
        tensors = [tensor for field in op.schema.tensor_fields for tensor in op.tensors(field.name)]
        if all(tensor.total_bytes <= LARGEST for tensor in tensors):
            found.setdefault(op)
    return list(found)
