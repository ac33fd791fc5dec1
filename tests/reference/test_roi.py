from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import Size2D
from tests.reference.numbers import result_of

RAMP = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)


def align(rois, count, x=RAMP, samples=(1, 1), **fields):
    """One row of samples of RAMP, whose elements equal their coordinates."""
    given = {"ROITensor": np.asarray(rois, np.float32), "BatchIndicesTensor": np.zeros(len(rois), np.uint32)}
    values = {"MinimumSamplesPerOutput": samples[0], "MaximumSamplesPerOutput": samples[1], "InputPixelOffset": 0.5}
    values |= {"ReductionFunction": "AVERAGE", "InterpolationMode": "LINEAR", "OutputPixelOffset": -0.5, **fields}
    return result_of("ROI_ALIGN1", (len(rois), 1, 1, count), InputTensor=x, **given, **values)


def test_results_that_depend_on_rounding_are_unspecified():
    third = np.float32(1 / 3)
    rounded = align([[0, 0, 3 * third + 1e-7, 1]], 3, samples=(1, 2))
    assert not rounded.unspecified.all()
    for rois, options in (
        ([[np.nan, 0, 1, 1]], {}),
        ([[0.1, 0, 0.1 + 3.7, 1]], {"samples": (1, 9), "SpatialScaleX": 1 / 3.7}),
    ):
        result = align(rois, 1, **options)
        assert result.unspecified.all()
    exact = align([[0, 0, 4, 1]], 4, InterpolationMode="NEAREST_NEIGHBOR")
    assert not exact.unspecified.any()


def test_infinities_affect_only_samples_they_contribute_to():
    x = RAMP.repeat(3, 2)
    x[0, 0, :, 2] = np.inf
    result = align([[0.25, 0.25, 4.25, 1.25]], 4, x)
    assert np.isinf(result.values[0, 0, 0]).tolist() == [False, True, True, False]
    assert not result.unspecified[0, 0, 0, 1:3].any()


def test_pooling_of_a_nan_region_is_unspecified():
    fields = {"SpatialScale": 1.0, "PooledSize": Size2D(width=1, height=1)}
    for corner, is_open in ((0, False), (np.nan, True)):
        rois = np.array([0, corner, 0, 1, 1], np.float32).reshape(1, 1, 1, 5)
        found = result_of("ROI_POOLING", (1, 1, 1, 1), InputTensor=RAMP, ROITensor=rois, **fields)
        assert bool(found.unspecified.any()) == is_open
