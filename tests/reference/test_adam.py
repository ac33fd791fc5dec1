from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import results_of

MOMENTS = ("Parameters", "FirstMoment", "SecondMoment")


def adam(x, m, v, g, step, rate=0.01, beta1=0.9, beta2=0.999, epsilon=1e-8):
    arrays = {f"Input{name}Tensor": array for name, array in zip(MOMENTS, (x, m, v), strict=True)}
    arrays |= {"GradientTensor": g, "TrainingStepTensor": np.full((1,) * x.ndim, step, np.uint32)}
    outputs = {f"Output{name}Tensor": x for name in MOMENTS}
    found = results_of(
        "ADAM_OPTIMIZER", **arrays, **outputs, LearningRate=rate, Beta1=beta1, Beta2=beta2, Epsilon=epsilon
    )
    return [found[field] for field in outputs]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_error(dtype):
    rng = np.random.default_rng(1)
    x, m, v, g = (rng.random((4, 4)).astype(dtype) for _ in range(4))
    for result in adam(x, m, v, g, 5):
        assert not disagreements(result.values, result, DataType[np.dtype(dtype).name.upper()]).any()
        assert 0 < result.error.max() < 1e-3


def test_step_0_and_zero_moments_are_unspecified():
    x, zero = np.ones(2, np.float32), np.zeros(2, np.float32)
    assert adam(x, x, x, x, 0)[0].unspecified.all()
    assert adam(x, x, zero, zero, 1, epsilon=0)[0].unspecified.all()
    assert not adam(x, x, x, x, 1)[0].unspecified.any()
    assert not adam(x, zero, zero, zero, 1)[0].unspecified.any()
    assert adam(x, x, x, x * 1e20, 1)[2].unspecified.all()


def test_infinite_moments_are_nan():
    """``m + (1 - beta) * (g - m)`` is NaN for an infinite m, but not for an infinite g."""
    x = np.zeros(3, np.float32)
    got = adam(x, np.array([np.inf, 1, -np.inf], np.float32), x, np.array([1, np.inf, 1], np.float32), 1, beta1=0.5)
    np.testing.assert_array_equal(got[1].values, [np.nan, np.inf, np.nan])
