"""BATCH_NORMALIZATION_TRAINING, the gradients of both, and LOCAL_RESPONSE_NORMALIZATION_GRAD against the reference."""

from typing import Any

import numpy as np
import pytest

from dml2onnx.checks import check
from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, each_row, make_case, operator, operators, random_memory, t
from tests.lowering.normalizations import CHANNELS, RELU, SHAPE, SIZES, following, fused_activations

GRADIENTS = ("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD")
PARAMETERS = ("MeanTensor", "VarianceTensor", "ScaleTensor")


# --- descriptors -----------------------------------------------------------------------------------------------------


def training(sizes=SHAPE, parameters=CHANNELS, *, add=False, data_type="FLOAT32", epsilon=1e-5, activation=None, **at):
    """A BATCH_NORMALIZATION_TRAINING; ``at`` gives strides by field."""
    shapes = {"InputTensor": sizes, "ScaleTensor": parameters, "BiasTensor": parameters, "OutputTensor": sizes}
    shapes |= {"OutputMeanTensor": parameters, "OutputVarianceTensor": parameters}
    shapes |= {"FusedAddTensor": sizes} if add else {}
    return operator(
        "BATCH_NORMALIZATION_TRAINING",
        **{field: t(data_type, shape, at.get(field)) for field, shape in shapes.items()},
        Epsilon=epsilon,
        FusedActivation=activation,
    )


def gradient(name=GRADIENTS[1], sizes=SHAPE, parameters=CHANNELS, *, data_type="FLOAT32", epsilon=1e-5, **at):
    """A gradient of a batch normalization; ``at`` gives strides by field."""
    large = ("InputTensor", "InputGradientTensor", "OutputGradientTensor")
    small = (*PARAMETERS, "OutputScaleGradientTensor", "OutputBiasGradientTensor")
    shapes = dict.fromkeys(large, sizes) | dict.fromkeys(small, parameters)
    tensors = {field: t(data_type, shape, at.get(field)) for field, shape in shapes.items()}
    return operator(name, **tensors, Epsilon=epsilon)


def lrn_grad(sizes=SHAPE, size=3, *, across=True, alpha=0.1, beta=0.75, bias=1.0, data_type="FLOAT32", **at):
    """A LOCAL_RESPONSE_NORMALIZATION_GRAD; ``at`` gives strides by field."""
    fields = ("InputTensor", "InputGradientTensor", "OutputGradientTensor")
    return operator(
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        **{field: t(data_type, sizes, at.get(field)) for field in fields},
        CrossChannel=across,
        LocalSize=size,
        Alpha=alpha,
        Beta=beta,
        Bias=bias,
    )


def check_gradient(op, *, seed=0, inputs=None, **options):
    """:func:`check_case` with a positive variance."""
    desc = op.tensor("VarianceTensor")
    variance = np.abs(random_memory(desc, np.random.default_rng(seed))) + desc.data_type.dtype.type(0.01)
    return check_case(op, inputs={"VarianceTensor": variance, **(inputs or {})}, seed=seed, **options)


# --- everything the support tables admit -----------------------------------------------------------------------------


@each_row("BATCH_NORMALIZATION_TRAINING", "OutputTensor")
def test_training_on_every_data_type_and_rank(level, data_type, rank):
    sizes = SIZES[:rank]
    for parameters in (following(sizes, 1), following(sizes), sizes, following(sizes, 0, rank - 1)):
        for add in (False, True):
            op = training(sizes, parameters, add=add, data_type=data_type, activation=RELU if add else None)
            assert not check(make_case(op).graph, level), level
            check_case(op)


@each_row(GRADIENTS, "OutputGradientTensor")
def test_gradients_on_every_data_type_and_rank(name, level, data_type, rank):
    sizes = SIZES[:rank]
    for parameters in (following(sizes, 1), following(sizes), sizes, following(sizes, 0, rank - 1)):
        op = gradient(name, sizes, parameters, data_type=data_type)
        assert not check(make_case(op).graph, level), level
        check_gradient(op)


@pytest.mark.parametrize("across", [True, False])
@each_row("LOCAL_RESPONSE_NORMALIZATION_GRAD", "OutputGradientTensor")
def test_response_on_every_data_type_and_rank(level, data_type, rank, across):
    for size in (1, 2, 5):
        op = lrn_grad(SIZES[:rank], size, data_type=data_type, across=across)
        assert not check(make_case(op).graph, level), level
        check_case(op)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_fused_activations(data_type):
    activations = list(fused_activations("BATCH_NORMALIZATION_TRAINING"))
    assert len(activations) == 17
    for activation in activations:
        check_case(training(data_type=data_type, add=True, activation=activation))


# --- batch normalization ---------------------------------------------------------------------------------------------


def test_the_variance_is_the_populations():
    x = np.array([1, 2, 3, 6], np.float32)
    inputs: dict[str, np.ndarray] = {
        "InputTensor": x,
        "ScaleTensor": np.array([2], np.float32),
        "BiasTensor": np.array([10], np.float32),
    }
    got: dict[str, np.ndarray] = check_case(training((4, 1), (1, 1), epsilon=0.5), inputs=inputs).run(inputs)
    assert got["OutputMeanTensor"].item() == 3
    assert got["OutputVarianceTensor"].item() == 3.5
    np.testing.assert_allclose(got["OutputTensor"].reshape(-1), 10 + 2 * (x - 3) / 2, rtol=1e-6)


def test_a_large_mean_costs_only_its_own_rounding():
    x = 1e4 + np.random.default_rng(0).normal(0, 1, SHAPE)
    got: dict[str, np.ndarray] = check_case(training(), inputs={"InputTensor": x}).run(
        {"InputTensor": x.astype(np.float32).reshape(-1), "ScaleTensor": np.ones(3, np.float32),
         "BiasTensor": np.zeros(3, np.float32)}
    )  # fmt: skip
    want = x.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(got["OutputVarianceTensor"].reshape(-1), want.var(axis=(0, 2, 3)), rtol=1e-4)


def test_forms():
    # dY * (X - Mean) and dY are summed side by side
    assert operators(check_gradient(gradient(GRADIENTS[0]))).count("MatMul") <= 4
    for name in GRADIENTS:
        everything = gradient(name, SHAPE, SHAPE)
        sums = {"ReduceMean", "ReduceSum", "MatMul"}
        assert not sums & set(operators(check_gradient(everything)))


def test_gradients_by_hand():
    numbers: dict[str, list[float]] = {
        "InputTensor": [1, 2, 3, 6],
        "InputGradientTensor": [1, 0, 0, 2],
        "MeanTensor": [3],
        "VarianceTensor": [3.5],
        "ScaleTensor": [4],
    }
    inputs: dict[str, np.ndarray] = {field: np.array(values, np.float32) for field, values in numbers.items()}
    scale_gradient = (1 * -2 + 2 * 3) / 2
    op = gradient(GRADIENTS[0], (4, 1), (1, 1), epsilon=0.5)
    fixed: dict[str, np.ndarray] = check_case(op, inputs=inputs).run(inputs)
    np.testing.assert_allclose(fixed["OutputGradientTensor"].reshape(-1), [2, 0, 0, 4])
    op = gradient(GRADIENTS[1], (4, 1), (1, 1), epsilon=0.5)
    trained: dict[str, np.ndarray] = check_case(op, inputs=inputs).run(inputs)
    # mean(dY) = 0.75, mean(dY * own) = 1, over the shifted variance 0.25
    np.testing.assert_allclose(trained["OutputGradientTensor"].reshape(-1), [1.5, -1, -1.5, 1], rtol=1e-6)
    for got in (fixed, trained):
        np.testing.assert_allclose(got["OutputScaleGradientTensor"].item(), scale_gradient)
        assert got["OutputBiasGradientTensor"].item() == 3


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_variance_of_minus_0_is_0_with_epsilon_0(name, data_type):
    dtype = DataType[data_type].dtype
    op = gradient(name, (4, 3), (4, 3), epsilon=0.0, data_type=data_type)
    random = np.random.default_rng(0)
    inputs = {field: random.normal(size=(4, 3)).astype(dtype) for field in ("InputTensor", "InputGradientTensor")}
    inputs |= {field: random.normal(size=(4, 3)).astype(dtype) for field in ("MeanTensor", "ScaleTensor")}
    check_case(op, inputs={**inputs, "VarianceTensor": np.resize(np.array([0.0, -0.0], dtype), (4, 3))})


@pytest.mark.parametrize("strides", [(60, 1, 15, 3), (0, 20, 5, 1), (60, 20, 0, 1), (0, 0, 0, 0)])
def test_layouts(strides):
    spread = (200, 50, 10, 2)
    check_case(training(add=True, InputTensor=strides))
    check_case(training(add=True, FusedAddTensor=strides, OutputTensor=spread))
    check_case(training(parameters=SHAPE, ScaleTensor=strides, BiasTensor=strides, OutputMeanTensor=spread))
    for name in GRADIENTS:
        for field in ("InputTensor", "InputGradientTensor"):
            check_gradient(gradient(name, **{field: strides}))
        check_gradient(gradient(name, OutputGradientTensor=spread))
        at = dict.fromkeys(PARAMETERS, (0, 1, 0, 0))
        check_gradient(gradient(name, OutputScaleGradientTensor=(9, 3, 3, 3), **at))
    for across in (True, False):
        for field in ("InputTensor", "InputGradientTensor"):
            check_case(lrn_grad(across=across, **{field: strides}))
        check_case(lrn_grad(across=across, OutputGradientTensor=spread))


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "max", "tiny", "0"])
def test_special_numbers(data_type, number):
    limits: np.finfo[Any] = np.finfo(DataType[data_type].dtype)
    value = {"max": limits.max, "tiny": limits.smallest_subnormal}.get(number)
    value = float(number) if value is None else value
    for field in ("InputTensor", "InputGradientTensor", *PARAMETERS):
        for name in GRADIENTS:
            op = gradient(name, data_type=data_type)
            x = np.random.default_rng(0).normal(1, 0.1, op.tensor(field).sizes)
            x.reshape(-1)[1] = value
            check_gradient(op, inputs={field: x})
    for field in ("InputTensor", "ScaleTensor", "BiasTensor", "FusedAddTensor"):
        op = training(add=True, data_type=data_type)
        x = np.random.default_rng(0).normal(1, 0.1, op.tensor(field).sizes)
        x.reshape(-1)[1] = value
        check_case(op, inputs={field: x})
    for field in ("InputTensor", "InputGradientTensor"):
        for across in (True, False):
            op = lrn_grad((2, 7, 6, 5), data_type=data_type, across=across)
            x = np.random.default_rng(0).normal(0, 1, (2, 7, 6, 5))
            x[1, 2, 3, 4] = value
            check_case(op, inputs={field: x})


def test_constants():
    check_case(training(), constants=["InputTensor", "ScaleTensor", "BiasTensor"])
    for name in GRADIENTS:
        check_gradient(gradient(name), constants=PARAMETERS)
    for constants in (["InputTensor"], ["InputTensor", "InputGradientTensor"]):
        check_case(lrn_grad(), constants=constants)


# --- LOCAL_RESPONSE_NORMALIZATION_GRAD -------------------------------------------------------------------------------


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("size", [*range(1, 9), 50, (1 << 32) - 1])
def test_sizes_of_windows(across, size):
    for sizes in [(2, 7, 5, 6), (1, 1, 1, 1), (1, 2, 1, 9), (2, 3, 8, 1)]:
        check_case(lrn_grad(sizes, size, across=across, alpha=min(0.1 * size, 3e38)))


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("beta", [0.75, 0.5, 0.25, 1.0, 0.0, -0.5, 2.0, 0.6])
@pytest.mark.parametrize("alpha", [1e-4, 0.0, 2.5, -0.01, 3e38])
@pytest.mark.parametrize("bias", [1.0, 0.0, 2.5, -4.0])
def test_attributes(across, beta, alpha, bias):
    check_case(lrn_grad(across=across, alpha=alpha, beta=beta, bias=bias))


def test_an_even_window_is_that_of_the_forward_operator():
    """Of element 2 it holds 1 to 4, although element 2 is in the windows of 0 to 3 [decision N15]."""
    x = np.ones((1, 6, 1, 1), np.float32)
    op = lrn_grad(x.shape, 4, alpha=4.0, beta=1.0)
    seen = []
    for channel in range(6):
        g = np.zeros_like(x)
        g[0, channel] = 1
        got = check_case(op, inputs={"InputTensor": x, "InputGradientTensor": g}).run(
            {"InputTensor": x, "InputGradientTensor": g}
        )
        seen.append(bool(got["OutputGradientTensor"][0, 2, 0, 0]))
    assert seen == [False, True, True, True, True, False]


# --- generated descriptors -------------------------------------------------------------------------------------------
