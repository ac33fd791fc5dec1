"""Compares references with results of DirectML, with the documentation's examples, and with values computed by hand.

``tests/directml/test_probes.py`` runs DirectML again. Other tests compare with numpy, SciPy and PyTorch
(``test_numpy.py``, ``test_torch.py``) and with compiled models in ONNX Runtime (``tests/lowering``).
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.reference import run_operator
from dml2onnx.test_cases.examples import DocumentedExample, examples
from tests.directml import left
from tests.directml.probes import NOT_COMPUTED, against_reference, read
from tests.reference.numbers import result_of


def complete_examples() -> list[object]:
    # RANDOM_GENERATOR's example has a counter instead of tensors; BIT_XOR's is that of BIT_NOT
    return [
        pytest.param(example, id=f"{example.operator.schema.short_name}-{number}")
        for name in catalog.operator_names()
        for number, example in enumerate(examples(name))
        if example.complete
    ]


@pytest.mark.parametrize("example", complete_examples())
def test_example(example: DocumentedExample) -> None:
    got = run_operator(example.operator, example.inputs)
    same = all(
        np.array_equal(have, want)
        for field, wanted in example.outputs.items()
        for have, want in zip(got[field], wanted if isinstance(wanted, list) else [wanted], strict=True)
    )
    # a few printed results contradict the page's own formula
    assert same == (example.corrected or not example.suspect), got


KNOWN = {
    ("G12", "acosh"): left.PROMISED,
    ("G12", "asinh"): left.PROMISED,
    ("G13", "ASINH big"): left.PROMISED,
    ("E5", "modfloor f"): "a - b * floor(a / b) cancels completely for a large a / b",
    ("E5", "modtrunc f"): "a - b * trunc(a / b) cancels completely for a large a / b",
    ("E10", "cast f32->INT64"): "negative numbers go through 32 bits on this driver",
    ("E10", "cast f32->FLOAT16"): left.ROUNDING,
    ("E12", "cast f32->f16"): left.ROUNDING,
    ("Q16", "accumulate"): "the integers are multiplied as FLOAT32, scales and all",
    ("G5", "f16 mvn"): "the variance is stored as FLOAT16 and overflows",
    ("F4", "a sum of FLOAT16 before a threshold"): "DirectML rounds to FLOAT16 before the activation",
    (
        "X9",
        "values whose last size is 1, and its stride another than that of the second one",
    ): "DirectML reads the second one at the last stride after the first, whatever is there",
    ("H4", "a filter beyond FLOAT16"): "a conversion out of range, which the driver decides",
    ("H4", "a filter within FLOAT16"): left.ROUNDING,
}
"""Results of DirectML that differ from the reference, and why others need not match them."""


def test_references_match_directml() -> None:
    problems = {(probe.points[0], probe.what): against_reference(probe) for probe in read()}
    different = {key: problem for key, problem in problems.items() if problem and problem != NOT_COMPUTED}
    assert different.keys() == KNOWN.keys(), {key: different[key] for key in different.keys() - KNOWN.keys()}


BY_HAND: dict[str, tuple[str, list[Any], Any, dict[str, Any]]] = {
    "ACTIVATION_IDENTITY": ("float32", [[-1.5, 2]], [-1.5, 2], {}),
    "ACTIVATION_LOG_SOFTMAX": ("float32", [[[0, log(3)]]], [[-log(4), log(0.75)]], {}),
    "AVERAGE_POOLING1": ("float32", [[[[1, 2, 3, 4, 5]]]], [[[2, 3, 4]]], {"WindowSize": [2], "Dilations": [2]}),
    "ELEMENT_WISE_BIT_OR": ("uint8", [[12], [10]], [14], {}),
    "ELEMENT_WISE_BIT_XOR": ("uint8", [[12], [10]], [6], {}),
    "ELEMENT_WISE_CLIP_GRAD1": (
        "float32", [[0, 1, 2, 3], [5, 6, 7, 8]], [0, 0, 7, 0], {"MinMaxDataType": "FLOAT32", "Min": 1, "Max": 3}
    ),
    "ELEMENT_WISE_COS": ("float32", [[0, pi]], [1, -1], {}),
    "ELEMENT_WISE_LOGICAL_NOT": ("uint8", [[0, 1, 2]], [1, 0, 0], {}),
    "ELEMENT_WISE_LOGICAL_OR": ("uint8", [[0, 0, 2], [0, 4, 0]], [0, 1, 1], {}),
    "LP_POOLING1": ("float32", [[[[3, -4, 0]]]], [[[5, 4]]], {"WindowSize": [2], "P": 2}),
    "VALUE_SCALE_2D": ("float32", [[[[[1]], [[2]]]]], [[[[1.5]], [[3]]]], {"Scale": 0.5, "Bias": [1, 2]}),
}  # fmt: skip
"""Type, inputs and output of operators that have neither a probe of DirectML nor a documented example."""


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    dtype, inputs, want, attributes = BY_HAND[name]
    fields = [item.name for item in catalog.operator(name).input_fields]
    given = {field: np.array(array, dtype) for field, array in zip(fields, inputs, strict=True)}
    got = result_of(name, np.zeros(np.shape(want), dtype), **given, **attributes)
    np.testing.assert_allclose(got.values, want, rtol=1e-6)


def test_every_operator_has_an_example() -> None:
    known = BY_HAND.keys() | {probe.op.type for probe in read() if isinstance(probe.seen, dict)}
    names = {name for name in catalog.operator_names() if not any(e.complete and not e.suspect for e in examples(name))}
    assert {name.removeprefix("DML_OPERATOR_") for name in names} <= known
