from __future__ import annotations

import numpy as np

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements
from tests.reference.numbers import result_of

NAMES = ("RESAMPLE_GRAD", "RESAMPLE_GRAD1")


def gradient(name, g, shape, mode, scales, offsets):
    """``offsets`` is (InputPixelOffset, OutputPixelOffset) for all axes."""
    fields = {"RoundingDirection": "DECREASING"} if name == NAMES[1] else {}
    rank = len(shape)
    fields |= {"InputPixelOffsets": offsets[:1] * rank, "OutputPixelOffsets": offsets[1:] * rank}
    return result_of(name, shape, InputGradientTensor=g, InterpolationMode=mode, Scales=scales, **fields)


def test_infinities_affect_only_elements_they_contribute_to():
    g = np.array([1, np.inf, 1, 1], np.float32)
    result = gradient(NAMES[1], g, (2,), "LINEAR", (2.0,), (-0.5, 0.5))
    np.testing.assert_array_equal(result.values, [np.inf, np.inf])
    assert not result.unspecified.any()
    # aligned to corners, element 1 is halfway between two, element 2 exactly on the second
    for number, open_places in ((1, []), (2, [0, 2])):
        g = np.ones(6, np.float32)
        g[number] = np.nan
        result = gradient(NAMES[1], g, (3,), "LINEAR", (2.0,), (0.0, 0.0))
        assert np.nonzero(result.unspecified)[0].tolist() == open_places
        assert np.isnan(result.values).tolist() == ([True, True, False] if number == 1 else [False, True, False])


def test_error():
    g = np.random.default_rng(0).uniform(-4, 4, (6, 50)).astype(np.float32)
    result = gradient(NAMES[0], g, (6, 17), "LINEAR", (1.0, 50 / 17), (-0.5, 0.5))
    assert 0 < result.error.max() < 3e-4
    assert disagreements(result.values + np.float32(2e-3), result, DataType.FLOAT32).all()
    g = np.array([3e38, 3e38, -3e38, 1], np.float32)
    assert gradient(NAMES[0], g, (1,), "NEAREST_NEIGHBOR", (4.0,), (-0.5, 0.5)).unspecified.all()


def test_float16_is_rounded_once():
    g = np.array([2048, 1, 1, 1], np.float16)
    assert gradient(NAMES[0], g, (1,), "NEAREST_NEIGHBOR", (4.0,), (-0.5, 0.5)).values.tolist() == [2052]
