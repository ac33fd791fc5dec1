from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from dml2onnx.ir.operator import Size2D
from dml2onnx.reference import operator_results
from dml2onnx.testing.descriptors import describe
from tests.reference.evaluator import onnx_results


def align(name, x, rois, batches, output, *, samples=(1, 1), scale=1.0, outside=0.0, **fields):
    rois, batches = np.asarray(rois, np.float32), np.asarray(batches, np.uint32)
    arrays = {"InputTensor": x, "ROITensor": rois, "BatchIndicesTensor": batches}
    values = {
        "ReductionFunction": "AVERAGE",
        "InterpolationMode": "LINEAR",
        "SpatialScaleX": scale,
        "SpatialScaleY": scale,
        "OutOfBoundsInputValue": outside,
        "MinimumSamplesPerOutput": samples[0],
        "MaximumSamplesPerOutput": samples[1],
    }
    if name != "ROI_ALIGN":
        values |= {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}
    y = np.zeros((len(rois), x.shape[1], *output), x.dtype)
    return operator_results(describe(name, **arrays, OutputTensor=y, **{**values, **fields}), arrays)["OutputTensor"][0]


def onnx_align(x, rois, batches, output, ratio, scale):
    """The evaluator of the ONNX project."""
    feeds = {"x": x, "rois": rois.astype(np.float32), "batches": np.asarray(batches, np.int64)}
    node = helper.make_node(
        "RoiAlign", list(feeds), ["y"], output_height=output[0], output_width=output[1], sampling_ratio=ratio,
        spatial_scale=scale, mode="avg", coordinate_transformation_mode="half_pixel",
    )  # fmt: skip
    inputs = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()
    ]
    output_info = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph([node], "g", inputs, [output_info]), opset_imports=[helper.make_opsetid("", 18)]
    )
    return onnx_results(model, feeds)[0]


@pytest.mark.parametrize("ratio", [0, 1, 2, 3])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_it_is_the_evaluator_of_onnx(ratio, scale):
    """For regions that are not empty, as ONNX takes no samples of others when it counts them itself."""
    rng = np.random.default_rng(ratio)
    x = rng.normal(size=(2, 2, 5, 6)).astype(np.float32)
    start = rng.uniform(-4, 24, (12, 2))
    rois = np.concatenate([start, start + rng.uniform(0.2, 20, (12, 2))], 1)
    batches, samples = rng.integers(0, 2, 12), (ratio, ratio) if ratio else (1, (1 << 32) - 1)
    want = onnx_align(x, rois, batches, (3, 2), ratio, scale)
    for name in ("ROI_ALIGN", "ROI_ALIGN1"):
        got = align(name, x, rois, batches, (3, 2), samples=samples, scale=scale)
        np.testing.assert_allclose(got.values, want, rtol=1e-5, atol=1e-5)
        assert not got.unspecified.any()


RAMP = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)


def row(rois, count, **fields):
    """Samples of one row of numbers that are their own coordinates, as wide as they are high."""
    result = align("ROI_ALIGN1", RAMP, rois, [0] * len(rois), (1, count), **fields)
    return result.values[:, 0, 0].tolist()


def test_positions():
    assert row([[0, 0, 4, 1]], 4) == [[0, 1, 2, 3]]
    assert row([[1, 0, 3, 1]], 2) == [[1, 2]]
    assert row([[4, 0, 0, 1]], 4) == [[3, 2, 1, 0]]  # mirrored
    assert row([[2, 0, 2, 1]], 2) == [[1.5, 1.5]]  # empty
    assert row([[0, 0, 4, 1]], 2, samples=(2, 2)) == [[0.5, 2.5]]
    assert row([[0, 0, 4, 1]], 2, samples=(2, 2), ReductionFunction="MAX") == [[1, 3]]
    assert row([[0, 0, 4, 1]], 2, samples=(1, 9), ReductionFunction="MAX") == [[1, 3]]  # two samples fit
    aligned = {"AlignRegionsToCorners": True, "InputPixelOffset": 0.0, "OutputPixelOffset": 0.0}
    assert row([[0, 0, 3, 0]], 4, **aligned) == [[0, 1, 2, 3]]
    assert row([[0, 0, 3, 0]], 1, **aligned) == [[1.5]]
    assert row([[1, 0.5, 3, 0.5]], 1, **{**aligned, "InputPixelOffset": 0.5, "OutputPixelOffset": -0.5}) == [[1.5]]
    # the offsets act, and outside begins where the image ends
    assert row([[1, 0.5, 3, 0.5]], 3, **{**aligned, "InputPixelOffset": 0.5}, outside=9.0) == [[0.5, 1.5, 2.5]]
    assert row([[0, 0, 2, 0]], 3, **{**aligned, "OutputPixelOffset": 0.5}, outside=9.0) == [[9, 0.5, 1.5]]
    assert row([[0, 0, 4, 0]], 3, **aligned, outside=9.0) == [[0, 2, 9]]
    assert row([[0, 0, 4, 1]], 4, InputPixelOffset=0.0, OutputPixelOffset=0.0) == [[0, 1, 2, 3]]
    assert row([[0, 0, 2, 1]], 4, scale=2.0, SpatialScaleY=1.0) == [[0, 1, 2, 3]]


def test_outside():
    """Up to one element in front and to the size behind the edge repeats; there it ends."""
    got = row(
        [[-1.5, 0, -0.5, 1], [-0.5, 0, 0.5, 1], [3.75, 0, 4.75, 1], [4, 0, 5, 1], [4.5, 0, 5.5, 1]], 1, outside=9.0
    )
    assert got == [[9], [0], [3], [9], [9]]
    got = row([[-2, 0, 2, 1]], 2, samples=(2, 2), outside=9.0)
    assert got == [[9, 0.5]]
    assert row([[-2, 0, 2, 1]], 2, samples=(2, 2), outside=9.0, ReductionFunction="MAX") == [[9, 1]]


def test_nearest_halves_go_up():
    got = row(
        [[0.5, 0, 1.5, 1], [1, 0, 2, 1], [1.5, 0, 2.5, 1], [3.5, 0, 4.5, 1]], 1, InterpolationMode="NEAREST_NEIGHBOR"
    )
    assert got == [[1], [1], [2], [3]]


def test_batches_are_clamped():
    x = np.arange(2, dtype=np.float32).reshape(2, 1, 1, 1)
    assert align("ROI_ALIGN", x, [[0, 0, 1, 1]] * 3, [0, 1, 7], (1, 1)).values.reshape(-1).tolist() == [0, 1, 1]


def test_what_rounding_decides_is_open():
    third = np.float32(1 / 3)
    rounded = align("ROI_ALIGN1", RAMP, [[0, 0, 3 * third + 1e-7, 1]], [0], (1, 3), samples=(1, 2))
    assert not rounded.unspecified.all()
    for rois, options in (
        ([[np.nan, 0, 1, 1]], {}),
        ([[0.1, 0, 0.1 + 3.7, 1]], {"samples": (1, 9), "scale": 1 / 3.7, "SpatialScaleY": 1.0}),
    ):
        result = align("ROI_ALIGN1", RAMP, rois, [0], (1, 1), **options)
        assert result.unspecified.all()
    exact = align("ROI_ALIGN1", RAMP, [[0, 0, 4, 1]], [0], (1, 4), InterpolationMode="NEAREST_NEIGHBOR")
    assert not exact.unspecified.any()


def test_infinities_stay_where_they_have_a_share():
    x = RAMP.repeat(3, 2)
    x[0, 0, :, 2] = np.inf
    result = align("ROI_ALIGN1", x, [[0.25, 0.25, 4.25, 1.25]], [0], (1, 4))
    assert np.isinf(result.values[0, 0, 0]).tolist() == [False, True, True, False]
    assert not result.unspecified[0, 0, 0, 1:3].any()


def pooled(x, rois, output, scale=1.0):
    arrays = {"InputTensor": x, "ROITensor": np.asarray(rois, np.float32).reshape(1, 1, -1, 5)}
    y = np.zeros((arrays["ROITensor"].shape[2], x.shape[1], *output), x.dtype)
    fields = {"SpatialScale": scale, "PooledSize": Size2D(width=output[1], height=output[0])}
    return operator_results(describe("ROI_POOLING", **arrays, OutputTensor=y, **fields), arrays)["OutputTensor"][0]


def test_bins():
    x = np.arange(30, dtype=np.float32).reshape(1, 1, 5, 6)
    assert pooled(x, [0, 0, 0, 5, 4], (1, 1)).values.item() == 29
    assert pooled(x, [0, 0, 0, 5, 3], (2, 3)).values.reshape(-1).tolist() == [7, 9, 11, 19, 21, 23]
    # bins of 5 columns in 3 overlap
    assert pooled(x, [0, 0, 0, 4, 0], (1, 3)).values.reshape(-1).tolist() == [1, 3, 4]
    # halves go to even; corners count
    assert pooled(x, [0, 1, 1, 3, 1], (1, 1), scale=0.5).values.item() == 2
    # beyond the image, and all beyond it
    assert pooled(x, [0, 4, 3, 9, 9], (1, 2)).values.reshape(-1).tolist() == [29, 0]
    assert pooled(x, [0, 4, 3, 1, 1], (1, 1)).values.item() == 22
    assert pooled(x, [0, np.nan, 0, 1, 1], (1, 1)).unspecified.all()
