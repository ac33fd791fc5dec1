"""Random nodes over regions of interest, and steps of Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from dml2onnx.ir.operator import Size2D
from dml2onnx.ir.tensor import DataType
from dml2onnx.test_cases.random_graphs.draft import GraphDraft, View

MOMENTS = ("Parameters", "FirstMoment", "SecondMoment")
GRADIENTS = ["OutputGradientTensor", "OutputROIGradientTensor"]


def corners(g: GraphDraft, data_type: DataType, sizes: tuple[int, ...]) -> View:
    """Regions on a grid, or any numbers."""
    return g.integers(data_type, sizes, -2, 6) if g.chance(2) else g.view(data_type, sizes)


def regions(g: GraphDraft, name: str) -> None:
    """Regions of interest, aligned or pooled, and their gradients."""
    image = "OutputGradientTensor" if name == "ROI_ALIGN_GRAD" else "InputTensor"
    data_type = g.data_type(name, image)
    count, *grid = g.each(3, 1, 3)
    sizes = g.each(4, 1, 4)
    crops = (count, sizes[1], *grid)
    columns = 5 if name == "ROI_POOLING" else 4
    rois = (1, 1, count, columns) if name == "ROI_POOLING" else (count, columns)
    inputs = {"ROITensor": corners(g, data_type, rois)}
    outputs = ["OutputTensor"]
    if name == "ROI_POOLING":
        inputs["InputTensor"] = g.view(data_type, sizes)
        fields: dict[str, Any] = {"SpatialScale": g.draw(st.sampled_from([1.0, 0.5]))}
        fields["PooledSize"] = Size2D(grid[1], grid[0])
    else:
        index_type = g.data_type(name, "BatchIndicesTensor")
        inputs["BatchIndicesTensor"] = g.integers(index_type, (count,), 0, sizes[0] - 1)
        fields = sampling(g, name)
        if name == "ROI_ALIGN_GRAD":
            outputs = g.draw(st.sampled_from([GRADIENTS[:1], GRADIENTS[1:], GRADIENTS]))
            inputs["InputGradientTensor"] = g.view(data_type, crops)
        inputs["InputTensor"] = g.view(data_type, sizes)
        if name != "ROI_ALIGN_GRAD":
            fields["OutOfBoundsInputValue"] = g.draw(st.sampled_from([0.0, 1.5]))
    shapes = {"OutputTensor": crops, "OutputGradientTensor": sizes, "OutputROIGradientTensor": rois}
    g.add(name, inputs, {item: g.layout(data_type, shapes[item], output=True) for item in outputs}, **fields)


def sampling(g: GraphDraft, name: str) -> dict[str, Any]:
    """The fields that define the samples of a region; few samples, since corners may be anywhere."""
    fewest, most = g.draw(st.sampled_from([(1, 1), (2, 2), (1, 3)]))
    fields: dict[str, Any] = {
        "ReductionFunction": g.draw(st.sampled_from(["AVERAGE", "MAX"])),
        "InterpolationMode": g.draw(st.sampled_from(["NEAREST_NEIGHBOR", "LINEAR"])),
        "SpatialScaleX": g.draw(st.sampled_from([1.0, 0.5])),
        "SpatialScaleY": 1.0,
        "MinimumSamplesPerOutput": fewest,
        "MaximumSamplesPerOutput": most,
    }
    if name != "ROI_ALIGN":
        fields["InputPixelOffset"], fields["OutputPixelOffset"] = g.draw(st.sampled_from([(0.5, -0.5), (0.0, 0.0)]))
        fields["AlignRegionsToCorners"] = g.draw(st.booleans())
    return fields


def adam(g: GraphDraft, name: str) -> None:
    """One step of Adam."""
    inputs, outputs = {"GradientTensor": (gradient := g.any_input(name, "GradientTensor"))}, {}
    desc, _ = gradient
    for moment in MOMENTS:
        inputs[f"Input{moment}Tensor"] = g.view(desc.data_type, desc.sizes)
        outputs[f"Output{moment}Tensor"] = g.layout(desc.data_type, desc.sizes, output=True)
    inputs["TrainingStepTensor"] = g.integers(DataType.UINT32, (1,) * desc.rank, 1, 40)
    rates = {"LearningRate": 0.1, "Beta1": 0.9, "Beta2": 0.99, "Epsilon": g.draw(st.sampled_from([1e-3, 1e-8]))}
    g.add(name, inputs, outputs, **rates)


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD", "ROI_POOLING"): regions,
    ("ADAM_OPTIMIZER",): adam,
}
