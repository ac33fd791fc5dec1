"""Operators with the fields of a wrong one that take what it does not: the way back, such as SPACE_TO_DEPTH."""

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
"""What names of many operators have, and says nothing of what they do."""


def counterparts(desc: OperatorDesc, judge: Callable[[OperatorDesc], tuple[Diagnostic, ...]]) -> list[str]:
    """The operators of which nothing would be wrong with the same fields."""
    made = [OperatorDesc(schema, desc.values) for schema in _alike(desc.schema)]
    return [other.type for other in made if not judge(other)]


@cache
def _alike(schema: OperatorSchema) -> tuple[OperatorSchema, ...]:
    """Operators with the same fields, of those whose names have a word in common."""
    words = [word for word in _GROUPS.sub("", schema.short_name).split("_") if len(word) > 3]
    words += [word[2:] for word in words if word.startswith(("DE", "UN"))]
    names = [name for name in catalog.operator_names() if name != schema.name and any(word in name for word in words)]
    fields = [(field.name, field.type, field.kind, field.enum) for field in schema.fields]
    others = map(catalog.operator, names)
    return tuple(
        other
        for other in others
        if [(field.name, field.type, field.kind, field.enum) for field in other.fields] == fields
    )
