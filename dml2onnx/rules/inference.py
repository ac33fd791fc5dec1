"""Infers sizes and data types of outputs from the rules that check them.

The module is independent of operators: constraints of the catalogue tie outputs to inputs, and the formulas of
``shapes`` compute sizes. If several sizes are valid, the natural one is used: only windows that fit, all elements of a
slice, everything that a transposed convolution covers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from dml2onnx import catalog
from dml2onnx.catalog import Condition, ConditionOp, Constraint, FieldKind, FieldType, OperatorSchema, Rule
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.rules.constraints import condition_test
from dml2onnx.rules.shapes import rules_by_constraint
from dml2onnx.rules.shapes.rules import Formula, WordedRule
from dml2onnx.rules.shapes.sizes import problems_and_sizes
from dml2onnx.rules.subject import Subject, UnanswerableError

__all__ = ["Inferable", "Inferred", "infer_outputs", "inferable", "tied"]


class Inferred(NamedTuple):
    """The result of :func:`infer_outputs`."""

    outputs: dict[str, tuple[DataType, tuple[int, ...]]]
    """Data type and sizes of the fields for which both are known."""
    missing: tuple[str, ...]
    """Unknown properties of the other fields, such as ``"OutputTensor.Sizes"``, ``"OutputTensor.DataType"``."""
    findings: tuple[Diagnostic, ...]
    """Reasons for missing sizes that a formula reports, such as windows that do not fit."""


class Inferable(NamedTuple):
    """The output fields whose sizes or data types can be inferred for every valid descriptor."""

    sizes: frozenset[str]
    data_types: frozenset[str]


def infer_outputs(
    desc: OperatorDesc,
    sizes: Mapping[str, Sequence[int]],
    data_types: Mapping[str, DataType],
    wanted: Collection[str],
) -> Inferred:
    """Infers data types and sizes of the output fields ``wanted``, none of them an array of tensors.

    ``desc`` has all inputs and attributes, and ``None`` for outputs; ``sizes`` and ``data_types`` hold known properties
    of outputs. Nothing is checked: the result for an invalid descriptor follows from its first inputs, or is missing.
    """
    known = _Known(desc, sizes, data_types)
    outputs: dict[str, tuple[DataType, tuple[int, ...]]] = {}
    missing: list[str] = []
    for name in wanted:
        data_type, found = known.data_type(name), known.sizes(name)
        if data_type is not None and found is not None:
            outputs[name] = data_type, found
        if data_type is None:
            missing.append(f"{name}.DataType")
        if found is None:
            missing.append(f"{name}.Sizes")
    return Inferred(outputs, tuple(missing), tuple(dict.fromkeys(known.findings)))


@cache
def inferable(schema: OperatorSchema) -> Inferable:
    """The fields that :func:`infer_outputs` can infer, as far as the catalogue determines it."""
    outputs = [field.name for field in schema.output_fields if field.type is FieldType.TENSOR]
    cases = [_Case(schema, choice) for choice in _choices(schema)]
    return Inferable(
        frozenset(name for name in outputs if all(case.has_sizes(name) for case in cases)),
        frozenset(name for name in outputs if all(case.has_data_type(name) for case in cases)),
    )


@cache
def tied(schema: OperatorSchema, rule: Rule, name: str) -> tuple[str, ...]:
    """The fields that constraints without a condition tie to ``name``: itself first, then the nearest."""
    return tuple(_tied(schema, rule, name, lambda _: False))


# --- The catalogue --------------------------------------------------------------------------------------------------


def _tied(schema: OperatorSchema, rule: Rule, name: str, holds: Callable[[Condition], bool]) -> list[str]:
    """The fields that constraints of this kind tie to ``name``: itself first, then the nearest."""
    found = [name]
    for field in found:  # the loop appends to it
        for constraint in schema.constraints:
            if constraint.rule is rule and field in constraint.tensors and _applies(constraint, holds):
                found.extend(other for other in constraint.tensors if other not in found)
    return found


def _applies(constraint: Constraint, holds: Callable[[Condition], bool]) -> bool:
    """Whether the constraint applies at all feature levels and its condition, if any, holds."""
    if constraint.until_level is not None or constraint.from_level is not None:
        return False
    return constraint.when is None or holds(constraint.when)


def _worded(schema: OperatorSchema, holds: Callable[[Condition], bool]) -> Iterator[WordedRule]:
    rules = rules_by_constraint()
    for constraint in schema.constraints:
        if constraint.id in rules and _applies(constraint, holds):
            yield rules[constraint.id]


def _is_single(schema: OperatorSchema, name: str) -> bool:
    """Whether a tensor has one element."""
    return any(
        constraint.rule is Rule.ELEMENT_COUNT and constraint.tensor == name and constraint.min == constraint.max == 1
        for constraint in schema.constraints
    )


def _type_attribute(schema: OperatorSchema, name: str) -> str | None:
    """The attribute that holds the data type of a tensor."""
    for constraint in schema.constraints:
        if constraint.rule is Rule.EQUAL and constraint.right == f"{name}.DataType" and constraint.when is None:
            field = schema.field(constraint.left or "")
            if field is not None and field.kind is FieldKind.ATTRIBUTE:
                return field.name
    return None


def _only_type(schema: OperatorSchema, name: str, function: str | None) -> DataType | None:
    """The single data type that all support tables (of ``function``, if they differ) allow for a tensor."""
    tables = [row.tensors for row in schema.support if not row.functions or function in row.functions]
    common = [table[name].data_types for table in tables if name in table]
    shared = frozenset.intersection(*common) if common else frozenset()
    return DataType[next(iter(shared))] if len(shared) == 1 else None


_FUNCTION = "Function"
"""The field that selects a support table of REDUCE."""


# --- A descriptor ---------------------------------------------------------------------------------------------------


class _Known:
    """A descriptor without outputs, and the properties of outputs that the caller knows."""

    def __init__(
        self, desc: OperatorDesc, sizes: Mapping[str, Sequence[int]], data_types: Mapping[str, DataType]
    ) -> None:
        self.schema = desc.schema
        self.subject = Subject(desc)
        self.stated_sizes = sizes
        self.stated_types = data_types
        self.findings: list[Diagnostic] = []

    def _holds(self, condition: Condition) -> bool:
        try:
            return condition_test(condition)(self.subject)
        except UnanswerableError:
            return False

    def _first(self, name: str) -> TensorDesc | None:
        """The tensor of a field, or the first of its array."""
        try:
            return next(iter(self.subject.tensors(name)), None)
        except UnanswerableError:
            return None

    def sizes(self, name: str) -> tuple[int, ...] | None:
        for other in _tied(self.schema, Rule.SAME_SIZES, name, self._holds):
            tensor = self._first(other)
            if other in self.stated_sizes:
                return tuple(self.stated_sizes[other])
            found = tensor.sizes if tensor is not None else self._computed(other)
            if found is not None:
                return found
        return None

    def _computed(self, name: str) -> tuple[int, ...] | None:
        if _is_single(self.schema, name):
            return (1,) * self._rank_of_single(name)
        for rule in _worded(self.schema, self._holds):
            formula = rule.formulas.get(name)
            if formula is None:
                continue
            try:
                rank = self._rank_like(formula)
                problems, sizes = problems_and_sizes(formula.sizes(self.subject, rank))
            except UnanswerableError:
                continue
            self.findings.extend(problems)
            if sizes is not None:
                return sizes
        return None

    def _rank_like(self, formula: Formula) -> int:
        """The dimension count of a tensor without a description."""
        stated = (tensor for name in formula.like if (tensor := self._first(name)) is not None)
        like = next(stated, None)
        if like is not None:
            return like.rank
        return self._first_rank() if formula.rank is None else formula.rank

    def _first_rank(self) -> int:
        for field in self.schema.input_fields:
            tensor = self._first(field.name)
            if tensor is not None:
                return tensor.rank
        raise UnanswerableError

    def _rank_of_single(self, name: str) -> int:
        tied = _tied(self.schema, Rule.SAME_DIMENSION_COUNT, name, self._holds)
        return next((tensor.rank for other in tied if (tensor := self._first(other)) is not None), 1)

    def data_type(self, name: str) -> DataType | None:
        for other in _tied(self.schema, Rule.SAME_DATA_TYPE, name, self._holds):
            tensor = self._first(other)
            if other in self.stated_types:
                return self.stated_types[other]
            found = tensor.data_type if tensor is not None else self._named_type(other)
            if found is not None:
                return found
        return _only_type(self.schema, name, self._function())

    def _named_type(self, name: str) -> DataType | None:
        try:
            attribute = _type_attribute(self.schema, name)
            if attribute is not None:
                return DataType.__members__.get(self.subject.text(attribute))
            for rule in _worded(self.schema, self._holds):
                if name in rule.data_types:
                    array, position = rule.data_types[name]
                    tensors = self.subject.tensors(array)
                    return tensors[position].data_type if position < len(tensors) else None
        except UnanswerableError:
            pass
        return None

    def _function(self) -> str | None:
        try:
            return self.subject.text(_FUNCTION) if _FUNCTION in self.subject.index else None
        except UnanswerableError:
            return None


# --- All descriptors ------------------------------------------------------------------------------------------------


def _choices(schema: OperatorSchema) -> Iterator[dict[str, str]]:
    """All combinations of values of the enumerations on which constraints depend."""
    subjects = {constraint.when.subject for constraint in schema.constraints if constraint.when is not None}
    if any(row.functions for row in schema.support):
        subjects.add(_FUNCTION)
    fields = [field for field in schema.attribute_fields if field.name in subjects and field.enum is not None]
    values = [list(catalog.enum_schema(field.enum).values) for field in fields if field.enum is not None]
    for chosen in product(*values):
        yield {field.name: value for field, value in zip(fields, chosen, strict=True)}


class _Case:
    """All valid descriptors of an operator with the same values of some enumerations."""

    def __init__(self, schema: OperatorSchema, choice: Mapping[str, str]) -> None:
        self.schema = schema
        self.choice = choice

    def _holds(self, condition: Condition) -> bool:
        value = self.choice.get(condition.subject)
        if condition.op is ConditionOp.NOT_IN:
            return value is not None and value not in condition.values
        return value in condition.values

    def _is_there(self, name: str) -> bool:
        field = self.schema.fields_by_name[name]
        return field.kind is FieldKind.INPUT_TENSOR and not field.optional

    def has_sizes(self, name: str) -> bool:
        return any(
            self._is_there(other) or self._is_computed(other)
            for other in _tied(self.schema, Rule.SAME_SIZES, name, self._holds)
        )

    def _is_computed(self, name: str) -> bool:
        return _is_single(self.schema, name) or any(
            name in rule.formulas and rule.formulas[name].always for rule in _worded(self.schema, self._holds)
        )

    def has_data_type(self, name: str) -> bool:
        tied = _tied(self.schema, Rule.SAME_DATA_TYPE, name, self._holds)
        return (
            any(self._is_there(other) or self._is_named(other) for other in tied)
            or _only_type(self.schema, name, self.choice.get(_FUNCTION)) is not None
            or self._has_one_of(tied)
        )

    def _is_named(self, name: str) -> bool:
        return _type_attribute(self.schema, name) is not None or any(
            name in rule.data_types and rule.data_types[name][1] == 0 and self._is_there(rule.data_types[name][0])
            for rule in _worded(self.schema, self._holds)
        )

    def _has_one_of(self, names: Collection[str]) -> bool:
        """Whether at least one of these optional fields is always present."""
        return any(
            constraint.rule in (Rule.EXACTLY_ONE_OF, Rule.AT_LEAST_ONE_OF)
            and set(constraint.tensors) <= set(names)
            and constraint.when is None
            and all(self.schema.fields_by_name[name].kind is FieldKind.INPUT_TENSOR for name in constraint.tensors)
            for constraint in self.schema.constraints
        )
