from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error, operator_results
from dml2onnx.reference.activation import apply_activation
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results

SPECIAL = np.array([-np.inf, -1000, -3, -0.5, -0.0, 0, 1e-8, 0.5, 3, 1000, np.inf, np.nan])


def activate(name, x, **values):
    result = operator_results(describe(name, InputTensor=x, OutputTensor=x, **values), {"InputTensor": x})
    return result["OutputTensor"][0]


ONNX = [
    # DirectML name and attributes, ONNX name and attributes
    ("CELU", {"Alpha": 0.5}, "Celu", {"alpha": 0.5}),
    ("ELU", {"Alpha": 1.5}, "Elu", {"alpha": 1.5}),
    ("HARD_SIGMOID", {"Alpha": 0.25, "Beta": 0.5}, "HardSigmoid", {"alpha": 0.25, "beta": 0.5}),
    ("IDENTITY", {}, "Identity", {}),
    ("LEAKY_RELU", {"Alpha": 0.25}, "LeakyRelu", {"alpha": 0.25}),
    ("RELU", {}, "Relu", {}),
    ("SCALED_ELU", {"Alpha": 1.5, "Gamma": 2.0}, "Selu", {"alpha": 1.5, "gamma": 2.0}),
    ("SHRINK", {"Bias": 0.25, "Threshold": 0.5}, "Shrink", {"bias": 0.25, "lambd": 0.5}),
    ("SIGMOID", {}, "Sigmoid", {}),
    ("SOFTPLUS", {"Steepness": 1.0}, "Softplus", {}),
    ("SOFTSIGN", {}, "Softsign", {}),
    ("TANH", {}, "Tanh", {}),
    ("THRESHOLDED_RELU", {"Alpha": 0.5}, "ThresholdedRelu", {"alpha": 0.5}),
    ("SOFTMAX", {}, "Softmax", {"axis": -1}),
    ("SOFTMAX1", {"Axes": (0,)}, "Softmax", {"axis": 0}),
    ("LOG_SOFTMAX", {}, "LogSoftmax", {"axis": -1}),
    ("LOG_SOFTMAX1", {"Axes": (1,)}, "LogSoftmax", {"axis": 1}),
    ("HARDMAX", {}, "Hardmax", {"axis": -1}),
    ("HARDMAX1", {"Axes": (0,)}, "Hardmax", {"axis": 0}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("name", "values", "onnx_name", "attributes"), ONNX, ids=[case[0] for case in ONNX])
def test_agrees_with_onnx(dtype, name, values, onnx_name, attributes):
    x = (np.random.default_rng(0).standard_normal((4, 6)) * 3).astype(dtype)
    node = onnx.helper.make_node(onnx_name, ["x"], ["y"], **attributes)
    want = onnx_results(node, {"x": x.astype(np.float64)})[0].astype(dtype)
    got = activate(f"ACTIVATION_{name}", x, **values)
    np.testing.assert_allclose(got.values, want, rtol=2 * np.finfo(dtype).eps, atol=1e-14)
    assert got.unspecified is None or not got.unspecified.any()


def test_gelu_agrees_with_scipy():
    x = np.linspace(-5, 9, 101).astype(np.float32)
    wide = x.astype(np.float64)
    want = wide * scipy.special.ndtr(wide)
    np.testing.assert_allclose(activate("ACTIVATION_GELU", x).values, want, rtol=2**-23)


NAN_GIVES_NAN = {
    "ELU": {"Alpha": 1.0},
    "GELU": {},
    "LEAKY_RELU": {"Alpha": 0.0},
    "LINEAR": {"Alpha": 1.0, "Beta": 0.0},
    "PARAMETRIC_SOFTPLUS": {"Alpha": 1.0, "Beta": 1.0},
    "SCALED_ELU": {"Alpha": 1.0, "Gamma": 1.0},
    "SCALED_TANH": {"Alpha": 1.0, "Beta": 1.0},
    "SIGMOID": {},
    "SOFTPLUS": {"Steepness": 2.0},
    "SOFTSIGN": {},
    "SWISH": {"SigmoidInputScale": 1.0},
    "TANH": {},
    "IDENTITY": {},
    "THRESHOLDED_RELU": {"Alpha": 1.0},
    "HARD_SWISH": {"Alpha": 0.2, "Beta": 0.5},
}
NAN_GIVES_ZERO = {
    "SHRINK": {"Bias": 0.5, "Threshold": 0.5},
    "RELU": {},
    "HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5},
}
NAN_UNSPECIFIED = {"CELU": {"Alpha": 1.0}}


@pytest.mark.parametrize(
    ("name", "values"), [*NAN_GIVES_NAN.items(), *NAN_GIVES_ZERO.items(), *NAN_UNSPECIFIED.items()]
)
def test_nan(name, values):
    got = activate(f"ACTIVATION_{name}", np.array([np.nan, 1], np.float32), **values)
    assert np.isnan(got.values[0]) == (name not in NAN_GIVES_ZERO)
    if name in NAN_GIVES_ZERO:
        assert got.values[0] == 0
    marked = got.unspecified is not None and got.unspecified.tolist() == [True, False]
    assert marked == (name in NAN_UNSPECIFIED)


@pytest.mark.parametrize(
    ("name", "values", "low", "high"),
    [
        ("SIGMOID", {}, 0, 1),
        ("TANH", {}, -1, 1),
        ("SOFTPLUS", {"Steepness": 0.5}, 0, np.inf),
        ("ELU", {"Alpha": 2.0}, -2, np.inf),
        ("SCALED_ELU", {"Alpha": 2.0, "Gamma": -1.5}, 3, -np.inf),
        ("CELU", {"Alpha": 2.0}, -2, np.inf),
        ("CELU", {"Alpha": -0.5}, -np.inf, np.inf),
        ("PARAMETRIC_SOFTPLUS", {"Alpha": 2.0, "Beta": -1.0}, np.inf, 0),
        ("GELU", {}, np.nan, np.inf),
        ("SWISH", {"SigmoidInputScale": 1.0}, np.nan, np.inf),
        ("HARD_SWISH", {"Alpha": 0.2, "Beta": 0.5}, np.nan, np.inf),
        ("SOFTSIGN", {}, np.nan, np.nan),
        ("SCALED_TANH", {"Alpha": 3.0, "Beta": 0.5}, -3, 3),
        ("LINEAR", {"Alpha": -1.0, "Beta": 4.0}, np.inf, -np.inf),
    ],
)
def test_limits(name, values, low, high):
    got = activate(f"ACTIVATION_{name}", np.array([-np.inf, np.inf], np.float32), **values)
    np.testing.assert_array_equal(got.values, [low, high])


def test_strict_comparisons():
    x = np.array([-0.5, 0.5, 0.0], np.float32)
    np.testing.assert_array_equal(activate("ACTIVATION_THRESHOLDED_RELU", x, Alpha=0.5).values, [0, 0, 0])
    np.testing.assert_array_equal(activate("ACTIVATION_SHRINK", x, Bias=0.1, Threshold=0.5).values, [0, 0, 0])
    # with a negative threshold both conditions hold, and the page's first one wins
    np.testing.assert_array_equal(activate("ACTIVATION_SHRINK", x, Bias=0.25, Threshold=-1.0).values, x - 0.25)


def test_softsign_marks():
    softsign = activate("ACTIVATION_SOFTSIGN", np.array([3e38, -1e36], np.float32))
    np.testing.assert_array_equal(softsign.values, [1, -1])
    np.testing.assert_array_equal(softsign.unspecified, [True, False])


@pytest.mark.parametrize("name", ["SOFTMAX1", "LOG_SOFTMAX1"])
@pytest.mark.parametrize("axes", [(0,), (2, 1), (0, 2), (0, 1, 2)])
def test_softmax_over_joint_axes(name, axes):
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    function = scipy.special.softmax if name == "SOFTMAX1" else scipy.special.log_softmax
    want = function(x.astype(np.float64), axes)
    np.testing.assert_allclose(activate(f"ACTIVATION_{name}", x, Axes=axes).values, want, rtol=2**-23)


def test_softmax_of_infinities():
    x = np.array([[1e38, 1, 3e38], [-np.inf, -np.inf, -np.inf], [np.inf, 0, 0], [-np.inf, 2, 2]], np.float32)
    got = activate("ACTIVATION_SOFTMAX", x)
    np.testing.assert_array_equal(got.values[[0, 3]], [[0, 0, 1], [0, 0.5, 0.5]])
    np.testing.assert_array_equal(got.unspecified.any(axis=1), [False, True, True, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("axes", [(1,), (2, 0), (0, 1, 2)])
def test_hardmax_takes_the_first_in_row_major_order(dtype, axes):
    x = np.random.default_rng(0).integers(0, 3, (3, 2, 4)).astype(dtype)
    got = activate("ACTIVATION_HARDMAX1", x, Axes=axes).values
    others = [axis for axis in range(3) if axis not in axes]
    for place in np.ndindex(*(x.shape[axis] for axis in others)):
        index = [slice(None)] * 3
        for axis, coordinate in zip(others, place, strict=True):
            index[axis] = coordinate
        row = x[tuple(index)].reshape(-1)
        want = np.zeros(row.size)
        want[list(row).index(max(row))] = 1
        np.testing.assert_array_equal(got[tuple(index)].reshape(-1), want)


def test_hardmax_passes_over_nan_that_is_not_the_first():
    x = np.array([[np.nan, 5, 6], [1, np.nan, 3], [np.nan, np.nan, np.nan], [1, 2, 2]], np.float32)
    got = activate("ACTIVATION_HARDMAX", x)
    np.testing.assert_array_equal(got.values, [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(got.unspecified.any(axis=1), [True, True, True, False])


def test_log_softmax_passes_over_nan():
    """What is left is the distance from the maximum, less the logarithm of 1e-20."""
    got = activate("ACTIVATION_LOG_SOFTMAX", np.array([[np.nan, 1, -1], [np.inf, 1, 2], [1, 1, 1]], np.float32))
    np.testing.assert_allclose(got.values[0, 1:], [46.0517, 44.0517], rtol=1e-5)
    np.testing.assert_array_equal(got.values[1], [np.nan, -np.inf, -np.inf])
    np.testing.assert_array_equal(got.unspecified.any(axis=1), [True, True, False])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_integers(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, -1, 0, 1, high], dtype)
    np.testing.assert_array_equal(activate("ACTIVATION_RELU", x).values, [0, 0, 0, 1, high])
    slope = np.array([3, 3, 3, 3, 3], dtype)
    op = describe("ACTIVATION_PARAMETERIZED_RELU", InputTensor=x, SlopeTensor=slope, OutputTensor=x)
    got = operator_results(op, {"InputTensor": x, "SlopeTensor": slope})["OutputTensor"][0].values
    np.testing.assert_array_equal(got, [low, -3, 0, 1, high])  # 3 * low wraps to low
    op = describe("ACTIVATION_RELU_GRAD", InputTensor=x, InputGradientTensor=slope, OutputGradientTensor=x)
    got = operator_results(op, {"InputTensor": x, "InputGradientTensor": slope})["OutputGradientTensor"][0].values
    np.testing.assert_array_equal(got, [0, 0, 0, 3, 3])


@given(
    st.sampled_from([np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32]),
    st.floats(-1000, 1000, width=32),
    st.floats(-10, 100, width=32),
    st.data(),
)
def test_shrink_on_integers(dtype, bias, threshold, data):
    info = np.iinfo(dtype)
    value = data.draw(st.integers(int(info.min), int(info.max)))
    x = np.array([value], dtype)
    wide = np.float32(value)
    if wide > np.float32(threshold):
        total = wide - np.float32(bias)
    elif wide < np.float32(-threshold):
        total = wide + np.float32(bias)
    else:
        total = np.float32(0)
    whole = round(float(total))
    got = activate("ACTIVATION_SHRINK", x, Bias=bias, Threshold=threshold)
    assert got.values[0] == min(max(whole, int(info.min)), int(info.max))
    assert (got.unspecified is not None) == (not info.min <= whole <= info.max)


def test_parameterized_relu_in_ieee():
    x = np.array([-np.inf, np.inf, -2, np.nan, 3], np.float32)
    slope = np.array([0, 0, 0.5, 1, np.nan], np.float32)
    op = describe("ACTIVATION_PARAMETERIZED_RELU", InputTensor=x, SlopeTensor=slope, OutputTensor=x)
    got = operator_results(op, {"InputTensor": x, "SlopeTensor": slope})["OutputTensor"][0].values
    np.testing.assert_array_equal(got, [np.nan, np.inf, -1, np.nan, 3])


def test_relu_grad():
    x = np.array([-1, 0, 1, np.nan, 2], np.float16)
    gradient = np.array([5, 5, 5, 5, np.nan], np.float16)
    op = describe("ACTIVATION_RELU_GRAD", InputTensor=x, InputGradientTensor=gradient, OutputGradientTensor=x)
    got = operator_results(op, {"InputTensor": x, "InputGradientTensor": gradient})["OutputGradientTensor"][0].values
    np.testing.assert_array_equal(got, [0, 0, 5, 0, np.nan])


FUSED = [
    *((f"ACTIVATION_{name}", values) for name, values in {**NAN_GIVES_NAN, **NAN_UNSPECIFIED}.items()),
    ("ELEMENT_WISE_CLIP", {"Min": -1.0, "Max": 1.0}),
]


@pytest.mark.parametrize(("name", "values"), FUSED)
def test_fused_error_covers_what_the_input_may_be(name, values):
    random = np.random.default_rng(0)
    x = random.standard_normal(500) * 4
    error = np.abs(random.standard_normal(500)) * 1e-3
    op = describe(name, **values)
    result: Any = apply_activation(op, x, error)
    for part in (-0.9, -0.3, 0.4, 1.0):
        moved: Any = apply_activation(op, x + part * error).values
        assert (np.abs(moved - result.values) <= result.error + 1e-7).all()


def test_fused_jump_is_within_the_error():
    op = describe("ACTIVATION_THRESHOLDED_RELU", Alpha=1.0)
    result = apply_activation(op, np.array([1.0, 1.1]), np.array([1e-6, 1e-6]))
    assert result.error is not None
    assert result.error[0] >= 1
    assert result.error[1] < 1e-5


def test_error_of_the_formula_covers_float32():
    x = np.linspace(-20, 20, 4001).astype(np.float32)
    one = np.float32(1)
    forms = {
        "ACTIVATION_SIGMOID": one / (one + np.exp(-x)),
        "ACTIVATION_TANH": np.tanh(x),
        "ACTIVATION_GELU": np.float32(0.5) * x * (one + scipy.special.erf(x / np.float32(math.sqrt(2)))),
        "ACTIVATION_SWISH": x / (one + np.exp(-x)),
        "ACTIVATION_SOFTPLUS": np.log(one + np.exp(x)),
        "ACTIVATION_ELU": np.where(x >= 0, x, np.exp(x) - one),
    }
    for name, form in forms.items():
        values = {
            "ACTIVATION_SWISH": {"SigmoidInputScale": 1.0},
            "ACTIVATION_SOFTPLUS": {"Steepness": 1.0},
            "ACTIVATION_ELU": {"Alpha": 1.0},
        }.get(name, {})
        result = activate(name, x, **values)
        allowed = allowed_error(result, DataType.FLOAT32)
        assert form.dtype == np.float32
        assert (np.abs(form.astype(np.float64) - result.values) <= allowed).all(), name
        assert (allowed <= 1e-4 * np.maximum(np.abs(x), 1)).all(), name
