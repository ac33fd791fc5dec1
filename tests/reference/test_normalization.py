from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import marks, result_of


def numbers(*sizes, dtype=np.float32, seed=0, low=-4.0, high=4.0):
    return np.random.default_rng(seed).uniform(low, high, sizes).astype(dtype)


def batch(x, mean, variance, scale, bias, epsilon=1e-5):
    parameters = {"MeanTensor": mean, "VarianceTensor": variance, "ScaleTensor": scale, "BiasTensor": bias}
    return result_of("BATCH_NORMALIZATION", InputTensor=x, **parameters, Epsilon=epsilon)


def mvn(x, axes, scale=None, bias=None, *, variance=True, epsilon=1e-5):
    fields = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias, "Axes": axes, "NormalizeVariance": variance}
    return result_of("MEAN_VARIANCE_NORMALIZATION1", **fields, Epsilon=epsilon)


def lrn(x, size, *, alpha=0.1, beta=0.75, bias=1.0):
    fields = {"CrossChannel": True, "LocalSize": size, "Alpha": alpha, "Beta": beta, "Bias": bias}
    return result_of("LOCAL_RESPONSE_NORMALIZATION", InputTensor=x, **fields)


def one(number):
    return np.full((1, 1), number, np.float32)


def test_division_by_zero_deviation():
    x = np.array([[-1, 0, 1]], np.float32)
    result = batch(x, one(0), one(0), one(1), one(0), epsilon=0.0)
    np.testing.assert_array_equal(result.values, [[-np.inf, np.nan, np.inf]])
    assert not result.unspecified.any()
    # negative variances
    assert batch(x, one(0), one(-0.5), one(1), one(0), epsilon=0.5).unspecified.all()
    np.testing.assert_array_equal(batch(x, one(0), one(-1), one(1), one(0)).values, np.full((1, 3), np.nan))


def test_an_infinity_makes_its_slice_nan():
    x = numbers(2, 3)
    x[0, 1] = np.inf
    result = mvn(x, (1,))
    assert np.isnan(result.values[0]).all()
    assert np.isfinite(result.values[1]).all()
    assert not result.unspecified.any()
    np.testing.assert_array_equal(mvn(x, (1,), variance=False).values[0], [-np.inf, np.nan, -np.inf])


def test_intermediate_overflow_is_unspecified():
    huge = np.array([[3e38, 3e38, -3e38], [1e20, 2e20, 0], [1, 2, 3]], np.float32)
    np.testing.assert_array_equal(mvn(huge, (1,)).unspecified.all(axis=1), [True, True, False])
    np.testing.assert_array_equal(mvn(huge, (1,), variance=False).unspecified.all(axis=1), [True, False, False])
    assert batch(one(3e38), one(-3e38), one(1e6), one(1), one(0)).unspecified.all()
    assert batch(one(1), one(0), one(1), one(np.inf), one(0)).unspecified.all()
    assert lrn(huge.reshape(3, 1, 1, 3), 1).unspecified.reshape(3, 3)[:, 0].tolist() == [True, True, False]


def test_equal_elements_without_epsilon():
    zero = mvn(np.zeros((1, 4), np.float32), (1,), epsilon=0.0)
    assert np.isnan(zero.values).all()
    assert not zero.unspecified.any()
    # rounding of the mean causes a nonzero deviation
    assert mvn(np.full((1, 3), 0.1, np.float32), (1,), epsilon=0.0).unspecified.all()


def test_powers_of_negative_numbers():
    x = np.ones((1, 1, 1, 1), np.float32)
    assert np.isnan(lrn(x, 1, alpha=0.0, bias=-1.0).values).all()
    assert np.isnan(lrn(x, 1, alpha=0.0, bias=-2.0, beta=2.0).values).all()
    assert lrn(x, 1, alpha=1.0, bias=-1.0).unspecified.all()
    assert lrn(np.zeros_like(x), 1, bias=0.0).unspecified is not None


def in_float32(x, mean, variance, scale, bias, epsilon):
    """The formula as written, and as one factor and one addend, in FLOAT32."""
    root = np.sqrt(variance + np.float32(epsilon))
    factor = scale / root
    return scale * ((x - mean) / root) + bias, x * factor + (bias - mean * factor)


@given(seed=st.integers(0, 10_000), offset=st.sampled_from([0.0, 1.0, 100.0, 1e4]), n=st.integers(1, 200))
def test_float32_arithmetic_stays_within_the_error(seed, offset, n):
    x = (offset + np.random.default_rng(seed).normal(0, 1, (4, n))).astype(np.float32)
    scale, bias = numbers(1, n, seed=seed), numbers(1, n, seed=seed + 1)
    mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    for got in in_float32(x, mean, variance, scale, bias, 1e-5):
        assert not disagreements(got, mvn(x, (1,), scale, bias), DataType.FLOAT32).any()
        assert not disagreements(got, batch(x, mean, variance, scale, bias), DataType.FLOAT32).any()


def test_the_error_is_small():
    """An epsilon outside the root, or a sample variance, must exceed the error."""
    x = numbers(4, 100, seed=1, low=9, high=11)
    result = mvn(x, (1,))
    assert result.error.max() < 1e-3
    deviation = x.std(axis=1, keepdims=True)
    for wrong in (
        (x - x.mean(axis=1, keepdims=True)) / (deviation + np.float32(0.01)),
        (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True, ddof=1),
    ):
        assert disagreements(wrong.astype(np.float32), result, DataType.FLOAT32).mean() > 0.5
    parameters = [numbers(1, 100, seed=seed, low=0.5) for seed in range(4)]
    assert batch(x, *parameters).error.max() < 5e-5
    assert lrn(numbers(2, 8, 4, 4), 5).error.max() < 1e-4


def lp(x, p, epsilon):
    return result_of("LP_NORMALIZATION", InputTensor=x, Axis=1, P=p, Epsilon=epsilon)


def test_lp_at_the_limits_of_its_range():
    x = np.array([[1e30, 1], [1e-30, 0], [np.inf, 1], [np.nan, 1], [1, 2]], np.float32)
    result = lp(x, 2, 0.0)
    assert result.unspecified.all(axis=1).tolist() == [True, True, False, False, False]
    np.testing.assert_array_equal(result.values[2:4], [[np.nan, 0], [np.nan, np.nan]])
    assert lp(x, 1, 0.0).unspecified.all(axis=1).tolist() == [True, True, False, False, False]


@given(seed=st.integers(0, 10_000), n=st.integers(1, 200), p=st.sampled_from([1, 2]))
def test_lp_in_float32_stays_within_a_small_error(seed, n, p):
    x = numbers(4, n, seed=seed)
    total = (np.abs(x) ** np.float32(p)).sum(axis=1, keepdims=True)
    norm = np.sqrt((total if p == 2 else total * total) + np.float32(1e-5))
    result = lp(x, p, 1e-5)
    assert not disagreements(x / norm, result, DataType.FLOAT32).any()
    assert result.error.max() < 1e-4


@pytest.mark.parametrize("sizes", [(4, 1), (1, 4, 1, 1)])
def test_a_negative_number_that_is_the_only_one_of_its_mean_is_unspecified(sizes):
    """DirectML was seen to return NaN for it, and 0 for others."""
    x = np.array([0.3, -1.2, 2.5, -0.7], np.float32).reshape(sizes)
    last = len(sizes) - 1
    for axes, want in (((last,), [False, True, False, True]), ((sizes.index(4),), [False] * 4)):
        assert marks(mvn(x, axes)) == want
