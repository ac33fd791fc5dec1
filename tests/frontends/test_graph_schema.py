"""The JSON Schema of the native format: up to date, valid, and in agreement with the reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dml2onnx import catalog

from .models import NATIVE, REMOVE, edited

SCHEMA: dict[str, Any] = json.loads((catalog.schemas_directory() / "graph.schema.json").read_text(encoding="utf-8"))


def test_is_up_to_date() -> None:
    root = Path(catalog.__file__).parent.parent
    command = [sys.executable, str(root / "scripts" / "generate_graph_schema.py"), "--check"]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


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


@pytest.mark.parametrize(
    "change",
    [
        ("/dml2onnx", 2),
        ("/nodes", REMOVE),
        ("/node", []),
        ("/nodes/0/type", "ADD"),
        ("/nodes/0/desc/Alpha", 1),
        ("/nodes/0/desc/OutputTensor", REMOVE),
        ("/nodes/0/desc/OutputTensor/DataType", "FLOAT31"),
        ("/nodes/0/desc/OutputTensor/Sizes/0", -1),
        ("/nodes/1/desc/Axis", "0"),
        ("/nodes/0/inputs/CTensor", "x"),
        ("/nodes/1/inputs/InputTensors", "x"),
        ("/constants/w/Fill", 1),
    ],
)
def test_rejects(change: tuple[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(edited(NATIVE, change))
