from __future__ import annotations

import time

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import allowed_error
from dml2onnx.test_cases.descriptors import plain
from tests.reference.numbers import result_of


def convolve(x, w, shape, **values):
    fields = {"DimensionCount": x.ndim - 2, "Mode": "CROSS_CORRELATION", **values}
    return result_of("CONVOLUTION", shape, InputTensor=x, FilterTensor=w, **fields)


def test_activation_applies_to_the_unrounded_sum():
    """The sum 2049 would round to 2048 in FLOAT16."""
    x, w = np.array([[[2048, 1]]], np.float16), np.ones((1, 1, 2), np.float16)
    fused = plain("ACTIVATION_LINEAR", Beta=-2048.0)
    got = convolve(x, w, (1, 1, 1), FusedActivation=fused)
    assert got.values.item() == 1.0


def test_error_bound_covers_float32_sums():
    random = np.random.default_rng(6)
    x, w = random.standard_normal((1, 32, 6, 6)).astype(np.float32), random.standard_normal((4, 32, 3, 3))
    w = w.astype(np.float32)
    found = convolve(x, w, (1, 4, 4, 4))
    total = np.zeros((1, 4, 4, 4), np.float32)
    for c, i, j in np.ndindex(32, 3, 3):
        total += x[:, None, c, i : i + 4, j : j + 4] * w[None, :, c, i, j, None, None]
    difference = np.abs(total.astype(np.float64) - found.values)
    assert (difference <= allowed_error(found, DataType.FLOAT32)).all()
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
def test_order_dependent_sums_are_unspecified(x, marked, direction):
    x = np.array(x, np.float32).reshape(1, 3, 1)
    ones = np.ones((1, 3, 1) if direction == "FORWARD" else (3, 1, 1), np.float32)
    found = convolve(x, ones, (1, 1, 1), Direction=direction)
    assert found.unspecified.tolist() == [[[marked]]]


def test_float64_rounding_does_not_hide_float32_overflow():
    """2.5 * LARGE overflows FLOAT32 before or after -1e77, next to which FLOAT64 rounds it away."""
    x, w = np.array([[2.5], [2.5], [-LARGE]], np.float32)[None], np.full((1, 3, 1), LARGE, np.float32)
    assert convolve(x, w, (1, 1, 1)).unspecified.all()


def test_results_do_not_depend_on_block_size(monkeypatch):
    random = np.random.default_rng(0)
    x, w = random.normal(size=(3, 4, 9, 7)), random.normal(size=(6, 2, 3, 2))
    x, w = x.astype(np.float32), w.astype(np.float32)
    options = {"Strides": (2, 1), "StartPadding": (1, 0), "EndPadding": (1, 1), "GroupCount": 2}
    whole = convolve(x, w, (3, 6, 5, 7), **options)
    for elements in (1, 200, 2000):
        monkeypatch.setattr("dml2onnx.reference.convolution.BLOCK_ELEMENTS", elements)
        np.testing.assert_allclose(convolve(x, w, (3, 6, 5, 7), **options).values, whole.values, rtol=1e-6)


@pytest.mark.parametrize(("groups", "lost"), [(1, [0, 0, 0, 0, 0, 1]), (2, [1, 0, 1, 0, 1, 1])])
def test_backward_multiplies_an_infinite_tap_by_implicit_zeros(groups, lost):
    """Implicit zeros surround the input and, with groups, separate its elements."""
    x = np.ones((1, groups, 1, 2), np.float32)
    w = np.array([[[[1, np.inf]]]] * groups, np.float32)
    got = convolve(x, w, (1, groups, 1, 6), Direction="BACKWARD", Strides=(1, 2), GroupCount=groups)
    first = got.values[0, 0, 0]
    np.testing.assert_array_equal(np.isnan(first), np.array(lost, np.bool_))
    np.testing.assert_array_equal(got.unspecified[0, 0, 0], [True, False, True, False, True, True])
