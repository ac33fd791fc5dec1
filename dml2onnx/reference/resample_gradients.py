"""RESAMPLE_GRAD and RESAMPLE_GRAD1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.registry import Floats, Indices, Inputs, Mask, Outputs, Result, reference
from dml2onnx.reference.resample import clamp, coordinates, doubt_of, nearest_of


@reference("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
def resample_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The gradients of RESAMPLE1 and RESAMPLE2 (decisions S12 to S15).

    Each gradient element is distributed to the elements that the forward operator read, by the same weights. The
    offsets are swapped compared to the forward operator: InputPixelOffsets belong to the incoming gradient (S13).
    """
    gradient, sizes = widen(inputs.tensor("InputGradientTensor")), op.tensor("OutputGradientTensor").sizes
    zero, no = np.zeros(gradient.shape), np.zeros(gradient.shape, np.bool_)
    sums = _Sums(gradient, np.abs(gradient), zero, zero + 1, ~np.isfinite(gradient), no)
    fields = (op.floats("Scales"), op.floats("OutputPixelOffsets"), op.floats("InputPixelOffsets"))
    for axis, (size, count, *geometry) in enumerate(zip(sizes, gradient.shape, *fields, strict=True)):
        place = coordinates(count, *geometry)
        if op.enum("InterpolationMode") == "NEAREST_NEIGHBOR":
            sums = sums.sent(axis, size, clamp(nearest_of(op)(place), size))
        else:
            wide = place.astype(np.float64)
            sums = sums.shared(axis, size, wide, doubt_of(wide, count, *geometry))
    return {"OutputGradientTensor": sums.result()}


@dataclass(frozen=True, slots=True)
class _Sums:
    """A tensor that is scattered along one axis after another, with error bounds of the sums."""

    values: Floats
    magnitude: Floats
    error: Floats
    """Error caused by the errors of coordinates."""
    terms: Floats
    special: Mask
    """Where an infinity or NaN contributes."""
    leaks: Mask
    """Where one contributes with weight 0, next to a whole coordinate; ``0 * inf`` is open, as in the forward pass."""

    def sent(self, axis: int, size: int, places: Indices) -> _Sums:
        """Scatters each element to a single index."""
        numbers = (self.values, self.magnitude, self.error, self.terms)
        values, magnitude, error, terms = (_added(item, axis, size, places) for item in numbers)
        special, leaks = (_added(item, axis, size, places) > 0 for item in (self.special, self.leaks))
        return _Sums(values, magnitude, error, terms, special, leaks)

    def shared(self, axis: int, size: int, place: Floats, doubt: Floats) -> _Sums:
        """Scatters each element to the two indices around its coordinate, clamped to the edge (decision S15)."""
        inside = np.clip(place, 0, size - 1)
        below = np.floor(inside)
        weight = inside - below
        if not weight.any():
            return self.sent(axis, size, below.astype(np.int64))

        def added(item: Floats | Mask, share: Floats | Mask, base: Floats, step: int) -> Floats:
            # 0 * inf counts as 0 here
            column = share.reshape([-1 if i == axis else 1 for i in range(item.ndim)])
            part = np.where(column == 0, 0, item * np.where(column == 0, 1, column))
            return _added(part, axis, size, clamp(base + step, size))

        def both(item: Floats) -> Floats:
            return added(item, 1 - weight, below, 0) + added(item, weight, below, 1)

        def around(item: Floats | Mask, share: Floats) -> Floats:
            total: Floats = np.add.reduce([added(item, share, below, step) for step in (-1, 0, 1, 2)])
            return total

        one = np.ones_like(weight)
        moved = around(np.where(np.isfinite(self.magnitude), self.magnitude, 0), doubt)
        middle = np.round(inside)
        is_whole = np.abs(inside - middle) <= doubt
        leaks = added(self.special, is_whole, middle, -1) + added(self.special, is_whole, middle, 1)
        return _Sums(
            both(self.values),
            both(self.magnitude) + moved,
            both(self.error) + moved,
            added(self.terms, one, below, 0) + added(self.terms, weight != 0, below, 1),
            added(self.special, one, below, 0) + added(self.special, weight != 0, below, 1) > 0,
            leaks + around(self.leaks, one) > 0,
        )

    def result(self) -> Result:
        """The sums, unspecified where the order of additions decides whether parts overflow."""
        error = self.error + sum_error(self.terms + 2 * self.values.ndim, self.magnitude, ROUNDOFF)
        overflows = np.isfinite(self.magnitude) & (self.magnitude > LARGEST_FLOAT32)
        return Result(self.values, error, self.leaks | overflows)


def _added(x: Floats | Mask, axis: int, size: int, places: Indices) -> Floats:
    """The elements along an axis summed at ``places`` of an axis of length ``size``."""
    columns = np.moveaxis(x, axis, 0)
    total = np.zeros((size, *columns.shape[1:]))
    np.add.at(total, places, columns)
    return np.moveaxis(total, 0, axis)
