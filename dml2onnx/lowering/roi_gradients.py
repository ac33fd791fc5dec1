"""ROI_ALIGN_GRAD: what arrives for the samples of regions, sent back to where they looked, and to the corners."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.lowering.registry import lowers
from dml2onnx.lowering.roi_samples import (
    CHANNEL,
    INT32,
    SAMPLES,
    TAPS,
    Crossings,
    as_image,
    crossings,
    of_columns,
    of_rows,
    pixels,
)
from dml2onnx.model import FLOAT, INT64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands


@lowers("ROI_ALIGN_GRAD")
def roi_align_grad(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The gradients with respect to the image and to the regions [decisions O12, O13, O16, O17].

    ScatterElements adds to pixels what the samples got; ScatterND may lose what meets, it adds with several threads.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_align_grad_operator_desc
    """
    gradient = e.Cast(node.tensor("InputGradientTensor"), FLOAT)
    x = node.optional("InputTensor")
    image = node.output("OutputGradientTensor").sizes if x is None else x.shape
    at = crossings(node, e, image, (gradient.shape[2], gradient.shape[3]))
    batches = node.tensor("BatchIndicesTensor")
    if e.exact:
        e.note("regions of images that are not there are left out")
        is_there = e.Reshape(e.Less(batches, e.constant(image[0], batches.dtype)), (batches.size, 1, 1, 1))
        gradient = e.Where(is_there, gradient, e.constant(0, FLOAT))
    arriving = e.Transpose(gradient, (0, 2, 3, 1))
    rows = None
    wants_corners = node.has_output("OutputROIGradientTensor") and at.rows.weight is not None
    if x is not None and (wants_corners or node.op.enum("ReductionFunction") == "MAX"):
        rows = e.Gather(pixels(e, e.Cast(x, FLOAT)), at.numbers)
    if node.op.enum("ReductionFunction") == "AVERAGE":
        count = at.samples_per_output(e)
        arriving = arriving if count.value is not None and (count.value == 1).all() else e.Div(arriving, count)
    else:
        assert rows is not None
        arriving = e.Where(_is_first_largest(e, at, rows), arriving, e.constant(0, FLOAT))
    outputs = {}
    if node.has_output("OutputGradientTensor"):
        outputs["OutputGradientTensor"] = _sent(e, at, arriving, image)
    if node.has_output("OutputROIGradientTensor"):
        sizes = node.output("OutputROIGradientTensor").sizes
        if rows is None or at.rows.weight is None:
            e.note("the nearest element stays the same when a corner moves a little")
            outputs["OutputROIGradientTensor"] = e.ConstantOfShape(sizes, 0, FLOAT)
        else:
            outputs["OutputROIGradientTensor"] = e.Reshape(_corners(node, e, at, arriving, rows), sizes)
    return outputs


def _is_first_largest(e: Emitter, at: Crossings, rows: Tensor) -> Tensor:
    """Whether a sample is the first of the largest inside the image [decision O16]."""
    weights = at.weights(e)
    values = rows if weights is None else e.ReduceSum(e.Mul(rows, e.Mul(*weights)), TAPS)
    values = e.Where(at.counts(e), values, e.constant(-np.inf, FLOAT))
    first_row = e.ArgMax(e.ReduceMax(values, SAMPLES[1:]), SAMPLES[0])
    first_column = e.ArgMax(values, SAMPLES[1])
    row, column = of_rows(e, e.Unsqueeze(at.rows.number, (0,))), of_columns(e, e.Unsqueeze(at.columns.number, (0,)))
    is_row, is_column = (
        e.Equal(e.Unsqueeze(number, (CHANNEL,)), first) for number, first in ((row, first_row), (column, first_column))
    )
    return e.And(is_row, is_column)


def _sent(e: Emitter, at: Crossings, arriving: Tensor, image: tuple[int, ...]) -> Tensor:
    """The gradient of the image: what arrives, in the shares in which the samples looked at pixels."""
    weights, channels = at.weights(e), image[1]
    if weights is None:
        updates = e.Where(at.counts(e), arriving, e.constant(0, FLOAT))
    else:
        updates = e.Mul(arriving, e.Mul(*weights))
    size = prod(image) + channels
    dtype = INT32 if size < 1 << 31 else INT64
    first = e.Mul(e.Cast(e.Unsqueeze(at.numbers, (CHANNEL,)), dtype), e.constant(channels, dtype))
    places = e.Add(first, e.arange(channels, dtype))
    zeros = e.ConstantOfShape((size,), 0, FLOAT)
    total = e.ScatterElements(zeros, e.Flatten(places), e.Flatten(updates), reduction="add")
    return as_image(e, e.Reshape(total, (size // channels, channels)), image)


def _corners(node: Operands, e: Emitter, at: Crossings, arriving: Tensor, rows: Tensor) -> Tensor:
    """x1, y1, x2 and y2 of every region: what arrives, times the slope, times how far a sample moves with a corner."""
    weights = at.weights(e)
    assert weights is not None
    op, one, counts = node.op, e.constant(1, FLOAT), at.counts(e)
    shares = (
        of_rows(e, e.Unsqueeze(at.rows.share, (0,))),
        of_columns(e, e.Unsqueeze(at.columns.share, (0,))),
    )
    found = []
    for along, across, share, scale in ((1, 0, shares[1], "SpatialScaleX"), (0, 1, shares[0], "SpatialScaleY")):
        # both taps are one element where the coordinate is whole: there the slope is 0 as the page has it
        below, above = _tap(e, rows, TAPS[along], 0), _tap(e, rows, TAPS[along], 1)
        slope = e.ReduceSum(e.Mul(e.Sub(above, below), weights[across]), TAPS[across : across + 1])
        change = e.ReduceSum(e.Where(counts, e.Mul(slope, arriving), e.constant(0, FLOAT)), (CHANNEL,))
        far = e.Unsqueeze(share, (CHANNEL,))
        for part in (e.Sub(one, far), far):
            moved = e.ReduceSum(e.Mul(change, part), (0, 1, 2, 3, 5, 6, 7))
            found.append(e.Mul(e.Reshape(moved, (moved.size, 1)), e.constant(op.float(scale), FLOAT)))
    x1, x2, y1, y2 = found
    return e.Concat([x1, y1, x2, y2], 1)


def _tap(e: Emitter, x: Tensor, axis: int, number: int) -> Tensor:
    starts = [number if i == axis else 0 for i in range(x.rank)]
    ends = [number + 1 if i == axis else size for i, size in enumerate(x.shape)]
    return e.Slice(x, starts, ends)
