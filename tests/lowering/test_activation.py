"""ACTIVATION operators, standalone and fused, against the reference."""

import math
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from tests.lowering.harness import check_case, check_form, evaluate, make_case, operator, operators, t

FIELDS: dict[str, dict[str, Any]] = {
    "ACTIVATION_CELU": {"Alpha": 0.75},
    "ACTIVATION_ELU": {"Alpha": 0.75},
    "ACTIVATION_GELU": {},
    "ACTIVATION_HARDMAX": {},
    "ACTIVATION_HARDMAX1": {"Axes": (0,)},
    "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.2, "Beta": 0.5},
    "ACTIVATION_HARD_SWISH": {"Alpha": 0.2, "Beta": 0.5},
    "ACTIVATION_IDENTITY": {},
    "ACTIVATION_LEAKY_RELU": {"Alpha": 0.1},
    "ACTIVATION_LINEAR": {"Alpha": 1.5, "Beta": -0.25},
    "ACTIVATION_LOG_SOFTMAX": {},
    "ACTIVATION_LOG_SOFTMAX1": {"Axes": (0,)},
    "ACTIVATION_PARAMETERIZED_RELU": {},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": {"Alpha": 1.5, "Beta": 0.7},
    "ACTIVATION_RELU": {},
    "ACTIVATION_RELU_GRAD": {},
    "ACTIVATION_SCALED_ELU": {"Alpha": 1.6732632, "Gamma": 1.0507010},
    "ACTIVATION_SCALED_TANH": {"Alpha": 1.7, "Beta": 0.6},
    "ACTIVATION_SHRINK": {"Bias": 0.75, "Threshold": 0.5},
    "ACTIVATION_SIGMOID": {},
    "ACTIVATION_SOFTMAX": {},
    "ACTIVATION_SOFTMAX1": {"Axes": (0,)},
    "ACTIVATION_SOFTPLUS": {"Steepness": 2.0},
    "ACTIVATION_SOFTSIGN": {},
    "ACTIVATION_SWISH": {"SigmoidInputScale": 1.5},
    "ACTIVATION_TANH": {},
    "ACTIVATION_THRESHOLDED_RELU": {"Alpha": 0.5},
}
"""The attributes of each activation."""
SIGMOIDS = ("ACTIVATION_SIGMOID", "ACTIVATION_SWISH")
SHAPE = (2, 3, 4)


def activation(name, data_type="FLOAT32", sizes=SHAPE, strides=None, **fields):
    """A standalone activation; ``strides`` are those of tensors by field."""
    strides = strides or {}
    tensors = {
        item.name: t(data_type, sizes, strides.get(item.name))
        for item in catalog.operator(name).fields
        if item.is_tensor
    }
    return operator(name, **tensors, **{**FIELDS[name], **fields})


@pytest.mark.parametrize("name", SIGMOIDS)
def test_the_directml_provider_has_an_exact_sigmoid(name):
    case = make_case(activation(name))
    model = compile_outputs(case.graph, case.graph.outputs, target="dml")
    assert "Sigmoid" in operators(model)


# --- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("ACTIVATION_CELU", {}, ["Celu"]),
        ("ACTIVATION_ELU", {}, ["Elu"]),
        ("ACTIVATION_GELU", {}, ["Gelu"]),
        ("ACTIVATION_HARDMAX", {}, ["Hardmax"]),
        ("ACTIVATION_HARD_SIGMOID", {}, ["HardSigmoid"]),
        ("ACTIVATION_HARD_SWISH", {}, ["HardSigmoid", "Mul"]),
        ("ACTIVATION_HARD_SWISH", {"Alpha": 0.0}, ["Mul"]),
        ("ACTIVATION_IDENTITY", {}, ["Identity"]),
        ("ACTIVATION_LEAKY_RELU", {}, ["LeakyRelu"]),
        ("ACTIVATION_LINEAR", {}, ["Mul", "Add"]),
        ("ACTIVATION_LINEAR", {"Beta": 0.0}, ["Mul"]),
        ("ACTIVATION_LINEAR", {"Alpha": 1.0}, ["Add"]),
        ("ACTIVATION_LOG_SOFTMAX", {}, ["LogSoftmax"]),
        ("ACTIVATION_PARAMETERIZED_RELU", {}, ["GreaterOrEqual", "Where", "Mul"]),
        ("ACTIVATION_PARAMETRIC_SOFTPLUS", {}, ["Mul", "Softplus", "Mul"]),
        ("ACTIVATION_PARAMETRIC_SOFTPLUS", {"Alpha": 1.0, "Beta": 1.0}, ["Softplus"]),
        ("ACTIVATION_RELU", {}, ["Relu"]),
        ("ACTIVATION_RELU_GRAD", {}, ["Greater", "Where"]),
        ("ACTIVATION_SCALED_ELU", {}, ["Selu"]),
        ("ACTIVATION_SCALED_TANH", {}, ["Mul", "Tanh", "Mul"]),
        ("ACTIVATION_SHRINK", {}, ["Less", "Greater", "Add", "Where", "Add", "Where"]),
        ("ACTIVATION_SHRINK", {"Bias": 0.0}, ["Less", "Greater", "Where", "Where"]),
        ("ACTIVATION_SIGMOID", {}, ["Sigmoid"]),
        ("ACTIVATION_SOFTMAX", {}, ["Softmax"]),
        ("ACTIVATION_SOFTPLUS", {}, ["Clip", "Mul", "Softplus", "Div", "Max"]),
        ("ACTIVATION_SOFTPLUS", {"Steepness": 0.5}, ["Mul", "Softplus", "Div"]),
        ("ACTIVATION_SOFTPLUS", {"Steepness": 1.0}, ["Softplus"]),
        ("ACTIVATION_SOFTSIGN", {}, ["Softsign"]),
        ("ACTIVATION_SWISH", {}, ["Mul", "Sigmoid", "Mul"]),
        ("ACTIVATION_SWISH", {"SigmoidInputScale": 1.0}, ["Sigmoid", "Mul"]),
        ("ACTIVATION_SWISH", {"SigmoidInputScale": 0.0}, ["Mul"]),
        ("ACTIVATION_TANH", {}, ["Tanh"]),
        ("ACTIVATION_THRESHOLDED_RELU", {}, ["ThresholdedRelu"]),
    ],
)
def test_form(name, fields, expected):
    assert operators(check_form(activation(name, **fields))) == expected


def test_gelu_before_opset_20_is_what_onnx_runtime_fuses():
    model = check_case(activation("ACTIVATION_GELU"), opset=19)
    assert operators(model) == ["Div", "Erf", "Add", "Mul", "Mul"]
    assert any("opset 20" in note for note in model.traces[0].notes)
    assert operators(check_case(activation("ACTIVATION_GELU"), opset=20)) == ["Gelu"]


def test_prelu_for_directml():
    op = activation("ACTIVATION_PARAMETERIZED_RELU", strides={"SlopeTensor": (0, 4, 1)})
    assert operators(check_case(op, target="dml")) == ["PRelu"]


@pytest.mark.parametrize(
    ("sizes", "axes", "expected"),
    [
        pytest.param((2, 3, 4), (2,), ["Softmax"], id="last"),
        pytest.param((2, 3, 4), (0,), ["Softmax"], id="first"),
        pytest.param((2, 1, 4), (2, 1), ["Softmax"], id="ones-do-not-count"),
        pytest.param((2, 1, 1), (1, 2), ["Softmax"], id="only-ones"),
        pytest.param((2, 3, 4), (2, 1), ["Reshape", "Softmax", "Reshape"], id="neighbours"),
        pytest.param((2, 1, 4), (0, 2), ["Reshape", "Softmax", "Reshape"], id="neighbours-around-a-one"),
        pytest.param((2, 3, 4, 2), (0, 1), ["Reshape", "Softmax", "Reshape"], id="leading"),
        pytest.param((2, 3, 4), (0, 1, 2), ["Reshape", "Softmax", "Reshape"], id="all"),
        pytest.param((2, 3, 4), (2, 0), ["Transpose", "Reshape", "Softmax", "Reshape", "Transpose"], id="apart"),
    ],
)
@pytest.mark.parametrize("name", ["ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1", "ACTIVATION_HARDMAX1"])
def test_several_axes(name, sizes, axes, expected):
    emitted = {"ACTIVATION_LOG_SOFTMAX1": "LogSoftmax", "ACTIVATION_HARDMAX1": "Hardmax"}.get(name, "Softmax")
    model = check_case(activation(name, sizes=sizes, Axes=axes))
    assert operators(model) == [emitted if item == "Softmax" else item for item in expected]


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_hardmax_takes_the_first_of_equals_in_row_major_order(axes):
    x = np.random.default_rng(0).integers(0, 2, (3, 4, 5)).astype(np.float32)
    evaluate(activation("ACTIVATION_HARDMAX1", sizes=x.shape, Axes=axes), InputTensor=x)
    evaluate(activation("ACTIVATION_HARDMAX1", sizes=x.shape, Axes=axes), InputTensor=np.full_like(x, -np.inf))


@pytest.mark.parametrize("name", ["ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX"])
def test_softmax_of_large_numbers(name):
    x = np.array(
        [[1e4, 1e4, -1e4], [3e38, -3e38, 0], [-3e38, -3e38, -3e38], [0, -np.inf, 1], [np.nan, 0, 0]], np.float32
    )
    evaluate(activation(name, sizes=x.shape), InputTensor=x)


# --- layouts ---------------------------------------------------------------------------------------------------------


def test_broadcast_elements_are_computed_once():
    model = check_case(activation("ACTIVATION_TANH", strides={"InputTensor": (0, 4, 1)}))
    assert operators(model) == ["Tanh", "Expand"]
    slope = {"SlopeTensor": (0, 1, 0)}
    model = check_case(activation("ACTIVATION_PARAMETERIZED_RELU", strides=slope), constants=["SlopeTensor"])
    assert operators(model) == ["GreaterOrEqual", "Where", "Mul"]


@pytest.mark.parametrize("name", ["ACTIVATION_RELU_GRAD", "ACTIVATION_PARAMETERIZED_RELU"])
def test_constants_are_folded(name):
    other = {"ACTIVATION_RELU_GRAD": "InputGradientTensor"}.get(name, "SlopeTensor")
    assert operators(check_case(activation(name), constants=["InputTensor", other])) == ["Identity"]


# --- fused -----------------------------------------------------------------------------------------------------------

FUSED = sorted(name.removeprefix("DML_OPERATOR_") for name in catalog.fused_activations("ELEMENT_WISE_ADD1"))


def add1(data_type, fused, sizes=SHAPE):
    tensors = {field: t(data_type, sizes) for field in ("ATensor", "BTensor", "OutputTensor")}
    return operator("ELEMENT_WISE_ADD1", **tensors, FusedActivation=fused)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("name", FUSED)
def test_fused_equals_separate(name, data_type):
    model = check_form(add1(data_type, operator(name, **FIELDS[name])), seed=1)
    alone = check_form(activation(name, data_type))
    separate = [item for item in operators(alone) if item not in {"Cast", "Identity"}]
    assert [item for item in operators(model) if item != "Cast"] == ["Add", *separate]
    if data_type == "FLOAT16":
        exact = operators(check_case(add1(data_type, operator(name, **FIELDS[name])), seed=1))
        assert (exact[:2], exact[-1], exact.count("Cast")) == (["Cast", "Cast"], "Cast", 3)


GEMM_FUSED = [
    ("ACTIVATION_SOFTMAX", {}, ["MatMul", "Softmax"]),
    ("ACTIVATION_SOFTMAX1", {"Axes": (2,)}, ["MatMul", "Softmax"]),
    ("ACTIVATION_SOFTMAX1", {"Axes": (3, 2)}, ["MatMul", "Reshape", "Softmax", "Reshape"]),
    ("ELEMENT_WISE_CLIP", {"Min": -1.0, "Max": 1.0}, ["MatMul", "Clip"]),
    ("ELEMENT_WISE_CLIP", {"Min": 1.0, "Max": -1.0}, ["MatMul", "Clip"]),
    ("ELEMENT_WISE_CLIP", {"Min": 0.0, "Max": math.inf}, ["MatMul", "Relu"]),
    ("ELEMENT_WISE_CLIP", {"Min": -math.inf, "Max": 0.5}, ["MatMul", "Clip"]),
    ("ELEMENT_WISE_CLIP", {"Min": -math.inf, "Max": math.inf}, ["MatMul"]),
]


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(("name", "fields", "expected"), GEMM_FUSED)
def test_fused_into_gemm_only(name, fields, expected, data_type):
    op = operator(
        "GEMM",
        ATensor=t(data_type, (1, 1, 3, 5)),
        BTensor=t(data_type, (1, 1, 5, 4)),
        OutputTensor=t(data_type, (1, 1, 3, 4)),
        TransA="NONE",
        TransB="NONE",
        Alpha=1.0,
        Beta=0.0,
        FusedActivation=operator(name, **fields),
    )
    model = check_case(op)
    if "Axes" not in fields:
        assert [item for item in operators(model) if item not in {"Reshape", "Cast"}] == expected


# --- accuracy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        *(("ACTIVATION_SOFTPLUS", {"Steepness": steepness}) for steepness in (1.0, 3.0, 0.25)),
        ("ACTIVATION_PARAMETRIC_SOFTPLUS", {"Alpha": 1.5, "Beta": -0.75}),
    ],
)
def test_softplus_of_many_elements(name, fields, data_type):
    """Large tensors use several kernels, which must treat special numbers as Softplus does."""
    rng = np.random.default_rng(0)
    special = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 88.7, 89, -88, -104, 16.6, 17, 3e38, -3e38], np.float32
    )
    ordinary = [rng.normal(0, 5, 3000), rng.uniform(-110, 110, 3000), 10 ** rng.uniform(-40, 0, 3000)]
    with np.errstate(over="ignore"):
        x = np.concatenate([special, *ordinary]).astype(np.float32).astype(data_type.lower())
    for count, is_one in ((200, True), (x.size, False)):
        model = check_case(activation(name, data_type, (count,), **fields), inputs={"InputTensor": x[:count]})
        assert ("Softplus" in operators(model)) == is_one


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("ACTIVATION_SIGMOID", {}),
        *(("ACTIVATION_SWISH", {"SigmoidInputScale": scale}) for scale in (1.0, 1e-3, 1e-2, -0.5, 30.0)),
    ],
)
def test_relative_accuracy_of_tails(name, fields, data_type):
    """Results near 0 keep their digits, which an absolute error of 1e-7 would erase."""
    scale = fields.get("SigmoidInputScale", 1.0)
    x = (np.concatenate([-np.geomspace(1e-3, 80, 400), np.geomspace(1e-3, 80, 400)]) / scale).astype(np.float32)
    op = activation(name, data_type, x.shape, **fields)
    evaluate(op, InputTensor=x.astype(op.tensor("InputTensor").data_type.dtype))
    evaluate(add1("FLOAT32", operator(name, **fields), x.shape), ATensor=x, BTensor=np.zeros_like(x))


@pytest.mark.parametrize("name", SIGMOIDS)
@pytest.mark.parametrize("exact", [False, True], ids=["default", "exact"])
def test_small_results_of_a_sigmoid(name: str, exact: bool) -> None:
    """Sigmoid kernels have an error of 1.7e-7 everywhere, which only default models accept."""
    tensor = t("FLOAT32", (1, 1, 2, 300))
    fields = {"SigmoidInputScale": 1.0} if name.endswith("SWISH") else {}
    op = operator(name, InputTensor=tensor, OutputTensor=tensor, **fields)
    x = np.linspace(-30, -12, 600, dtype=np.float32).reshape(1, 1, 2, 300)
    check_case(op, inputs={"InputTensor": x}, exact=exact, target="cpu" if exact else "onnx")
