"""The documented list of what default models leave open is what ``verify`` does not compare."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.catalog.left_open import LEFT_OPEN
from dml2onnx.reference import Result, operator_results
from dml2onnx.reference.promise import promised
from dml2onnx.test_cases.descriptors import describe
from dml2onnx.test_cases.valid import descriptors
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


def test_inputs_that_verify_limits_are_listed() -> None:
    counted = set(indices._COUNTS)
    assert having("indices") | having("lengths") == counted
    assert having("lengths") == LENGTHS
    assert having("regions") == set(indices._REGIONS)


def test_rows_without_a_key_are_those_with_a_bias_beside_a_mask() -> None:
    """The reference expresses what is left open of them by its error bounds [decision H10]."""
    assert having("rows") == {item.short_name for item in OPERATORS if "RelativePositionBiasTensor" in item.index}


BYTES = np.array([[[[-128, 127, 2, 0]]]], np.int8)
SCALED = {"ScaleBias": (3.0, 0.0)}
OUTSIDE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "CAST": ({"InputTensor": BYTES.astype(np.float32) * 2}, {}),
    "ACTIVATION_SHRINK": ({"InputTensor": BYTES}, {"Bias": -20.0, "Threshold": 0.5}),
    "ELEMENT_WISE_ABS": ({"InputTensor": BYTES}, SCALED),
    "ELEMENT_WISE_CLIP": ({"InputTensor": BYTES}, {"Min": -9.0, "Max": 9.0, **SCALED}),
    "ELEMENT_WISE_CLIP1": ({"InputTensor": BYTES}, {"MinMaxDataType": "INT8", "Min": -9, "Max": 9, **SCALED}),
    "ELEMENT_WISE_CONSTANT_POW": ({"InputTensor": BYTES}, {"Exponent": 2.0}),
    "ELEMENT_WISE_IDENTITY": ({"InputTensor": BYTES}, SCALED),
    "ELEMENT_WISE_POW": ({"InputTensor": BYTES, "ExponentTensor": np.full_like(BYTES, 2)}, {}),
    "ELEMENT_WISE_THRESHOLD": ({"InputTensor": BYTES}, {"Min": -9.0, **SCALED}),
    "FOLD": (
        {"InputTensor": np.full((1, 2, 2), 127, np.int8)},
        {"WindowSizes": (2,), "Strides": (1,), "Dilations": (1,), "StartPadding": (0,), "EndPadding": (0,)},
    ),
}
"""A descriptor of each operator, with results outside the range of its output's type."""


@pytest.mark.parametrize("name", OUTSIDE)
def test_results_out_of_range_are_left_to_the_driver(name: str) -> None:
    inputs, fields = OUTSIDE[name]
    output = np.zeros((1, 1, 3) if name == "FOLD" else BYTES.shape, np.int8)
    op = describe(name, **inputs, OutputTensor=output, **fields)
    (found,) = operator_results(op, inputs)["OutputTensor"]
    assert found.unspecified is not None
    assert found.unspecified.any()


def test_operators_that_leave_ranges_open() -> None:
    assert having("ranges") == set(OUTSIDE)


@pytest.mark.parametrize("schema", OPERATORS, ids=lambda schema: schema.short_name)
def test_floats_and_their_tails(schema: catalog.OperatorSchema) -> None:
    """``verify`` ignores infinite numbers, and allows errors in those that are nearly 0."""
    types = {kind for row in schema.rows_at(LATEST) for item in row.tensors.values() for kind in item.data_types}
    assert ("edges" in schema.left_open) == any(kind.startswith("FLOAT") for kind in types)
    op = next(iter(descriptors()[schema.name]))
    result = Result(np.array([1, 1e-9, np.inf], np.float32), np.zeros(3, np.float32))
    ((found,),) = promised(op, {"y": (result,)}).values()
    assert found.unspecified is not None
    assert found.unspecified.tolist() == [False, False, True]
    assert found.error is not None
    assert (found.error[1] > 0) == ("tails" in schema.left_open)
