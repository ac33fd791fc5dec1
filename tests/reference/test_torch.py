"""Compares references and compiled models with stored results of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.reference import operator_results
from dml2onnx.test_cases.descriptors import describe
from scripts.make_torch_answers import OPERATORS, digest, kept_answers
from tests.lowering.harness import check_case
from tests.reference.numbers import marks
from tests.reference.torch_cases import CASES, FUNCTIONS, arrays

ANSWERS, MADE_FOR = kept_answers(OPERATORS)


def test_stored_results_are_current():
    assert digest(OPERATORS) == MADE_FOR, "run python scripts/make_torch_answers.py, which needs PyTorch"
    assert {key.partition("/")[0] for key in ANSWERS} == CASES.keys()


def described(name):
    case, given = CASES[name], arrays(name)
    outputs = {key: np.zeros(sizes, np.float32) for key, sizes in case.outputs.items()}
    fields = dict(case.fields)
    if case.operator in FUNCTIONS:
        fields["ActivationDescs"] = tuple(describe(item) for item in FUNCTIONS[case.operator] * 2)
    return describe(case.operator, **given, **outputs, **fields), given


@pytest.mark.parametrize("name", CASES)
def test_pytorch_agrees(name):
    op, given = described(name)
    results = operator_results(op, given)
    for field in CASES[name].outputs:
        (result,), want = results[field], ANSWERS[f"{name}/{field}"]
        away = np.abs(result.values.reshape(want.shape) - want)
        allowed = np.reshape(result.bound, want.shape) + 1e-6 + 1e-6 * np.abs(want)
        assert (away <= allowed).all(), (field, away.max())
        assert not any(marks(result))
    check_case(op, inputs=given)
