from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.test_pooling import CASES, pool


def geometry(case, *, dilated):
    sizes, window, strides, dilations, start, end = case
    values = {"WindowSize": window, "Strides": strides, "StartPadding": start, "EndPadding": end}
    return sizes, values | ({"Dilations": dilations} if dilated else {})


def gradient(name, g, shape, x=None, **values):
    """The gradient with respect to an input of ``shape`` (and contents ``x``)."""
    n = len(shape) - 2
    defaults = {"Strides": (1,) * n, "StartPadding": (0,) * n, "EndPadding": (0,) * n}
    arrays = {"InputGradientTensor": g}
    if name == "MAX_POOLING_GRAD":
        arrays["InputTensor"] = x
        defaults["Dilations"] = (1,) * n
    op = describe(name, **arrays, OutputGradientTensor=np.zeros(shape, g.dtype), **{**defaults, **values})
    return operator_results(op, arrays)["OutputGradientTensor"][0]


def unpooled(x, indices, shape):
    arrays = {"InputTensor": x, "IndicesTensor": indices}
    op = describe("MAX_UNPOOLING", **arrays, OutputTensor=np.zeros(shape, x.dtype))
    return operator_results(op, arrays)["OutputTensor"][0]


def differences(function, x, step=0.25):
    """The gradient of a number with respect to ``x``, by differences; exact where the function is linear."""
    result = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[place] += step
        behind[place] -= step
        result[place] = (function(ahead) - function(behind)) / (2 * step)
    return result


def shape_of(sizes, values):
    dilations = values.get("Dilations", (1,) * len(sizes))
    parts = zip(sizes, values["WindowSize"], values["Strides"], dilations, values["StartPadding"],
                values["EndPadding"], strict=True)  # fmt: skip
    return tuple((n + a + b - (k - 1) * d - 1) // s + 1 for n, k, s, d, a, b in parts)


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_average_is_the_gradient_of_the_forward_operator(case, include):
    sizes, values = geometry(case, dilated=False)
    rng, shape = np.random.default_rng(0), (1, 2, *sizes)
    x = rng.integers(-9, 9, shape).astype(np.float32)
    g = rng.integers(-9, 9, (1, 2, *shape_of(sizes, values))).astype(np.float32)

    def loss(x):
        return (pool("AVERAGE_POOLING", x, g.shape, IncludePadding=include, **values)[0].values * np.float64(g)).sum()

    result = gradient("AVERAGE_POOLING_GRAD", g, shape, IncludePadding=include, **values)
    np.testing.assert_allclose(result.values, differences(loss, x), rtol=1e-3, atol=1e-3)
    assert not result.unspecified.any()


@pytest.mark.parametrize("case", CASES)
def test_max_is_the_gradient_of_the_forward_operator(case):
    sizes, values = geometry(case, dilated=True)
    rng, shape = np.random.default_rng(0), (1, 2, *sizes)
    x = rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)
    g = rng.integers(-9, 9, (1, 2, *shape_of(sizes, values))).astype(np.float32)

    def loss(x):
        return (pool("MAX_POOLING2", x, g.shape, **values)[0].values * np.float64(g)).sum()

    result = gradient("MAX_POOLING_GRAD", g, shape, x, **values)
    np.testing.assert_array_equal(result.values, differences(loss, x))
    assert not result.unspecified.any()


def test_max_of_equals_of_nan_and_of_padding():
    inf, nan = np.inf, np.nan
    x = np.array([7, 7, -inf, -inf, nan, nan, nan, 1], np.float32).reshape(1, 1, 1, 8)
    g = np.array([1, 2, 4, 8, 16], np.float32).reshape(1, 1, 1, 5)
    values = {"WindowSize": (1, 2), "Strides": (1, 2), "EndPadding": (0, 2)}
    result = gradient("MAX_POOLING_GRAD", g, x.shape, x, **values)
    np.testing.assert_array_equal(result.values.reshape(-1)[:6], [1, 0, 2, 0, 4, 0])
    assert result.values.sum() == 15  # what falls on padding is lost
    np.testing.assert_array_equal(result.unspecified.reshape(-1), [False] * 6 + [True] * 2)


def test_max_of_dilated_windows_around_the_first_element():
    g = np.array([1, 2, 4, 8, 16, 32, 64, 128], np.float32)
    values = {"WindowSize": (1, 2), "Dilations": (1, 5), "StartPadding": (0, 5), "EndPadding": (0, 6)}
    x = np.ones((1, 2, 1, 2), np.float32)
    result = gradient("MAX_POOLING_GRAD", np.tile(g, 2).reshape(1, 2, 1, 8), x.shape, x, **values)
    # of the second plane only what lies in a window comes in
    np.testing.assert_array_equal(result.values.reshape(-1), [1 + 4 + 8 + 16 + 32, 2 + 64, 1 + 32, 2 + 64])


def test_average_divisors():
    g = np.ones((1, 1, 1, 3), np.float32)
    window = {"WindowSize": (1, 2), "StartPadding": (0, 1), "EndPadding": (0, 1)}
    for include, want in ((True, [1, 1]), (False, [1.5, 1.5])):
        got = gradient("AVERAGE_POOLING_GRAD", g, (1, 1, 1, 2), IncludePadding=include, **window)
        np.testing.assert_array_equal(got.values.reshape(-1), want)
    over = {"WindowSize": (1, 2), "Strides": (1, 2)}
    for include, want in ((True, [0.5, 0.5, 1]), (False, [0.5, 0.5, 1])):
        got = gradient("AVERAGE_POOLING_GRAD", g[..., :2], (1, 1, 1, 3), IncludePadding=include, **over)
        np.testing.assert_array_equal(got.values.reshape(-1), want)


def test_sums_of_float16_are_rounded_once():
    g = np.full((1, 1, 1, 3), 1, np.float16)
    g[..., 0] = 2048
    x = np.array([0, 0, 9, 0, 0], np.float16).reshape(1, 1, 1, 5)
    result = gradient("MAX_POOLING_GRAD", g, x.shape, x, WindowSize=(1, 3))
    np.testing.assert_array_equal(result.values.reshape(-1), [0, 0, 2050, 0, 0])


def test_error_and_order():
    x = np.array([0, 9, 0], np.float32).reshape(1, 1, 1, 3)
    g = np.array([3e38, 3e38], np.float32).reshape(1, 1, 1, 2)
    assert not gradient("MAX_POOLING_GRAD", g, x.shape, x, WindowSize=(1, 2)).unspecified.any()
    g = np.array([3e38, -1e38], np.float32).reshape(1, 1, 1, 2)
    marks = gradient("MAX_POOLING_GRAD", g, x.shape, x, WindowSize=(1, 2)).unspecified
    assert marks.reshape(-1).tolist() == [False, True, False]
    g = np.array([1, 1e-7], np.float32).reshape(1, 1, 1, 2)
    result = gradient("MAX_POOLING_GRAD", g, x.shape, x, WindowSize=(1, 2))
    assert not disagreements(np.array([0, 1, 0], np.float32).reshape(x.shape), result, DataType.FLOAT32).any()
    assert disagreements(np.array([0, 1.000002, 0], np.float32).reshape(x.shape), result, DataType.FLOAT32).any()


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"])
@pytest.mark.parametrize("index_type", [np.uint32, np.uint64])
def test_unpooling(dtype, index_type):
    x = np.array([1, 2, 3, 4], dtype).reshape(1, 2, 1, 2)
    indices = np.array([6, 1, 6, 8], index_type).reshape(x.shape)
    result = unpooled(x, indices, (1, 2, 2, 2))
    np.testing.assert_array_equal(result.values, np.array([0, 2, 0, 0, 0, 0, 3, 0], dtype).reshape(1, 2, 2, 2))
    assert result.error is None


def test_which_of_equal_indices_is_written_is_left_to_the_driver():
    x, indices = np.array([[[[1, 2, 3, 3]]]], np.float32), np.array([[[[0, 0, 2, 2]]]], np.uint32)
    op = describe("MAX_UNPOOLING", InputTensor=x, IndicesTensor=indices, OutputTensor=x)
    (got,) = operator_results(op, {"InputTensor": x, "IndicesTensor": indices})["OutputTensor"]
    assert got.unspecified is not None
    np.testing.assert_array_equal(got.unspecified.reshape(-1), [True, False, False, False])
