from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe

MOMENTS = ("Parameters", "FirstMoment", "SecondMoment")


def adam(x, m, v, g, step, rate=0.01, beta1=0.9, beta2=0.999, epsilon=1e-8):
    arrays = {f"Input{name}Tensor": array for name, array in zip(MOMENTS, (x, m, v), strict=True)}
    arrays |= {"GradientTensor": g, "TrainingStepTensor": np.full((1,) * x.ndim, step, np.uint32)}
    outputs = {f"Output{name}Tensor": x for name in MOMENTS}
    fields = {"LearningRate": rate, "Beta1": beta1, "Beta2": beta2, "Epsilon": epsilon}
    results = operator_results(describe("ADAM_OPTIMIZER", **arrays, **outputs, **fields), arrays)
    return [results[f"Output{name}Tensor"][0] for name in MOMENTS]


def test_it_is_the_textbook_for_a_small_epsilon():
    """Kingma and Ba, Algorithm 1, whose moments are corrected one by one."""
    rng = np.random.default_rng(0)
    x, m, v = rng.normal(size=(3, 5)).astype(np.float32), np.zeros((3, 5)), np.zeros((3, 5))
    wide, beta1, beta2, rate = x.astype(np.float64), np.float32(0.9), np.float32(0.999), np.float32(0.01)
    narrow = [x, m.astype(np.float32), v.astype(np.float32)]
    for step in range(1, 30):
        g = rng.normal(size=x.shape).astype(np.float32)
        m, v = beta1 * m + (1 - np.float64(beta1)) * g, beta2 * v + (1 - np.float64(beta2)) * np.float64(g) ** 2
        first, second = m / (1 - np.float64(beta1) ** step), v / (1 - np.float64(beta2) ** step)
        wide = wide - rate * first / (np.sqrt(second) + 1e-12)
        results = adam(narrow[0], narrow[1], narrow[2], g, step, epsilon=1e-12)
        narrow = [item.values for item in results]
    np.testing.assert_allclose(narrow[0], wide, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(narrow[1], m, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(narrow[2], v, rtol=1e-5, atol=1e-6)


def test_epsilon_stands_behind_the_root():
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    x, _, v = adam(zero, zero, one, zero + 1, 1, rate=1, beta1=0, beta2=1 - 2**-10, epsilon=3)
    assert v.values == 1
    np.testing.assert_allclose(x.values, -np.sqrt(2.0**-10) / (1 + 3), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_error(dtype):
    rng = np.random.default_rng(1)
    x, m, v, g = (rng.random((4, 4)).astype(dtype) for _ in range(4))
    for result in adam(x, m, v, g, 5):
        assert not disagreements(
            result.values, result, DataType.FLOAT16 if dtype == np.float16 else DataType.FLOAT32
        ).any()
        assert 0 < result.error.max() < 1e-3


def test_step_0_and_vanishing_moments_are_open():
    x, zero = np.ones(2, np.float32), np.zeros(2, np.float32)
    assert adam(x, x, x, x, 0)[0].unspecified.all()
    assert adam(x, x, zero, zero, 1, epsilon=0)[0].unspecified.all()
    assert not adam(x, x, x, x, 1)[0].unspecified.any()
    assert not adam(x, zero, zero, zero, 1)[0].unspecified.any()
    assert adam(x, x, x, x * 1e20, 1)[2].unspecified.all()


def test_infinite_moments_are_nan():
    """``m + (1 - beta) * (g - m)``: with an infinite m it is NaN, with an infinite g it is not."""
    x = np.zeros(3, np.float32)
    got = adam(x, np.array([np.inf, 1, -np.inf], np.float32), x, np.array([1, np.inf, 1], np.float32), 1, beta1=0.5)
    np.testing.assert_array_equal(got[1].values, [np.nan, np.inf, np.nan])
