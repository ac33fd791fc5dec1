"""The verdicts of ``check`` are those that DirectML itself gave: an error where it refused, none where it accepted."""

from __future__ import annotations

from collections import Counter

from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.codes import checking as codes
from dml2onnx.codes.compiling import NOT_COMPILED_AS_ACCEPTED
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, Severity
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.testing.single_node import single_node
from dml2onnx.testing.trial import trial
from tests.directml.observed import Asked, acceptance, described, lines, needs_observations, refusals

pytestmark = needs_observations

LARGEST = 1 << 16
"""Bytes of the tensors of a descriptor that is compiled and run."""


def test_verdicts() -> None:
    """999 of 1,000, and what differs is no descriptor that could be marshalled in one way only."""
    different: Counter[str] = Counter()
    total = 0
    for asked in acceptance():
        total += 1
        why = refusals(asked)
        if asked.accepted is bool(why):
            different[f"{asked.type} {asked.field} {asked.hresult} {why[0][:7] if why else ''}"] += 1
    shown = "\n".join(f"{count:5} {name}" for name, count in different.most_common())
    assert total > 29_000
    assert sum(different.values()) <= total // 1000, shown


def test_what_ran_is_accepted() -> None:
    """Descriptors of which DirectML computed something have no error."""
    refused = []
    for record in lines("numbers.jsonl.xz"):
        asked = Asked(record["type"], "", record["desc"], "00000000")
        if why := refusals(asked):
            refused.append((asked.type, why[0]))
    assert refused == []


def test_what_is_documented_is_stricter() -> None:
    """With ``documented`` each warning about what DirectML accepts is an error with the code of the rule."""
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


def test_what_is_accepted_compiles_or_says_why() -> None:
    """No traceback: a model that runs, or DML2010 for what breaks a rule and is not known to be computed so."""
    compiled, refused = 0, 0
    for op in _accepted():
        unknown = any(item.accepted and not item.compiled for item in findings_of(op, LATEST))
        stopped = _stops(op)
        assert stopped == ({NOT_COMPILED_AS_ACCEPTED.id} if unknown else set()), op
        refused += unknown
        compiled += not unknown
    assert compiled > 100
    assert refused > 300


def test_what_is_compiled_is_what_the_reference_computes() -> None:
    """Where the warning promises that a compiled model does the same."""
    wrong = []
    for op in _accepted():
        if all(item.compiled for item in findings_of(op, LATEST) if item.accepted):
            wrong += [(op.type, said) for said in [trial(single_node(op), 7)] if said]
    assert wrong == []


def _stops(op: OperatorDesc) -> set[str]:
    """The codes of the errors for which no model is made of a descriptor."""
    try:
        model = compile(single_node(op))
    except DmlError as error:
        return {item.code for item in error.diagnostics if item.severity is Severity.ERROR}
    assert model.node_count > 0
    return set()


def _accepted() -> list[OperatorDesc]:
    """What DirectML accepts against its documentation, of ordinary size."""
    made: dict[OperatorDesc, None] = {}
    for asked in acceptance():
        op = described(asked) if asked.accepted else None
        if op is None or not any(item.accepted for item in findings_of(op, LATEST)):
            continue
        tensors = [tensor for field in op.schema.tensor_fields for tensor in op.tensors(field.name)]
        if all(tensor.total_bytes <= LARGEST for tensor in tensors):
            made.setdefault(op)
    return list(made)
