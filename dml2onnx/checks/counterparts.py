"""Operators that accept the fields of an invalid one, such as its inverse: SPACE_TO_DEPTH for DEPTH_TO_SPACE."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.diagnostics import Diagnostic

_GROUPS = re.compile(r"^(ELEMENT_WISE|ACTIVATION)_|_(TO|LINEAR)(?=_|$)|\d+$")
"""Parts of operator names that do not say what the operator does."""


def counterparts(desc: OperatorDesc, judge: Callable[[OperatorDesc], tuple[Diagnostic, ...]]) -> list[str]:
    """Returns the operators for which the same fields are valid."""
    return [schema.short_name for schema in _alike(desc.schema) if not judge(OperatorDesc(schema, desc.values))]


@cache
def _alike(schema: OperatorSchema) -> tuple[OperatorSchema, ...]:
    """The operators with the same fields whose names have a word in common."""
    words = [word for word in _GROUPS.sub("", schema.short_name).split("_") if len(word) > 3]
    words += [word[2:] for word in words if word.startswith(("DE", "UN"))]
    names = [name for name in catalog.operator_names() if name != schema.name and any(word in name for word in words)]
    candidates = map(catalog.operator, names)
    return tuple(other for other in candidates if _signature(other) == _signature(schema))


def _signature(schema: OperatorSchema) -> list[tuple[object, ...]]:
    return [(field.name, field.type, field.kind, field.enum) for field in schema.fields]
