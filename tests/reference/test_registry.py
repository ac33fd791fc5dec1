from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.diagnostics import InternalError
from dml2onnx.reference import operator_results, reference, run_operator
from dml2onnx.reference.registry import _references
from dml2onnx.testing.descriptors import describe


def test_unknown_operator_is_refused():
    with pytest.raises(ValueError, match="PADDING9, which is no DirectML operator"):
        reference("PADDING9")(lambda op, inputs: {})


def test_second_reference_names_both_functions():
    def again(op, inputs):
        return {}

    with pytest.raises(ValueError, match=r"JOIN has two references: dml2onnx\.reference\.join\.join and .*again"):
        reference("JOIN")(again)


def test_operator_without_reference_is_our_defect(monkeypatch):
    x = np.zeros((1,), np.float32)
    op = describe("ACTIVATION_RELU", InputTensor=x, OutputTensor=x)
    monkeypatch.delitem(_references, "ACTIVATION_RELU")
    with pytest.raises(InternalError, match="DML_OPERATOR_ACTIVATION_RELU"):
        run_operator(op, {"InputTensor": x})


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((1,), np.float64), "an array of float64 where the tensor is FLOAT32"),
        (np.zeros((2,), np.float32), r"an array of \[2\] where the tensor is \[1\]"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(array, words):
    x = np.zeros((1,), np.float32)
    op = describe("ACTIVATION_RELU", InputTensor=x, OutputTensor=x)
    with pytest.raises(ValueError, match=words):
        run_operator(op, {"InputTensor": array})
    with pytest.raises(ValueError, match="no array for InputTensor"):
        run_operator(op, {})


def test_subnormal_numbers_are_zeros_in_arithmetic_and_bits_where_they_are_copied():
    """What a driver that keeps them would give otherwise is unspecified (decision G8)."""
    x = np.array([1e-45, -1e-45, 0.5, 2], np.float32)
    other = np.array([np.inf, 1, 1e-45, 1], np.float32)
    arrays = {"ATensor": x, "BTensor": other}
    (got,) = operator_results(describe("ELEMENT_WISE_MULTIPLY", **arrays, OutputTensor=x), arrays)["OutputTensor"]
    np.testing.assert_array_equal(got.values, [np.nan, 0, 0, 2])
    np.testing.assert_array_equal(got.unspecified, [True, True, False, False])
    (got,) = operator_results(describe("ELEMENT_WISE_SIGN", InputTensor=x, OutputTensor=x), {"InputTensor": x})[
        "OutputTensor"
    ]
    np.testing.assert_array_equal(got.values, [0, 0, 1, 1])
    np.testing.assert_array_equal(got.unspecified, [True, True, False, False])
    (got,) = operator_results(describe("ELEMENT_WISE_IDENTITY", InputTensor=x, OutputTensor=x), {"InputTensor": x})[
        "OutputTensor"
    ]
    np.testing.assert_array_equal(got.values, x)
    half = np.array([6e-8, -6e-8], np.float16)  # a number like others in FLOAT32
    (got,) = operator_results(
        describe("ELEMENT_WISE_SIGN", InputTensor=half, OutputTensor=half), {"InputTensor": half}
    )["OutputTensor"]
    np.testing.assert_array_equal(got.values, [1, -1])
