from __future__ import annotations

from itertools import combinations

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results

VERSIONS = ("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
AXES = [axes for count in range(5) for axes in combinations(range(4), count)]
EPSILON = float(np.float32(1e-5))


def numbers(*sizes, dtype=np.float32, seed=0, low=-4.0, high=4.0):
    return np.random.default_rng(seed).uniform(low, high, sizes).astype(dtype)


def batch(x, mean, variance, scale, bias, epsilon=1e-5, spatial=True, fused=None):
    arrays = {
        "InputTensor": x, "MeanTensor": mean, "VarianceTensor": variance, "ScaleTensor": scale, "BiasTensor": bias,
    }  # fmt: skip
    op = describe(
        "BATCH_NORMALIZATION", **arrays, OutputTensor=x, Spatial=spatial, Epsilon=epsilon, FusedActivation=fused
    )
    return operator_results(op, arrays)["OutputTensor"][0]


def mvn(x, axes=(2, 3), scale=None, bias=None, *, name=VERSIONS[1], mean=True, variance=True, epsilon=1e-5, fused=None):
    if name == VERSIONS[0]:
        fields = {"CrossChannel": axes == (1, 2, 3), "NormalizeVariance": variance}
    elif name == VERSIONS[1]:
        fields = {"Axes": list(axes), "NormalizeVariance": variance}
    else:
        fields = {"Axes": list(axes), "UseMean": mean, "UseVariance": variance}
    arrays = {"InputTensor": x, "ScaleTensor": scale, "BiasTensor": bias}
    op = describe(name, **arrays, OutputTensor=x, Epsilon=epsilon, FusedActivation=fused, **fields)
    given = {key: array for key, array in arrays.items() if array is not None}
    return operator_results(op, given)["OutputTensor"][0]


def lrn(x, size, *, across=True, alpha=0.1, beta=0.75, bias=1.0):
    op = describe(
        "LOCAL_RESPONSE_NORMALIZATION",
        InputTensor=x, OutputTensor=x, CrossChannel=across, LocalSize=size, Alpha=alpha, Beta=beta, Bias=bias,
    )  # fmt: skip
    return operator_results(op, {"InputTensor": x})["OutputTensor"][0]


def onnx_of(op_type, arrays, dtype=np.float64, **attributes):
    """ONNX's own reference."""
    names = [f"i{index}" for index in range(len(arrays))]
    node = onnx.helper.make_node(op_type, names, ["y"], **attributes)
    feeds = {name: array.astype(dtype) for name, array in zip(names, arrays, strict=True)}
    return onnx_results(node, feeds)[0]


# --- what ONNX has too -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("sizes", [(2, 3), (2, 3, 4), (2, 3, 4, 5)])
def test_is_onnx_batch_normalization(dtype, sizes):
    x = numbers(*sizes, dtype=dtype)
    mean, scale, bias = (numbers(3, dtype=dtype, seed=seed) for seed in (1, 2, 3))
    variance = numbers(3, dtype=dtype, seed=4, low=0.1)
    want = onnx_of("BatchNormalization", [x, scale, bias, mean, variance], epsilon=EPSILON)
    by_channel = (array.reshape(1, 3, *(1,) * (x.ndim - 2)) for array in (mean, variance, scale, bias))
    np.testing.assert_allclose(batch(x, *by_channel).values, want.astype(dtype), rtol=float(np.finfo(dtype).eps))


@pytest.mark.parametrize("sizes", [(2, 3, 4), (2, 3, 4, 5)])
def test_is_onnx_instance_normalization(sizes):
    x, scale, bias = numbers(*sizes), numbers(3, seed=1), numbers(3, seed=2)
    want = onnx_of("InstanceNormalization", [x, scale, bias], epsilon=EPSILON)
    shape = (1, 3, *(1,) * (x.ndim - 2))
    got = mvn(x, tuple(range(2, x.ndim)), scale.reshape(shape), bias.reshape(shape)).values
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("name", VERSIONS[1:])
def test_is_onnx_layer_normalization(axis, name):
    x = numbers(2, 3, 4, 5)
    scale, bias = numbers(*x.shape[axis:], seed=1), numbers(*x.shape[axis:], seed=2)
    want = onnx_of("LayerNormalization", [x, scale, bias], axis=axis, epsilon=EPSILON)
    shape = (1,) * axis + x.shape[axis:]
    got = mvn(x, tuple(range(axis, 4)), scale.reshape(shape), bias.reshape(shape), name=name).values
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axes", AXES[1:])
def test_is_onnx_mean_variance_normalization(axes):
    # which takes the variance as the mean of squares less the squared mean, exact enough for small whole numbers
    x = np.random.default_rng(0).permutation(120).astype(np.float32).reshape(2, 3, 4, 5)
    want = onnx_of("MeanVarianceNormalization", [x], np.float32, axes=axes)
    np.testing.assert_allclose(mvn(x, axes, epsilon=0.0).values, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("beta", [0.75, 0.5, 2.0])
def test_is_onnx_lrn(size, beta):
    # its evaluator goes through as many channels as there are batches
    x = numbers(6, 6, 3, 2)
    want = onnx_of("LRN", [x], size=size, alpha=float(np.float32(0.1)), beta=beta, bias=1.5)
    np.testing.assert_allclose(lrn(x, size, beta=beta, bias=1.5).values, want, rtol=1e-6)


# --- what it has not -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spatial", [True, False])
def test_batch_normalization_broadcasts_each_parameter_by_itself(spatial):
    x, mean = numbers(2, 3, 4, 5), numbers(2, 1, 1, 1, seed=1)
    variance, scale = numbers(1, 1, 4, 5, seed=2, low=0.1), numbers(1, 3, 1, 5, seed=3)
    bias = numbers(1, 1, 1, 1, seed=4)
    got = batch(x, mean, variance, scale, bias, spatial=spatial).values
    for index in np.ndindex(x.shape):
        m, v, s, b = (
            a[tuple(i % n for i, n in zip(index, a.shape, strict=True))] for a in (mean, variance, scale, bias)
        )
        want = float(s) * ((float(x[index]) - float(m)) / (float(v) + EPSILON) ** 0.5) + float(b)
        assert got[index] == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize(("mean", "variance"), [(True, True), (True, False), (False, True), (False, False)])
def test_switches(axes, mean, variance):
    x, scale, bias = numbers(2, 3, 4, 5), numbers(1, 3, 1, 5, seed=1), numbers(2, 1, 4, 1, seed=2)
    wide = x.astype(np.float64)
    m = wide.mean(axis=axes, keepdims=True) if mean else 0.0
    v = ((wide - m) ** 2).mean(axis=axes, keepdims=True) + EPSILON if variance else 1.0
    want = scale * ((wide - m) / v**0.5) + bias
    got = mvn(x, axes, scale, bias, name=VERSIONS[2], mean=mean, variance=variance).values
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    if mean:
        old = mvn(x, axes, scale, bias, variance=variance)
        np.testing.assert_array_equal(old.values, got)


@pytest.mark.parametrize("axes", [(2, 3), (1, 2, 3)])
@pytest.mark.parametrize("variance", [True, False])
def test_version_0_has_two_sets_of_axes(axes, variance):
    x, scale, bias = numbers(2, 3, 4, 5), numbers(1, 3, 1, 1, seed=1), numbers(1, 3, 1, 1, seed=2)
    for parameters in [(None, None), (scale, None), (None, bias), (scale, bias)]:
        results = [mvn(x, axes, *parameters, name=name, variance=variance).values for name in VERSIONS]
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])


def test_a_null_scale_is_1_and_a_null_bias_0():
    x = numbers(2, 3, 4, 5)
    one, zero = np.ones((1, 1, 1, 1), np.float32), np.zeros((1, 1, 1, 1), np.float32)
    np.testing.assert_array_equal(mvn(x).values, mvn(x, (2, 3), one, zero).values)


def test_the_variance_is_that_of_the_population():
    x = np.array([1, 2, 3, 6], np.float32).reshape(1, 4)
    np.testing.assert_allclose(mvn(x, (1,), epsilon=0.0).values[0], np.array([-2, -1, 0, 3]) / 3.5**0.5, rtol=1e-6)
    np.testing.assert_allclose(mvn(x, (1,), epsilon=0.5).values[0], [-1, -0.5, 0, 1.5], rtol=1e-6)


def test_no_axes_leave_the_bias():
    x = numbers(2, 3)
    bias = numbers(1, 3, seed=1)
    np.testing.assert_array_equal(mvn(x, (), None, bias).values, np.broadcast_to(bias, (2, 3)))


@pytest.mark.parametrize("across", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 1000])
def test_local_response_normalization_by_element(across, size):
    x = numbers(1, 5, 4, 3)
    got = lrn(x, size, across=across, alpha=0.5).values
    before, behind = (size - 1) // 2, size - 1 - (size - 1) // 2
    for n, c, h, w in np.ndindex(x.shape):
        total = 0.0
        for other in np.ndindex(x.shape[1:]):
            steps = [b - a for a, b in zip((c, h, w), other, strict=True)]
            moving, still = (steps[:1], steps[1:]) if across else (steps[1:], steps[:1])
            if not any(still) and all(-before <= step <= behind for step in moving):
                total += float(x[(n, *other)]) ** 2
        assert got[n, c, h, w] == pytest.approx(float(x[n, c, h, w]) * (1 + 0.5 / size * total) ** -0.75, rel=1e-6)


def test_fused_activations_come_last():
    x = numbers(2, 3, 4, 5)
    relu = describe("ACTIVATION_RELU")
    np.testing.assert_array_equal(mvn(x, fused=relu).values, np.maximum(mvn(x).values, 0))
    mean, variance, scale, bias = (numbers(1, 3, 1, 1, seed=seed, low=0.1) for seed in range(4))
    fused, plain = batch(x, mean, variance, scale, bias, fused=relu), batch(x, mean, variance, scale, bias)
    np.testing.assert_array_equal(fused.values, np.maximum(plain.values, 0))


# --- infinities, NaN, and what nobody can tell -----------------------------------------------------------------------


def one(number):
    return np.full((1, 1), number, np.float32)


def test_division_by_no_deviation():
    x = np.array([[-1, 0, 1]], np.float32)
    result = batch(x, one(0), one(0), one(1), one(0), epsilon=0.0)
    np.testing.assert_array_equal(result.values, [[-np.inf, np.nan, np.inf]])
    assert not result.unspecified.any()
    # there are no such variances
    assert batch(x, one(0), one(-0.5), one(1), one(0), epsilon=0.5).unspecified.all()
    np.testing.assert_array_equal(batch(x, one(0), one(-1), one(1), one(0)).values, np.full((1, 3), np.nan))


def test_an_infinity_is_not_a_number_in_all_of_its_slice():
    x = numbers(2, 3)
    x[0, 1] = np.inf
    result = mvn(x, (1,))
    assert np.isnan(result.values[0]).all()
    assert np.isfinite(result.values[1]).all()
    assert not result.unspecified.any()
    np.testing.assert_array_equal(mvn(x, (1,), variance=False).values[0], [-np.inf, np.nan, -np.inf])


def test_what_overflows_on_the_way_is_unspecified():
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
    # a mean that is off by a rounding leaves some deviation
    assert mvn(np.full((1, 3), 0.1, np.float32), (1,), epsilon=0.0).unspecified.all()


def test_powers_of_negative_numbers():
    x = np.ones((1, 1, 1, 1), np.float32)
    assert np.isnan(lrn(x, 1, alpha=0.0, bias=-1.0).values).all()
    assert np.isnan(lrn(x, 1, alpha=0.0, bias=-2.0, beta=2.0).values).all()
    assert lrn(x, 1, alpha=1.0, bias=-1.0).unspecified.all()
    assert lrn(np.zeros_like(x), 1, bias=0.0).unspecified is not None


# --- the error that is allowed ---------------------------------------------------------------------------------------


def in_float32(x, mean, variance, scale, bias, epsilon):
    """The formula as written, and as one factor and one term, each step rounded to FLOAT32."""
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
    """A variance without its digits, an epsilon outside the root, or a sample's variance are no matter of rounding."""
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


# --- LP_NORMALIZATION ------------------------------------------------------------------------------------------------


def lp(x, axis=1, p=2, epsilon=1e-5):
    op = describe("LP_NORMALIZATION", InputTensor=x, OutputTensor=x, Axis=axis, P=p, Epsilon=epsilon)
    return operator_results(op, {"InputTensor": x})["OutputTensor"][0]


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("p", [1, 2])
def test_lp_is_onnx_but_for_epsilon(axis, p):
    x = numbers(2, 3, 4, 5)
    node = onnx.helper.make_node("LpNormalization", ["x"], ["y"], axis=axis, p=p)
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, x.shape) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", ports[:1], ports[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    # onnx.reference takes no absolute values for p = 1
    (want,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(lp(x, axis, p, 0.0).values, want, rtol=1e-6)
    assert np.abs(lp(x, axis, p, 0.5).values).max() < np.abs(want).max()


def test_lp_by_hand():
    x = np.array([[3, -4], [0, 0]], np.float32)
    for p, want in ((1, [3 / 50**0.5, -4 / 50**0.5]), (2, [3 / 26**0.5, -4 / 26**0.5])):
        result = lp(x, 1, p, 1.0)
        np.testing.assert_allclose(result.values, [want, [0, 0]], rtol=1e-6)
        assert not result.unspecified.any()
    for epsilon in (0.0, -1.0):
        assert np.isnan(lp(x, 1, 1, epsilon).values[1]).all()


def test_lp_at_the_ends_of_its_range():
    x = np.array([[1e30, 1], [1e-30, 0], [np.inf, 1], [np.nan, 1], [1, 2]], np.float32)
    result = lp(x, 1, 2, 0.0)
    assert result.unspecified.all(axis=1).tolist() == [True, True, False, False, False]
    np.testing.assert_array_equal(result.values[2:4], [[np.nan, 0], [np.nan, np.nan]])
    assert lp(x, 1, 1, 0.0).unspecified.all(axis=1).tolist() == [True, True, False, False, False]


@given(seed=st.integers(0, 10_000), n=st.integers(1, 200), p=st.sampled_from([1, 2]))
def test_lp_in_float32_stays_within_a_small_error(seed, n, p):
    x = numbers(4, n, seed=seed)
    total = (np.abs(x) ** np.float32(p)).sum(axis=1, keepdims=True)
    norm = np.sqrt((total if p == 2 else total * total) + np.float32(1e-5))
    result = lp(x, 1, p)
    assert not disagreements(x / norm, result, DataType.FLOAT32).any()
    assert result.error.max() < 1e-4


@pytest.mark.parametrize("sizes", [(4, 1), (1, 4, 1, 1)])
def test_a_negative_number_that_is_all_of_its_mean_is_left_open(sizes):
    """DirectML was seen to make NaN of it, and 0 of the others."""
    x = np.array([0.3, -1.2, 2.5, -0.7], np.float32).reshape(sizes)
    last = len(sizes) - 1
    for axes, marks in (((last,), [False, True, False, True]), ((sizes.index(4),), [False] * 4)):
        fields = {"Axes": axes, "NormalizeVariance": True, "Epsilon": EPSILON, "FusedActivation": None}
        op = describe("MEAN_VARIANCE_NORMALIZATION1", InputTensor=x, OutputTensor=x, **fields)
        (found,) = operator_results(op, {"InputTensor": [x]})["OutputTensor"]
        left = np.zeros(sizes, bool) if found.unspecified is None else np.broadcast_to(found.unspecified, sizes)
        assert left.ravel().tolist() == marks
