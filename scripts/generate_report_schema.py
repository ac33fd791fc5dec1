#!/usr/bin/env python3
"""Write and check the JSON Schemas of the output of ``--json`` and of a line in the journal of ``batch``.

    scripts/generate_report_schema.py            write ``schemas/report.schema.json`` and ``journal.schema.json``
    scripts/generate_report_schema.py --check    fail if a file is out of date

They are generated from the records in ``dml2onnx/report``: fields, types, defaults and docstrings.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import json
import sys
import types
import typing
from collections.abc import Collection, Mapping
from pathlib import Path

from _generated import ROOT, write_or_check

from dml2onnx import diagnostics
from dml2onnx.diagnostics import Code
from dml2onnx.report import (
    answers,
    batched,
    checked,
    comparison,
    form,
    lookups,
    machine,
    measured,
    operators,
    records,
    sizes,
    verified,
)

REPORT = ROOT / "schemas" / "report.schema.json"
JOURNAL = ROOT / "schemas" / "journal.schema.json"
GENERATOR = "scripts/generate_report_schema.py"

MODULES = (
    diagnostics,
    form,
    checked,
    answers,
    measured,
    lookups,
    operators,
    machine,
    verified,
    records,
    comparison,
    batched,
    sizes,
)
ANSWERS: tuple[type[form.Head], ...] = (
    checked.CheckAnswer,
    checked.CheckAllAnswer,
    answers.CompileAnswer,
    answers.RunAnswer,
    verified.VerifyAnswer,
    answers.ExplainAnswer,
    lookups.CodeAnswer,
    lookups.ResultAnswer,
    operators.OperatorAnswer,
    records.Report,
    comparison.ComparisonAnswer,
    answers.ConvertAnswer,
    answers.ReduceAnswer,
    measured.PerfAnswer,
    answers.RecorderAnswer,
    lookups.OperatorsAnswer,
    machine.DoctorAnswer,
    batched.BatchAnswer,
    sizes.SizesAnswer,
    form.Answer,
    form.Failure,
)
"""All answers, with the general ones last: findings only, and a failure."""
NAMES = {name: item for module in MODULES for name, item in vars(module).items()} | {
    "Mapping": Mapping,
    "Collection": Collection,
    "Json": object,
    "Member": object,
    "Code": Code,
}

Schema = dict[str, object]
SIMPLE: dict[object, Schema] = {
    object: {},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    Code: {"type": "string"},
    types.NoneType: {"type": "null"},
}


def docstrings() -> dict[tuple[str, str], str]:
    """The docstring of each field, by class and field."""
    found: dict[tuple[str, str], str] = {}
    for item in (item for module in MODULES for item in ast.parse(_source(module)).body):
        if not isinstance(item, ast.ClassDef):
            continue
        for entry, text in zip(item.body, item.body[1:], strict=False):
            is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name) and is_text:
                found[item.name, entry.target.id] = str(text.value.value)  # type: ignore[attr-defined]
    return found


def _source(module: types.ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text(encoding="utf-8")


class _Writer:
    def __init__(self) -> None:
        self._texts = docstrings()
        self.definitions: dict[str, Schema] = {}

    def record(self, kind: type) -> Schema:
        """The schema of a record: an object with a member for each field; members with defaults are optional."""
        hints = typing.get_type_hints(kind, NAMES)
        properties: dict[str, Schema] = {}
        required = []
        for item in filter(form.is_reported, dataclasses.fields(kind)):
            is_always = form.is_always_written(item)
            # fields that are None are not written
            if "forms" in item.metadata:
                member: Schema = {"anyOf": [self.reference(form) for form in item.metadata["forms"]]}
            else:
                member = self.schema_of(hints[item.name], optional=item.default is None)
            text = next(
                (self._texts[known] for base in kind.__mro__ if (known := (base.__name__, item.name)) in self._texts),
                None,
            )
            properties[item.name] = member if text is None else {"description": text, **member}
            if is_always:
                required.append(item.name)
            elif item.default is not None:
                default = list(item.default) if isinstance(item.default, tuple) else item.default
                properties[item.name] = {**properties[item.name], "default": default}
        return {
            "description": kind.__doc__,
            "type": "object",
            "additionalProperties": False,
            "required": required,
            "properties": properties,
        }

    def schema_of(self, hint: object, *, optional: bool = False) -> Schema:
        if hint in SIMPLE:
            return SIMPLE[hint]
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (types.UnionType, typing.Union):
            chosen = [item for item in arguments if not (optional and item is types.NoneType)]
            schemas = [self.schema_of(item) for item in chosen]
            return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin is tuple:
            return {"type": "array", "items": self.schema_of(arguments[0])}
        if origin is Mapping:
            return {"type": "object", "additionalProperties": self.schema_of(arguments[1])}
        assert isinstance(hint, type), hint
        if issubclass(hint, enum.StrEnum):
            return {"enum": [item.value for item in hint]}
        assert dataclasses.is_dataclass(hint), hint
        return self.reference(hint)

    def reference(self, kind: type) -> Schema:
        """A reference to the definition of a record, which is added if it is new."""
        if kind.__name__ not in self.definitions:
            self.definitions[kind.__name__] = {}
            self.definitions[kind.__name__] = self.record(kind)
        return {"$ref": f"#/$defs/{kind.__name__}"}


def report_text() -> str:
    writer = _Writer()
    forms = [writer.reference(kind) for kind in ANSWERS]
    for kind in ANSWERS:
        properties = writer.definitions[kind.__name__]["properties"]
        assert isinstance(properties, dict)
        properties["report"] = {**properties["report"], "const": form.VERSION}
    return _document(
        "Output of dml2onnx commands with --json",
        form.VERSION_HISTORY,
        ["report", "producer", "command"],
        forms,
        writer,
    )


def journal_text() -> str:
    writer = _Writer()
    forms = [writer.reference(batched.Work), writer.reference(batched.Record)]
    properties = writer.definitions[batched.Work.__name__]["properties"]
    assert isinstance(properties, dict)
    properties["journal"] = {**properties["journal"], "const": batched.JOURNAL_VERSION}
    description = (
        "The file is append-only. A line that is not a complete JSON object was truncated when a process ended."
    )
    return _document("A line in the journal of dml2onnx batch", description, ["work"], forms, writer)


def _document(title: str, description: str, required: list[str], forms: list[Schema], writer: _Writer) -> str:
    document: Schema = {
        "$comment": f"generated by {GENERATOR}",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "type": "object",
        "required": required,
        "anyOf": forms,
        "$defs": dict(sorted(writer.definitions.items())),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(
        write_or_check(
            __doc__,
            lambda: {REPORT: report_text(), JOURNAL: journal_text()},
        )
    )
