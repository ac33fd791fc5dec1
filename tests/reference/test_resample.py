from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import onnx
import pytest

from dml2onnx.ir.operator import Size2D
from dml2onnx.reference import operator_results, run_operator
from dml2onnx.reference.resample import coordinates
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results


def resample(name, x, shape, **values):
    op = describe(name, InputTensor=x, OutputTensor=np.zeros(shape, x.dtype), **values)
    return operator_results(op, {"InputTensor": x})["OutputTensor"][0]


def plain(x, places, weigh):
    """Every output element as a sum over all corners, in Python numbers."""
    y = np.zeros([len(p) for p in places])
    for index in np.ndindex(*y.shape):
        point = [float(p[i]) for p, i in zip(places, index, strict=True)]
        for corner in itertools.product((0, 1), repeat=x.ndim):
            weight, source = 1.0, []
            for v, c, n in zip(point, corner, x.shape, strict=True):
                low = math.floor(v)
                weight *= weigh(v - low) if c else 1 - weigh(v - low)
                source.append(min(max(low + c, 0), n - 1))
            y[index] += weight * float(x[tuple(source)]) if weight else 0.0
    return y


SHAPES = [
    ((5,), (8,), (1.7,)),
    ((4, 3), (2, 7), (0.5, 2.25)),
    ((2, 3, 4), (3, 3, 5), (1.5, 1.0, 1.3)),
    ((1, 2, 3, 4), (1, 4, 5, 2), (1.0, 2.0, 1.6, 0.4)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("offsets", [(0.5, -0.5), (0.0, 0.0), (0.25, 0.75)])
@pytest.mark.parametrize(("sizes", "shape", "scales"), SHAPES)
def test_linear_is_the_sum_over_corners(dtype, offsets, sizes, shape, scales):
    x = np.random.default_rng(0).standard_normal(sizes).astype(dtype)
    rounded: Any = [np.float32(scale) for scale in scales]
    places = [coordinates(n, s, *offsets) for n, s in zip(shape, rounded, strict=True)]
    want = plain(x, places, lambda fraction: fraction)
    rank = len(sizes)
    got = resample(
        "RESAMPLE1",
        x,
        shape,
        InterpolationMode="LINEAR",
        Scales=scales,
        InputPixelOffsets=offsets[:1] * rank,
        OutputPixelOffsets=offsets[1:] * rank,
    )
    np.testing.assert_allclose(got.values, want.astype(dtype), rtol=np.finfo(dtype).eps, atol=1e-15)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("transform", "offsets"),
    [("half_pixel", (0.5, -0.5)), ("asymmetric", (0.0, 0.0))],
    ids=["half_pixel", "asymmetric"],
)
@pytest.mark.parametrize("scales", [(2.0, 1.5), (0.5, 0.75), (3.0, 0.5)])
def test_is_onnx_resize(mode, transform, offsets, scales):
    x = np.arange(24, dtype=np.float32).reshape(4, 6) ** 2
    node = onnx.helper.make_node(
        "Resize",
        ["x", "", "scales"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode=transform,
        nearest_mode="floor",
    )
    want = onnx_results(node, {"x": x, "scales": np.array(scales, np.float32)})[0]
    got = resample(
        "RESAMPLE2",
        x,
        want.shape,
        InterpolationMode="NEAREST_NEIGHBOR" if mode == "nearest" else "LINEAR",
        RoundingDirection="DECREASING",
        Scales=scales,
        InputPixelOffsets=offsets[:1] * 2,
        OutputPixelOffsets=offsets[1:] * 2,
    )
    np.testing.assert_allclose(got.values, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "want"), [(np.float32, [1, 3]), (np.float16, [1, 3]), (np.int8, [0, 2]), (np.uint8, [0, 2])]
)
def test_nearest_halves_go_up_but_for_integers(dtype, want):
    x = np.arange(4).astype(dtype)
    # (x + 0.5) / 0.5 - 0.5 = 0.5, 2.5
    got = resample("RESAMPLE", x, (2,), InterpolationMode="NEAREST_NEIGHBOR", Scales=(0.5,))
    np.testing.assert_array_equal(got.values, want)


def test_version_2_with_lowered_offset_is_version_1():
    x = np.arange(7, dtype=np.float32)
    values = {"InterpolationMode": "NEAREST_NEIGHBOR", "Scales": (0.75,), "OutputPixelOffsets": (-0.5,)}
    one = resample("RESAMPLE1", x, (9,), InputPixelOffsets=(0.5,), **values)
    two = resample("RESAMPLE2", x, (9,), InputPixelOffsets=(0.0,), RoundingDirection="DECREASING", **values)
    np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize(("direction", "want"), [("DECREASING", [0, 0, 1, 1]), ("INCREASING", [0, 1, 1, 2])])
def test_rounding_direction(direction, want):
    got = resample(
        "RESAMPLE2",
        np.arange(3, dtype=np.float32),
        (4,),
        InterpolationMode="NEAREST_NEIGHBOR",
        RoundingDirection=direction,
        Scales=(2.0,),
        InputPixelOffsets=(0.0,),
        OutputPixelOffsets=(0.0,),
    )
    np.testing.assert_array_equal(got.values, want)


@pytest.mark.parametrize("direction", ["DECREASING", "INCREASING"])
def test_enormous_scale_stays_on_the_first_element(direction):
    got = resample(
        "RESAMPLE2",
        np.arange(3, dtype=np.float32),
        (4,),
        InterpolationMode="NEAREST_NEIGHBOR",
        RoundingDirection=direction,
        Scales=(float(np.finfo(np.float32).max),),
        InputPixelOffsets=(0.0,),
        OutputPixelOffsets=(0.0,),
    )
    np.testing.assert_array_equal(got.values, [0, 0, 0, 0])


def test_coordinates_round_at_every_step():
    step = np.float32(1.0) / np.float32(3.0)
    want = [np.float32(np.float32(i + 0.5) / step) - np.float32(0.5) for i in range(50)]
    np.testing.assert_array_equal(coordinates(50, float(step), 0.5, -0.5), want)


def test_linear_into_integers_truncates():
    x = np.array([0, 4, -3], np.int8)
    got = resample("RESAMPLE", x, (9,), InterpolationMode="LINEAR", Scales=(3.0,))
    np.testing.assert_array_equal(got.values, [0, 0, 1, 2, 4, 1, 0, -3, -3])


def test_whole_values_are_demanded_where_float32_is_exact():
    x = np.array([2, 4], np.uint8)
    got = resample("RESAMPLE", x, (4,), InterpolationMode="LINEAR", Scales=(2.0,))
    np.testing.assert_array_equal(got.values, [2, 2, 3, 4])
    assert got.error is not None
    assert not got.error.any()


def test_neighbour_of_a_whole_coordinate_is_open():
    x = np.array([1, np.nan, 3, np.inf], np.float32)
    values = {"InterpolationMode": "LINEAR", "InputPixelOffsets": (0.0,), "OutputPixelOffsets": (0.0,)}
    assert resample("RESAMPLE1", x, (4,), Scales=(1.0,), **values).unspecified.all()


def antialiased(x, size, scale, mode="LINEAR", flag=True):
    return resample(
        "RESAMPLE3",
        x,
        (size,),
        InterpolationMode=mode,
        RoundingDirection="DECREASING",
        Scales=(scale,),
        InputPixelOffsets=(0.5,),
        OutputPixelOffsets=(-0.5,),
        Antialiased=flag,
    ).values


@pytest.mark.parametrize(
    ("offset", "scale", "want"),
    [
        (3.25, 1.0, [1, -1.25, -0.25, 0.75, 4, 4]),
        (1.5, 2.0, [1, 1, 0.5, 1, 1.5, 2, 2.5, 3, 4, 4]),
        (-1.0, 2.0, [2, 2.5, 3, 3.5, 4, 4.5, 4, 4, 4, 4]),
        (-3.25, 1.0, [4.25, 5.25, 6.25, 4, 4, 4]),
        (-0.25, 2.0, [1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4, 4, 4, 4]),
    ],
)
def test_linear_goes_on_beyond_its_neighbours(offset, scale, want):
    """What DirectML gave for 1, 2, 3, 4 (decision S5)."""
    x = np.array([1, 2, 3, 4], np.float32)
    fields = {"InterpolationMode": "LINEAR", "Scales": (scale,), "OutputPixelOffsets": (0.0,)}
    result = resample("RESAMPLE1", x, (len(want),), **fields, InputPixelOffsets=(offset,))
    assert result.values.tolist() == want
    # what some kernels clamp is not promised, what lies between its neighbours is
    clamped = np.clip(np.arange(len(want)) / scale - offset, 0, 3) + 1
    assert result.unspecified[clamped != want].all()
    assert not result.unspecified.all()


def test_antialiasing_halves():
    # 6 to 4 to 2, each with pixel centres
    np.testing.assert_allclose(antialiased(np.arange(6, dtype=np.float32), 2, 1 / 3), [1, 4], rtol=1e-6)
    # 8 to 4 to 2: means of four
    np.testing.assert_array_equal(antialiased(np.arange(8, dtype=np.float32), 2, 0.25), [1.5, 5.5])
    # 5 to 4 to 2 to 1
    np.testing.assert_array_equal(antialiased(np.arange(5, dtype=np.float32), 1, 0.25), [2])
    # 4 to 3, and 2 to 4, at once: no power of two lies between them
    np.testing.assert_allclose(antialiased(np.arange(4, dtype=np.float32), 3, 0.25), [1 / 6, 1.5, 17 / 6], rtol=1e-6)
    np.testing.assert_array_equal(antialiased(np.arange(2, dtype=np.float32), 4, 0.25), [0, 0.25, 0.75, 1])


@pytest.mark.parametrize(("scale", "mode"), [(0.5, "LINEAR"), (0.25, "NEAREST_NEIGHBOR")])
def test_antialiasing_acts_on_linear_below_a_half_only(scale, mode):
    x = np.arange(8, dtype=np.float32) ** 2
    size = int(8 * scale)
    np.testing.assert_array_equal(antialiased(x, size, scale, mode), antialiased(x, size, scale, mode, False))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("sizes", [(2, 1, 3, 4), (1, 2, 2, 3, 2)])
def test_upsample_2d_repeats(sizes, dtype):
    x = np.random.default_rng(5).normal(size=sizes).astype(dtype)
    want = x.repeat(2, axis=-2).repeat(3, axis=-1)
    op = describe(
        "UPSAMPLE_2D", InputTensor=x, OutputTensor=want, ScaleSize=Size2D(3, 2), InterpolationMode="NEAREST_NEIGHBOR"
    )
    np.testing.assert_array_equal(run_operator(op, {"InputTensor": x})["OutputTensor"][0], want)


@pytest.mark.parametrize("sizes", [(2, 1, 3, 4), (1, 2, 2, 3, 4)])
def test_upsample_2d_has_pixel_centres(sizes):
    row, column = np.arange(3.0).reshape(3, 1), np.arange(4.0)
    x = np.broadcast_to(row * row + 10 * column, sizes).astype(np.float32)
    shape = (*sizes[:-2], 6, 12)
    op = describe(
        "UPSAMPLE_2D",
        InputTensor=x,
        OutputTensor=np.zeros(shape, np.float32),
        ScaleSize=Size2D(3, 2),
        InterpolationMode="LINEAR",
    )
    down = np.interp((np.arange(6) + 0.5) / 2 - 0.5, range(3), [0, 1, 4])
    across = np.interp((np.arange(12) + 0.5) / 3 - 0.5, range(4), 10 * column)
    got: Any = run_operator(op, {"InputTensor": x})["OutputTensor"][0]
    np.testing.assert_allclose(got, np.broadcast_to(down.reshape(6, 1) + across, shape), rtol=1e-6)
