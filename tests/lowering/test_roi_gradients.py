"""ROI_ALIGN_GRAD: results and ONNX forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dml2onnx.checks import check
from dml2onnx.compiler import compile
from dml2onnx.ir.operator import OperatorDesc
from tests.lowering.harness import check_case, make_case, operators, support_cases
from tests.lowering.regions import MODES, REDUCTIONS, REGIONS, SAMPLE_COUNTS, align, drawn, inputs

NAME = "ROI_ALIGN_GRAD"


def gradient(**options: Any) -> OperatorDesc:
    return align(NAME, **options)


def run(op: OperatorDesc, rois: Any = None, batches: Any = None, **settings: Any) -> list[str]:
    """Checks a gradient; returns the ONNX operators."""
    return operators(check_case(op, inputs=inputs(op, rois, batches), **settings))


@pytest.mark.parametrize(
    "tensor", ["OutputGradientTensor", "OutputROIGradientTensor", "InputTensor", "BatchIndicesTensor"]
)
def test_support_rows(tensor: str) -> None:
    for item in support_cases(NAME, tensor):
        level, data_type, rank = item.values
        options: dict[str, Any] = {"data_type": data_type}
        if tensor == "OutputROIGradientTensor":
            options["ranks"] = (rank, 1)
        elif tensor == "BatchIndicesTensor":
            options = {"index_type": data_type, "ranks": (2, rank)}
        op = gradient(**options)
        assert not check(make_case(op, inputs=inputs(op)).graph, level), level
        run(op)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_samples(reduction: str, mode: str, samples: tuple[int, int]) -> None:
    options: dict[str, Any] = {"reduction": reduction, "mode": mode, "samples": samples}
    run(gradient(**options))
    run(gradient(offsets=(0.0, 0.0), **options), constants=["ROITensor"])
    run(gradient(corners=True, **options))
    run(gradient(scales=(0.5, 2.0), offsets=(0.25, 0.0), data_type="FLOAT16", **options))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("mode", MODES)
def test_each_output_alone(reduction: str, mode: str) -> None:
    both = {"reduction": reduction, "mode": mode}
    image = run(gradient(corners_wanted=False, has_image=reduction == "MAX", **both))
    assert ("Gather" in image) == (reduction == "MAX")
    assert "ScatterElements" in image
    corners = run(gradient(image_wanted=False, **both))
    assert "ScatterElements" not in corners
    assert "Gather" in corners  # of slopes


def test_node_count_does_not_depend_on_the_regions() -> None:
    for reduction in REDUCTIONS:
        few, many = (run(gradient(regions=n, reduction=reduction), (REGIONS * 40)[:n]) for n in (2, 60))
        # sums of many rows may be a matrix product
        assert abs(len(few) - len(many)) <= 4


def test_many_overlapping_regions() -> None:
    """Kernels that add with several threads lose some gradients."""
    count = 4000
    op = gradient(image=(1, 4, 3, 3), output=(2, 2), regions=count, corners_wanted=False, has_image=False)
    values = {"InputGradientTensor": np.ones((count, 4, 2, 2), np.float32)}
    arrays = inputs(op, [[0, 0, 3, 3]] * count, [0] * count) | values
    model = compile(make_case(op, inputs=arrays).graph)
    got = model.run({k: v.reshape(-1) for k, v in arrays.items()})
    assert got["OutputGradientTensor"].sum() == count * 4 * 4


def test_the_first_of_equal_samples_gets_the_gradient() -> None:
    op = gradient(image=(1, 1, 1, 4), output=(1, 1), regions=1, samples=(4, 4), reduction="MAX", mode=MODES[0])
    x = np.array([1, 3, 3, 2], np.float32).reshape(1, 1, 1, 4)
    arrays = inputs(op, [[0, 0, 4, 1]], [0]) | {"InputTensor": x, "InputGradientTensor": np.ones(1, np.float32)}
    got = check_case(op, inputs=arrays).run({k: v.reshape(-1) for k, v in arrays.items()})
    assert got["OutputGradientTensor"].reshape(-1).tolist() == [0, 1, 0, 0]
    assert got["OutputROIGradientTensor"].reshape(-1).tolist() == [0, 0, 0, 0]


@settings(max_examples=40, deadline=None)
@given(drawn(NAME))
def test_lowered_equals_reference(case: Any) -> None:
    op, arrays, constants = case
    seed = sum(op.tensor("InputGradientTensor").sizes)
    opset = 17 + seed % 7
    check_case(op, inputs=arrays, constants=constants, opset=opset, seed=seed, extremes=seed % 3 == 0)
