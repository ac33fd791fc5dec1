"""The JSON Schema of the native format is valid, and agrees with the reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dml2onnx import catalog

from .models import NATIVE, REMOVE, edited, f32

SCHEMA: dict[str, Any] = json.loads((catalog.schemas_directory() / "graph.schema.json").read_text(encoding="utf-8"))


def test_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert "scripts/generate_graph_schema.py" in SCHEMA["$comment"]


def test_has_every_operator() -> None:
    for name in catalog.operator_names():
        schema = catalog.operator(name)
        assert set(SCHEMA["$defs"][schema.short_name]["properties"]) == set(schema.index)


def test_accepts_models() -> None:
    validator = Draft202012Validator(SCHEMA)
    assert [error.message for error in validator.iter_errors(NATIVE)] == []
    full_names = edited(NATIVE, ("/nodes/0/type", "DML_OPERATOR_ELEMENT_WISE_ADD1"), ("/$schema", "graph.schema.json"))
    assert validator.is_valid(full_names)
    written = {"value": "y", "offset": 16, "base": "x", "bytes": 64, "name": "x"}
    parts = edited(NATIVE, ("/nodes/1/outputs/OutputTensor", written), ("/inputs/x", {"bytes": 64}))
    assert validator.is_valid(edited(parts, ("/results", {"x": {"value": "y", **f32(16)}})))
    commands = [{"type": "print", "value": "y"}, {"type": "writeFile", "value": "y", "targetPath": "y", **f32(4)}]
    assert validator.is_valid(edited(parts, ("/commands", commands)))


@pytest.mark.parametrize(
    "change",
    [
        ("/dml2onnx", 2),
        ("/nodes", REMOVE),
        ("/node", []),
        ("/nodes/0/type", "ADD"),
        ("/nodes/0/desc/Alpha", 1),
        ("/nodes/0/desc/OutputTensor/Sizes", "auto"),
        ("/nodes/1/desc/Axis", REMOVE),
        ("/nodes/0/desc/OutputTensor/DataType", "FLOAT31"),
        ("/nodes/0/desc/OutputTensor/Sizes/0", -1),
        ("/nodes/1/desc/Axis", "0"),
        ("/nodes/0/inputs/CTensor", "x"),
        ("/nodes/1/inputs/InputTensors", "x"),
        ("/constants/w/Fill", 1),
        ("/inputs/x/bytes", 0),
        ("/nodes/0/outputs/OutputTensor", {"base": "x"}),
        ("/nodes/0/outputs/OutputTensor", {"value": "h", "length": 1}),
        ("/outputs/0", {"value": "h", "Size": [4]}),
        ("/results", "h"),
        ("/commands", [{"type": "show", "value": "h"}]),
        ("/commands", [{"type": "writeFile", "value": "h"}]),
        ("/commands", [{"type": "print", "value": "h", "targetPath": "h.npy"}]),
    ],
)
def test_rejects(change: tuple[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(edited(NATIVE, change))
