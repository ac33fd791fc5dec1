from __future__ import annotations

import time

import numpy as np
import onnx
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error, operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results


def convolve(x, w, shape, bias=None, *, mode="CROSS_CORRELATION", direction="FORWARD", **values):
    n = x.ndim - 2
    defaults = dict.fromkeys(("Strides", "Dilations"), (1,) * n)
    defaults |= dict.fromkeys(("StartPadding", "EndPadding", "OutputPadding"), (0,) * n)
    op = describe(
        "CONVOLUTION",
        InputTensor=x,
        FilterTensor=w,
        BiasTensor=bias,
        OutputTensor=np.zeros(shape, x.dtype),
        Mode=mode,
        Direction=direction,
        **{**defaults, "GroupCount": 1, **values},
    )
    arrays = {"InputTensor": x, "FilterTensor": w} | ({} if bias is None else {"BiasTensor": bias})
    return operator_results(op, arrays)["OutputTensor"][0]


def onnx_node(kind, x, w, bias, **attributes):
    inputs = {"x": x, "w": w} | ({} if bias is None else {"b": bias.reshape(-1)})
    node = onnx.helper.make_node(kind, list(inputs), ["y"], **attributes)
    return onnx_results(node, {k: v.astype(np.float64) for k, v in inputs.items()})[0]


def whole(random, shape, dtype=np.float32):
    return random.integers(-4, 5, shape).astype(dtype)


CASES = [
    # spatial sizes, kernel, strides, dilations, start, end, groups
    ((7,), (3,), (2,), (2,), (1,), (2,), 1),
    ((6, 5), (3, 2), (1, 2), (2, 1), (2, 0), (1, 3), 2),
    ((5, 5), (1, 1), (1, 1), (1, 1), (0, 0), (0, 0), 4),
    ((4, 5, 3), (2, 3, 2), (2, 1, 1), (1, 2, 1), (1, 2, 0), (0, 2, 1), 2),
]


@pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("sizes", "kernel", "strides", "dilations", "start", "end", "groups"), CASES)
def test_forward_is_onnx_conv(mode, dtype, sizes, kernel, strides, dilations, start, end, groups):
    random = np.random.default_rng(0)
    x, w = whole(random, (2, 4, *sizes), dtype), whole(random, (8, 4 // groups, *kernel), dtype)
    bias = whole(random, (1, 8, *(1 for _ in sizes)), dtype)
    flipped = np.flip(w, tuple(range(2, w.ndim))) if mode == "CONVOLUTION" else w
    options = {"strides": strides, "dilations": dilations, "pads": (*start, *end), "group": groups}
    want = onnx_node("Conv", x, flipped, bias, **options)
    values = {"Strides": strides, "Dilations": dilations, "StartPadding": start, "EndPadding": end}
    got = convolve(x, w, want.shape, bias, mode=mode, GroupCount=groups, **values)
    np.testing.assert_array_equal(got.values, want)


@pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
@pytest.mark.parametrize(("sizes", "kernel", "strides", "dilations", "start", "end", "groups"), CASES)
def test_backward_is_onnx_conv_transpose(mode, sizes, kernel, strides, dilations, start, end, groups):
    random = np.random.default_rng(1)
    x, w = whole(random, (2, 4, *sizes)), whole(random, (4, 3, *kernel))
    bias = whole(random, (1, 3 * groups, *(1 for _ in sizes)))
    flipped = np.flip(w, tuple(range(2, w.ndim))) if mode == "CONVOLUTION" else w
    options = {"strides": strides, "dilations": dilations, "pads": (*start, *end)}
    parts = zip(*(np.split(array, groups, axis) for array, axis in ((x, 1), (flipped, 0), (bias, 1))), strict=True)
    want = np.concatenate([onnx_node("ConvTranspose", *part, **options) for part in parts], axis=1)
    values = {"Strides": strides, "Dilations": dilations, "StartPadding": start, "EndPadding": end}
    got = convolve(x, w, want.shape, bias, mode=mode, direction="BACKWARD", GroupCount=groups, **values)
    np.testing.assert_array_equal(got.values, want)


def test_larger_output_is_onnx_output_padding():
    random = np.random.default_rng(2)
    x, w = whole(random, (1, 2, 4, 4)), whole(random, (2, 3, 3, 3))
    bias = whole(random, (1, 3, 1, 1))
    options = {"strides": (3, 2), "pads": (1, 1, 1, 1), "output_padding": (2, 1)}
    want = onnx_node("ConvTranspose", x, w, bias, **options)
    values = {"Strides": (3, 2), "StartPadding": (1, 1), "EndPadding": (1, 1)}
    got = convolve(x, w, want.shape, bias, direction="BACKWARD", **values)
    np.testing.assert_array_equal(got.values, want)


def test_larger_still_holds_the_bias_and_smaller_crops():
    x, w, bias = np.ones((1, 1, 3), np.float32), np.ones((1, 1, 2), np.float32), np.full((1, 1, 1), 5, np.float32)
    larger = convolve(x, w, (1, 1, 6), bias, direction="BACKWARD")
    np.testing.assert_array_equal(larger.values, [[[6, 7, 7, 6, 5, 5]]])
    smaller = convolve(x, w, (1, 1, 2), bias, direction="BACKWARD")
    np.testing.assert_array_equal(smaller.values, [[[6, 7]]])


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize("activation", [None, "ACTIVATION_SIGMOID"])
def test_output_padding_appends_zeros_behind_the_bias(direction, activation):
    random = np.random.default_rng(3)
    x, w, bias = whole(random, (1, 1, 5, 5)), whole(random, (1, 1, 1, 1)), np.ones((1, 1, 1, 1), np.float32)
    fused = None if activation is None else describe(activation)
    plain = convolve(x, w, x.shape, bias, direction=direction, FusedActivation=fused)
    got = convolve(x, w, x.shape, bias, direction=direction, FusedActivation=fused, OutputPadding=(1, 2))
    np.testing.assert_array_equal(got.values[..., :4, :3], plain.values[..., :4, :3])
    alone = convolve(np.zeros_like(x), w, x.shape, 0 * bias, direction=direction, FusedActivation=fused)
    np.testing.assert_array_equal(got.values[..., 4:, :], alone.values[..., 4:, :])
    np.testing.assert_array_equal(got.values[..., 3:], alone.values[..., 3:])


@pytest.mark.parametrize("mode", ["CONVOLUTION", "CROSS_CORRELATION"])
def test_agrees_with_scipy(mode):
    random = np.random.default_rng(4)
    x, w = random.standard_normal((1, 1, 9, 8)).astype(np.float32), random.standard_normal((1, 1, 3, 4))
    w = w.astype(np.float32)
    from scipy import signal  # takes a second to import, which others that collect tests need not wait for

    function = signal.convolve2d if mode == "CONVOLUTION" else signal.correlate2d
    want = function(x[0, 0].astype(np.float64), w[0, 0].astype(np.float64), "valid")
    got = convolve(x, w, (1, 1, *want.shape), mode=mode)
    np.testing.assert_array_equal(got.values[0, 0], want.astype(np.float32))


def test_backward_is_the_adjoint_of_forward():
    random = np.random.default_rng(5)
    x, w, g = whole(random, (2, 4, 9, 7)), whole(random, (6, 2, 3, 2)), whole(random, (2, 6, 5, 4))
    values = {"Strides": (2, 2), "Dilations": (1, 2), "StartPadding": (1, 1), "EndPadding": (1, 1), "GroupCount": 2}
    forward = convolve(x, w, g.shape, **values).values
    backward = convolve(g, w, x.shape, direction="BACKWARD", **values).values
    assert np.vdot(forward, g) == np.vdot(x, backward)


def test_activation_sees_the_unrounded_sum():
    """In FLOAT16 the sum 2049 rounds to 2048, and half of it differs."""
    x, w = np.array([[[2048, 1]]], np.float16), np.ones((1, 1, 2), np.float16)
    fused = describe("ACTIVATION_LINEAR", Alpha=1.0, Beta=-2048.0)
    got = convolve(x, w, (1, 1, 1), FusedActivation=fused)
    assert got.values.item() == 1.0


def test_error_bound_covers_float32_sums():
    random = np.random.default_rng(6)
    x, w = random.standard_normal((1, 32, 6, 6)).astype(np.float32), random.standard_normal((4, 32, 3, 3))
    w = w.astype(np.float32)
    result = convolve(x, w, (1, 4, 4, 4))
    total = np.zeros((1, 4, 4, 4), np.float32)
    for c, i, j in np.ndindex(32, 3, 3):
        total += x[:, None, c, i : i + 4, j : j + 4] * w[None, :, c, i, j, None, None]
    difference = np.abs(total.astype(np.float64) - result.values)
    assert (difference <= allowed_error(result, DataType.FLOAT32)).all()
    assert difference.any()


def test_images_do_not_take_minutes():
    x, w = np.ones((1, 16, 64, 64), np.float32), np.ones((16, 16, 3, 3), np.float32)
    start = time.process_time()
    got = convolve(x, w, x.shape, StartPadding=(1, 1), EndPadding=(1, 1))
    assert time.process_time() - start < 10
    assert got.values[0, 0, 5, 5] == 16 * 9


LARGE = np.finfo(np.float32).max


@pytest.mark.parametrize(
    ("x", "marked"),
    [
        pytest.param([LARGE, LARGE, -LARGE], True, id="comes back"),
        pytest.param([LARGE, LARGE, LARGE], False, id="overflows in any order"),
        pytest.param([LARGE, -1, 1], False, id="stays within"),
        pytest.param([np.inf, -LARGE, -LARGE], True, id="meets an infinity"),
        pytest.param([np.inf, -LARGE, 1], False, id="an infinity alone"),
    ],
)
@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
def test_where_the_order_of_the_sum_matters(x, marked, direction):
    x = np.array(x, np.float32).reshape(1, 3, 1)
    ones = np.ones((1, 3, 1) if direction == "FORWARD" else (3, 1, 1), np.float32)
    result = convolve(x, ones, (1, 1, 1), direction=direction)
    assert result.unspecified.tolist() == [[[marked]]]


def test_sums_that_hide_in_float64_what_overflows_float32():
    """-1e77 comes last or first: what has become infinite before stays so, or meets it."""
    x, w = np.array([[2.5], [2.5], [-LARGE]], np.float32)[None], np.full((1, 3, 1), LARGE, np.float32)
    assert convolve(x, w, (1, 1, 1)).unspecified.all()


def test_blocks_make_no_difference(monkeypatch):
    random = np.random.default_rng(0)
    x, w = random.normal(size=(3, 4, 9, 7)), random.normal(size=(6, 2, 3, 2))
    x, w = x.astype(np.float32), w.astype(np.float32)
    options = {"Strides": (2, 1), "StartPadding": (1, 0), "EndPadding": (1, 1), "GroupCount": 2}
    whole_ = convolve(x, w, (3, 6, 5, 7), **options)
    for elements in (1, 200, 2000):
        monkeypatch.setattr("dml2onnx.reference.convolution.BLOCK_ELEMENTS", elements)
        np.testing.assert_allclose(convolve(x, w, (3, 6, 5, 7), **options).values, whole_.values, rtol=1e-6)


@pytest.mark.parametrize(("groups", "lost"), [(1, [0, 0, 0, 0, 0, 1]), (2, [1, 0, 1, 0, 1, 1])])
def test_backward_an_infinite_tap_meets_zeros(groups, lost):
    """All around the input, and with groups between its elements too; where the element is, it is infinite."""
    x = np.ones((1, groups, 1, 2), np.float32)
    w = np.array([[[[1, np.inf]]]] * groups, np.float32)
    got = convolve(x, w, (1, groups, 1, 6), direction="BACKWARD", Strides=(1, 2), GroupCount=groups)
    first = got.values[0, 0, 0]
    np.testing.assert_array_equal(np.isnan(first), np.array(lost, np.bool_))
    np.testing.assert_array_equal(got.unspecified[0, 0, 0], [True, False, True, False, True, True])
