"""ROI_ALIGN_GRAD: the gradients of the image and of the corners of regions."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.lowering.roi_samples import (
    CHANNEL,
    INT32,
    SAMPLES,
    TAPS,
    AxisSamples,
    Corners,
    Crossings,
    as_image,
    batch_indices,
    beside,
    crossings,
    linear_taps,
    numbers_of,
    of_columns,
    of_rows,
    pixels,
)
from dml2onnx.onnx_model import FLOAT, INT64


@lowers("ROI_ALIGN_GRAD")
def roi_align_grad(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The gradients with respect to the image and to the regions [decisions O12, O13, O16, O17].

    ScatterElements adds the gradients of samples to pixels; ScatterND may lose some, since it adds with several
    threads.
    """
    gradient = e.Cast(node.tensor("InputGradientTensor"), FLOAT)
    x = node.optional("InputTensor")
    image = node.output("OutputGradientTensor").sizes if x is None else x.shape
    at = crossings(node, e, image, (gradient.shape[2], gradient.shape[3]))
    gradient = e.of_existing(gradient, node.tensor("BatchIndicesTensor"), image[0])
    arriving = e.Transpose(gradient, (0, 2, 3, 1))
    rows = None
    if x is not None and node.op.enum("ReductionFunction") == "MAX":
        rows = e.Gather(pixels(e, e.Cast(x, FLOAT)), at.numbers)
    if node.op.enum("ReductionFunction") == "AVERAGE":
        count = at.samples_per_output(e)
        arriving = arriving if count.value is not None and (count.value == 1).all() else e.Div(arriving, count)
    else:
        assert rows is not None
        arriving = e.Where(_is_first_largest(e, at, rows), arriving, e.constant(0, FLOAT))
    outputs = {}
    if node.has_output("OutputGradientTensor"):
        outputs["OutputGradientTensor"] = _scattered(e, at, arriving, image)
    if node.has_output("OutputROIGradientTensor"):
        assert x is not None
        sizes = node.output("OutputROIGradientTensor").sizes
        outputs["OutputROIGradientTensor"] = e.Reshape(_corners(node, e, at, arriving, x), sizes)
    return outputs


def _is_first_largest(e: Emitter, at: Crossings, rows: Tensor) -> Tensor:
    """Whether a sample is the first largest one; those outside the image are 0 [decision O16]."""
    weights = at.weights(e)
    values = rows if weights is None else e.ReduceSum(e.Mul(rows, e.Mul(*weights)), TAPS)
    values = e.Where(at.counts(e), values, e.constant(0, FLOAT))
    first_row = e.ArgMax(e.ReduceMax(values, SAMPLES[1:]), SAMPLES[0])
    first_column = e.ArgMax(values, SAMPLES[1])
    row, column = of_rows(e, e.Unsqueeze(at.rows.number, (0,))), of_columns(e, e.Unsqueeze(at.columns.number, (0,)))
    is_row, is_column = (
        e.Equal(e.Unsqueeze(number, (CHANNEL,)), first) for number, first in ((row, first_row), (column, first_column))
    )
    return e.And(is_row, is_column)


def _scattered(e: Emitter, at: Crossings, arriving: Tensor, image: tuple[int, ...]) -> Tensor:
    """Returns the gradient of the image: each sample's gradient, times the weights of its pixels."""
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


def _corners(node: Operands, e: Emitter, at: Crossings, arriving: Tensor, x: Tensor) -> Tensor:
    """Returns the gradients of x1, y1, x2 and y2: gradient times slope times size of the image [decision O13].

    Slopes are those of LINEAR in every mode [decision O17].
    """
    corners, counts = Corners.of(node.op), at.counts(e)
    image, rows = x.shape, pixels(e, e.Cast(x, FLOAT))
    batch = batch_indices(node, e, image[0])
    lines = (at.rows, at.columns)
    across = [linear_taps(e, line.place, size) for line, size in zip(lines, image[2:], strict=True)]
    weights = [e.Unsqueeze(of(e, taps[1]), (CHANNEL,)) for of, taps in zip((of_rows, of_columns), across, strict=True)]
    found = []
    for along, other in ((1, 0), (0, 1)):
        size = image[2 + along]
        taps = [across[0][0], across[1][0]]
        taps[along] = _slope_taps(e, lines[along].place, size)
        on_rows, on_columns = ((index, line.counts) for index, line in zip(taps, lines, strict=True))
        around = e.Gather(rows, numbers_of(e, image, on_rows, on_columns, batch))
        rise = e.Sub(_tap(e, around, TAPS[along], 1), _tap(e, around, TAPS[along], 0))
        slope = e.ReduceSum(e.Mul(rise, weights[other]), TAPS[other : other + 1])
        change = e.ReduceSum(e.Where(counts, e.Mul(slope, arriving), e.constant(0, FLOAT)), (CHANNEL,))
        share = _share(e, corners, lines[along], arriving.shape[-3 + along])
        far = e.Unsqueeze((of_rows, of_columns)[along](e, share), (CHANNEL,))
        extent = e.constant(size - corners.is_aligned, FLOAT)
        for part in (e.Sub(e.constant(1, FLOAT), far), far):
            moved = e.ReduceSum(e.Mul(change, part), (0, 1, 2, 3, 5, 6, 7))
            found.append(e.Mul(e.Reshape(moved, (moved.size, 1)), extent))
    x1, x2, y1, y2 = found
    return e.Concat([x1, y1, x2, y2], 1)


def _slope_taps(e: Emitter, place: Tensor, size: int) -> Tensor:
    """Returns the elements around a coordinate; both are the same, so that the slope is 0, if it is clamped [O17]."""
    below = e.Floor(place)
    above = e.Add(below, e.constant(1, FLOAT))
    return beside(e, *(e.Clip(tap, 0.0, float(size - 1)) for tap in (below, above)))


def _share(e: Emitter, corners: Corners, line: AxisSamples, outputs: int) -> Tensor:
    """Returns the relative position of outputs in their region, as (tap, sample, region, output) [decision O17]."""
    number, one = e.arange(outputs, FLOAT), e.constant(1, FLOAT)
    samples = e.Mul(line.count, e.constant(outputs, FLOAT))
    if not corners.is_aligned:
        share = e.Div(number, samples)
    else:
        is_single = e.LessOrEqual(samples, one)
        parts = e.Where(is_single, one, e.Sub(samples, one))
        share = e.Where(is_single, e.constant(0.5, FLOAT), e.Div(number, parts))
    return e.Unsqueeze(share, tuple(range(4 - share.rank)))


def _tap(e: Emitter, x: Tensor, axis: int, number: int) -> Tensor:
    starts = [number if i == axis else 0 for i in range(x.rank)]
    ends = [number + 1 if i == axis else size for i, size in enumerate(x.shape)]
    return e.Slice(x, starts, ends)
