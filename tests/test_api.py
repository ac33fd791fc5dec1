"""The catalogue against the C declarations of the public header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dml2onnx import catalog
from dml2onnx.catalog import FieldType

C_TYPES = {
    FieldType.TENSOR: "const DML_TENSOR_DESC*",
    FieldType.TENSOR_ARRAY: "const DML_TENSOR_DESC*",
    FieldType.UINT: "UINT",
    FieldType.INT: "INT",
    FieldType.FLOAT: "FLOAT",
    FieldType.BOOL: "BOOL",
    FieldType.UINT_ARRAY: "const UINT*",
    FieldType.INT_ARRAY: "const INT*",
    FieldType.FLOAT_ARRAY: "const FLOAT*",
    FieldType.SCALE_BIAS: "const DML_SCALE_BIAS*",
    FieldType.SCALAR_UNION: "DML_SCALAR_UNION",
    FieldType.OPERATOR: "const DML_OPERATOR_DESC*",
    FieldType.OPERATOR_ARRAY: "const DML_OPERATOR_DESC*",
    FieldType.SIZE_2D: "DML_SIZE_2D",
}

EARLIER = {"DML_OPERATOR_SCATTER": "decision F7: its tables start before the header's declaration"}
"""Operators that the catalogue has at an older level than the header."""

ALIASES = {"DML_OPERATOR_SCATTER_ELEMENTS": "DML_OPERATOR_SCATTER"}
"""Two names for one number."""

LATER = {
    "DML_TENSOR_DATA_TYPE_FLOAT64": "no support table has it before 3_0",
    "DML_TENSOR_DATA_TYPE_UINT64": "no support table has it before 3_0",
    "DML_TENSOR_DATA_TYPE_INT64": "no support table has it before 3_0",
}
"""Enumerators that the header declares at all levels, although nothing accepts them earlier."""

LEVELS = "DML_FEATURE_LEVEL"
"""The header declares the old enumerators of this enum all at once."""


@pytest.fixture(scope="module")
def api(shared: Path) -> Any:
    return json.loads((shared / "directml" / "api.json").read_text(encoding="utf-8"))


def test_structs_have_the_same_members_in_the_same_order(api: Any) -> None:
    wrong = []
    for name in catalog.operator_names():
        schema = catalog.operator(name)
        declared = api["structs"][schema.struct]["fields"]
        found = [(item.name, item.enum or C_TYPES[item.type], item.optional, item.count) for item in schema.fields]
        types = [{"float": "FLOAT"}.get(item["type"], item["type"]) for item in declared]
        wanted = [
            (item["name"], c_type, item.get("optional", False), item.get("count"))
            for item, c_type in zip(declared, types, strict=True)
        ]
        wrong += [
            f"{name}: {have} is {want} in the header" for have, want in zip(found, wanted, strict=True) if have != want
        ]
    assert not wrong, "\n".join(wrong)


def test_every_operator_of_the_header_is_known_at_its_level(api: Any) -> None:
    values = api["enums"]["DML_OPERATOR_TYPE"]["values"]
    declared = {name: item["since"] for name, item in values.items()}
    del declared["DML_OPERATOR_INVALID"]
    for name, other in ALIASES.items():
        assert values[name]["value"] == values[other]["value"]
        del declared[name]
    known = {name: catalog.operator(name).introduced.name for name in catalog.operator_names()}
    assert known.keys() == declared.keys()
    assert {name for name in known if known[name] != declared[name]} == EARLIER.keys()


def test_every_struct_of_an_operator_is_known(api: Any) -> None:
    others = {"DML_OPERATOR_DESC", "DML_GRAPH_DESC"}
    declared = {name for name in api["structs"] if name.endswith("_OPERATOR_DESC")} - others
    assert declared == {catalog.operator(name).struct for name in catalog.operator_names()}


def test_enums_have_the_same_values_at_the_same_levels(api: Any) -> None:
    wrong = []
    used = {field.enum for name in catalog.operator_names() for field in catalog.operator(name).fields if field.enum}
    for name in sorted(used | {"DML_TENSOR_DATA_TYPE", "DML_TENSOR_FLAGS", LEVELS}):
        declared = api["enums"][name]["values"]
        found = {value.full_name: value for value in catalog.enum_schema(name).values.values()}
        if found.keys() != declared.keys():
            wrong.append(f"{name}: {sorted(found.keys() ^ declared.keys())}")
            continue
        for key, item in declared.items():
            value = found[key]
            if value.value != item["value"]:
                wrong.append(f"{key} is {value.value}, in the header {item['value']}")
            if name != LEVELS and (value.introduced.name != item["since"]) != (key in LATER):
                wrong.append(f"{key} is of level {value.introduced.name}, in the header {item['since']}")
    assert not wrong, "\n".join(wrong)
