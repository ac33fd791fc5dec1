from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results


def pool(name, x, shape, *, indices=None, **values):
    n = x.ndim - 2
    defaults = {"Strides": (1,) * n, "StartPadding": (0,) * n, "EndPadding": (0,) * n}
    if name in ("MAX_POOLING2", "AVERAGE_POOLING1", "LP_POOLING1"):
        defaults["Dilations"] = (1,) * n
    if indices is not None:
        values["OutputIndicesTensor"] = np.zeros(shape, indices)
    op = describe(name, InputTensor=x, OutputTensor=np.zeros(shape, x.dtype), **{**defaults, **values})
    results = operator_results(op, {"InputTensor": x})
    return results["OutputTensor"][0], results.get("OutputIndicesTensor", (None,))[0]


def on_cpu(kind, x, outputs, **attributes):
    """ONNX Runtime's own kernels, whose indices onnx.reference does not have for three dimensions."""
    node = onnx.helper.make_node(kind, ["x"], outputs, **attributes)
    values = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape)]
    types = [onnx.TensorProto.FLOAT, onnx.TensorProto.INT64]
    results = [onnx.helper.make_tensor_value_info(o, t, None) for o, t in zip(outputs, types, strict=False)]
    graph = onnx.helper.make_graph([node], "g", values, results)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})


CASES = [
    # spatial sizes, window, strides, dilations, start, end
    ((6, 7), (3, 2), (1, 2), (1, 1), (0, 0), (0, 0)),
    ((6, 7), (3, 2), (2, 1), (1, 1), (1, 0), (2, 1)),
    ((8, 8), (2, 3), (1, 2), (3, 2), (1, 1), (0, 2)),
    ((4, 5, 6), (2, 2, 3), (2, 1, 1), (1, 2, 1), (1, 0, 1), (0, 1, 2)),
]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("sizes", "window", "strides", "dilations", "start", "end"), CASES)
def test_max_and_indices(ties, sizes, window, strides, dilations, start, end):
    random = np.random.default_rng(0)
    x = random.permutation(2 * 3 * int(np.prod(sizes))).reshape(2, 3, *sizes).astype(np.float32) - 40
    x = x // 100 if ties else x
    pads = {"kernel_shape": window, "strides": strides, "dilations": dilations, "pads": (*start, *end)}
    want, index = on_cpu("MaxPool", x, ["y", "i"], **pads)
    values = {
        "Strides": strides,
        "WindowSize": window,
        "StartPadding": start,
        "EndPadding": end,
        "Dilations": dilations,
    }
    got, indices = pool("MAX_POOLING2", x, want.shape, indices=np.uint64, **values)
    np.testing.assert_array_equal(got.values, want)
    if not ties:
        np.testing.assert_array_equal(indices.values, index)
    np.testing.assert_array_equal(x.reshape(-1)[indices.values], want)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"])
@pytest.mark.parametrize("name", ["MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"])
def test_first_of_equals_and_extremes(dtype, name):
    dtype = np.dtype(dtype)
    low, high = (np.finfo(dtype).min, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = np.array([low, low, high, high, low], dtype).reshape(1, 1, 1, 5)
    indices = None if name == "MAX_POOLING" else np.uint32
    window = {"WindowSize": (1, 2), "EndPadding": (0, 1)}
    got, index = pool(name, x, (1, 1, 1, 5), indices=indices, **window)
    np.testing.assert_array_equal(got.values.reshape(-1), np.array([low, high, high, high, low], dtype))
    if index is not None:
        np.testing.assert_array_equal(index.values.reshape(-1), [0, 2, 2, 3, 0])
        np.testing.assert_array_equal(index.unspecified.reshape(-1), [True, False, False, False, True])


def test_window_wholly_in_padding():
    x = np.array([5, 6], np.int8).reshape(1, 1, 1, 2)
    window = {"WindowSize": (1, 2), "StartPadding": (0, 2)}
    got, index = pool("MAX_POOLING1", x, (1, 1, 1, 3), indices=np.uint32, **window)
    np.testing.assert_array_equal(got.values.reshape(-1), [-128, 5, 6])
    np.testing.assert_array_equal(index.unspecified.reshape(-1), [True, False, False])
    assert got.unspecified is None


def test_maxima_pass_over_nan_and_begin_with_the_lowest_number():
    x = np.array([np.nan, np.nan, 1, 2, -np.inf, -np.inf], np.float32).reshape(1, 1, 1, 6)
    got, index = pool("MAX_POOLING1", x, (1, 1, 1, 5), indices=np.uint32, WindowSize=(1, 2))
    lowest = np.finfo(np.float32).min
    np.testing.assert_array_equal(got.values.reshape(-1), [lowest, 1, 2, 2, lowest])
    np.testing.assert_array_equal(index.values.reshape(-1), [0, 2, 3, 3, 0])
    np.testing.assert_array_equal(index.unspecified.reshape(-1), [True, False, False, False, True])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize(("sizes", "window", "strides", "dilations", "start", "end"), CASES)
def test_average_is_onnx(dtype, include, sizes, window, strides, dilations, start, end):
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, *sizes)).astype(dtype)
    node = onnx.helper.make_node(
        "AveragePool",
        ["x"],
        ["y"],
        kernel_shape=window,
        strides=strides,
        dilations=dilations,
        pads=(*start, *end),
        count_include_pad=int(include),
    )
    want = onnx_results(node, {"x": x.astype(np.float64)})[0].astype(dtype)
    values = {
        "Strides": strides,
        "WindowSize": window,
        "StartPadding": start,
        "EndPadding": end,
        "Dilations": dilations,
    }
    got, _ = pool("AVERAGE_POOLING1", x, want.shape, IncludePadding=include, **values)
    np.testing.assert_array_equal(got.values, want)
    if set(dilations) == {1}:
        del values["Dilations"]
        same, _ = pool("AVERAGE_POOLING", x, want.shape, IncludePadding=include, **values)
        np.testing.assert_array_equal(same.values, want)


def test_windows_that_hang_over_the_end():
    """Five elements, windows of two in steps of two: the third holds one element, and half of it is no padding."""
    x = np.array([1, 2, 3, 4, 5], np.float32).reshape(1, 1, 1, 5)
    window = {"WindowSize": (1, 2), "Strides": (1, 2)}
    largest, _ = pool("MAX_POOLING", x, (1, 1, 1, 3), **window)
    np.testing.assert_array_equal(largest.values.reshape(-1), [2, 4, 5])
    for include, want in ((False, [1.5, 3.5, 5]), (True, [1.5, 3.5, 2.5])):
        got, _ = pool("AVERAGE_POOLING", x, (1, 1, 1, 3), IncludePadding=include, **window)
        np.testing.assert_array_equal(got.values.reshape(-1), want)


@pytest.mark.parametrize("include", [False, True])
def test_average_of_padding_only(include):
    x = np.ones((1, 1, 1, 1), np.float32)
    window = {"WindowSize": (1, 1), "StartPadding": (0, 1)}
    got, _ = pool("AVERAGE_POOLING", x, (1, 1, 1, 2), IncludePadding=include, **window)
    np.testing.assert_array_equal(got.values.reshape(-1), [0 if include else np.nan, 1])
    np.testing.assert_array_equal(got.unspecified.reshape(-1), [not include, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("sizes", "window", "strides", "dilations", "start", "end"), CASES)
def test_norm_is_onnx(dtype, p, sizes, window, strides, dilations, start, end):
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, *sizes)).astype(dtype)
    pads = {"kernel_shape": window, "strides": strides, "dilations": dilations, "pads": (*start, *end)}
    (want,) = on_cpu("LpPool", x.astype(np.float32), ["y"], p=p, **pads)
    values = {
        "Strides": strides,
        "WindowSize": window,
        "StartPadding": start,
        "EndPadding": end,
        "Dilations": dilations,
    }
    got, _ = pool("LP_POOLING1", x, want.shape, P=p, **values)
    rounding = 2 * np.finfo(dtype).eps
    np.testing.assert_allclose(got.values.astype(np.float64), want, rtol=max(rounding, 1e-6))
    if set(dilations) == {1}:
        del values["Dilations"]
        same, _ = pool("LP_POOLING", x, want.shape, P=p, **values)
        np.testing.assert_array_equal(same.values, got.values)


def test_norm_of_windows_over_the_end_and_of_padding_only():
    x = np.array([3, -4, 0, -5, 12], np.float32).reshape(1, 1, 1, 5)
    for p, want in ((1, [7, 5, 12, 0]), (2, [5, 5, 12, 0])):
        got, _ = pool("LP_POOLING", x, (1, 1, 1, 4), P=p, WindowSize=(1, 2), Strides=(1, 2), EndPadding=(0, 3))
        np.testing.assert_array_equal(got.values.reshape(-1), want)
        assert not got.unspecified.any() if got.unspecified is not None else p == 1


def test_norm_promises_nothing_where_its_powers_overflow():
    x = np.array([1e30, 1e10, np.inf, -np.inf], np.float32).reshape(1, 1, 1, 4)
    got, _ = pool("LP_POOLING", x, (1, 1, 1, 4), P=2, WindowSize=(1, 1))
    np.testing.assert_array_equal(got.unspecified.reshape(-1), [True, False, False, False])
    np.testing.assert_array_equal(got.values.reshape(-1)[1:], np.array([1e10, np.inf, np.inf], np.float32))


def test_norm_of_vanishing_powers_may_be_zero():
    x = np.array([1e-25, 0], np.float32).reshape(1, 1, 1, 2)
    got, _ = pool("LP_POOLING", x, (1, 1, 1, 2), P=2, WindowSize=(1, 1))
    assert 1e-25 <= got.error[0, 0, 0, 0] < 1e-18
    assert got.values[0, 0, 0, 1] == got.error[0, 0, 0, 1] == 0


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_quantized_mean_as_a_loop(dtype, include):
    x = np.random.default_rng(3).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 2, 3, 4)).astype(dtype)
    zx, zy = np.array([3, 100], dtype), np.array([17, 5], np.int8).reshape(1, 2, 1, 1)
    sx, sy = np.array([[[0.5]], [[0.25]]], np.float32).reshape(1, 2, 1, 1), np.array([0.73], np.float32)
    window = {
        "WindowSize": (2, 2),
        "Strides": (1, 2),
        "StartPadding": (1, 0),
        "EndPadding": (0, 2),
        "Dilations": (1, 2),
    }
    arrays = {
        "InputTensor": x,
        "InputScaleTensor": sx,
        "InputZeroPointTensor": zx,
        "OutputScaleTensor": sy,
        "OutputZeroPointTensor": zy,
    }
    op = describe(
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        **arrays,
        OutputTensor=np.zeros((2, 2, 3, 2), np.int8),
        DimensionCount=2,
        IncludePadding=include,
        **window,
    )
    (result,) = operator_results(op, arrays)["OutputTensor"]
    assert result.error is not None
    assert result.unspecified is not None
    for n, c, i, j in np.ndindex(*result.values.shape):
        places = [(i + a - 1, 2 * j + 2 * b) for a in range(2) for b in range(2)]
        inside = [int(x[n, c, p, q]) - int(zx[c]) for p, q in places if 0 <= p < 3 and 0 <= q < 4]
        mean = Fraction(sum(inside), 4 if include else len(inside))
        exact = mean * Fraction(float(sx[0, c, 0, 0])) / Fraction(float(sy[0]))
        want = min(max(round(exact) + int(zy[0, c, 0, 0]), -128), 127)
        assert abs(int(result.values[n, c, i, j]) - want) <= result.error[n, c, i, j]
    assert result.error.mean() < 0.1
    assert not result.unspecified.any()


def test_quantized_mean_by_hand():
    x, one = np.array([1, 3, 255, 250], np.uint8).reshape(1, 1, 1, 4), np.ones((1, 1, 1, 1), np.float32)
    arrays: dict[str, Any] = {"InputTensor": x, "InputScaleTensor": one, "OutputScaleTensor": one * 2}
    op = describe(
        "QUANTIZED_LINEAR_AVERAGE_POOLING", **arrays, OutputTensor=np.zeros((1, 1, 1, 2), np.uint8), DimensionCount=2,
        WindowSize=(1, 2), Strides=(1, 2), StartPadding=(0, 0), EndPadding=(0, 0), Dilations=(1, 1),
        IncludePadding=False,
    )  # fmt: skip
    (result,) = operator_results(op, arrays)["OutputTensor"]
    assert result.error is not None
    np.testing.assert_array_equal(result.values.reshape(-1), [1, 126])
    np.testing.assert_array_equal(result.error.reshape(-1), [0, 0])


def test_the_sum_of_a_mean_may_overflow():
    largest = np.finfo(np.float32).max
    x = np.array([[[largest, largest, 1, np.inf]]], np.float32)
    op = describe(
        "AVERAGE_POOLING",
        InputTensor=x,
        OutputTensor=np.zeros((1, 1, 3), np.float32),
        Strides=(1,),
        WindowSize=(2,),
        StartPadding=(0,),
        EndPadding=(0,),
        IncludePadding=False,
    )
    (result,) = operator_results(op, {"InputTensor": x})["OutputTensor"]
    assert result.unspecified is not None
    assert result.unspecified.tolist() == [[[True, False, False]]]
