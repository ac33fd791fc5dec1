from __future__ import annotations

import numpy as np

from tests.reference.numbers import result_of


def gradient(x, g, rois, mode, reduction, samples):
    given = {"InputTensor": x, "InputGradientTensor": g, "ROITensor": np.asarray(rois, np.float32)}
    given["BatchIndicesTensor"] = np.zeros(len(rois), np.uint32)
    fields = {"ReductionFunction": reduction, "InterpolationMode": mode, "MinimumSamplesPerOutput": samples}
    offsets = {"MaximumSamplesPerOutput": samples, "InputPixelOffset": 0.5, "OutputPixelOffset": -0.5}
    return result_of("ROI_ALIGN_GRAD", x, **given, **fields, **offsets)


def test_equal_samples_and_samples_outside():
    x = np.array([1, 3, 3, 2], np.float32).reshape(1, 1, 1, 4)
    g, nearest = np.ones((1, 1, 1, 1), np.float32), ("NEAREST_NEIGHBOR", "MAX", 4)
    result = gradient(x, g, [[0, 0, 4, 1]], *nearest)
    assert result.values.reshape(-1).tolist() == [0, 1, 0, 0]
    assert not result.unspecified.any()
    assert not gradient(-x, g, [[-4, 0, 4, 1]], *nearest).values.any()  # outside is 0, which is the largest
    assert not gradient(x, g, [[9, 0, 12, 1]], *nearest).values.any()
    # with LINEAR, rounding may make equal samples differ
    assert gradient(np.ones_like(x), g, [[0.5, 0, 4, 1]], "LINEAR", "MAX", 4).unspecified.any()


def test_overlapping_regions_add_up():
    x, g = np.zeros((1, 1, 2, 2), np.float32), np.ones((3, 1, 2, 2), np.float32)
    result = gradient(x, g, [[0, 0, 2, 2]] * 3, "LINEAR", "AVERAGE", 1)
    assert result.values.tolist() == [[[[3, 3], [3, 3]]]]
    assert 0 < result.error.max() < 1e-5
