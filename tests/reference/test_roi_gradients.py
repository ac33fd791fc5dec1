from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import describe

REGIONS = np.array(
    [
        [0.317, 0.622, 4.933, 3.271],
        [-2.213, -1.741, 2.159, 1.167],
        [2.347, 1.219, 8.161, 7.737],
        [3.137, 4.363, 0.713, 0.427],
        [1.337, 2.423, 1.337, 0.229],
    ]
)


def fields(mode, reduction, samples, corners, scales=(1.0, 1.0), offsets=(0.5, -0.5)):
    return {
        "ReductionFunction": reduction,
        "InterpolationMode": mode,
        "SpatialScaleX": scales[0],
        "SpatialScaleY": scales[1],
        "InputPixelOffset": offsets[0],
        "OutputPixelOffset": offsets[1],
        "MinimumSamplesPerOutput": samples[0],
        "MaximumSamplesPerOutput": samples[1],
        "AlignRegionsToCorners": corners,
    }


def gradient(x, g, rois, batches, **values):
    arrays = {"InputTensor": x, "InputGradientTensor": g, "ROITensor": rois, "BatchIndicesTensor": batches}
    op = describe("ROI_ALIGN_GRAD", **arrays, OutputGradientTensor=x, OutputROIGradientTensor=rois, **values)
    results = operator_results(op, arrays)
    return results["OutputGradientTensor"][0], results["OutputROIGradientTensor"][0]


def loss(x, g, rois, batches, **values):
    """The forward operator's answer times ``g``, where what lies outside is 0."""
    arrays = {"InputTensor": x, "ROITensor": rois, "BatchIndicesTensor": batches}
    y = np.zeros(g.shape, x.dtype)
    op = describe("ROI_ALIGN1", **arrays, OutputTensor=y, OutOfBoundsInputValue=0.0, **values)
    return (operator_results(op, arrays)["OutputTensor"][0].values.astype(np.float64) * g).sum()


def differences(function, x, step, places):
    for place in places:
        ahead, behind = x.copy(), x.copy()
        ahead[place] += np.float32(step)
        behind[place] -= np.float32(step)
        yield place, (function(ahead) - function(behind)) / (float(ahead[place]) - float(behind[place]))


@pytest.mark.parametrize("samples", [(1, 1), (2, 2), (1, 9)])
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("reduction", ["AVERAGE", "MAX"])
@pytest.mark.parametrize("mode", ["LINEAR", "NEAREST_NEIGHBOR"])
def test_it_is_what_differences_of_the_forward_operator_are(mode, reduction, corners, samples):
    rng = np.random.default_rng(0)
    x = rng.permutation(2 * 2 * 5 * 6).reshape(2, 2, 5, 6).astype(np.float32) / 8
    g = rng.integers(1, 9, (5, 2, 3, 2)).astype(np.float32)
    rois, batches = REGIONS.astype(np.float32), np.array([0, 1, 0, 1, 1], np.uint32)
    values = fields(mode, reduction, samples, corners, (0.75, 1.25), (0.25, -0.375))
    of_image, of_rois = gradient(x, g, rois, batches, **values)
    assert not of_rois.unspecified.any()
    places = list(np.ndindex(x.shape))[::13]
    for place, want in differences(lambda a: loss(a, g, rois, batches, **values), x, 2**-7, places):
        np.testing.assert_allclose(of_image.values[place], want, rtol=2e-3, atol=2e-2)
    if mode == "LINEAR":
        check_corners(x, g, rois, batches, values, of_rois.values)


def check_corners(x, g, rois, batches, values, got):
    """Both corners of a region together are its shift, times the size of the image in the place of the scale."""
    # a region that is empty has as many samples as its size rounds up to, which a step changes
    steady = 4 if values["MinimumSamplesPerOutput"] == values["MaximumSamplesPerOutput"] else 1
    step = np.float32(2**-10)
    for number in range(steady):
        for axis, (size, scale) in enumerate(((6, values["SpatialScaleX"]), (5, values["SpatialScaleY"]))):
            ahead, behind = rois.copy(), rois.copy()
            ahead[number, axis::2] += step
            behind[number, axis::2] -= step
            moved = float(ahead[number, axis]) - float(behind[number, axis])
            change = (loss(x, g, ahead, batches, **values) - loss(x, g, behind, batches, **values)) / moved
            want = change / scale * (size - values["AlignRegionsToCorners"])
            np.testing.assert_allclose(got[number, axis::2].sum(), want, rtol=2e-2, atol=1.5)


@pytest.mark.parametrize("mode", ["LINEAR", "NEAREST_NEIGHBOR"])
@pytest.mark.parametrize(("samples", "corners"), [(1, False), (3, False), (1, True), (3, True)])
def test_the_second_corner_has_the_share_of_the_output_elements_number(mode, samples, corners):
    rng = np.random.default_rng(1)
    x = rng.permutation(5 * 6).reshape(1, 1, 5, 6).astype(np.float32)
    rois, batches = np.array([[0.875, 0.625, 4.5, 3.875]], np.float32), np.zeros(1, np.uint32)
    values = fields(mode, "AVERAGE", (samples, samples), corners, offsets=(0.0, -0.25))
    moved = 0
    for row, column in np.ndindex(2, 3):
        g = np.zeros((1, 1, 2, 3), np.float32)
        g[0, 0, row, column] = 1
        _, result = gradient(x, g, rois, batches, **values)
        (x1, y1, x2, y2) = result.values[0]
        assert x2 == pytest.approx((x1 + x2) * column / (3 * samples - corners), abs=1e-3)
        assert y2 == pytest.approx((y1 + y2) * row / (2 * samples - corners), abs=1e-3)
        moved += (x1 + x2) != 0
    assert moved >= 3


def test_nearest_elements_have_the_slopes_of_linear():
    x = np.array([1, 3, 7, 2, 9], np.float32).reshape(1, 1, 1, 5)
    g, batches = np.ones((1, 1, 1, 3), np.float32), np.zeros(1, np.uint32)
    rois = np.array([[0.375, 0, 4.25, 1]], np.float32)
    found = [
        gradient(x, g, rois, batches, **fields(mode, "AVERAGE", (2, 2), False))[1].values.tolist()
        for mode in ("LINEAR", "NEAREST_NEIGHBOR")
    ]
    assert found[0] == found[1]
    assert any(found[0][0])


def test_the_slope_is_0_at_clamped_coordinates_and_not_at_whole_ones():
    x = np.array([0, 1, 3, 6], np.float32).reshape(1, 1, 1, 4)
    g = np.ones((1, 1, 1, 1), np.float32)
    batches, values = np.zeros(1, np.uint32), fields("LINEAR", "AVERAGE", (1, 1), False)
    for corner, slope in ((1.0, 2.0), (1.25, 2.0), (-0.75, 0.0), (0.0, 1.0), (3.0, 0.0), (5.0, 0.0)):
        rois = np.array([[corner, 0, corner + 1, 1]], np.float32)
        _, result = gradient(x, g, rois, batches, **values)
        assert result.values.tolist() == [[4 * slope, 0, 0, 0]]  # four elements wide, the first output element
        assert not result.unspecified.any()


def test_equals_and_samples_outside():
    x = np.array([1, 3, 3, 2], np.float32).reshape(1, 1, 1, 4)
    g, batches = np.ones((1, 1, 1, 1), np.float32), np.zeros(1, np.uint32)
    values = fields("NEAREST_NEIGHBOR", "MAX", (4, 4), False)
    result, _ = gradient(x, g, np.array([[0, 0, 4, 1]], np.float32), batches, **values)
    assert result.values.reshape(-1).tolist() == [0, 1, 0, 0]
    assert not result.unspecified.any()
    result, _ = gradient(-x, g, np.array([[-4, 0, 4, 1]], np.float32), batches, **values)
    assert not result.values.any()  # outside is 0, which is the largest
    result, _ = gradient(x, g, np.array([[9, 0, 12, 1]], np.float32), batches, **values)
    assert not result.values.any()
    # with LINEAR rounding may tell equals apart
    values["InterpolationMode"] = "LINEAR"
    result, _ = gradient(np.ones_like(x), g, np.array([[0.5, 0, 4, 1]], np.float32), batches, **values)
    assert result.unspecified.any()


def test_overlapping_regions_add_up():
    x, g = np.zeros((1, 1, 2, 2), np.float32), np.ones((3, 1, 2, 2), np.float32)
    rois, batches = np.array([[0, 0, 2, 2]] * 3, np.float32), np.zeros(3, np.uint32)
    result, _ = gradient(x, g, rois, batches, **fields("LINEAR", "AVERAGE", (1, 1), False))
    assert result.values.tolist() == [[[[3, 3], [3, 3]]]]
    assert 0 < result.error.max() < 1e-5
