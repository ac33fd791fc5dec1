"""The rules of one operator at one feature level, compiled once and applied to each descriptor."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from dml2onnx.catalog import Constraint, FeatureLevel, FieldKind, OperatorSchema, Rule
from dml2onnx.checks.consequences import within_descriptor
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


@dataclass(frozen=True, slots=True)
class Judge:
    """What is wrong with descriptors at one feature level."""

    level: FeatureLevel
    documented: bool = False

    def __call__(self, desc: OperatorDesc) -> tuple[Diagnostic, ...]:
        return findings_of(desc, self.level, documented=self.documented)

    def refusing(self, schema: OperatorSchema, *, warned: bool) -> Callable[[OperatorDesc], bool]:
        """Whether descriptors of an operator are refused, for many that differ little from one that is.

        If ``warned``, whether anything is said of them at all. The first error will do, and the rule that found the
        last one is asked first: most changes leave it broken.
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
    """As :meth:`Judge.refusing`, of anything that judges."""
    if isinstance(judge, Judge):
        return judge.refusing(schema, warned=warned)
    return lambda desc: any(warned or item.is_error for item in judge(desc))


def findings_of(desc: OperatorDesc, level: FeatureLevel, *, documented: bool = False) -> tuple[Diagnostic, ...]:
    """What is wrong with a descriptor at a level, in field order: errors where DirectML refuses it.

    What DirectML accepts although its documentation forbids it is a warning, or if ``documented`` an error as well.
    """
    found = _asked(_checks(desc.schema, level), desc, documented=documented)
    if documented or not any(item.accepted for item in found):
        return found
    return tuple([as_observed(item) for item in found])


def _attribute_findings(desc: OperatorDesc, level: FeatureLevel) -> tuple[Diagnostic, ...]:
    return _asked(_checks_of_attributes(desc.schema, level), desc)


def _asked(checks: Sequence[Check], desc: OperatorDesc, *, documented: bool = True) -> tuple[Diagnostic, ...]:
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
        if len(findings) > before:
            findings[before:] = _with_what_was_read(findings[before:], check, subject)
        if check is checks[0]:
            subject = _sound(desc, findings)
    return within_descriptor(findings, desc.schema.index, documented=documented) if findings else ()


def _with_what_was_read(findings: list[Diagnostic], check: Check, subject: Subject) -> Iterator[Diagnostic]:
    """The findings of a check, with the fields that led to them. It is made once more for that: most have none."""
    noting, asked = subject.noting()
    with suppress(UnanswerableError):
        for _ in check(noting):
            pass
    read = [field for field in subject.schema.fields if field.name in asked]
    for finding in findings:
        is_of_one = finding.code in _OF_ONE_TENSOR
        yield read_from(finding, [field.name for field in read if not (is_of_one and field.is_tensor)])


def _sound(desc: OperatorDesc, findings: Iterable[Diagnostic]) -> Subject:
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
    """The check of a rule that is documented and that DirectML does not enforce."""

    def checked(subject: Subject) -> Iterator[Diagnostic]:
        for finding in check(subject):
            yield accepting(finding, does, compiled=compiled)

    return checked


def _until(check: Check, end: FeatureLevel, level: FeatureLevel) -> Check:
    def checked(subject: Subject) -> Iterator[Diagnostic]:
        for finding in check(subject):
            yield lifted_by(finding, end, level)

    return checked
