from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import results_of
from tests.reference.test_normalization import numbers


def training(x, scale, bias, epsilon):
    arrays = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias}
    outputs = {"OutputTensor": x, "OutputMeanTensor": scale, "OutputVarianceTensor": scale}
    return results_of("BATCH_NORMALIZATION_TRAINING", **arrays, **outputs, Epsilon=epsilon)["OutputTensor"]


def gradient(name, x, g, mean, variance, scale, *, epsilon=1e-5):
    arrays = {"InputTensor": x, "InputGradientTensor": g, "MeanTensor": mean, "VarianceTensor": variance}
    outputs = {"OutputGradientTensor": x, "OutputScaleGradientTensor": scale, "OutputBiasGradientTensor": scale}
    found = results_of(name, ScaleTensor=scale, **arrays, **outputs, Epsilon=epsilon)
    return [found[field] for field in outputs]


@given(seed=st.integers(0, 10_000), n=st.integers(2, 100))
def test_float32_arithmetic_stays_within_a_small_error(seed, n):
    x, g = numbers(n, 2, seed=seed), numbers(n, 2, seed=seed + 1)
    scale, epsilon = numbers(1, 2, seed=seed + 2), np.float32(0.1)
    mean, variance = x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)
    root = np.sqrt(variance + epsilon)
    hat = (x - mean) / root
    inner = g - g.mean(axis=0, keepdims=True) - hat * (g * hat).mean(axis=0, keepdims=True)
    results = gradient("BATCH_NORMALIZATION_TRAINING_GRAD", x, g, mean, variance, scale, epsilon=0.1)
    of_scale, of_bias = ((item).sum(axis=0, keepdims=True) for item in (g * hat, g))
    for got, result in zip((scale / root * inner, of_scale, of_bias), results, strict=True):
        assert not disagreements(got, result, DataType.FLOAT32).any()
        assert result.error.max() < 2e-2
    y = training(x, scale, scale, 0.1)
    assert not disagreements(hat * scale + scale, y, DataType.FLOAT32).any()


def test_overflow_is_unspecified():
    one = np.ones((1, 1), np.float32)
    of_x, of_scale, of_bias = gradient("BATCH_NORMALIZATION_GRAD", 1e30 * one, 1e30 * one, 0 * one, one, one)
    assert [result.unspecified.any() for result in (of_x, of_scale, of_bias)] == [False, True, False]
