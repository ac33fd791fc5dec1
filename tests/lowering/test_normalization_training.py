"""The gradients of normalisations against the reference."""

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from tests.lowering.harness import check_case, operator, operators, random_memory, t
from tests.lowering.normalizations import CHANNELS, RELU, SHAPE, following

GRADIENTS = ("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD")
PARAMETERS = ("MeanTensor", "VarianceTensor", "ScaleTensor")


# --- descriptors -----------------------------------------------------------------------------------------------------


def training(sizes, parameters, *, add, activation):
    shapes = {"InputTensor": sizes, "ScaleTensor": parameters, "BiasTensor": parameters, "OutputTensor": sizes}
    shapes |= {"OutputMeanTensor": parameters, "OutputVarianceTensor": parameters}
    shapes |= {"FusedAddTensor": sizes} if add else {}
    return operator(
        "BATCH_NORMALIZATION_TRAINING",
        **{field: t("FLOAT32", shape) for field, shape in shapes.items()},
        Epsilon=1e-5,
        FusedActivation=activation,
    )


def gradient(name, sizes=SHAPE, parameters=CHANNELS, *, data_type="FLOAT32", epsilon=1e-5):
    """A gradient of a batch normalization."""
    large = ("InputTensor", "InputGradientTensor", "OutputGradientTensor")
    small = (*PARAMETERS, "OutputScaleGradientTensor", "OutputBiasGradientTensor")
    shapes = dict.fromkeys(large, sizes) | dict.fromkeys(small, parameters)
    tensors = {field: t(data_type, shape) for field, shape in shapes.items()}
    return operator(name, **tensors, Epsilon=epsilon)


def lrn_grad(sizes=SHAPE, size=3, *, across=True, alpha=0.1, beta=0.75, bias=1.0):
    fields = ("InputTensor", "InputGradientTensor", "OutputGradientTensor")
    return operator(
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        **{field: t("FLOAT32", sizes) for field in fields},
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


# --- batch normalization ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [CHANNELS, following(SHAPE), SHAPE, following(SHAPE, 0, 3)])
def test_broadcast_parameters(parameters):
    for add in (False, True):
        check_case(training(SHAPE, parameters, add=add, activation=RELU if add else None))
    for name in GRADIENTS:
        check_gradient(gradient(name, SHAPE, parameters))


def test_forms():
    # dY * (X - Mean) and dY are summed by separate products
    assert operators(check_gradient(gradient(GRADIENTS[0]))).count("MatMul") <= 4
    for name in GRADIENTS:
        everything = gradient(name, SHAPE, SHAPE)
        sums = {"ReduceMean", "ReduceSum", "MatMul"}
        assert not sums & set(operators(check_gradient(everything)))


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_variance_of_minus_0_is_0_with_epsilon_0(name, data_type):
    dtype = DataType[data_type].dtype
    op = gradient(name, (4, 3), (4, 3), epsilon=0.0, data_type=data_type)
    random = np.random.default_rng(0)
    inputs = {field: random.normal(size=(4, 3)).astype(dtype) for field in ("InputTensor", "InputGradientTensor")}
    inputs |= {field: random.normal(size=(4, 3)).astype(dtype) for field in ("MeanTensor", "ScaleTensor")}
    check_case(op, inputs={**inputs, "VarianceTensor": np.resize(np.array([0.0, -0.0], dtype), (4, 3))})


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
