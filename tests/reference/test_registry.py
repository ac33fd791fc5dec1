from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.diagnostics import InternalError
from dml2onnx.reference import reference, run_operator
from dml2onnx.reference.registry import _references
from dml2onnx.test_cases.descriptors import describe
from tests.reference.numbers import marks, result_of


def test_unknown_operator_is_refused():
    with pytest.raises(ValueError, match="PADDING9, which is no DirectML operator"):
        reference("PADDING9")(lambda op, inputs: {})


def test_second_reference_names_both_functions():
    def again(op, inputs):
        return {}

    with pytest.raises(ValueError, match=r"JOIN has two references: dml2onnx\.reference\.join\.join and .*again"):
        reference("JOIN")(again)


def test_operator_without_reference_is_our_defect(monkeypatch):
    monkeypatch.delitem(_references, "ACTIVATION_RELU")
    with pytest.raises(InternalError, match="DML_OPERATOR_ACTIVATION_RELU"):
        result_of("ACTIVATION_RELU", InputTensor=np.zeros(1, np.float32))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((1,), np.float64), "an array of float64 where the tensor is FLOAT32"),
        (np.zeros((2,), np.float32), r"an array of \[2\] where the tensor is \[1\]"),
    ],
)
def test_mismatched_arrays_are_refused(array, words):
    x = np.zeros((1,), np.float32)
    op = describe("ACTIVATION_RELU", InputTensor=x, OutputTensor=x)
    with pytest.raises(ValueError, match=words):
        run_operator(op, {"InputTensor": array})
    with pytest.raises(ValueError, match="no array for InputTensor"):
        run_operator(op, {})


def test_arithmetic_flushes_subnormals_and_copies_keep_them():
    """Results that differ for a driver that keeps subnormals are unspecified (decision G8)."""
    x = np.array([1e-45, -1e-45, 0.5, 2], np.float32)
    product = result_of("ELEMENT_WISE_MULTIPLY", ATensor=x, BTensor=np.array([np.inf, 1, 1e-45, 1], np.float32))
    np.testing.assert_array_equal(product.values, [np.nan, 0, 0, 2])
    sign = result_of("ELEMENT_WISE_SIGN", InputTensor=x)
    np.testing.assert_array_equal(sign.values, [0, 0, 1, 1])
    assert marks(product) == marks(sign) == [True, True, False, False]
    np.testing.assert_array_equal(result_of("ELEMENT_WISE_IDENTITY", InputTensor=x).values, x)
    half = np.array([6e-8, -6e-8], np.float16)  # normal numbers in FLOAT32
    np.testing.assert_array_equal(result_of("ELEMENT_WISE_SIGN", InputTensor=half).values, [1, -1])
