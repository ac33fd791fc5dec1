"""Remedies for data types, and others that take more than another value of a field."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.catalog import enum_schema
from dml2onnx.codes import checking as codes
from dml2onnx.diagnostics import Edit, Remedy, quote
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.rules.findings import pointer

if TYPE_CHECKING:
    from dml2onnx.checks.consequences import AnyJudge
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Node

MOST_TYPES = 2
"""The most other data types that are proposed for one tensor."""
OF_TYPES = frozenset(
    {codes.DIFFERENT_DATA_TYPES, codes.WRONG_DATA_TYPE, codes.ACCEPTED_TYPE, codes.DATA_TYPE_UNSUPPORTED}
)
_WITH_LEVELS = OF_TYPES | {codes.DATA_TYPE_LEVEL}


def worded(desc: OperatorDesc, item: Diagnostic, *, in_python: bool) -> tuple[Remedy, ...]:
    """Returns remedies that are more than one edit."""
    schema = desc.schema
    if item.code is codes.DIFFERENT_DATA_TYPES:
        if not in_python and item.field in {field.name for field in schema.output_fields}:
            return (Remedy(f"{item.field} of data type {item.expected}, and a CAST node makes {item.found} of it"),)
        how = f"cast(..., {quote(str(item.expected))})" if in_python else f"a CAST node makes {item.expected} of it"
        return (Remedy(f"{how}, or weights are stored as {item.expected}"),)
    inputs = [field.name for field in schema.input_fields]
    if item.code in (codes.DATA_TYPE_UNSUPPORTED, codes.DATA_TYPE_LEVEL) and item.field in inputs:
        allowed = str(item.expected).split(", ")
        present = [other.data_type.name for name in inputs if isinstance(other := desc.get(name), TensorDesc)]
        wanted = next((name for name in present if name in allowed), "")
        if not wanted and item.code is codes.DATA_TYPE_LEVEL:  # the level may be the mistake
            return ()
        wanted = wanted or allowed[0]
        also = "".join(f", and of {name} as well" for name in item.alike if name in inputs)
        of_it = f"cast(..., {quote(wanted)})" if in_python else f"a CAST node makes {wanted} of it"
        return (Remedy(of_it + also),)
    if item.code is codes.NOT_EQUAL and item.field == _ACTIVATIONS:
        return _usual_activations(desc, item)
    if item.code is codes.NOT_FUSABLE:
        return (Remedy(f"{item.found} as a separate node after this one"),)
    return ()


_ACTIVATIONS = "ActivationDescs"
_USUAL = {"LSTM": ("SIGMOID", "TANH", "TANH"), "GRU": ("SIGMOID", "TANH"), "RNN": ("TANH",)}
"""The usual activations of recurrent operators."""


def _usual_activations(desc: OperatorDesc, item: Diagnostic) -> tuple[Remedy, ...]:
    """The required number of activations: the stated ones for both directions, or the usual ones."""
    usual, stated = _USUAL.get(desc.type, ()), desc.get(item.field)
    wanted = int(item.expected) if item.expected.isdigit() else 0
    if not usual or not isinstance(stated, tuple) or wanted % len(usual):
        return ()
    names = [f"ACTIVATION_{name}" for name in usual] * (wanted // len(usual))
    if len(stated) == len(usual):
        names = [other.type for other in stated if isinstance(other, OperatorDesc)] * (wanted // len(usual))
    return (Remedy(f"{item.field} {', '.join(names)}"),)


def in_another_place(desc: OperatorDesc, item: Diagnostic, judge: AnyJudge) -> tuple[Remedy, ...]:
    """Returns an absent optional input that accepts the tensor, with a mode of NONE if the rules need it."""
    stated = desc.find(item.field)
    field = desc.schema.field(item.field)
    if not isinstance(stated, TensorDesc) or field is None or not field.optional:
        return ()
    enums = [(other.name, other.enum) for other in desc.schema.fields if other.enum is not None]
    choices = [name for name, enum in enums if "NONE" in enum_schema(enum).values and desc.get(name) is not None]
    known = {other.key for other in judge(desc) if other.field != item.field}
    made = []
    for other in desc.schema.input_fields:
        if not other.optional or desc.get(other.name) is not None or other.name == item.field:
            continue
        moved = desc.with_values({item.field: None, other.name: stated})
        for name in ("", *choices):
            tried = moved.with_values({name: "NONE"}) if name else moved
            if {new.key for new in judge(tried)} <= known:
                words = f", with {name} NONE" if name else ""
                made.append(Remedy(f"it as {other.name}{words}, if that is what it is"))
                break
    return tuple(made)


def of_other_types(node: Node, item: Diagnostic, judge: AnyJudge, *, in_python: bool) -> tuple[Remedy, ...]:
    """Returns changes of a data type that leave no finding about types, of the tensor or of those that it mismatches.

    Types of other tensors come first, then narrower types.
    """
    desc, schema = node.operator, node.operator.schema
    outputs = {field.name for field in schema.output_fields}
    is_even = item.code is codes.DIFFERENT_DATA_TYPES and not in_python
    against = [path.partition("/")[0] for path in item.related] if is_even else []
    present = [value.data_type for _, value in desc.items() if isinstance(value, TensorDesc)]
    made: list[Remedy] = []
    for name in dict.fromkeys((item.field, *against)):
        old, found = desc.find(name), 0
        kinds = [*present, *sorted(DataType, key=lambda kind: kind.bits)] if name == item.field else present
        if is_even and name == item.field:  # it has a remedy already
            continue
        for kind in dict.fromkeys(kinds):
            if not isinstance(old, TensorDesc) or kind is old.data_type or found == MOST_TYPES:
                continue
            left = judge(desc.with_values({name: replace(old, data_type=kind, total_size=0)}))
            if any(other.is_error and other.code in _WITH_LEVELS for other in left):
                continue
            found += 1
            place = f"{pointer(node.source, name)}/DataType"
            if name in outputs:
                edits = (Edit(place, kind.name),) if name == item.field else ()
                made.append(Remedy(f"{name} of data type {kind.name}", edits))
            else:
                cast = f"cast(..., {quote(kind.name)})" if in_python else f"a CAST node makes {kind.name} of"
                made.append(Remedy(cast if in_python else f"{cast} {'it' if name == item.field else name}"))
    return tuple(made)
