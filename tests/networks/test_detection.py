"""A detection head: features, one crop for each proposed region by ROI_ALIGN1, and a class and a box for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import dml2onnx
from dml2onnx.builder import GraphBuilder

Floats = npt.NDArray[Any]

IMAGES, PIXELS, CHANNELS, REGIONS, CROP, CLASSES, WIDTH = 2, 32, 6, 12, 4, 5, 8
STRIDE = 4
"""Pixels of the image for one feature."""


def arrays() -> dict[str, Floats]:
    rng = np.random.default_rng(21)
    start = rng.uniform(-2, 20, (REGIONS, 2))
    regions = np.concatenate([start, start + rng.uniform(2, 14, (REGIONS, 2))], 1)
    made = {
        "image": rng.normal(size=(IMAGES, 3, PIXELS, PIXELS)),
        "filter": rng.normal(0, 0.2, (CHANNELS, 3, STRIDE, STRIDE)),
        "regions": regions,
        "inner": rng.normal(0, 0.2, (1, 1, CHANNELS * CROP * CROP, WIDTH)),
        "classes": rng.normal(0, 0.5, (1, 1, WIDTH, CLASSES)),
        "boxes": rng.normal(0, 0.5, (1, 1, WIDTH, 4)),
    }
    batches = rng.integers(0, IMAGES, REGIONS).astype(np.uint32)
    return {name: array.astype(np.float32) for name, array in made.items()} | {"batches": batches}


def head(given: dict[str, Floats], samples: tuple[int, int]) -> dml2onnx.Graph:
    g = GraphBuilder()
    x = {name: g.input(name, str(array.dtype).upper(), array.shape) for name, array in given.items()}
    features = g.convolution(x["image"], x["filter"], strides=[STRIDE, STRIDE], fused_activation="ACTIVATION_RELU")
    sizes = (REGIONS, CHANNELS, CROP, CROP)
    sampling = (1 / STRIDE, 1 / STRIDE, 0.5, -0.5, 0.0, *samples, False)
    crops = g.roi_align1(features, x["regions"], x["batches"], sizes, "AVERAGE", "LINEAR", *sampling)
    flat = g.reinterpret(crops, sizes=[1, 1, REGIONS, CHANNELS * CROP * CROP])
    hidden = g.activation_relu(flat @ x["inner"])
    return g.build(
        {"classes": g.activation_softmax(hidden @ x["classes"]), "boxes": hidden @ x["boxes"], "crops": crops}
    )


def by_others(given: dict[str, Floats], ratio: int) -> dict[str, Floats]:
    """Convolution and products by NumPy, the crops by the evaluator of the ONNX project."""
    size = PIXELS // STRIDE
    blocks = given["image"].reshape(IMAGES, 3, size, STRIDE, size, STRIDE)
    features = np.maximum(np.einsum("ncyixj,kcij->nkyx", blocks, given["filter"]), 0).astype(np.float32)
    feeds = {"x": features, "rois": given["regions"], "batches": given["batches"].astype(np.int64)}
    node = helper.make_node(
        "RoiAlign", list(feeds), ["y"], output_height=CROP, output_width=CROP, sampling_ratio=ratio,
        spatial_scale=1 / STRIDE, mode="avg", coordinate_transformation_mode="half_pixel",
    )  # fmt: skip
    inputs = [
        helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    results: Any = ReferenceEvaluator(model).run(None, feeds)
    crops = results[0]
    hidden = np.maximum(crops.reshape(REGIONS, -1) @ given["inner"][0, 0], 0)
    exponentials = np.exp(hidden @ given["classes"][0, 0])
    classes = exponentials / exponentials.sum(1, keepdims=True)
    return {"crops": crops, "classes": classes, "boxes": hidden @ given["boxes"][0, 0]}


@pytest.mark.parametrize(("samples", "ratio"), [((2, 2), 2), ((1, (1 << 32) - 1), 0)], ids=["fixed", "adaptive"])
def test_classes_and_boxes_of_proposed_regions(samples: tuple[int, int], ratio: int) -> None:
    given = arrays()
    graph = head(given, samples)
    assert dml2onnx.check(graph) == []
    model = dml2onnx.compile(graph)
    got: dict[str, np.ndarray] = model.run(given)
    for name, want in by_others(given, ratio).items():
        np.testing.assert_allclose(got[name].reshape(want.shape), want, rtol=1e-4, atol=1e-4)
    assert dml2onnx.verify(graph, inputs=given).passed
