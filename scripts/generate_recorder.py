#!/usr/bin/env python3
"""Write and check ``dml2onnx/recorder/dml2onnx_recorder.h``, the recording DirectML device for C++ programs.

    scripts/generate_recorder.py            write it
    scripts/generate_recorder.py --check    fail if the file is out of date

The header joins the parts in ``scripts/recorder/`` and tables of the catalogue's operators and enumerations. Operators
are guarded by ``DML_TARGET_VERSION``, since older versions of DirectML.h do not declare them.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator

from _generated import ROOT, write_or_check

from dml2onnx import catalog
from dml2onnx.catalog import FeatureLevel, FieldKind, FieldSchema, FieldType, OperatorSchema

PARTS = ROOT / "scripts" / "recorder"
TARGET = ROOT / "dml2onnx" / "recorder" / "dml2onnx_recorder.h"
TABLES = "the tables"
ORDER = (
    "basics.h", "options.h", "json.h", "description.h", "fields.h", TABLES, "describe.h", "com.h", "uuids.h", "lock.h",
    "folder.h", "graph.h", "reading.h", "buffers.h", "program.h", "recording.h", "objects.h", "device.h",
)  # fmt: skip

HEAD = """\
// A recording DirectML device: include this header, create your graphs on dml2onnx::CreateRecordingDevice's device, and
// they lie on disk for `dml2onnx check`, `compile` and `run`. See https://github.com/dml2onnx/dml2onnx.
//
// Written by scripts/generate_recorder.py of dml2onnx from scripts/recorder/ and schemas/. Do not edit.
// SPDX-License-Identifier: MIT
"""
STANDARD = """\
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "dml2onnx_recorder.h is C++17: compile with -std=c++17, or /std:c++17, or a newer one"
#else
"""
OPEN = "namespace dml2onnx {\nnamespace detail {\n"
CLOSE = "}  // namespace detail\n}  // namespace dml2onnx\n"

KINDS = {kind: "k" + "".join(word.capitalize() for word in kind.value.split("_")) for kind in FieldType} | {
    FieldType.SIZE_2D: "kSize2D"
}
ROLES = {
    FieldKind.INPUT_TENSOR: "kInput",
    FieldKind.OUTPUT_TENSOR: "kOutput",
    FieldKind.ATTRIBUTE: "kAttribute",
}
_INCLUDE = re.compile(r"#include <([a-z_]+)>\n")


def header() -> str:
    parts = [tables() if name == TABLES else (PARTS / name).read_text(encoding="utf-8") for name in ORDER]
    standard = sorted({name for part in parts for name in _INCLUDE.findall(part)})
    includes = "".join(f"#include <{name}>\n" for name in standard)
    bodies = [re.sub(r"\n{3,}", "\n\n", _INCLUDE.sub("", part)) for part in parts]
    return "\n".join([HEAD, "#pragma once\n", STANDARD, includes, *bodies, "#endif  // C++17\n"])


# --- Tables -----------------------------------------------------------------------------------------------------------


def tables() -> str:
    """Tables of the enumerations that descriptors use, and of every operator with its fields."""
    operators = [catalog.operator(name) for name in catalog.operator_names()]
    types = catalog.enum_schema("DML_OPERATOR_TYPE").by_full_name
    operators.sort(key=lambda item: (types[item.name].introduced, types[item.name].value))
    used = {field.enum for item in operators for field in item.fields if field.enum is not None}
    enums = sorted(used | {"DML_TENSOR_TYPE", "DML_TENSOR_FLAGS"})
    parts = ["// Enumerations by number, so that a header need not declare them all, and operators by field.\n", OPEN]
    parts += [_enum(name) for name in enums]
    rows = ["inline constexpr OperatorFields kOperators[] = {\n"]
    for level, group in itertools.groupby(operators, lambda item: types[item.name].introduced):
        members = list(group)
        parts += _guarded(level, "\n".join(_fields(item) for item in members))
        rows += _guarded(level, "".join(map(_row, members)))
    return "\n".join(parts) + "\n" + "".join(rows) + "};\n\n" + CLOSE


def _guarded(level: FeatureLevel, text: str) -> Iterator[str]:
    if level.info.value == 0x1000:
        yield text
        return
    yield f"#if DML2ONNX_TARGET_VERSION >= {level.info.value:#x}\n"
    yield text
    yield "#endif\n"


def _camel(name: str, prefix: str) -> str:
    return "k" + "".join(word.capitalize() for word in name.removeprefix(prefix).split("_"))


def _enum(name: str) -> str:
    schema = catalog.enum_schema(name)
    constant = _camel(name, "DML_")
    lines = "".join(f'    {{{number}, "{value.full_name}"}},\n' for number, value in sorted(schema.by_value.items()))
    return (
        f"inline constexpr Enumerator {constant}Values[] = {{\n{lines}}};\n"
        f"inline constexpr EnumNames {constant}{{{constant}Values, {len(schema.by_value)}}};\n"
    )


def _fields(operator: OperatorSchema) -> str:
    lines = "".join(f"    {_field(operator, field)},\n" for field in operator.fields)
    return f"inline constexpr Field {_camel(operator.name, 'DML_OPERATOR_')}Fields[] = {{\n{lines}}};\n"


def _field(operator: OperatorSchema, field: FieldSchema) -> str:
    other = field.count or field.scalar_type
    members = (
        f'"{field.name}"',
        f"FieldKind::{KINDS[field.type]}",
        f"FieldRole::{ROLES[field.kind]}",
        "true" if field.optional else "false",
        f"offsetof({operator.struct}, {field.name})",
        "0" if other is None else f"offsetof({operator.struct}, {other})",
        "nullptr" if field.enum is None else f"&{_camel(field.enum, 'DML_')}",
    )
    return "{" + ", ".join(members) + "}"


def _row(operator: OperatorSchema) -> str:
    constant = _camel(operator.name, "DML_OPERATOR_")
    return f'    {{{operator.name}, "{operator.name}", {constant}Fields, {len(operator.fields)}}},\n'


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {TARGET: header()}))
