"""What holds a node at its feature level, and an older operator that does the same where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dml2onnx import catalog
from dml2onnx.checks.operators import findings_of
from dml2onnx.diagnostics import Severity
from dml2onnx.ir.operator import OperatorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dml2onnx.catalog import FeatureLevel, OperatorSchema
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import FieldValue


class HeldBack(NamedTuple):
    """A node that a feature level does not have."""

    node: str
    operator: str
    needs: FeatureLevel
    """The first level that has it."""
    reason: str
    instead: str
    """An operator of that level which does the same with the same values of its fields, or ``""``."""


def held_back(graph: Graph, level: FeatureLevel) -> Iterator[HeldBack]:
    """The nodes of a graph that a level does not have as they are, for which a later level or another form would do."""
    for node in graph.nodes:
        errors = _errors(node.operator, level)
        if errors:
            older = older_form(node.operator, level)
            needs = next((later for later in catalog.feature_levels() if not _errors(node.operator, later)), None)
            if needs is not None:
                yield HeldBack(node.name, node.operator.type, needs, errors[0], older.type if older else "")


def older_form(desc: OperatorDesc, level: FeatureLevel) -> OperatorDesc | None:
    """The same operation by an earlier version of the operator that the level has, where the fields allow it.

    A field that the earlier version lacks has to be one that says nothing: absent, or dilations of 1.
    """
    for schema in _earlier(desc.schema):
        dropped = {field.name: value for field, value in desc.items() if field.name not in schema.index}
        if not all(_says_nothing(name, value) for name, value in dropped.items()):
            continue
        values: dict[str, FieldValue] = {field.name: value for field, value in desc.items()}
        older = OperatorDesc(schema, tuple(values.get(field.name) for field in schema.fields))
        if not _errors(older, level):
            return older
    return None


def _earlier(schema: OperatorSchema) -> list[OperatorSchema]:
    """Earlier versions of an operator, the latest first: MAX_POOLING1 and MAX_POOLING for MAX_POOLING2."""
    stem = schema.name.rstrip("0123456789")
    number = schema.name.removeprefix(stem)
    names = [stem + (str(version) if version else "") for version in reversed(range(int(number or 0)))]
    return [catalog.operator(name) for name in names if name in catalog.operator_names()]


def _says_nothing(name: str, value: FieldValue) -> bool:
    return value is None or (name == "Dilations" and isinstance(value, tuple) and set(value) == {1})


def _errors(desc: OperatorDesc, level: FeatureLevel) -> list[str]:
    return [item.message for item in findings_of(desc, level) if item.code.severity is Severity.ERROR]
