from __future__ import annotations

import itertools

import numpy as np
import pytest

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.test_resample import resample

NAMES = ("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
SHAPES = [
    ((5,), (8,), (1.7,)),
    ((4, 3), (2, 7), (0.5, 2.25)),
    ((2, 3, 4), (3, 3, 5), (1.5, 1.0, 1.3)),
    ((1, 2, 3, 4), (1, 4, 5, 2), (1.0, 2.0, 1.6, 0.4)),
]


def gradient(name, g, shape, mode, scales, offsets, rounding="DECREASING"):
    """``offsets`` are (InputPixelOffset, OutputPixelOffset) of this operator, the same for all axes."""
    fields = {"RoundingDirection": rounding} if name == NAMES[1] else {}
    rank = len(shape)
    op = describe(
        name,
        InputGradientTensor=g,
        OutputGradientTensor=np.zeros(shape, g.dtype),
        InterpolationMode=mode,
        Scales=scales,
        InputPixelOffsets=offsets[:1] * rank,
        OutputPixelOffsets=offsets[1:] * rank,
        **fields,
    )
    return operator_results(op, {"InputGradientTensor": g})["OutputGradientTensor"][0]


OFFSETS = [(0.5, -0.5), (0.0, 0.0), (0.25, 0.75), (1.0, -7.0)]


@pytest.mark.parametrize(
    ("mode", "offsets"),
    # where InputPixelOffset is below 0 or above 1, LINEAR has no gradient that would be its transpose (decision S5)
    [*itertools.product(["NEAREST_NEIGHBOR", "LINEAR"], OFFSETS), ("NEAREST_NEIGHBOR", (-7.0, 3.0))],
)
@pytest.mark.parametrize("rounding", ["INCREASING", "DECREASING", None])
@pytest.mark.parametrize(("sizes", "shape", "scales"), SHAPES)
def test_it_is_the_transpose_of_the_forward_operator(mode, offsets, rounding, sizes, shape, scales):
    """Every element of the matrix: what a unit gradient sends to an element is what that gave to the output."""
    name, fields = (NAMES[0], {}) if rounding is None else (NAMES[1], {"RoundingDirection": rounding})
    forward = {
        "InterpolationMode": mode,
        "Scales": scales,
        "InputPixelOffsets": offsets[:1] * len(sizes),
        "OutputPixelOffsets": offsets[1:] * len(sizes),
        **fields,
    }
    random = np.random.default_rng(0)
    for _ in range(3):
        g = random.integers(-9, 9, shape).astype(np.float32)
        got = gradient(name, g, sizes, mode, scales, offsets[::-1], rounding or "")
        for place in itertools.islice(np.ndindex(*sizes), 0, None, 2):
            unit = np.zeros(sizes, np.float32)
            unit[place] = 1
            given = resample("RESAMPLE1" if rounding is None else "RESAMPLE2", unit, shape, **forward).values
            np.testing.assert_allclose(got.values[place], (given * np.float64(g)).sum(), rtol=1e-5, atol=1e-5)
        assert not got.unspecified.any()


def test_an_infinity_stays_where_it_has_a_share():
    g = np.array([1, np.inf, 1, 1], np.float32)
    result = gradient(NAMES[1], g, (2,), "LINEAR", (2.0,), (-0.5, 0.5))
    np.testing.assert_array_equal(result.values, [np.inf, np.inf])
    assert not result.unspecified.any()
    # at corners, element 1 lies half way, element 2 exactly on the second
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
