"""Checks the support tables of a feature level: operators, data types, dimension counts, enumerators, optional tensors.

``since`` of a finding is the first later level that lifts it, or empty.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.catalog import FeatureLevel, FieldType, OperatorSchema, Rule, TensorSupport
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Diagnostic
from dml2onnx.ir.tensor import DataType
from dml2onnx.rules.findings import accepting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.rules.findings import Check
    from dml2onnx.rules.subject import Subject

    Table = Mapping[str, TensorSupport]

_DATA_TYPES = {data_type.name: data_type for data_type in DataType}


OF_ANY_TYPE = "it computes with elements of this type as with those of the listed ones"
ONLY_CREATED = "it creates the operator, and then refuses to compile it"
"""What DirectML does with data types that its documentation does not list."""


def support_checks(schema: OperatorSchema, level: FeatureLevel) -> list[Check]:
    """Returns the checks of an operator at a level."""
    checks: list[Check] = []
    if level < schema.introduced:
        checks.append(_too_new(schema, level))
    checks.append(_tensors(schema, level))
    checks.extend(value_level_checks(schema, level))
    for constraint in schema.constraints:
        if constraint.rule is Rule.OPTIONAL_FROM:
            assert constraint.field is not None
            assert constraint.level is not None
            if level < constraint.level:
                checks.append(_not_yet_optional(constraint.field, level, constraint.level))
    return checks


def value_level_checks(schema: OperatorSchema, level: FeatureLevel) -> list[Check]:
    """Returns the checks for enumerators that are newer than the level."""
    checks: list[Check] = []
    for i, field in enumerate(schema.fields):
        if field.type is not FieldType.ENUM or field.enum is None:
            continue
        later = {value.name: value.introduced for value in catalog.enum_schema(field.enum).values.values()}
        for constraint in schema.constraints:
            if constraint.rule is Rule.VALUE_LEVEL and constraint.attribute == field.name:
                assert constraint.value is not None
                assert constraint.level is not None
                later[constraint.value] = constraint.level
        # Values that an operator had from the beginning need no higher level than the operator.
        later = {name: since for name, since in later.items() if since > max(level, schema.introduced)}
        if later:
            checks.append(_newer_values(i, field.name, later, level))
    return checks


def _needs(level: FeatureLevel, since: FeatureLevel) -> str:
    return f"needs feature level {since}; the target is {level}."


def _too_new(schema: OperatorSchema, level: FeatureLevel) -> Check:
    message = f"{schema.short_name} {_needs(level, schema.introduced)}"
    finding = codes.OPERATOR_LEVEL.of("", message, schema.introduced, level, str(schema.introduced))
    return lambda subject: (finding,)


def _newer_values(position: int, name: str, later: dict[str, FeatureLevel], level: FeatureLevel) -> Check:
    def check(subject: Subject) -> Iterator[Diagnostic]:
        value = subject.values[position]
        if isinstance(value, str) and value in later:
            since = later[value]
            yield codes.VALUE_LEVEL.of(name, f"{value} {_needs(level, since)}", since, value, str(since))

    return check


def _not_yet_optional(name: str, level: FeatureLevel, since: FeatureLevel) -> Check:
    def check(subject: Subject) -> Iterator[Diagnostic]:
        if subject.value(name) is None:
            message = f"Leaving out {name} {_needs(level, since)}"
            yield codes.OPTIONAL_LEVEL.of(name, message, "a tensor", "null", str(since))

    return check


# --- Support tables -------------------------------------------------------------------------------------------------


def _table(schema: OperatorSchema, level: FeatureLevel, function: str | None) -> Table:
    """The support table of a level, or of one function where each has its own; empty before the operator exists."""
    for row in schema.rows_at(level):
        if not row.functions or function in row.functions:
            return row.tensors
    return {}


def _function_field(schema: OperatorSchema) -> str | None:
    """The field that selects the table: REDUCE has one for each group of functions."""
    return "Function" if any(row.functions for row in schema.support) else None


def _tensors(schema: OperatorSchema, level: FeatureLevel) -> Check:
    effective = max(level, schema.introduced)
    chooser = _function_field(schema)

    @cache
    def limits(function: str | None) -> list[tuple[str, frozenset[DataType], int, int]]:
        table = _table(schema, effective, function)
        return [(name, _accepted(table[name]), *table[name].dimension_counts) for name in table]

    def check(subject: Subject) -> Iterator[Diagnostic]:
        function = None if chooser is None else subject.text(chooser)
        for name, data_types, fewest, most in limits(function):
            for path, tensor in subject.readable((name,)):
                if tensor.data_type not in data_types or not fewest <= len(tensor.sizes) <= most:
                    yield from _unsupported(schema, function, name, path, tensor, level)

    return check


def _accepted(support: TensorSupport) -> frozenset[DataType]:
    return frozenset(data_type for name, data_type in _DATA_TYPES.items() if name in support.data_types)


def _listed(support: TensorSupport) -> str:
    """The data types of a table, in the order of the enumeration."""
    return ", ".join(name for name in _DATA_TYPES if name in support.data_types)


def _unsupported(
    schema: OperatorSchema, function: str | None, field: str, path: str, tensor: TensorDesc, level: FeatureLevel
) -> Iterator[Diagnostic]:
    effective = max(level, schema.introduced)

    def first(accepts: Callable[[TensorSupport], bool]) -> tuple[FeatureLevel | None, TensorSupport]:
        """The first level that accepts, or ``None``, and the newest table that was tried."""
        table = _table(schema, effective, function)[field]
        if accepts(table):
            return effective, table
        for later in catalog.feature_levels():
            if later > effective:
                table = _table(schema, later, function)[field]
                if accepts(table):
                    return later, table
        return None, table

    name = tensor.data_type.name
    since, table = first(lambda table: tensor.data_type in _accepted(table))
    if since is None:
        expected = _listed(table)
        message = f"{name} is supported at no feature level; {path} may be {expected}."
        found = codes.DATA_TYPE_UNSUPPORTED.of(f"{path}/DataType", message, expected, name)
        if name in schema.accepted_data_types:
            found = accepting(found, OF_ANY_TYPE, compiled=True)
        elif name in schema.only_created_data_types:
            found = accepting(found, ONLY_CREATED)
        yield found
    elif since > effective:
        expected = _listed(_table(schema, effective, function)[field])
        message = f"{name} {_needs(level, since)}"
        yield codes.DATA_TYPE_LEVEL.of(f"{path}/DataType", message, expected, name, str(since))

    rank = tensor.rank
    since, table = first(lambda table: table.dimension_counts[0] <= rank <= table.dimension_counts[1])
    fewest, most = table.dimension_counts
    expected = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    if since is None:
        message = f"DimensionCount {rank} is supported at no feature level; {path} may have {expected}."
        yield codes.DIMENSION_COUNT_UNSUPPORTED.of(f"{path}/Sizes", message, expected, rank)
    elif since > effective:
        now = _table(schema, effective, function)[field].dimension_counts
        expected = f"{now[0]}" if now[0] == now[1] else f"{now[0]} to {now[1]}"
        message = f"DimensionCount {rank} {_needs(level, since)[:-1]}, which has {expected}."
        yield codes.DIMENSION_COUNT_LEVEL.of(f"{path}/Sizes", message, expected, rank, str(since))
