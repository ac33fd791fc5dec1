"""What a default model leaves open is said of every operator, and it is what ``verify`` does not compare."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.catalog.left_open import LEFT_OPEN
from dml2onnx.cli import main
from dml2onnx.reference import Result, operator_results
from dml2onnx.reference.promise import promised
from dml2onnx.testing.descriptors import describe
from dml2onnx.testing.valid import descriptors
from dml2onnx.verification import indices

OPERATORS = [catalog.operator(name) for name in catalog.operator_names()]
LENGTHS = {"GRU", "LSTM", "RNN", "REVERSE_SUBSEQUENCES"}


def having(word: str) -> set[str]:
    return {schema.short_name for schema in OPERATORS if word in schema.left_open}


def test_words_are_those_of_the_schema() -> None:
    path = catalog.schemas_directory() / "operator.schema.json"
    content = json.loads(path.read_text(encoding="utf-8"))["properties"]["left_open"]
    assert content["items"]["enum"] == list(LEFT_OPEN)
    assert {word for schema in OPERATORS for word in schema.left_open} == set(LEFT_OPEN)


def test_what_verify_keeps_in_range_is_said() -> None:
    counted = set(indices._COUNTS)
    assert having("indices") | having("lengths") == counted
    assert having("lengths") == LENGTHS
    assert having("regions") == set(indices._REGIONS)


def test_rows_without_a_key_are_those_with_a_bias_beside_a_mask() -> None:
    """What is left open of them, the reference says by its errors [decision H10]."""
    assert having("rows") == {item.short_name for item in OPERATORS if "RelativePositionBiasTensor" in item.index}


BYTES = np.array([[[[-128, 127, 2, 0]]]], np.int8)
SCALED = {"ScaleBias": (3.0, 0.0)}
OUTSIDE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "CAST": ({"InputTensor": BYTES.astype(np.float32) * 2}, {}),
    "ACTIVATION_SHRINK": ({"InputTensor": BYTES}, {"Bias": -20.0, "Threshold": 0.5}),
    "ELEMENT_WISE_ABS": ({"InputTensor": BYTES}, SCALED),
    "ELEMENT_WISE_CLIP": ({"InputTensor": BYTES}, {"Min": -9.0, "Max": 9.0, **SCALED}),
    "ELEMENT_WISE_CLIP1": (
        {"InputTensor": BYTES},
        {"MinMaxDataType": "INT8", "Min": -9, "Max": 9, **SCALED},
    ),
    "ELEMENT_WISE_CONSTANT_POW": ({"InputTensor": BYTES}, {"Exponent": 2.0}),
    "ELEMENT_WISE_IDENTITY": ({"InputTensor": BYTES}, SCALED),
    "ELEMENT_WISE_POW": ({"InputTensor": BYTES, "ExponentTensor": np.full_like(BYTES, 2)}, {}),
    "ELEMENT_WISE_THRESHOLD": ({"InputTensor": BYTES}, {"Min": -9.0, **SCALED}),
    "FOLD": (
        {"InputTensor": np.full((1, 2, 2), 127, np.int8)},
        {"WindowSizes": (2,), "Strides": (1,), "Dilations": (1,), "StartPadding": (0,), "EndPadding": (0,)},
    ),
}
"""A descriptor of each operator, with numbers that its output does not hold."""


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_a_type_does_not_hold_is_left_to_the_driver(name: str) -> None:
    inputs, fields = OUTSIDE[name]
    output = np.zeros((1, 1, 3) if name == "FOLD" else BYTES.shape, np.int8)
    op = describe(name, **inputs, OutputTensor=output, **fields)
    (found,) = operator_results(op, inputs)["OutputTensor"]
    assert found.unspecified is not None
    assert found.unspecified.any()


def test_which_operators_leave_ranges_open() -> None:
    assert having("ranges") == set(OUTSIDE)


@pytest.mark.parametrize("schema", OPERATORS, ids=lambda schema: schema.short_name)
def test_floats_and_their_tails(schema: catalog.OperatorSchema) -> None:
    """Of a result of three numbers, one of them not finite, ``verify`` compares what is not left open."""
    types = {kind for row in schema.rows_at(LATEST) for item in row.tensors.values() for kind in item.data_types}
    assert ("edges" in schema.left_open) == any(kind.startswith("FLOAT") for kind in types)
    op = next(iter(descriptors()[schema.name]))
    result = Result(np.array([1, 1e-9, np.inf], np.float32), np.zeros(3, np.float32))
    ((found,),) = promised(op, {"y": (result,)}).values()
    assert found.unspecified is not None
    assert found.unspecified.tolist() == [False, False, True]
    assert found.error is not None
    assert (found.error[1] > 0) == ("tails" in schema.left_open)


def test_explain_and_reports_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    for schema in OPERATORS:
        assert main(["explain", schema.short_name, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)["left_open"]
        assert said == [LEFT_OPEN[word] for word in schema.left_open]
