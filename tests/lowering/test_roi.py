"""ROI_ALIGN, ROI_ALIGN1 and ROI_POOLING: results and ONNX forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.checks import check
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference.memory import read
from dml2onnx.verification.indices import as_regions
from tests.lowering.default_forms import check_default
from tests.lowering.harness import check_case, make_case, operators, support_cases
from tests.lowering.regions import (
    ANY_NUMBER,
    FORWARD,
    IMAGE,
    MODES,
    REDUCTIONS,
    REGIONS,
    SAMPLE_COUNTS,
    align,
    drawn,
    inputs,
    pooling,
)


def run(op: OperatorDesc, rois: Any = None, batches: Any = None, **settings: Any) -> np.ndarray:
    """Checks an operator; returns the output."""
    arrays = inputs(op, rois, batches) | settings.pop("more", {})
    model = check_case(op, inputs=arrays, **settings)
    case = make_case(op, inputs=arrays)
    return model.run({port.name: case.memory[port.name] for port in model.inputs})["OutputTensor"]


@pytest.mark.parametrize("tensor", ["OutputTensor", "ROITensor", "BatchIndicesTensor"])
@pytest.mark.parametrize("name", FORWARD)
def test_support_rows(name: str, tensor: str) -> None:
    for item in support_cases(name, tensor):
        level, data_type, rank = item.values
        options: dict[str, Any] = {"data_type": data_type}
        if tensor == "ROITensor":
            options["ranks"] = (rank, 1)
        elif tensor == "BatchIndicesTensor":
            options = {"index_type": data_type, "ranks": (2, rank)}
        op = align(name, **options)
        assert not check(make_case(op, inputs=inputs(op)).graph, level), level
        run(op)


# --- modes and fields ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_samples(reduction: str, mode: str, samples: tuple[int, int]) -> None:
    options: dict[str, Any] = {"reduction": reduction, "mode": mode, "samples": samples}
    for outside in (0.0, 2.5):
        run(align("ROI_ALIGN", outside=outside, **options))
        run(align(outside=outside, offsets=(0.0, 0.0), **options), constants=["ROITensor"])
        run(align(outside=outside, corners=True, **options))
        run(align(outside=outside, scales=(0.5, 2.0), offsets=(0.25, 0.0), data_type="FLOAT16", **options))


def test_constant_inverted_regions_are_gathered_by_default() -> None:
    """RoiAlign fails for them if the number of samples depends on the size of a region."""
    for last, expected in ((5.0, True), (0.5, False)):
        op = align("ROI_ALIGN", samples=ANY_NUMBER, regions=2)
        regions = inputs(op, [[1, 1, 4, 5], [1, 1, 4, last]])
        model = check_default(op, None, inputs=regions, constants=["ROITensor"])
        assert ("RoiAlign" in operators(model)) == expected


@pytest.mark.parametrize("offset", [0, 16])
@pytest.mark.parametrize("strides", [None, (1, 3)])
def test_random_regions_are_not_inverted(offset: int, strides: tuple[int, ...] | None) -> None:
    """The result of an inverted region is unspecified in default models."""
    desc = TensorDesc(DataType.FLOAT32, (3, 4), strides)
    memory = np.random.default_rng(0).normal(size=(offset + desc.minimum_bytes) // 4).astype(np.float32)
    memory[offset // 4] = np.inf
    corners: Any = read(as_regions(memory, desc, offset).view(np.uint8), desc, offset).reshape(3, 2, 2)
    assert np.isfinite(corners).all()
    assert (corners[:, 0] <= corners[:, 1]).all()


@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_roi_align_equals_the_general_form(samples: tuple[int, int]) -> None:
    """OutOfBoundsInputValue selects the general form; without samples outside, results are the same."""
    inner = [[1, 1, 4, 5], [0.5, 0.5, 4.5, 5.5], [1, 1, 1, 1], [3, 4, 1, 1]]
    x = {"more": {"InputTensor": np.random.default_rng(0).normal(size=IMAGE).astype(np.float32)}}
    fast, slow = (run(align(samples=samples, outside=outside, regions=4), inner, **x) for outside in (0.0, 7.0))
    np.testing.assert_allclose(fast, slow, rtol=1e-5, atol=1e-6)


def test_results_do_not_depend_on_other_regions() -> None:
    """RoiAlign computes all regions, or only those that it can."""
    plain = [[1, 1, 4, 5], [0.5, 0.5, 4.5, 5.5], [-3, -2, 2, 1.5]]
    image = np.random.default_rng(0).normal(size=IMAGE).astype(np.float32)
    for samples in ((2, 2), ANY_NUMBER):
        few, many = (
            run(align(samples=samples, regions=len(rois)), rois, more={"InputTensor": image})
            for rois in (plain, [*plain, [4, 5, 1, 0.5]])
        )
        assert few.tobytes() == many[:3].tobytes()


GATHERED = {"Gather", "Mul", "ReduceSum"}


@pytest.mark.parametrize(
    ("op", "expected", "absent"),
    [
        pytest.param(align("ROI_ALIGN"), {"RoiAlign", "Gather"}, {"If"}, id="fixed"),
        pytest.param(align("ROI_ALIGN", samples=ANY_NUMBER), {"RoiAlign", "Gather"}, {"If"}, id="adaptive"),
        pytest.param(align(offsets=(0.0, -0.5)), {"RoiAlign", "Gather"}, {"If"}, id="other offset"),
        pytest.param(align(offsets=(0.5, 0.0)), GATHERED, {"RoiAlign"}, id="samples elsewhere"),
        pytest.param(align(corners=True), GATHERED, {"RoiAlign"}, id="corners"),
        pytest.param(align(outside=1.0), GATHERED, {"RoiAlign"}, id="value outside"),
        pytest.param(align(reduction="MAX"), GATHERED | {"ReduceMax"}, {"RoiAlign"}, id="maximum"),
        pytest.param(
            align(reduction="MAX", mode=MODES[0], samples=(1, 1)), {"Gather", "ReduceMax"}, {"RoiAlign", "Range"},
            id="nearest",
        ),
        pytest.param(pooling(), {"Gather", "ReduceMax"}, {"MaxRoiPool", "Range"}, id="pooling"),
    ],
)  # fmt: skip
def test_forms(op: OperatorDesc, expected: set[str], absent: set[str]) -> None:
    found = set(operators(check_case(op, inputs=inputs(op))))
    assert expected <= found
    assert not absent & found


@pytest.mark.parametrize("op", [align, pooling])
def test_node_count_does_not_depend_on_the_regions(op: Any) -> None:
    few, many = (
        operators(check_case(op(regions=count), inputs=inputs(op(regions=count), (REGIONS * 40)[:count])))
        for count in (2, 60)
    )
    assert few == many


# --- special numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [(2, 2), ANY_NUMBER])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_infinite_regions_do_not_affect_others(samples: tuple[int, int], reduction: str) -> None:
    op = align(samples=samples, reduction=reduction, regions=3)
    plain = [[0, 0, 4, 4], [1, 1, 3, 3], [2, 1, 4, 5]]
    x = {"more": {"InputTensor": np.random.default_rng(0).normal(size=IMAGE).astype(np.float32)}}
    want = run(op, plain, **x)
    for value in (np.nan, np.inf, -np.inf):
        got = run(op, [plain[0], [value, 1, 3, 3], plain[2]], **x)
        np.testing.assert_array_equal(got[[0, 2]], want[[0, 2]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_first_pixel_does_not_leak_into_samples_outside(value: float) -> None:
    x = np.ones((1, 1, 4, 4), np.float32)
    x[0, 0, 0, 0] = value
    op = align(image=x.shape, regions=1)
    got = run(op, [[10, 10, 14, 14]], [0], more={"InputTensor": x})
    np.testing.assert_array_equal(got, np.zeros_like(got))


def test_batch_indices_are_clamped() -> None:
    x = np.arange(2, dtype=np.float32).reshape(2, 1, 1, 1) + np.zeros((2, 1, 4, 4), np.float32)
    for index_type in ("UINT32", "UINT64"):
        op = align(image=x.shape, regions=3, index_type=index_type)
        got = run(op, [[1, 1, 3, 3]] * 3, [0, 1, 1 << 31], more={"InputTensor": x})
        assert got[:, 0, 0, 0].tolist() == [0, 1, 1]
    op = pooling(x.shape, regions=4)
    got = run(op, [[1, 1, 3, 3]] * 4, [-1, 0, 1, 9], more={"InputTensor": x})
    assert got[:, 0, 0, 0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("exact", [False, True], ids=["default", "exact"])
@pytest.mark.parametrize("count", [7, 11, 13, 14, 15])
def test_bounds_of_bins(count: int, exact: bool) -> None:
    """MaxRoiPool divides in FLOAT, which makes some bounds wrong."""
    size = 64
    op = pooling((1, 1, 1, size), (1, count), size)
    x = np.random.default_rng(0).normal(size=(1, 1, 1, size)).astype(np.float32)
    regions = [[0, 0, length, 0] for length in range(size)]
    if exact:
        run(op, regions, [0] * size, more={"InputTensor": x})
    else:
        model = check_default(op, None, inputs={**inputs(op, regions, [0] * size), "InputTensor": x})
        assert "Range" not in operators(model)


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_maxima_of_nan_and_infinities(data_type: str) -> None:
    """Maxima start from the lowest number and ignore NaN [decisions O14, P7, P10]."""
    op = pooling((1, 1, 2, 2), (2, 2), 1, data_type=data_type)
    x = np.array([[[[np.nan, 1], [-np.inf, 2]]]], data_type.lower())
    got = run(op, [[0, 0, 1, 1]], [0], more={"InputTensor": x})
    lowest = np.finfo(data_type.lower()).min
    assert got.reshape(-1).tolist() == [lowest, 1, lowest, 2]


@settings(max_examples=40, deadline=None)
@given(image=st.tuples(*[st.integers(1, 9)] * 2), bins=st.tuples(*[st.integers(1, 4)] * 2), seed=st.integers(0, 99))
def test_bins_of_any_size_by_default(image: tuple[int, int], bins: tuple[int, int], seed: int) -> None:
    """Regions inside and outside the image, with empty bins and bins of the whole image."""
    rng = np.random.default_rng(seed)
    op = pooling((2, 3, *image), bins, 5)
    corners = np.sort(rng.integers(-4, 14, (5, 2, 2)), 1).reshape(5, 4)
    check_default(op, None, inputs=inputs(op, corners.tolist(), rng.integers(0, 2, 5).tolist()))


@settings(max_examples=50, deadline=None)
@given(drawn(*FORWARD, "ROI_POOLING"))
def test_lowered_equals_reference(case: Any) -> None:
    op, arrays, constants = case
    seed = sum(op.tensor("OutputTensor").sizes)
    opset = 17 + seed % 7
    check_case(op, inputs=arrays, constants=constants, opset=opset, seed=seed, extremes=seed % 3 == 0)
