from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.reference.resample import coordinates
from tests.reference.numbers import result_of


def resample(name, x, shape, **values):
    return result_of(name, shape, InputTensor=x, **values)


@pytest.mark.parametrize("direction", ["DECREASING", "INCREASING"])
def test_enormous_scale_stays_on_the_first_element(direction):
    fields = {"InterpolationMode": "NEAREST_NEIGHBOR", "RoundingDirection": direction}
    scale = float(np.finfo(np.float32).max)
    fields["OutputPixelOffsets"] = (-0.5,)
    got = resample("RESAMPLE2", np.arange(3, dtype=np.float32), (9,), Scales=(scale,), **fields)
    np.testing.assert_array_equal(got.values, [0] * 9)


@pytest.mark.parametrize(
    ("name", "count", "scale", "offsets", "direction", "last"),
    [
        ("RESAMPLE1", 5, 0.3, (0.5, -0.5), None, 15),
        ("RESAMPLE2", 10, 0.3, (0.0, 0.0), "DECREASING", 30),
        ("RESAMPLE2", 18, 1.7, (0.0, 0.0), "DECREASING", 9),
        ("RESAMPLE2", 40, 1.3, (0.0, 0.0), "INCREASING", 30),
        ("RESAMPLE3", 22, 7.0, (0.0, 0.0), "INCREASING", 3),
    ],
)
def test_nearest_multiplies_by_the_reciprocal(name, count, scale, offsets, direction, last):
    """As DirectML does; by division, the last element is another one, or by a reciprocal that is not smaller (S17)."""
    fields: dict[str, object] = {"InterpolationMode": "NEAREST_NEIGHBOR", "Scales": (scale,)}
    fields |= {"InputPixelOffsets": offsets[:1], "OutputPixelOffsets": offsets[1:]}
    if direction is not None:
        fields["RoundingDirection"] = direction
    if name == "RESAMPLE3":
        fields["Antialiased"] = False
    assert resample(name, np.arange(40, dtype=np.float32), (count,), **fields).values[-1] == last


def test_coordinates_round_at_every_step():
    step = np.float32(1.0) / np.float32(3.0)
    want = [np.float32(np.float32(i + 0.5) / step) - np.float32(0.5) for i in range(50)]
    np.testing.assert_array_equal(coordinates(50, float(step), 0.5, -0.5), want)


def test_integers_are_exact_where_float32_is():
    x = np.array([2, 4], np.uint8)
    got = resample("RESAMPLE", x, (4,), InterpolationMode="LINEAR", Scales=(2.0,))
    np.testing.assert_array_equal(got.values, [2, 2, 3, 4])
    assert got.error is not None
    assert not got.error.any()


def test_non_finite_neighbour_of_a_whole_coordinate_is_unspecified():
    x = np.array([1, np.nan, 3, np.inf], np.float32)
    assert resample("RESAMPLE1", x, (4,), Scales=(1.0,), InterpolationMode="LINEAR").unspecified.all()


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
def test_linear_extrapolates(offset, scale, want):
    """DirectML's results for 1, 2, 3, 4 (decision S5)."""
    x = np.array([1, 2, 3, 4], np.float32)
    fields = {"InterpolationMode": "LINEAR", "Scales": (scale,)}
    result = resample("RESAMPLE1", x, (len(want),), **fields, InputPixelOffsets=(offset,))
    assert result.values.tolist() == want
    # extrapolated elements, which some kernels clamp, are unspecified
    clamped = np.clip(np.arange(len(want)) / scale - offset, 0, 3) + 1
    assert result.unspecified[clamped != want].all()
    assert not result.unspecified.all()
