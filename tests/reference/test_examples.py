"""The documentation's own examples."""

from __future__ import annotations

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import has_reference, run_operator
from tests.reference.describe import describe

# What the pages mean where an example breaks a rule of its own page; the catalogue says what is wrong with each.
CORRECTIONS = {
    ("DIAGONAL_MATRIX1", 0): {"attributes": {"Value": 1}},
    ("FILL_VALUE_SEQUENCE", 1): {"attributes": {"ValueDelta": 254}},
    ("GATHER", 2): {"attributes": {"IndexDimensions": 1}},
    ("GATHER_ELEMENTS", 0): {"outputs": {"OutputTensor": {"data_type": "FLOAT32"}}},
    ("SCATTER", 0): {},  # one index occurs twice, the later update is printed
    ("SCATTER", 1): {"inputs": {"InputTensor": {"sizes": [3, 3]}}},
    ("SCATTER_ND", 0): {
        "inputs": {
            "InputTensor": {"sizes": [1, 8]},
            "IndicesTensor": {"data_type": "UINT32"},
            "UpdatesTensor": {"sizes": [1, 4]},
        },
        "outputs": {"OutputTensor": {"sizes": [1, 8]}},
    },
}


def examples():
    for full_name in catalog.operator_names():
        if has_reference(full_name):
            name = full_name.removeprefix("DML_OPERATOR_")
            fields = catalog.operator(name).fields_by_name
            for number, example in enumerate(catalog.operator(name).examples()):
                # RANDOM_GENERATOR's example has a counter and no tensors, BIT_XOR's is that of BIT_NOT
                if example["outputs"] and example["inputs"].keys() <= fields.keys():
                    yield pytest.param(name, number, example, id=f"{name}-{number}")


def corrected(example, correction):
    if not isinstance(example, dict):
        return correction
    changed = {key: corrected(example.get(key), value) for key, value in correction.items()}
    return {**example, **changed}


def arrays(tensors):
    def array(entry):
        return np.array(entry["values"], DataType[entry["data_type"]].dtype).reshape(entry["sizes"])

    return {k: [array(item) for item in v] if isinstance(v, list) else array(v) for k, v in tensors.items()}


@pytest.mark.parametrize(("name", "number", "example"), list(examples()))
def test_example(name, number, example):
    correction = CORRECTIONS.get((name, number))
    example = corrected(example, correction or {})
    inputs, outputs = arrays(example["inputs"]), arrays(example["outputs"])
    attributes = {**example["attributes"], **example.get("assumed_attributes", {})}
    attributes = {
        key: value.removeprefix("DML_TENSOR_DATA_TYPE_") if key.endswith("ValueDataType") else value
        for key, value in attributes.items()
    }
    got = run_operator(describe(name, **attributes, **inputs, **outputs), inputs)
    same = all(
        np.array_equal(have, want)
        for field, wanted in outputs.items()
        for have, want in zip(got[field], wanted if isinstance(wanted, list) else [wanted], strict=True)
    )
    # a few results are printed that the page's own formula cannot give
    assert same == ("suspect" not in example or correction is not None), got
