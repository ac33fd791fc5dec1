"""Descriptors and regions for ROI_ALIGN, ROI_ALIGN1, ROI_ALIGN_GRAD and ROI_POOLING."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from dml2onnx.ir.operator import OperatorDesc, Size2D
from tests.lowering.harness import operator, t

FORWARD = ("ROI_ALIGN", "ROI_ALIGN1")
REDUCTIONS = ("AVERAGE", "MAX")
MODES = ("NEAREST_NEIGHBOR", "LINEAR")
ANY_NUMBER = (1, (1 << 32) - 1)
SAMPLE_COUNTS = [(1, 1), (2, 2), (1, 3), (2, 4), ANY_NUMBER, (0, 0), (3, 1)]
"""Minimum and maximum of samples per output: fixed, adaptive, unlimited, zero, and contradictory."""
IMAGE = (2, 3, 6, 5)
REGIONS = [
    [0, 0, 5, 6],
    [1, 2, 4.25, 3.5],
    [-3, -2, 2, 1.5],
    [3, 4, 9, 11],
    [20, 20, 25, 25],
    [2, 2, 2, 2],
    [4, 5, 1, 0.5],
    [1, 3, 1, 0],
    [0.3, 0.7, 4.6, 5.2],
]
"""The whole image, inside, across each end, outside, empty, inverted in both directions or one, and off the grid."""


def align(
    name: str = "ROI_ALIGN1",
    *,
    reduction: str = "AVERAGE",
    mode: str = "LINEAR",
    image: tuple[int, ...] = IMAGE,
    output: tuple[int, int] = (3, 2),
    regions: int = len(REGIONS),
    scales: tuple[float, float] = (1.0, 1.0),
    offsets: tuple[float, float] = (0.5, -0.5),
    samples: tuple[int, int] = (2, 2),
    outside: float = 0.0,
    corners: bool = False,
    data_type: str = "FLOAT32",
    index_type: str = "UINT32",
    ranks: tuple[int, int] = (2, 1),
    image_wanted: bool = True,
    corners_wanted: bool = True,
    has_image: bool = True,
    **strides: tuple[int, ...],
) -> OperatorDesc:
    """A ROI_ALIGN, ROI_ALIGN1 or ROI_ALIGN_GRAD; ``ranks`` are those of ROIs and batch indices."""
    rois = (*(1,) * (ranks[0] - 2), regions, 4)
    sizes: dict[str, tuple[int, ...]] = {"ROITensor": rois}
    fields: dict[str, Any] = {
        "BatchIndicesTensor": t(index_type, (*(1,) * (ranks[1] - 1), regions), strides.get("BatchIndicesTensor")),
        "ReductionFunction": reduction,
        "InterpolationMode": mode,
        "SpatialScaleX": scales[0],
        "SpatialScaleY": scales[1],
        "MinimumSamplesPerOutput": samples[0],
        "MaximumSamplesPerOutput": samples[1],
    }
    if name != "ROI_ALIGN":
        fields |= {"InputPixelOffset": offsets[0], "OutputPixelOffset": offsets[1], "AlignRegionsToCorners": corners}
    if name == "ROI_ALIGN_GRAD":
        sizes["InputGradientTensor"] = (regions, image[1], *output)
        if image_wanted:
            sizes["OutputGradientTensor"] = image
        if corners_wanted:
            sizes["OutputROIGradientTensor"] = rois
        if has_image:
            sizes["InputTensor"] = image
    else:
        sizes |= {"InputTensor": image, "OutputTensor": (regions, image[1], *output)}
        fields["OutOfBoundsInputValue"] = outside
    tensors = {field: t(data_type, shape, strides.get(field)) for field, shape in sizes.items()}
    return operator(name, **tensors, **fields)


def pooling(
    image: tuple[int, ...] = IMAGE,
    output: tuple[int, int] = (3, 2),
    regions: int = len(REGIONS),
    *,
    scale: float = 1.0,
    data_type: str = "FLOAT32",
    **strides: tuple[int, ...],
) -> OperatorDesc:
    sizes = {"InputTensor": image, "ROITensor": (1, 1, regions, 5), "OutputTensor": (regions, image[1], *output)}
    return operator(
        "ROI_POOLING",
        **{field: t(data_type, shape, strides.get(field)) for field, shape in sizes.items()},
        SpatialScale=scale,
        PooledSize=Size2D(width=output[1], height=output[0]),
    )


def inputs(op: OperatorDesc, rois: Any = None, batches: Any = None) -> dict[str, np.ndarray]:
    """Returns regions (default: :data:`REGIONS`) and batch indices (default: 0 and 1 in turn)."""
    desc = op.tensor("ROITensor")
    corners = np.array(REGIONS if rois is None else rois, np.float64)
    turns = np.arange(len(corners)) % 2 if batches is None else np.asarray(batches)
    if op.type == "ROI_POOLING":
        ordered = np.concatenate([turns[:, None], corners], 1)
        return {"ROITensor": ordered.reshape(desc.sizes).astype(desc.data_type.dtype)}
    indices = op.tensor("BatchIndicesTensor")
    return {
        "ROITensor": corners.reshape(desc.sizes).astype(desc.data_type.dtype),
        "BatchIndicesTensor": turns.reshape(indices.sizes).astype(indices.data_type.dtype),
    }


@st.composite
def drawn(draw: st.DrawFn, *names: str) -> tuple[OperatorDesc, dict[str, np.ndarray], list[str]]:
    """Draws an operator, its regions and batch indices, and which of these are constants."""
    name = draw(st.sampled_from(names))
    n, c, h, w, count, out_h, out_w = draw(st.tuples(*(st.integers(1, 6) for _ in range(7))))
    image, output, data_type = (n, c, h, w), (out_h, out_w), draw(st.sampled_from(["FLOAT32", "FLOAT16"]))
    scales = draw(st.tuples(st.sampled_from([1.0, 0.5, 0.7]), st.sampled_from([1.0, 0.0625])))
    if name == "ROI_POOLING":
        op = pooling(image, output, count, scale=scales[1], data_type=data_type)
    else:
        reduction = draw(st.sampled_from(REDUCTIONS))
        wanted = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
        op = align(
            name,
            reduction=reduction,
            mode=draw(st.sampled_from(MODES)),
            image=image,
            output=output,
            regions=count,
            scales=scales,
            offsets=draw(st.sampled_from([(0.5, -0.5), (0.0, -0.5), (0.0, 0.0), (0.5, 0.25)])),
            samples=draw(st.sampled_from(SAMPLE_COUNTS)),
            outside=draw(st.sampled_from([0.0, 0.0, -1.5, -np.inf])),
            corners=draw(st.booleans()),
            data_type=data_type,
            image_wanted=wanted[0],
            corners_wanted=wanted[1],
            has_image=wanted[1] or reduction == "MAX" or draw(st.booleans()),
        )
    grid = draw(st.sampled_from([1.0, 0.5, 0.1]))
    places = st.integers(-8, 24).map(lambda i: i * grid)
    rois = draw(st.lists(st.tuples(places, places, places, places), min_size=count, max_size=count))
    special = draw(st.sampled_from([None] * 5 + [np.nan, np.inf]))
    if special is not None:
        rois[0] = (special, *rois[0][1:])
    batches = draw(st.lists(st.integers(0, n), min_size=count, max_size=count))
    fixed = draw(st.sampled_from([[], ["ROITensor"], ["ROITensor", "BatchIndicesTensor"]]))
    return op, inputs(op, rois, batches), [item for item in fixed if op.type != "ROI_POOLING" or item == "ROITensor"]
