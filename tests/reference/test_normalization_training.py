from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.test_normalization import batch, lrn, numbers

GRADIENTS = ("BATCH_NORMALIZATION_GRAD", "BATCH_NORMALIZATION_TRAINING_GRAD")


def training(x, scale, bias, add=None, *, epsilon=1e-5, fused=None):
    arrays = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias}
    arrays |= {} if add is None else {"FusedAddTensor": add}
    outputs = {"OutputTensor": x, "OutputMeanTensor": scale, "OutputVarianceTensor": scale}
    op = describe("BATCH_NORMALIZATION_TRAINING", **arrays, **outputs, Epsilon=epsilon, FusedActivation=fused)
    results = operator_results(op, arrays)
    return [results[name][0] for name in outputs]


def gradient(name, x, g, mean, variance, scale, *, epsilon=1e-5):
    arrays = {"InputTensor": x, "InputGradientTensor": g, "MeanTensor": mean, "VarianceTensor": variance}
    arrays["ScaleTensor"] = scale
    outputs = {"OutputGradientTensor": x, "OutputScaleGradientTensor": scale, "OutputBiasGradientTensor": scale}
    op = describe(name, **arrays, **outputs, Epsilon=epsilon)
    results = operator_results(op, arrays)
    return [results[name][0] for name in outputs]


def response(x, g, size=3, *, across=True, alpha=0.5, beta=0.75, bias=1.0):
    arrays = {"InputTensor": x, "InputGradientTensor": g}
    op = describe("LOCAL_RESPONSE_NORMALIZATION_GRAD", **arrays, OutputGradientTensor=x, CrossChannel=across,
                  LocalSize=size, Alpha=alpha, Beta=beta, Bias=bias)  # fmt: skip
    return operator_results(op, arrays)["OutputGradientTensor"][0]


def differences(function, x, step=1e-4):
    """The gradient of a number with respect to ``x``, by differences in float64."""
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        ahead, behind = x.astype(np.float64), x.astype(np.float64)
        ahead[place] += step
        behind[place] -= step
        result[place] = (function(ahead) - function(behind)) / (2 * step)
    return result


PARAMETERS = [(1, 3, 1), (1, 1, 1), (2, 1, 4), (2, 3, 4), (1, 1, 4)]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_training_is_normalization_with_its_own_statistics(parameters):
    x, scale, bias, add = (
        numbers(*shape, seed=i) for i, shape in enumerate([(2, 3, 4), parameters, parameters, (2, 3, 4)])
    )
    axes = tuple(i for i, size in enumerate(parameters) if size == 1)
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    y, got_mean, got_variance = training(x, scale, bias)
    np.testing.assert_allclose(got_mean.values, mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got_variance.values, variance, rtol=1e-5, atol=1e-6)
    if axes:
        np.testing.assert_allclose(y.values, batch(x, mean, variance, scale, bias).values, rtol=1e-4, atol=1e-4)
    with_add = training(x, scale, bias, add)[0]
    np.testing.assert_allclose(with_add.values, y.values + add, rtol=1e-5, atol=1e-5)
    rectified = training(x, scale, bias, add, fused=describe("ACTIVATION_RELU"))[0]
    np.testing.assert_array_equal(rectified.values, np.maximum(with_add.values, 0))


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_the_forward_operators(name, parameters):
    x, g = numbers(2, 3, 4), numbers(2, 3, 4, seed=1)
    scale, mean, variance = (numbers(*parameters, seed=i, low=0.5) for i in (2, 3, 4))
    axes = tuple(i for i, size in enumerate(parameters) if size == 1)
    if name == GRADIENTS[1]:
        mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)

    def loss(x, scale, bias):
        m, v = np.float64(mean), np.float64(variance)
        if name == GRADIENTS[1]:
            m, v = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
        return (np.float64(g) * (scale * (x - m) / np.sqrt(v + 0.125) + bias)).sum()

    bias, wide = np.zeros(parameters), np.float64(scale)
    of_x, of_scale, of_bias = gradient(name, x, g, mean, variance, scale, epsilon=0.125)
    np.testing.assert_allclose(of_x.values, differences(lambda x: loss(x, wide, bias), x), rtol=1e-3, atol=1e-4)
    x64 = np.float64(x)
    np.testing.assert_allclose(of_scale.values, differences(lambda s: loss(x64, s, bias), scale), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(of_bias.values, differences(lambda b: loss(x64, wide, b), bias), rtol=1e-3, atol=1e-4)
    assert not any(result.unspecified.any() for result in (of_x, of_scale, of_bias))


def test_the_given_mean_is_taken():
    """Be it another than the input's own [decision N11]."""
    x, g = numbers(4, 1), numbers(4, 1, seed=1)
    one = np.ones((1, 1), np.float32)
    near, far = (gradient(GRADIENTS[1], x, g, mean * one, one, one, epsilon=0.0) for mean in (0, 5))
    for mean, result in ((0, near), (5, far)):
        own = np.float64(x) - mean
        np.testing.assert_allclose(result[0].values, g - g.mean() - own * (g * own).mean(), rtol=1e-4, atol=1e-5)
    assert abs(near[1].values.item() - far[1].values.item() - 5 * g.sum()) < 1e-3


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("size", [1, 3, 5, 9])
@pytest.mark.parametrize("beta", [0.75, 2.0, -0.5, 0.0])
def test_response_is_the_gradient_of_the_forward_operator(across, size, beta):
    x, g = numbers(1, 5, 4, 3), numbers(1, 5, 4, 3, seed=1)

    def loss(x):
        total = x * x
        for axis in (1,) if across else (2, 3):
            first = np.arange(x.shape[axis]) - (size - 1) // 2
            total = np.stack(
                [total.take(range(max(f, 0), min(f + size, x.shape[axis])), axis).sum(axis) for f in first], axis
            )
        return (np.float64(g) * x * (1.5 + 0.5 / size * total) ** -beta).sum()

    got = response(x, g, size, across=across, beta=beta, bias=1.5)
    np.testing.assert_allclose(got.values, differences(loss, x), rtol=1e-3, atol=1e-4)
    forward = lrn(x, size, across=across, alpha=0.5, beta=beta, bias=1.5)
    assert abs((np.float64(g) * forward.values).sum() - loss(np.float64(x))) < 1e-3


@given(seed=st.integers(0, 10_000), n=st.integers(2, 100))
def test_float32_arithmetic_stays_within_a_small_error(seed, n):
    x, g = numbers(n, 2, seed=seed), numbers(n, 2, seed=seed + 1)
    scale, epsilon = numbers(1, 2, seed=seed + 2), np.float32(0.1)
    mean, variance = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    root = np.sqrt(variance + epsilon)
    hat = (x - mean) / root
    inner = g - g.mean(axis=0, keepdims=True) - hat * (g * hat).mean(axis=0, keepdims=True)
    results = gradient(GRADIENTS[1], x, g, mean, variance, scale, epsilon=0.1)
    of_scale, of_bias = ((item).sum(axis=0, keepdims=True) for item in (g * hat, g))
    for got, result in zip((scale / root * inner, of_scale, of_bias), results, strict=True):
        assert not disagreements(got, result, DataType.FLOAT32).any()
        assert result.error.max() < 2e-2
    y, *_ = training(x, scale, scale, epsilon=0.1)
    assert not disagreements(hat * scale + scale, y, DataType.FLOAT32).any()


def test_what_overflows_is_unspecified():
    one = np.ones((1, 1), np.float32)
    of_x, of_scale, of_bias = gradient(GRADIENTS[0], 1e30 * one, 1e30 * one, 0 * one, one, one)
    assert [result.unspecified.any() for result in (of_x, of_scale, of_bias)] == [False, True, False]
