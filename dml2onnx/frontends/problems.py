"""Messages about operator descriptors: names, kinds of values, and places."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType, OperatorSchema, familiar
from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import (
    Diagnostic,
    Edit,
    Member,
    Remedy,
    Steps,
    placed,
    plural,
    pointer_to,
    shortened,
    unescape,
    with_code,
)
from dml2onnx.frontends.dialects import OPERATOR_PREFIX, operators_by_name
from dml2onnx.frontends.findings import Findings, instead, last_member, listing, pointer, quote, show, suggestion
from dml2onnx.frontends.members import Json
from dml2onnx.frontends.tensors import wrong_kind
from dml2onnx.ir.tensor import MAX_DIMENSIONS

MISSING = object()
"""The value of a missing member."""
_ACTIVATION_PREFIX = "ACTIVATION_"
_UNKNOWN = (codes.UNKNOWN_FIELD, codes.IGNORED_FIELD)
_ARRAYS = (FieldType.UINT_ARRAY, FieldType.INT_ARRAY, FieldType.FLOAT_ARRAY)
_STATED = ("DataType", "Sizes", "Strides")
_TENSOR_MEMBERS = MappingProxyType(
    dict.fromkeys(("datatype", "dtype", "outputdatatype", "outputtype", "targetdatatype", "to"), "DataType")
    | {"shape": "Sizes"}
)
"""Maps names of other libraries, in lower case without underscores, to members of tensor descriptors."""
_BOTH_ENDS = "pads"
"""ONNX's attribute with the paddings of all starts, then those of all ends."""


class OperatorForm(NamedTuple):
    """The parts of an operator in JSON: its name, its fields, and their paths."""

    type: object
    type_path: Steps
    fields: object
    fields_path: Steps
    extra: tuple[str, ...]
    """Members of the same object that are not fields, if the object itself holds the fields."""


def operator_form(raw: Json) -> OperatorForm:
    """Splits ``Type`` and ``Desc``, ``type`` and ``desc``, or a name with the fields beside it.

    Capitalized members win; without a ``Desc`` the object itself holds the fields.
    """
    name = "Type" if "Type" in raw else "type"
    for inner in ("Desc", "desc"):
        if inner in raw:
            return OperatorForm(raw.get(name, MISSING), (name,), raw[inner], (inner,), ())
    return OperatorForm(raw.get(name, MISSING), (name,), raw, (), ("Type", "type"))


def unknown_operator(form: OperatorForm, extra: Collection[str] = ()) -> Diagnostic:
    """Reports a name that is not an operator; ``extra`` are the members next to it."""
    if form.type is MISSING:
        near = (str(form.type_path[-1]), extra)
        return codes.MISSING_FIELD.of(form.type_path, "is missing", "the name of an operator", guess=near)
    names = tuple(name.removeprefix(OPERATOR_PREFIX) for name in catalog.operator_names())
    message = f"is {show(form.type)}, which is no DirectML operator"
    guess = None
    if isinstance(form.type, str):
        if familiar.is_layout(form.type):
            message += "; the Sizes and Strides of tensors do that"
        else:
            short = form.type.removeprefix(OPERATOR_PREFIX)
            guess = (familiar.meant_operator(short) or short, names)
    return codes.UNKNOWN_OPERATOR.of(form.type_path, message, "the name of an operator", show(form.type), guess=guess)


def unknown_activation(form: OperatorForm, host: OperatorSchema, extra: Collection[str]) -> Diagnostic:
    """Reports a name that is not an activation, often one that lacks its prefix."""
    problem = unknown_operator(form, extra)
    if form.type is MISSING:
        return problem
    fusable = [catalog.operator(name).short_name for name in catalog.fused_activations(host.name)]
    activations = fusable or [
        name.removeprefix(OPERATOR_PREFIX)
        for name in catalog.operator_names()
        if name.startswith(OPERATOR_PREFIX + _ACTIVATION_PREFIX)
    ]
    guess = problem.guess
    if guess is not None and isinstance(form.type, str):
        full = _ACTIVATION_PREFIX + form.type.removeprefix(OPERATOR_PREFIX).upper()
        guess = (full, activations) if full in activations else (guess[0], (*activations, *guess[1]))
    return replace(problem, expected=", ".join(activations), guess=guess)


def activation_as_text(raw: object) -> Diagnostic:
    """Reports an activation that is not an object, often a plain name."""
    problem = wrong_kind("an operator descriptor (an object)", raw)
    if isinstance(raw, str):
        name = raw.removeprefix(OPERATOR_PREFIX).upper()
        known = next((item for item in (name, _ACTIVATION_PREFIX + name) if item in operators_by_name()), None)
        if known is not None:
            fields = [item for item in catalog.operator(operators_by_name()[known]).fields if not item.is_tensor]
            members = "".join(f', "{item.name}": ...' for item in fields if not item.optional)
            return replace(problem, message=f'{problem.message}; write {{"type": "{known}"{members}}}')
    return problem


def missing_fields(form: OperatorForm, schema: OperatorSchema) -> Diagnostic | None:
    """Reports a missing ``Desc`` once, if no field stands in its place either."""
    if form.fields_path or type(form.fields) is not dict or not schema.index.keys().isdisjoint(form.fields):
        return None
    name = "desc" if form.type_path == ("type",) else "Desc"
    others = [other for other in form.fields if other not in form.extra]
    expected = f"an object with the fields of {schema.short_name}"
    return codes.MISSING_FIELD.of((name,), "is missing", expected, guess=(name, others))


def other_operator(schema: OperatorSchema, names: Collection[str], *type_path: str | int) -> Diagnostic | None:
    """Reports the name of an operator if the fields are those of another one."""
    unknown = [name for name in names if name not in schema.index]
    missing = [name for name in _required(schema) if name not in names]
    if not unknown or len(unknown) + len(missing) < 2:
        return None
    fitting = [
        other.short_name
        for other in map(catalog.operator, catalog.operator_names())
        if other.index.keys() >= set(names) and _required(other) <= set(names)
    ]
    if not fitting:
        return None
    nearest = get_close_matches(schema.short_name, fitting, n=1, cutoff=0)[0]
    which = nearest if len(fitting) == 1 else f"{nearest} and {plural(len(fitting) - 1, 'other operator')}"
    message = f"is {schema.short_name}, but the fields are those of {which}"
    return codes.OTHER_OPERATOR.of(type_path, message, listing(fitting), schema.short_name)


@cache
def _required(schema: OperatorSchema) -> frozenset[str]:
    """The fields that every dialect requires, which excludes the counts of arrays."""
    counts = {item.count for item in schema.fields}
    return frozenset(item.name for item in schema.fields if not item.optional and item.name not in counts)


_FORMS = MappingProxyType(
    {
        FieldType.TENSOR: "a tensor descriptor",
        FieldType.TENSOR_ARRAY: "an array of tensor descriptors",
        FieldType.UINT: "a whole number",
        FieldType.INT: "a whole number",
        FieldType.FLOAT: "a number",
        FieldType.BOOL: "true or false",
        FieldType.UINT_ARRAY: "an array of whole numbers",
        FieldType.INT_ARRAY: "an array of whole numbers",
        FieldType.FLOAT_ARRAY: "an array of numbers",
        FieldType.SCALE_BIAS: "an object with Scale and Bias",
        FieldType.SIZE_2D: "an object with Width and Height",
        FieldType.SCALAR_UNION: "a number",
        FieldType.OPERATOR: "an operator descriptor",
        FieldType.OPERATOR_ARRAY: "an array of operator descriptors",
    }
)


def form_of(item: FieldSchema) -> str:
    """Describes the values of a field, for messages."""
    return listing(catalog.enum_schema(item.enum).values) if item.enum is not None else _FORMS[item.type]


def report(
    findings: Findings,
    problems: tuple[Diagnostic, ...] | list[Diagnostic],
    place: str,
    *,
    node: str = "",
    schema: OperatorSchema | None = None,
) -> None:
    """Adds problems, whose messages begin with the verb, as findings; ``place`` is the pointer of the descriptor."""
    missing = _single_missing_field(problems, schema)
    for problem in problems:
        where = pointer_to(place, problem.path)
        close = findings.closest(*problem.guess) if problem.guess else ()
        code, message = problem.code, problem.message
        is_unknown, field = code in _UNKNOWN, problem.field
        field_owner = schema if is_unknown and "/" not in problem.path else None
        if field_owner is not None:
            close = familiar.meant_fields(field, field_owner.index) or close
        is_guess = field_owner is not None and not close
        if is_guess:
            close = missing
        if field_owner is not None and not close:
            message += _version_hint(field_owner, field) if code is codes.UNKNOWN_FIELD else ""
            message += _tensor_hint(field_owner, field)
        if code is codes.IGNORED_FIELD and problem.guess and findings.is_likely_typo(*problem.guess):
            code = codes.UNKNOWN_FIELD
        if is_unknown:
            for name in close:
                findings.mark_misspelt(where.rpartition("/")[0] + pointer(name), code, last_member(problem.path))
        message = f"{_subject(problem.path, is_unknown=is_unknown)} {message}{suggestion(close)}"
        remedies = _remedies(problem, where, close, field_owner)
        if is_guess:
            remedies = tuple([replace(remedy, is_certain=False) for remedy in remedies])
        findings.add(
            placed(
                with_code(problem, code, message),
                where,
                node=node,
                operator=schema.short_name if schema else "",
                documentation=schema.doc if schema else "",
                remedies=remedies,
            )
        )


def _single_missing_field(problems: Sequence[Diagnostic], schema: OperatorSchema | None) -> tuple[str, ...]:
    """The only missing field, if there is a single unknown member whose value has the right type for it."""
    unknown = [item for item in problems if item.code in _UNKNOWN and "/" not in item.path]
    missing = [item for item in problems if item.code is codes.MISSING_FIELD and "/" not in item.path]
    if schema is None or len(unknown) != 1 or len(missing) != 1 or (field := schema.field(missing[0].field)) is None:
        return ()
    kind = type(unknown[0].contents)
    if field.type in (FieldType.FLOAT, FieldType.UINT, FieldType.INT):
        fits = kind is int or (kind is float and field.type is FieldType.FLOAT)
    else:
        fits = (kind is list and field.type in _ARRAYS) or (kind is str and field.type is FieldType.ENUM)
    return (field.name,) if fits else ()


def _version_hint(schema: OperatorSchema, field: str) -> str:
    """Names the version of the operator that has the field."""
    stem = schema.name.rstrip("0123456789")
    others = [name for name in catalog.operator_names() if name != schema.name and name.rstrip("0123456789") == stem]
    having = [other for other in map(catalog.operator, others) if field in other.index]
    if not having:
        return ""
    first = min(having, key=lambda other: other.introduced)
    return f"; {first.short_name} has it, from feature level {first.introduced} on"


def _tensor_hint(schema: OperatorSchema, field: str) -> str:
    """Points to tensor descriptors for a member of these, such as DataType."""
    name = _tensor_member(field)
    outputs = [item.name for item in schema.output_fields]
    it = "it" if name == field else name
    return f"; {it} is a member of tensor descriptors: write it in {listing(outputs)}" if name in _STATED else ""


def _tensor_member(name: str) -> str:
    """The member of tensor descriptors that a name is an alias of, or the name itself."""
    return _TENSOR_MEMBERS.get(name.replace("_", "").lower(), name)


def _remedies(
    problem: Diagnostic, place: str, close: Collection[str], schema: OperatorSchema | None
) -> tuple[Remedy, ...]:
    """The known replacements; ``schema`` is that of the operator with an unknown field, if any."""
    if problem.instead is not None:
        words = f"write {json.dumps(problem.instead)}"
        is_guess = problem.code is codes.COUNT_MISMATCH and isinstance(problem.instead, list)
        return (Remedy(words, (Edit(place, problem.instead),), is_certain=not is_guess),)
    if problem.code in _UNKNOWN:
        written = (
            ()
            if schema is None
            else _separate_activation(problem) or _converted_fields(problem, place, tuple(close), schema)
        )
        return written or instead(place, close, renamed=True)
    return () if problem.code in (codes.MISSING_FIELD, codes.OTHER_OPERATOR) else instead(place, close)


def _separate_activation(problem: Diagnostic) -> tuple[Remedy, ...]:
    """Suggests a node of its own for an activation that the operator cannot fuse."""
    kind = problem.contents.get("type", problem.contents.get("Type")) if isinstance(problem.contents, dict) else None
    if problem.field != "FusedActivation" or not isinstance(kind, str):
        return ()
    return (Remedy(f"{shortened(kind)} as a separate node after this one"),)


def _converted_fields(
    problem: Diagnostic, place: str, names: tuple[str, ...], schema: OperatorSchema
) -> tuple[Remedy, ...]:
    """Replaces an unknown field by the fields that it means, with its value converted to their form."""
    contents: Any = problem.contents
    name = last_member(problem.path)
    if not names and _tensor_member(name) == "DataType" and isinstance(contents, str):
        outputs = [item.name for item in schema.output_fields]
        return (Remedy(f'"{outputs[0]}": {{"DataType": {quote(contents)}}}'),) if len(outputs) == 1 else ()
    fields = [item for name in names if (item := schema.field(name)) is not None]
    are_arrays = bool(fields) and all(item.type in _ARRAYS for item in fields)
    values: list[Member]
    if len(names) == 1 and isinstance(contents, (int, float)) and not isinstance(contents, bool):
        # the length of an array that shares its count with others is unknown
        if not are_arrays or sum(other.count == fields[0].count for other in schema.fields) > 1:
            return ()
        values = [[contents]]
    elif len(fields) == 1 and fields[0].type in (FieldType.UINT, FieldType.INT) and isinstance(contents, list):
        if len(contents) != 1:
            return ()
        values = [contents[0]]
    elif are_arrays and len(names) == 2 and _are_few_numbers(contents):
        half = len(contents) // 2
        is_halved = name.lower() == _BOTH_ENDS and len(contents) % 2 == 0
        values = [contents[:half], contents[half:]] if is_halved else [contents, contents]
    else:
        return ()
    words = ", ".join(f'"{name}": {json.dumps(value)}' for name, value in zip(names, values, strict=True))
    edits = [Edit(place, names[0], renamed=True), Edit(place, values[0])]
    edits += [
        Edit(place.rpartition("/")[0] + pointer(name), value) for name, value in zip(names[1:], values[1:], strict=True)
    ]
    return (Remedy(words, tuple(edits), is_certain=True),)


def _are_few_numbers(contents: object) -> bool:
    """Whether this is an array of integers, at most one for each end of each dimension."""
    if not isinstance(contents, list) or len(contents) > 2 * MAX_DIMENSIONS:
        return False
    return all(type(item) is int for item in contents)


def _subject(path: str, *, is_unknown: bool) -> str:
    """Formats a path for messages: ``FusedActivation.Alpha``, ``InputTensors[1].Sizes``.

    An unknown member is not an index, even if its name is a number.
    """
    text = ""
    tokens = [unescape(token) for token in path.split("/")] if path else []
    for position, token in enumerate(tokens, 1):
        if token.isdigit() and not (is_unknown and position == len(tokens)):
            text += f"[{token}]"
        elif token not in ("Desc", "desc"):
            name = token if token.isidentifier() else quote(token)
            text += f".{name}" if text else name
    return text or "the descriptor"
