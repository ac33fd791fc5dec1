"""RESAMPLE_GRAD and RESAMPLE_GRAD1: results and ONNX forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dml2onnx.ir.operator import OperatorDesc
from tests.lowering.harness import check_case, evaluate, operator, operators, t

NAMES = ("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
MODES = ("NEAREST_NEIGHBOR", "LINEAR")
CENTRES = (-0.5, 0.5)
CORNERS = (0.0, 0.0)
IMAGE, TWICE, UP, DOWN = (1, 3, 4, 5), (1, 3, 8, 10), (1, 3, 7, 13), (1, 3, 3, 2)


def gradient(
    mode: str,
    sizes: tuple[int, ...],
    output: tuple[int, ...],
    *,
    name: str = NAMES[1],
    scales: tuple[float, ...] | None = None,
    offsets: tuple[float, float] | list[tuple[float, float]] = CENTRES,
    rounding: str = "DECREASING",
    data_type: str = "FLOAT32",
) -> OperatorDesc:
    """The gradient of resampling an image of ``sizes`` to ``output``; scales are those of the forward operator."""
    per_axis = offsets if isinstance(offsets, list) else [offsets] * len(sizes)
    fields: dict[str, Any] = {"RoundingDirection": rounding} if name == NAMES[1] else {}
    return operator(
        name,
        InputGradientTensor=t(data_type, output),
        OutputGradientTensor=t(data_type, sizes),
        InterpolationMode=mode,
        Scales=list(scales or (o / i for o, i in zip(output, sizes, strict=True))),
        InputPixelOffsets=[a for a, _ in per_axis],
        OutputPixelOffsets=[b for _, b in per_axis],
        **fields,
    )


def run(op: OperatorDesc, values: np.ndarray) -> np.ndarray:
    """Checks a gradient; returns the output."""
    return evaluate(op, InputGradientTensor=values.astype(op.tensor("InputGradientTensor").data_type.dtype))[0]


NEAREST, LINEAR = MODES
PAIR = ["Pad", "Gather", "Mul", "ReduceSum"]
"""The form for one axis of LINEAR if the number of contributions varies."""


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        pytest.param(gradient(NEAREST, IMAGE, IMAGE), ["Identity"], id="copy"),
        pytest.param(gradient(LINEAR, IMAGE, IMAGE), ["Identity"], id="linear copy"),
        pytest.param(gradient(NEAREST, IMAGE, TWICE, name=NAMES[0]), ["ReduceSum"] * 2, id="blocks"),
        pytest.param(gradient(NEAREST, IMAGE, UP), ["Pad", "Gather", "ReduceSum"] * 2, id="uneven blocks"),
        pytest.param(gradient(NEAREST, TWICE, IMAGE), ["Pad", "Gather"] * 2, id="some elements were not used"),
        pytest.param(gradient(LINEAR, IMAGE, TWICE), PAIR * 2, id="linear up"),
        pytest.param(gradient(LINEAR, TWICE, IMAGE), ["Gather", "Mul"] * 2, id="linear halves"),
        pytest.param(
            gradient(NEAREST, (1, 8), (1, 40), scales=(1.0, 50.0)), ["ScatterElements"], id="nearly all in one place"
        ),
        pytest.param(
            gradient(LINEAR, (1, 8), (1, 40), scales=(1.0, 50.0)), ["Gather", "Mul", "ScatterElements"], id="linear too"
        ),
    ],
)
def test_forms(op: OperatorDesc, expected: list[str]) -> None:
    # GatherElements replaces Gather for many single elements
    found = [item.removesuffix("Elements") if item.startswith("Gather") else item for item in operators(check_case(op))]
    assert [item for item in found if item != "Reshape"] == expected
    check_case(op, constants=["InputGradientTensor"])


def test_the_forward_weights() -> None:
    """For a scale of 2 with pixel centres, weights are 3/4 and 1/4, and 1 at the edges."""
    got = run(gradient(LINEAR, (2,), (4,)), np.array([1, 10, 100, 1000]))
    np.testing.assert_allclose(got, [1 + 7.5 + 25, 2.5 + 75 + 1000])
    got = run(gradient(NEAREST, (2,), (4,), name=NAMES[0]), np.array([1, 10, 100, 1000]))
    np.testing.assert_array_equal(got, [11, 1100])


def test_rounding_and_halves() -> None:
    values = np.array([1, 10, 100, 1000])
    for name, rounding, want in (
        (NAMES[0], "", [1, 110, 1000]),
        (NAMES[1], "DECREASING", [11, 1100, 0]),
        (NAMES[1], "INCREASING", [1, 110, 1000]),
    ):
        op = gradient(NEAREST, (3,), (4,), name=name, rounding=rounding, scales=(2.0,), offsets=CORNERS)
        assert run(op, values).tolist() == want


def test_the_offsets_are_swapped() -> None:
    """Gradient element g is added at (g - InputPixelOffset) / Scale - OutputPixelOffset."""
    op = gradient(NEAREST, (4,), (2,), scales=(0.5,), offsets=(-0.5, 0.0))
    assert run(op, np.array([5, 7])).tolist() == [0, 5, 0, 7]
    op = gradient(NEAREST, (4,), (2,), scales=(0.5,), offsets=(0.0, -1.0))
    assert run(op, np.array([5, 7])).tolist() == [0, 5, 0, 7]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", [float(np.finfo(np.float32).max), 1e-30, 7.0, 0.01])
@pytest.mark.parametrize("offsets", [CENTRES, CORNERS, (100.0, -3.0), (-100.0, 3.25)])
def test_scales_and_offsets(mode: str, scale: float, offsets: tuple[float, float]) -> None:
    for name in NAMES:
        for rounding in ("INCREASING", "DECREASING"):
            op = gradient(mode, (2, 5, 6), (2, 7, 3), name=name, scales=(1.0, scale, 1.5),
                          offsets=[CORNERS, offsets, CENTRES], rounding=rounding)  # fmt: skip
            check_case(op)


def test_float16_is_rounded_once() -> None:
    values = np.array([2048, 1, 1, 1])
    assert run(gradient(NEAREST, (1,), (4,), data_type="FLOAT16"), values).tolist() == [2052]
