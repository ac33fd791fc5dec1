"""Random nodes over regions of interest, and steps of Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from dml2onnx.ir.graph import Read
from dml2onnx.ir.operator import Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.testing.random_graphs.draft import GraphDraft, of_latest
from dml2onnx.testing.random_graphs.movement import counted

MOMENTS = ("Parameters", "FirstMoment", "SecondMoment")


def corners(g: GraphDraft, data_type: DataType, sizes: tuple[int, ...]) -> tuple[TensorDesc, Read]:
    """Regions on a grid, or any numbers."""
    return counted(g, data_type, sizes, -2, 6) if g.chance(2) else g.view(data_type, sizes)


def regions(g: GraphDraft, name: str) -> None:
    """Regions of interest, aligned or pooled, and their gradients."""
    image = "OutputGradientTensor" if name == "ROI_ALIGN_GRAD" else "InputTensor"
    data_type = DataType[g.draw(st.sampled_from(of_latest(name, image)[1]))]
    count, *grid = g.each(3, 1, 3)
    sizes = g.each(4, 1, 4)
    crops = (count, sizes[1], *grid)
    columns = 5 if name == "ROI_POOLING" else 4
    rois = (1, 1, count, columns) if name == "ROI_POOLING" else (count, columns)
    fields: dict[str, Any] = {}
    reads: dict[str, tuple[Read, ...]] = {}

    def bind(field: str, found: tuple[TensorDesc, Read]) -> None:
        fields[field], read = found
        reads[field] = (read,)

    bind("ROITensor", corners(g, data_type, rois))
    outputs = ["OutputTensor"]
    if name == "ROI_POOLING":
        bind("InputTensor", g.view(data_type, sizes))
        fields |= {"SpatialScale": g.draw(st.sampled_from([1.0, 0.5])), "PooledSize": Size2D(grid[1], grid[0])}
    else:
        index_type = DataType[g.draw(st.sampled_from(of_latest(name, "BatchIndicesTensor")[1]))]
        bind("BatchIndicesTensor", counted(g, index_type, (count,), 0, sizes[0] - 1))
        fields |= sampling(g, name)
        if name == "ROI_ALIGN_GRAD":
            outputs = g.draw(st.sampled_from([["OutputGradientTensor"], ["OutputROIGradientTensor"], GRADIENTS]))
            bind("InputGradientTensor", g.view(data_type, crops))
            bind("InputTensor", g.view(data_type, sizes))
        else:
            bind("InputTensor", g.view(data_type, sizes))
            fields["OutOfBoundsInputValue"] = g.draw(st.sampled_from([0.0, 1.5]))
    for output in outputs:
        shape = {"OutputTensor": crops, "OutputGradientTensor": sizes, "OutputROIGradientTensor": rois}[output]
        fields[output] = g.layout(data_type, shape, output=True)
    g.add(name, reads, outputs, **fields)


GRADIENTS = ["OutputGradientTensor", "OutputROIGradientTensor"]


def sampling(g: GraphDraft, name: str) -> dict[str, Any]:
    """The fields of how a region is sampled; few samples, as corners may be anywhere."""
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
    ranks, data_types = of_latest(name, "GradientTensor")
    desc, read = g.any_view(data_types, ranks)
    fields: dict[str, Any] = {"GradientTensor": desc}
    reads: dict[str, tuple[Read, ...]] = {"GradientTensor": (read,)}
    for moment in MOMENTS:
        fields[f"Input{moment}Tensor"], other = g.view(desc.data_type, desc.sizes)
        reads[f"Input{moment}Tensor"] = (other,)
        fields[f"Output{moment}Tensor"] = g.layout(desc.data_type, desc.sizes, output=True)
    fields["TrainingStepTensor"], other = counted(g, DataType.UINT32, (1,) * desc.rank, 1, 40)
    reads["TrainingStepTensor"] = (other,)
    rates = {"LearningRate": 0.1, "Beta1": 0.9, "Beta2": 0.99, "Epsilon": g.draw(st.sampled_from([1e-3, 1e-8]))}
    g.add(name, reads, [f"Output{moment}Tensor" for moment in MOMENTS], **fields, **rates)


FAMILIES: dict[tuple[str, ...], Callable[[GraphDraft, str], None]] = {
    ("ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD", "ROI_POOLING"): regions,
    ("ADAM_OPTIMIZER",): adam,
}
