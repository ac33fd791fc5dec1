"""The rules of one operator at one feature level, built once and applied to each descriptor."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dml2onnx.catalog import Constraint, FeatureLevel, FieldKind, OperatorSchema, Rule
from dml2onnx.checks.consequences import SUPPORT_CODES, within_descriptor
from dml2onnx.checks.fields import attribute_checks, required_check, tensors_check
from dml2onnx.checks.fused import activation_list_check, fused_check
from dml2onnx.checks.support import support_checks, value_level_checks
from dml2onnx.checks.tensors import SHAPELESS
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import UNREADABLE, OperatorDesc
from dml2onnx.rules.constraints import constraint_check, guarded
from dml2onnx.rules.findings import accepting, as_observed, lifted_by, read_from
from dml2onnx.rules.shapes import rules_by_constraint
from dml2onnx.rules.subject import Subject, UnanswerableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.rules.findings import Check

# Rules about attributes alone (or attributes against sizes), which a fused activation keeps.
_OF_ATTRIBUTES = frozenset({Rule.ATTRIBUTE_RANGE, Rule.DISTINCT, Rule.EQUAL, Rule.NONZERO})
# It keeps this one, too; its tensors are like the host's, whose own rules say the rest of them.
_OF_TENSORS = Rule.EFFECTIVE_RANK


@dataclass(frozen=True, slots=True)
class Judge:
    """Checks descriptors at one feature level."""

    level: FeatureLevel
    documented: bool = False

    def __call__(self, desc: OperatorDesc) -> tuple[Diagnostic, ...]:
        return findings_of(desc, self.level, documented=self.documented)

    def refusing(self, schema: OperatorSchema, *, warned: bool) -> Callable[[OperatorDesc], bool]:
        """Returns a function that checks whether a descriptor of the operator has an error.

        It is for many variations of an invalid descriptor: it stops at the first error and tries the check that failed
        last first. With ``warned``, a warning counts as well.
        """
        sound, *others = _checks(schema, self.level)

        def refused(desc: OperatorDesc) -> bool:
            subject = Subject(desc)
            if self._is_broken(sound, subject, warned):
                return True
            for position, check in enumerate(others):
                if self._is_broken(check, subject, warned):
                    if position:
                        others.insert(0, others.pop(position))
                    return True
            return False

        return refused

    def _is_broken(self, check: Check, subject: Subject, warned: bool) -> bool:
        with suppress(UnanswerableError):
            for item in check(subject):
                if warned or (item.is_error and (self.documented or not item.accepted)):
                    return True
        return False


def refusing(judge: AnyJudge, schema: OperatorSchema, *, warned: bool = False) -> Callable[[OperatorDesc], bool]:
    """Returns :meth:`Judge.refusing`, or the same for any other judge."""
    if isinstance(judge, Judge):
        return judge.refusing(schema, warned=warned)
    return lambda desc: any(warned or item.is_error for item in judge(desc))


def findings_of(desc: OperatorDesc, level: FeatureLevel, *, documented: bool = False) -> tuple[Diagnostic, ...]:
    """Returns the findings about a descriptor at a level, in field order: errors where DirectML refuses it.

    What DirectML accepts although its documentation forbids it is a warning, or, if ``documented``, an error.
    """
    found = _results(_checks(desc.schema, level), desc, documented=documented)
    if documented or not any(item.accepted for item in found):
        return found
    return tuple([as_observed(item) for item in found])


def _attribute_findings(desc: OperatorDesc, level: FeatureLevel) -> tuple[Diagnostic, ...]:
    return _results(_checks_of_attributes(desc.schema, level), desc)


def _results(checks: Sequence[Check], desc: OperatorDesc, *, documented: bool = True) -> tuple[Diagnostic, ...]:
    subject = Subject(desc)
    findings: list[Diagnostic] = []
    for check in checks:
        before = len(findings)
        try:  # noqa: SIM105  # entering a context takes longer than most checks
            findings += check(subject)
        except UnanswerableError:
            pass
        if not findings:
            continue
        if found := findings[before:]:
            findings[before:] = _with_read_fields(found, check, subject)
        if check is checks[0]:
            subject = _sound(desc, findings)
    return within_descriptor(findings, desc.schema.index, documented=documented) if findings else ()


def _with_read_fields(findings: list[Diagnostic], check: Check, subject: Subject) -> Iterator[Diagnostic]:
    """Adds the fields that a check read to its findings; repeats the check, because most have no findings."""
    noting, read_names = subject.noting()
    with suppress(UnanswerableError):
        for _ in check(noting):
            pass
    read = [field for field in subject.schema.fields if field.name in read_names]
    for finding in findings:
        is_of_one = finding.code in SUPPORT_CODES  # about one tensor, whatever the others are
        yield read_from(finding, [field.name for field in read if not (is_of_one and field.is_tensor)])


def _sound(desc: OperatorDesc, findings: Iterable[Diagnostic]) -> Subject:
    """The descriptor without the tensors that have no valid shape, which other rules skip.

    An output of size 0 stays, because its rules find the cause.
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
        if constraint.rule is _OF_TENSORS or (constraint.rule in _OF_ATTRIBUTES and _is_attribute(schema, constraint))
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
        check = constraint_check(constraint)
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
    """The check of a documented rule that DirectML does not enforce."""

    def checked(subject: Subject) -> Iterator[Diagnostic]:
        for finding in check(subject):
            yield accepting(finding, does, compiled=compiled)

    return checked


def _until(check: Check, end: FeatureLevel, level: FeatureLevel) -> Check:
    def checked(subject: Subject) -> Iterator[Diagnostic]:
        for finding in check(subject):
            yield lifted_by(finding, end, level)

    return checked
