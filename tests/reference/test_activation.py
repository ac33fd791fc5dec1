from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error
from dml2onnx.reference.activation import apply_activation
from dml2onnx.test_cases.descriptors import plain
from tests.reference.numbers import marks, result_of


def activate(name, x, **values):
    return result_of(f"ACTIVATION_{name}", InputTensor=x, **values)


OF_NUMBERS = {
    "ELU": {},
    "GELU": {},
    "LEAKY_RELU": {"Alpha": 0.0},
    "LINEAR": {"Beta": 0.0},
    "PARAMETRIC_SOFTPLUS": {},
    "SCALED_ELU": {},
    "SCALED_TANH": {},
    "SIGMOID": {},
    "SOFTPLUS": {"Steepness": 2.0},
    "SOFTSIGN": {},
    "SWISH": {"SigmoidInputScale": 1.0},
    "TANH": {},
    "IDENTITY": {},
    "THRESHOLDED_RELU": {},
    "HARD_SWISH": {"Alpha": 0.2, "Beta": 0.5},
    "CELU": {},
}
"""Activations that return NaN for NaN, with attributes."""
TO_ZERO = {"SHRINK": {"Bias": 0.5, "Threshold": 0.5}, "RELU": {}, "HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5}}
"""Activations that return 0 for NaN."""


@pytest.mark.parametrize(("name", "values"), [*OF_NUMBERS.items(), *TO_ZERO.items()])
def test_only_celu_of_nan_is_unspecified(name, values):
    got = activate(name, np.array([np.nan, 1, -np.inf, np.inf], np.float32), **values)
    assert np.isnan(got.values[0]) == (name not in TO_ZERO)
    assert marks(got) == [name == "CELU", False, False, False]


def test_softsign_marks():
    softsign = activate("SOFTSIGN", np.array([3e38, -1e36], np.float32))
    np.testing.assert_array_equal(softsign.values, [1, -1])
    np.testing.assert_array_equal(softsign.unspecified, [True, False])


def test_softmax_of_infinities():
    x = np.array([[1e38, 1, 3e38], [-np.inf, -np.inf, -np.inf], [np.inf, 0, 0], [-np.inf, 2, 2]], np.float32)
    got = activate("SOFTMAX", x)
    np.testing.assert_array_equal(got.values[[0, 3]], [[0, 0, 1], [0, 0.5, 0.5]])
    np.testing.assert_array_equal(got.unspecified.any(axis=1), [False, True, True, False])


def test_hardmax_ignores_nan_unless_it_is_first():
    x = np.array([[np.nan, 5, 6], [1, np.nan, 3], [np.nan, np.nan, np.nan], [1, 2, 2]], np.float32)
    got = activate("HARDMAX", x)
    np.testing.assert_array_equal(got.values, [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(got.unspecified.any(axis=1), [True, True, True, False])


def test_log_softmax_ignores_nan():
    """The sum is replaced by 1e-20."""
    got = activate("LOG_SOFTMAX", np.array([[np.nan, 1, -1], [np.inf, 1, 2], [1, 1, 1]], np.float32))
    np.testing.assert_allclose(got.values[0, 1:], [46.0517, 44.0517], rtol=1e-5)
    np.testing.assert_array_equal(got.values[1], [np.nan, -np.inf, -np.inf])
    np.testing.assert_array_equal(got.unspecified.any(axis=1), [True, True, False])


FUSED = [
    *((f"ACTIVATION_{name}", values) for name, values in OF_NUMBERS.items()),
    ("ELEMENT_WISE_CLIP", {"Min": -1.0, "Max": 1.0}),
]


@pytest.mark.parametrize(("name", "values"), FUSED)
def test_fused_error_covers_input_errors(name, values):
    random = np.random.default_rng(0)
    x = random.standard_normal(500) * 4
    error = np.abs(random.standard_normal(500)) * 1e-3
    op = plain(name, **values)
    result: Any = apply_activation(op, x, error)
    for part in (-0.9, -0.3, 0.4, 1.0):
        moved: Any = apply_activation(op, x + part * error).values
        assert (np.abs(moved - result.values) <= result.error + 1e-7).all()


def test_the_threshold_itself_becomes_zero():
    assert activate("THRESHOLDED_RELU", np.array([0.4, 0.5, 0.6], np.float32), Alpha=0.5).values[1] == 0


def test_fused_error_covers_a_jump():
    op = plain("ACTIVATION_THRESHOLDED_RELU")
    result = apply_activation(op, np.array([1.0, 1.1]), np.array([1e-6, 1e-6]))
    assert result.error is not None
    assert result.error[0] >= 1
    assert result.error[1] < 1e-5


def test_error_of_the_formula_covers_float32():
    x = np.linspace(-20, 20, 4001).astype(np.float32)
    one = np.float32(1)
    forms = {
        "SIGMOID": one / (one + np.exp(-x)),
        "TANH": np.tanh(x),
        "GELU": np.float32(0.5) * x * (one + scipy.special.erf(x / np.float32(math.sqrt(2)))),
        "SWISH": x / (one + np.exp(-x)),
        "SOFTPLUS": np.log(one + np.exp(x)),
        "ELU": np.where(x >= 0, x, np.exp(x) - one),
    }
    for name, form in forms.items():
        got = activate(name, x)
        allowed = allowed_error(got, DataType.FLOAT32)
        assert form.dtype == np.float32
        assert (np.abs(form.astype(np.float64) - got.values) <= allowed).all(), name
        assert (allowed <= 1e-4 * np.maximum(np.abs(x), 1)).all(), name


@pytest.mark.parametrize("bias", [-100.0, 1000.0])
def test_integer_overflow_is_unspecified(bias):
    got = activate("SHRINK", np.array([127, 0, 5], np.int8), Bias=bias, Threshold=10.0)
    assert (got.values.tolist(), got.unspecified.tolist()) == ([127 if bias < 0 else -128, 0, 0], [True, False, False])
