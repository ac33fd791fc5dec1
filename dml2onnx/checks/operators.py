"""The rules of one operator at one feature level, compiled once and applied to each descriptor."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from dml2onnx.catalog import Constraint, FeatureLevel, FieldKind, OperatorSchema, Rule
from dml2onnx.checks.fields import attribute_checks, required_check, tensors_check
from dml2onnx.checks.fused import activation_list_check, fused_check
from dml2onnx.checks.support import support_checks, value_level_checks
from dml2onnx.checks.tensors import SHAPELESS
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.rules.constraints import constraint_check, guarded
from dml2onnx.rules.shapes import rules_by_constraint
from dml2onnx.rules.subject import Subject, UnanswerableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dml2onnx.rules.findings import Check, Finding

# Of several such findings about one tensor the first says enough.
_OF_SHAPES = frozenset(
    {
        codes.DIFFERENT_DIMENSION_COUNTS,
        codes.WRONG_DIMENSION_COUNT,
        codes.DIMENSION_COUNT_UNSUPPORTED,
        codes.DIMENSION_COUNT_LEVEL,
        codes.EFFECTIVE_RANK,
        codes.DIFFERENT_SIZES,
        codes.NOT_BROADCASTABLE,
        codes.WRONG_SIZE,
        codes.ELEMENT_COUNT,
    }
)

# What is said of sizes and counts where tensors do not have one dimension count follows from that.
_OF_RANKS = frozenset(
    {codes.NOT_EQUAL, codes.WRONG_SIZE, codes.DIFFERENT_SIZES, codes.NOT_BROADCASTABLE, codes.NO_ROOM}
)

# What one check says of each tensor by itself: attributes have a say in it, other tensors do not.
_OF_ONE_TENSOR = frozenset(
    {
        codes.DATA_TYPE_UNSUPPORTED,
        codes.DATA_TYPE_LEVEL,
        codes.DIMENSION_COUNT_UNSUPPORTED,
        codes.DIMENSION_COUNT_LEVEL,
    }
)

# Rules about attributes alone (or attributes against sizes), which a fused activation keeps.
_OF_ATTRIBUTES = frozenset({Rule.ATTRIBUTE_RANGE, Rule.DISTINCT, Rule.EQUAL, Rule.NONZERO})


def findings_of(desc: OperatorDesc, level: FeatureLevel, *, documented: bool = False) -> tuple[Finding, ...]:
    """What is wrong with a descriptor at a level, in field order: errors where DirectML refuses it.

    What DirectML accepts although its documentation forbids it is a warning, or if ``documented`` an error as well.
    """
    found = _asked(_checks(desc.schema, level), desc, documented=documented)
    if documented or not any(item.accepted for item in found):
        return found
    return tuple([item.as_observed() for item in found])


def _attribute_findings(desc: OperatorDesc, level: FeatureLevel) -> tuple[Finding, ...]:
    return _asked(_checks_of_attributes(desc.schema, level), desc)


def _asked(checks: Sequence[Check], desc: OperatorDesc, *, documented: bool = True) -> tuple[Finding, ...]:
    subject = Subject(desc)
    findings: list[Finding] = []
    for check in checks:
        before = len(findings)
        try:  # noqa: SIM105  # entering a context takes longer than most checks
            findings += check(subject)
        except UnanswerableError:
            pass
        if not findings:
            continue
        if len(findings) > before:
            findings[before:] = _with_what_was_read(findings[before:], check, subject)
        if check is checks[0]:
            subject = _sound(desc, findings)
    if not findings:
        return ()
    index = desc.schema.index
    findings.sort(key=lambda finding: index.get(finding.field, -1))
    if documented or not any(item.accepted for item in findings):
        return tuple(_without_repetition(findings))
    # what DirectML refuses is said whatever it accepts at the same place
    refused = list(_without_repetition([item for item in findings if not item.accepted]))
    paths = {item.path for item in refused}
    ranks_differ = any(item.code is codes.DIFFERENT_DIMENSION_COUNTS for item in refused)
    accepted = [
        item
        for item in findings
        if item.accepted and item.path not in paths and not (ranks_differ and item.code in _OF_RANKS)
    ]
    found = [*refused, *_without_repetition(accepted)]
    found.sort(key=lambda finding: index.get(finding.field, -1))
    return tuple(found)


def _with_what_was_read(findings: list[Finding], check: Check, subject: Subject) -> Iterator[Finding]:
    """The findings of a check, with the fields that led to them. It is made once more for that: most have none."""
    noting, asked = subject.noting()
    with suppress(UnanswerableError):
        for _ in check(noting):
            pass
    read = [field for field in subject.schema.fields if field.name in asked]
    for finding in findings:
        is_of_one = finding.code in _OF_ONE_TENSOR
        yield finding.read_from(field.name for field in read if not (is_of_one and field.is_tensor))


def _sound(desc: OperatorDesc, findings: Iterable[Finding]) -> Subject:
    """The descriptor without its tensors of no sensible shape: other rules have nothing to say of them.

    But of an output of size 0 they say why it is that.
    """
    outputs = {field.name for field in desc.schema.output_fields}
    shapeless = {
        finding.field
        for finding in findings
        if finding.code in SHAPELESS and not (finding.code is codes.ZERO_SIZE and finding.field in outputs)
    }
    values = zip(desc.schema.fields, desc.values, strict=True)
    return Subject(
        OperatorDesc(desc.schema, tuple(UNREADABLE if item.name in shapeless else value for item, value in values))
    )


def _without_repetition(findings: list[Finding]) -> Iterator[Finding]:
    """One finding about each place where the shape of a tensor is wrong, and none that follows from a wrong rank.

    What no level lifts goes first: a rule that a later level relaxes says nothing where one of all levels is broken.
    """
    final = {finding.path for finding in findings if finding.code in _OF_SHAPES and not finding.since}
    exact = {(finding.code.id, finding.path) for finding in findings if not finding.since}
    ranks_differ = any(finding.code is codes.DIFFERENT_DIMENSION_COUNTS for finding in findings)
    does_not_fit = any(finding.code is codes.NO_ROOM for finding in findings)
    seen = {finding.path for finding in findings if finding.code is codes.ZERO_SIZE}
    for finding in findings:
        if finding.code is codes.ZERO_SIZE and does_not_fit:  # which is why
            continue
        if finding.since and (finding.path in final or (finding.code.id, finding.path) in exact):
            continue
        if ranks_differ and finding.code in _OF_RANKS:
            continue
        if finding.code in _OF_SHAPES:
            if finding.path in seen:
                continue
            seen.add(finding.path)
        yield finding


@cache
def _checks(schema: OperatorSchema, level: FeatureLevel) -> tuple[Check, ...]:
    activations = [
        build(schema, level, lambda desc: _attribute_findings(desc, level))
        for build in (fused_check, activation_list_check)
    ]
    return (
        tensors_check(schema),
        required_check(schema),
        *attribute_checks(schema),
        *_constraint_checks(schema, level, schema.constraints),
        *support_checks(schema, level),
        *(check for check in activations if check is not None),
    )


@cache
def _checks_of_attributes(schema: OperatorSchema, level: FeatureLevel) -> tuple[Check, ...]:
    attributes = [
        constraint
        for constraint in schema.constraints
        if constraint.rule in _OF_ATTRIBUTES and _is_attribute(schema, constraint)
    ]
    return (
        required_check(schema, tensors=False),
        *attribute_checks(schema),
        *_constraint_checks(schema, level, attributes),
        *value_level_checks(schema, level),
    )


def _is_attribute(schema: OperatorSchema, constraint: Constraint) -> bool:
    name = (constraint.attribute or constraint.left or "").partition(".")[0]
    field = schema.field(name)
    return field is not None and field.kind is FieldKind.ATTRIBUTE


def _constraint_checks(
    schema: OperatorSchema, level: FeatureLevel, constraints: Iterable[Constraint]
) -> Iterator[Check]:
    worded = rules_by_constraint()
    for constraint in constraints:
        if not constraint.applies_at(level):
            continue
        check = constraint_check(schema, constraint)
        if check is None and constraint.id in worded:
            check = worded[constraint.id].check
            if constraint.when is not None:
                check = guarded(check, constraint.when)
        if check is None:
            continue
        if constraint.accepted is not None:
            check = _accepting(check, constraint.accepted, constraint.compiled)
        yield check if constraint.until_level is None else _until(check, constraint.until_level, level)


def _accepting(check: Check, does: str, compiled: bool) -> Check:
    """The check of a rule that is documented and that DirectML does not enforce."""

    def checked(subject: Subject) -> Iterator[Finding]:
        for finding in check(subject):
            yield finding.accepting(does, compiled=compiled)

    return checked


def _until(check: Check, end: FeatureLevel, level: FeatureLevel) -> Check:
    def checked(subject: Subject) -> Iterator[Finding]:
        for finding in check(subject):
            yield finding.lifted_by(end, level)

    return checked
