"""ROI_ALIGN_GRAD."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.registry import Floats, Indices, Inputs, Mask, Outputs, Result, reference
from dml2onnx.reference.roi import regions
from dml2onnx.reference.roi_samples import WINDOW, RegionSamples, samples_of


@reference("ROI_ALIGN_GRAD")
def roi_align_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The gradients of ROI_ALIGN1 with respect to the image and to the regions (decisions O12, O13, O16, O17)."""
    gradient = widen(inputs.tensor("InputGradientTensor"))
    supplied = inputs.optional("InputTensor")
    # the image gradient of a mean does not depend on the image
    sizes = op.tensor("OutputGradientTensor").sizes if supplied is None else supplied.shape
    x = np.zeros(sizes) if supplied is None else widen(supplied)
    batches = inputs.tensor("BatchIndicesTensor").reshape(-1)
    total = _Total(x.shape)
    found = []
    # the gradient of corners assumes LINEAR samples, whatever the mode (decision O17)
    moved = op if op.enum("InterpolationMode") == "LINEAR" else _as_linear(op)
    of_corners = regions(moved, inputs, x, gradient.shape)
    for (number, image, rows, columns), (_, _, *lines) in zip(
        regions(op, inputs, x, gradient.shape), of_corners, strict=True
    ):
        arriving, marks = _shares(op, gradient[number], image, rows, columns)
        if batches[number] < len(x):  # others are dropped (decision O11)
            total.add(int(batches[number]), rows, columns, arriving, marks)
        else:
            marks = np.ones_like(marks)
        found.append(_corners(op, arriving, marks, image, *lines))
    values, error, marks = (np.array([item[i] for item in found]) for i in range(3))
    sent = total.result()
    if int(np.max(batches)) >= len(x):
        # default models add them to the last image (decision O11)
        to_last = np.zeros(x.shape, np.bool_)
        to_last[-1] = True
        sent = replace(sent, open=to_last)
    outputs = {"OutputGradientTensor": sent}
    if op.tensors("OutputROIGradientTensor"):
        shape = op.tensor("OutputROIGradientTensor").sizes
        result = Result(values.reshape(shape), error.reshape(shape), marks.reshape(shape).astype(np.bool_))
        outputs["OutputROIGradientTensor"] = result
    return outputs


def _as_linear(op: OperatorDesc) -> OperatorDesc:
    values = ["LINEAR" if item.name == "InterpolationMode" else value for item, value in op.items()]
    return OperatorDesc(op.schema, tuple(values))


def _shares(
    op: OperatorDesc, gradient: Floats, image: Floats, rows: RegionSamples, columns: RegionSamples
) -> tuple[Floats, Mask]:
    """Each sample's share of the incoming gradient, and a mask of samples whose share is open.

    A mean has equal shares. A maximum gives everything to the first largest sample; those outside the image count as 0,
    and their share is dropped (decision O16).
    """
    spread = gradient.repeat(rows.count, 1).repeat(columns.count, 2)
    inside = np.broadcast_to(rows.inside[:, None] & columns.inside[None, :], spread.shape)
    marks: Mask = np.broadcast_to(rows.marks[:, None] | columns.marks[None, :], spread.shape)
    if op.enum("ReductionFunction") == "AVERAGE":
        return np.where(inside, spread / (rows.count * columns.count), 0), marks
    samples = samples_of(image, rows, columns, 0.0)
    blocks = (len(image), -1, rows.count, gradient.shape[2], columns.count)

    def side_by_side(item: np.ndarray) -> np.ndarray:
        return item.reshape(blocks).transpose(0, 1, 3, 2, 4).reshape(*gradient.shape, -1)

    def back(item: np.ndarray) -> np.ndarray:
        parts = item.reshape(*gradient.shape, rows.count, columns.count)
        return parts.transpose(0, 1, 3, 2, 4).reshape(spread.shape)

    values, error = side_by_side(samples.values), side_by_side(samples.error)
    best = np.argmax(np.where(np.isnan(values), -np.inf, values), -1)[..., None]
    top, slack = np.take_along_axis(values, best, -1), np.take_along_axis(error, best, -1)
    chosen = np.arange(values.shape[-1]) == best
    # a sample that may equal the maximum, unless both read the same element
    rival = (values + error >= top - slack) & (values > -np.inf) & ~chosen
    differs = np.zeros(rival.shape, np.bool_)
    for line, shape in ((rows, (-1, 1)), (columns, (1, -1))):
        at = np.broadcast_to(np.clip(line.place, 0, line.size - 1).reshape(shape), spread.shape)
        place = side_by_side(np.where(inside, at, -1))
        differs |= place != np.take_along_axis(place, best, -1)
    is_open = (rival & differs).any(-1, keepdims=True) & (error.any() or slack.any())
    touched = (rival | chosen) & is_open
    doubtful = (side_by_side(samples.marks) | np.isnan(values)).any(-1, keepdims=True) & (values > -np.inf)
    doubtful |= np.isnan(values)
    return np.where(inside & back(chosen), spread, 0), marks | back(touched | doubtful)


def _crossings(batch: int, channels: int, y: Indices, x: Indices) -> tuple[np.ndarray, ...]:
    """Indices of all channels at all pairs of rows and columns."""
    return np.asarray(batch), np.arange(channels)[:, None, None], y[:, None], x[None, :]


class _Total:
    """Sums, in any order, by element of the image."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._values: Floats = np.zeros(shape)
        self._magnitude: Floats = np.zeros(shape)
        self._terms: Floats = np.zeros(shape)
        self._error: Floats = np.zeros(shape)
        self._marks: Floats = np.zeros(shape)

    def add(self, batch: int, rows: RegionSamples, columns: RegionSamples, arriving: Floats, marks: Mask) -> None:
        """Distributes each sample's gradient by the weights of the elements it was interpolated from."""
        for y, of_y in ((rows.below, 1 - rows.weight), (rows.above, rows.weight)):
            for x, of_x in ((columns.below, 1 - columns.weight), (columns.above, columns.weight)):
                weight = of_y[:, None] * of_x[None, :]
                part = np.where(weight == 0, 0, arriving * np.where(weight == 0, 1, weight))
                place = _crossings(batch, len(arriving), y, x)
                np.add.at(self._values, place, part)
                np.add.at(self._magnitude, place, np.abs(part))
                np.add.at(self._terms, place, part != 0)
                # 0 * inf is 0 or NaN
                np.add.at(self._marks, place, (weight == 0) & ~np.isfinite(arriving))
        if rows.is_lost or columns.is_lost:
            self._marks[batch] = 1
        doubt = rows.doubt[:, None] + columns.doubt[None, :]
        reach = np.where(np.isfinite(arriving), np.abs(arriving), 0) * doubt
        open_ones = marks | (~np.isfinite(arriving) & (doubt > 0))
        if not reach.any() and not open_ones.any():
            return
        for dy in WINDOW:
            for dx in WINDOW:
                y, x = np.clip(rows.below + dy, 0, rows.size - 1), np.clip(columns.below + dx, 0, columns.size - 1)
                place = _crossings(batch, len(arriving), y, x)
                np.add.at(self._error, place, reach)
                np.add.at(self._marks, place, open_ones)

    def result(self) -> Result:
        """The sums, unspecified where the order decides whether partial sums overflow."""
        overflows = np.isfinite(self._magnitude) & (self._magnitude > LARGEST_FLOAT32)
        finite = np.where(np.isfinite(self._magnitude), self._magnitude, 0)
        error = self._error + sum_error(self._terms + 6, finite, ROUNDOFF)
        return Result(self._values, error, (self._marks > 0) | overflows)


def _corners(
    op: OperatorDesc, arriving: Floats, marks: Mask, image: Floats, rows: RegionSamples, columns: RegionSamples
) -> tuple[list[float], list[float], list[bool]]:
    """The gradients of x1, y1, x2 and y2: values, errors, and whether they are open (decision O13)."""
    samples = samples_of(image, rows, columns, 0.0)
    used = arriving != 0
    is_nonfinite = bool((used & (samples.near_nonfinite | ~np.isfinite(arriving))).any()) or bool(marks.any())
    results = {}
    for axis, turned in (("X", False), ("Y", True)):
        along, across = (rows, columns) if turned else (columns, rows)
        slope = _slope(image.transpose(0, 2, 1) if turned else image, across, along)
        slope = slope.transpose(0, 2, 1) if turned else slope
        share = _share(op, along)
        share = share[:, None] if turned else share[None, :]
        other_doubt = across.doubt[None, :] if turned else across.doubt[:, None]
        extent = along.size - op.flag("AlignRegionsToCorners")
        at = np.round(along.place)
        is_edge = (along.doubt > 0) & (np.abs(along.place - at) <= along.doubt) & (at >= 0) & (at <= along.size - 1)
        is_edge = is_edge[:, None] if turned else is_edge[None, :]
        for end, part in ((1, 1 - share), (2, share)):
            values = np.where(used, arriving * slope * part, 0) * extent
            size = np.where(used, np.abs(arriving), 0) * samples.reach * (1 + np.abs(share)) * extent
            error = sum_error(values.size + 16, np.asarray(2 * size.sum()), ROUNDOFF) + (size * 4 * other_doubt).sum()
            is_open = is_nonfinite or bool((used & is_edge).any()) or bool(size.sum() * 2 > LARGEST_FLOAT32)
            results[axis, end] = float(values.sum()), float(error), is_open
    ordered = [results[key] for key in (("X", 1), ("Y", 1), ("X", 2), ("Y", 2))]
    return [item[0] for item in ordered], [item[1] for item in ordered], [item[2] for item in ordered]


def _share(op: OperatorDesc, line: RegionSamples) -> Floats:
    """The position of each sample along the region in [0, 1]: its output element's index, in units of samples (O17)."""
    samples = np.arange(len(line.place))
    parts = len(samples) - op.flag("AlignRegionsToCorners")
    return samples // line.count / parts if parts else np.full(len(samples), 0.5)


def _slope(image: Floats, rows: RegionSamples, columns: RegionSamples) -> Floats:
    """The slope of the interpolation along x: to the next element even at a whole coordinate, 0 if clamped (O17)."""
    (above, below), (top, bottom, weight) = _neighbours(columns), _crossed(rows)
    rise = [image[:, y][:, :, above] - image[:, y][:, :, below] for y in (top, bottom)]
    return np.where(weight == 0, rise[0], rise[0] * (1 - weight) + rise[1] * weight)


def _neighbours(line: RegionSamples) -> tuple[Indices, Indices]:
    """The elements above and below each coordinate."""
    low = np.floor(line.place)
    above, below = (np.clip(at, 0, line.size - 1).astype(np.int64) for at in (low + 1, low))
    return above, below


def _crossed(line: RegionSamples) -> tuple[Indices, Indices, Floats]:
    """The two rows to interpolate, and the weight of the second as a column."""
    clamped = np.clip(line.place, 0, line.size - 1)
    low = np.floor(clamped).astype(np.int64)
    return low, np.minimum(low + 1, line.size - 1), (clamped - low)[:, None]
