#!/usr/bin/env python3
"""Write and check ``schemas/graph.schema.json``, the JSON Schema of the native graph format, for editors.

    scripts/generate_graph_schema.py            write it
    scripts/generate_graph_schema.py --check    fail if the file is out of date

It is generated from the catalogue (``schemas/operators`` and ``schemas/enums.json``): the fields of every operator with
their documentation, and every enumerator. Editors use it for completion and help. What it cannot express (lengths of
arrays, connections, types that depend on each other) is checked when a model is read.
"""

from __future__ import annotations

import json
import re
import sys

from _generated import ROOT, write_or_check

from dml2onnx import catalog
from dml2onnx.catalog import FieldKind, FieldSchema, FieldType, OperatorSchema
from dml2onnx.frontends.contents import MEMBERS as CONTENTS_MEMBERS
from dml2onnx.frontends.native import ROOT_MEMBERS, VERSION
from dml2onnx.frontends.native_ends import COMMAND_MEMBERS
from dml2onnx.frontends.native_forms import INFER
from dml2onnx.frontends.native_names import MEMBERS as SIZE_NAME_MEMBERS
from dml2onnx.frontends.native_nodes import MEMBERS as NODE_MEMBERS
from dml2onnx.frontends.native_values import DECLARED_MEMBERS, TARGET_MEMBERS

TARGET = ROOT / "schemas" / "graph.schema.json"
GENERATOR = "scripts/generate_graph_schema.py"
SPECIAL_FLOATS = ["inf", "-inf", "nan"]

Schema = dict[str, object]


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def one_or(schema: Schema, *others: Schema) -> Schema:
    return {"anyOf": [schema, *others]}


def array_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def named_object(properties: dict[str, Schema], required: list[str], description: str = "") -> Schema:
    schema: Schema = {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }
    return described(description, schema)


def described(text: str, schema: Schema) -> Schema:
    """``schema`` with the catalogue's text, without references to decisions."""
    text = re.sub(r" *\[decisions? [^]]*\]", "", text)
    return {"description": text, **schema} if text else schema


VALUES: dict[FieldType, Schema] = {
    FieldType.TENSOR: ref("tensor"),
    FieldType.TENSOR_ARRAY: array_of(ref("tensor")),
    FieldType.UINT: ref("uint"),
    FieldType.INT: ref("int"),
    FieldType.FLOAT: ref("float"),
    FieldType.BOOL: {"type": "boolean"},
    FieldType.UINT_ARRAY: array_of(ref("uint")),
    FieldType.INT_ARRAY: array_of(ref("int")),
    FieldType.FLOAT_ARRAY: array_of(ref("float")),
    FieldType.SCALE_BIAS: ref("scale_bias"),
    FieldType.SIZE_2D: ref("size_2d"),
    FieldType.SCALAR_UNION: ref("scalar"),
    FieldType.OPERATOR: ref("activation"),
    FieldType.OPERATOR_ARRAY: array_of(ref("activation")),
}


def _is_output(field: FieldSchema) -> bool:
    """Whether a field is an output whose sizes may be omitted."""
    return field.kind is FieldKind.OUTPUT_TENSOR and field.type is FieldType.TENSOR


def field_schema(field: FieldSchema, counts: frozenset[str]) -> Schema:
    value = ref(field.enum) if field.enum is not None else VALUES[field.type]
    if _is_output(field):
        value = ref("output_tensor")
    if field.optional or field.name in counts or field.kind is FieldKind.INPUT_TENSOR:
        value = one_or(value, {"type": "null"})
    return described(field.doc, value)


def operator_schema(schema: OperatorSchema) -> Schema:
    counts = frozenset(field.count for field in schema.fields if field.count is not None)
    required = [
        field.name
        for field in schema.fields
        if field.kind is not FieldKind.INPUT_TENSOR
        and not _is_output(field)
        and not field.optional
        and field.name not in counts
    ]
    properties = {field.name: field_schema(field, counts) for field in schema.fields}
    return described(f"{schema.summary}\n{schema.doc}", named_object(properties, required))


def connections(fields: tuple[FieldSchema, ...], value: Schema) -> Schema:
    properties: dict[str, Schema] = {}
    for field in fields:
        one = array_of(value) if field.type is FieldType.TENSOR_ARRAY else value
        properties[field.name] = described(field.doc, one)
    return {"type": "object", "additionalProperties": False, "properties": properties}


def operator_case(schema: OperatorSchema) -> Schema:
    return {
        "if": {"properties": {"type": {"enum": [schema.short_name, schema.name]}}, "required": ["type"]},
        "then": {
            "properties": {
                "desc": ref(schema.short_name),
                "inputs": connections(schema.input_fields, ref("source")),
                "outputs": connections(schema.output_fields, ref("target")),
            }
        },
    }


def enum_definition(name: str) -> Schema:
    values = catalog.enum_schema(name).values.values()
    names = [value for value in values if (name, value.name) != ("DML_TENSOR_DATA_TYPE", "UNKNOWN")]
    return {"enum": [value.name for value in names] + [value.full_name for value in names]}


BYTES: Schema = {"type": "integer", "minimum": 0}

TENSOR: dict[str, Schema] = {
    "Type": {"enum": ["BUFFER", "DML_TENSOR_TYPE_BUFFER"]},
    "DataType": ref("DML_TENSOR_DATA_TYPE"),
    "Sizes": {"description": "Elements in each dimension, or names of them", **array_of(ref("size"))},
    "Strides": {
        "description": "Elements to step in each dimension; omit if packed",
        **one_or(array_of(ref("uint")), {"type": "null"}),
    },
    "DimensionCount": ref("uint"),
    "Flags": one_or(ref("DML_TENSOR_FLAGS"), array_of(ref("DML_TENSOR_FLAGS"))),
    "TotalTensorSizeInBytes": BYTES,
    "GuaranteedBaseOffsetAlignment": ref("uint"),
}

CONTENTS: dict[str, Schema] = {
    "values": {"description": "Flat in memory order, or nested as Sizes", "type": "array"},
    "fill": {"description": "One value for all elements", **ref("float")},
    "file": {"description": "A .npy file or raw bytes, in the model's directory", "type": "string"},
    "offset": {"description": "First byte in a raw file", **BYTES},
    "length": {"description": "Bytes in a raw file", **BYTES},
}
assert set(CONTENTS) == CONTENTS_MEMBERS

NAME: Schema = {"description": "The name of the value, if another value has the same name", "type": "string"}

DECLARED: dict[str, Schema] = {
    "bytes": {
        "description": "Size of the buffer, if not that of its tensor; without Sizes it has no tensor of its own",
        "type": "integer",
        "minimum": 1,
    },
    "name": NAME,
}
assert set(DECLARED) == set(DECLARED_MEMBERS)

VALUE: Schema = {"description": "Name of a value", "type": "string"}

TARGET_VALUE: dict[str, Schema] = {
    "value": {"description": "Name of the new value", "type": "string"},
    "offset": {"description": "Where the tensor starts, in bytes", **BYTES},
    "base": {"description": "The version of the buffer whose other bytes the value keeps", "type": "string"},
    "bytes": {"description": "Size of the value, if not that of its base or its tensor", **BYTES},
    "name": NAME,
}
assert set(TARGET_VALUE) == set(TARGET_MEMBERS)

COMMAND: dict[str, Schema] = {
    "type": {"enum": list(COMMAND_MEMBERS)},
    "value": VALUE,
    "name": {"description": "The name to show, if another", "type": "string"},
    "verbose": {"description": "Whether to print one line for each element, with its bits", "type": "boolean"},
    "targetPath": {"description": "The file to write, below the directory that is written to", "type": "string"},
    "dimensions": {"description": "The shape of the file", **array_of(ref("uint"))},
}
assert set(COMMAND) == {name for names in COMMAND_MEMBERS.values() for name in names}

SIZE_NAME: dict[str, Schema] = {
    "size": {"description": "The size that replaces the name when the model is read", "type": "integer", "minimum": 1},
    "range": {
        "description": "The smallest and the largest supported size",
        **array_of({"type": "integer", "minimum": 1}),
        "minItems": 2,
        "maxItems": 2,
    },
}
assert set(SIZE_NAME) == set(SIZE_NAME_MEMBERS)

LEAVES: dict[str, Schema] = {
    "uint": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "size": one_or(
        ref("uint"), {"description": "One of names", "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
    ),
    "int": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "float": {"anyOf": [{"type": "number"}, {"enum": SPECIAL_FLOATS}]},
    "scalar": one_or(
        ref("float"),
        {"description": "A DML_SCALAR_UNION: the member of its type; UInt16 for FLOAT16 bits", "type": "object"},
    ),
    "scale_bias": named_object({"Scale": ref("float"), "Bias": ref("float")}, ["Scale", "Bias"], "DML_SCALE_BIAS"),
    "size_2d": named_object({"Width": ref("uint"), "Height": ref("uint")}, ["Width", "Height"], "DML_SIZE_2D"),
    "tensor": one_or(
        named_object(TENSOR, ["DataType", "Sizes"], "DML_BUFFER_TENSOR_DESC"),
        named_object({"Type": TENSOR["Type"], "Desc": {"type": "object"}}, ["Desc"], "DML_TENSOR_DESC"),
    ),
    "output_tensor": one_or(
        named_object(
            TENSOR | {"Sizes": one_or(array_of(ref("size")), {"description": "What follows", "const": INFER})},
            [],
            "A DML_BUFFER_TENSOR_DESC; omitted Sizes are inferred",
        ),
        named_object({"Type": TENSOR["Type"], "Desc": {"type": "object"}}, ["Desc"], "DML_TENSOR_DESC"),
        {"type": "null"},
    ),
    "size_name": named_object(SIZE_NAME, [], "The value and range of a named size"),
    "contents": named_object(TENSOR | CONTENTS | DECLARED, [], "A tensor descriptor with contents"),
    "source": one_or(
        {"description": "The name of a value", "type": ["string", "null"]},
        named_object(
            {"value": {"type": "string"}, "offset": {"description": "In bytes", **BYTES}},
            ["value"],
            "A value from an offset on",
        ),
    ),
    "target": one_or(
        {"description": "The name of a new value", "type": ["string", "null"]},
        named_object(TARGET_VALUE, ["value"], "A value that contains the tensor"),
    ),
    "output": one_or(
        {"description": "The name of a value", "type": "string"},
        named_object({"value": VALUE, **TENSOR}, ["value"], "A value, viewed by a descriptor"),
    ),
    "outputs": one_or(
        array_of(ref("output")),
        {"type": "object", "additionalProperties": ref("output")},
    ),
    "command": {
        **named_object(COMMAND | TENSOR, ["type", "value"], "What is shown when the graph is run"),
        "if": {"properties": {"type": {"const": "writeFile"}}},
        "then": {"required": ["targetPath"], "properties": {"verbose": False}},
        "else": {"properties": {"targetPath": False, "dimensions": False}},
    },
}


def definitions(operators: list[OperatorSchema]) -> dict[str, Schema]:
    enums = {field.enum for schema in operators for field in schema.fields if field.enum is not None}
    node: dict[str, Schema] = {
        "name": {"type": "string"},
        "type": {"enum": [name for schema in operators for name in (schema.short_name, schema.name)]},
        "desc": {"description": "The fields of the operator's structure", "type": "object"},
        "inputs": {"description": "Input tensor field to the value it reads", "type": "object"},
        "outputs": {"description": "Output tensor field to the name of a new value", "type": "object"},
    }
    assert set(node) == set(NODE_MEMBERS)
    return {
        **LEAVES,
        "activation": {
            "description": "An activation without tensors, with its attributes in desc or next to type",
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"enum": activation_names(operators)}, "desc": {"type": "object"}},
        },
        **{name: enum_definition(name) for name in sorted({*enums, "DML_TENSOR_DATA_TYPE", "DML_TENSOR_FLAGS"})},
        "node": {
            **named_object(node, ["type", "outputs"], "An operator"),
            "allOf": [operator_case(schema) for schema in operators],
        },
        **{schema.short_name: operator_schema(schema) for schema in operators},
    }


def activation_names(operators: list[OperatorSchema]) -> list[str]:
    """All operators that can be fused, and all activations, which recurrent operators accept."""
    names = {name for schema in operators for name in catalog.fused_activations(schema.name)}
    names.update(schema.name for schema in operators if schema.short_name.startswith("ACTIVATION_"))
    return sorted(names | {name.removeprefix("DML_OPERATOR_") for name in names})


def build() -> Schema:
    operators = [catalog.operator(name) for name in catalog.operator_names()]
    levels = [level.name for level in catalog.feature_levels()]
    properties: dict[str, Schema] = {
        "$schema": {"type": "string"},
        "dml2onnx": {"description": "Version of the format", "const": VERSION},
        "name": {"description": "Name of the graph", "type": "string"},
        "feature_level": {
            "description": "The DirectML feature level that the graph is written for",
            "anyOf": [{"enum": levels}, {"type": "string"}],
        },
        "names": {
            "description": "Names that Sizes may use instead of numbers",
            "type": "object",
            "additionalProperties": ref("size_name"),
        },
        "inputs": {
            "description": "Inputs: tensor descriptors by name, with optional sample contents",
            "type": "object",
            "additionalProperties": ref("contents"),
        },
        "constants": {
            "description": "Constant tensors by name",
            "type": "object",
            "additionalProperties": ref("contents"),
        },
        "nodes": {"description": "Operators, in any order", **array_of(ref("node"))},
        "outputs": {
            "description": "Names of values, or public names with their values",
            **ref("outputs"),
        },
        "results": {
            "description": "All buffers of a program as outputs, which running the graph returns",
            **ref("outputs"),
        },
        "commands": {"description": "What is shown when the graph is run", **array_of(ref("command"))},
    }
    assert set(properties) == set(ROOT_MEMBERS)
    schema: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"Generated by {GENERATOR} from schemas/operators, enums.json and fused_activations.json.",
        "title": "dml2onnx graph",
        **named_object(properties, ["dml2onnx", "nodes", "outputs"], "A graph of DirectML operators"),
        "$defs": definitions(operators),
    }
    return schema


def render() -> str:
    """The schema with one line per definition, for readable diffs."""
    schema = build()
    definitions = schema.pop("$defs")
    assert isinstance(definitions, dict)
    head = json.dumps(schema, indent=1, ensure_ascii=False).removesuffix("\n}")
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in definitions.items()
    )
    return f'{head},\n "$defs": {{\n{lines}\n }}\n}}\n'


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {TARGET: render()}))
