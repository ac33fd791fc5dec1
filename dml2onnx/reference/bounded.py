"""Arithmetic that carries its error bound, for formulas that are too long to bound as a whole.

A formula of :class:`Bounded` numbers computes what a :class:`~dml2onnx.reference.registry.Result` contains: its value
in FLOAT64, a bound on the error of FLOAT32 arithmetic for any order of sums, and marks where FLOAT32 may overflow or
divide by 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from dml2onnx.reference.accuracy import ACCURACY, LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.numeric import sum_error, through, widen
from dml2onnx.reference.registry import Array, Floats, Mask, Result


def input_tensor(x: Array) -> Bounded:
    """An input of the operator, which is exact."""
    values = widen(x)
    return Bounded(values, np.zeros_like(values), np.zeros(values.shape, np.bool_))


def exactly(value: float) -> Bounded:
    """An exact constant."""
    return Bounded(np.asarray(value, np.float64), np.zeros(()), np.zeros((), np.bool_))


@dataclass(frozen=True, slots=True)
class Bounded:
    """Values, bounds on the error of FLOAT32 arithmetic, and marks of unspecified elements."""

    values: Floats
    error: Floats
    marks: Mask

    def result(self) -> Result:
        return Result(self.values, self.error, self.marks)

    def __add__(self, other: Bounded) -> Bounded:
        return _rounded(self.values + other.values, self.error + other.error, self.marks | other.marks)

    def __sub__(self, other: Bounded) -> Bounded:
        return _rounded(self.values - other.values, self.error + other.error, self.marks | other.marks)

    def __mul__(self, other: Bounded) -> Bounded:
        a, b = np.abs(self.values), np.abs(other.values)
        error = a * other.error + b * self.error + self.error * other.error
        marks = self.marks | other.marks | (self._may_vanish() & np.isinf(b)) | (other._may_vanish() & np.isinf(a))
        return _rounded(self.values * other.values, error, marks)

    def __truediv__(self, other: Bounded) -> Bounded:
        quotient, nearest = self.values / other.values, np.abs(other.values) - other.error
        error = (self.error + np.abs(quotient) * other.error) / np.where(nearest > 0, nearest, np.inf)
        # the sign of a zero divisor becomes that of the infinity
        marks = self.marks | other.marks | other._may_vanish() | np.signbit(other.values) & (other.values == 0)
        marks = marks | ((other.values == 0) & self._may_vanish())
        return _rounded(quotient, error, marks)

    def root(self) -> Bounded:
        """The square root, rounded once."""
        return self._through(0.5, 0)

    def power(self, exponent: float) -> Bounded:
        """A power, with DirectML's promised accuracy."""
        return self._through(exponent, ACCURACY)

    def _through(self, exponent: float, accuracy: float) -> Bounded:
        y = through(lambda x: x**exponent, Result(self.values, self.error, self.marks))
        values = widen(y.values)
        # a power of -inf is 0 or an infinity, and as a root NaN
        undefined = np.isneginf(self.values) & (not float(exponent).is_integer())
        marks = (self._may_vanish() & (self.values != 0)) | y.marks | undefined
        return _rounded(values, y.bound + accuracy * np.where(np.isfinite(values), np.abs(values), 0), marks)

    def total(self, axes: tuple[int, ...]) -> Bounded:
        """The sum over axes, which keep size 1."""
        terms = prod(self.values.shape[axis] for axis in axes)
        total, magnitude, error = (
            item.sum(axis=axes, keepdims=True) for item in (self.values, np.abs(self.values), self.error)
        )
        marks: Mask = np.any(self.marks, axis=axes, keepdims=True)
        # even next to an infinity: 3e38 + 3e38 - inf is NaN in one order and -inf in another
        finite = np.where(np.isfinite(self.values), np.abs(self.values), 0).sum(axis=axes, keepdims=True)
        marks = marks | (finite > LARGEST_FLOAT32)
        return summed(total, magnitude, error, marks, terms)

    def _may_vanish(self) -> Mask:
        """Where a nonzero number may be 0 in FLOAT32, or the reverse."""
        return (self.error > 0) & (np.abs(self.values) <= self.error)


def summed(total: Floats, magnitude: Floats, error: Floats, marks: Mask, terms: int) -> Bounded:
    """Sums of ``terms`` numbers in any order, from the totals of values, magnitudes, errors and marks."""
    overflow = np.isfinite(magnitude) & (magnitude > LARGEST_FLOAT32)
    # 3 more roundings for sums that are computed as means times counts
    return _rounded(total, error + sum_error(terms + 3, magnitude, ROUNDOFF), marks | overflow)


def _rounded(values: Floats, error: Floats, marks: Mask) -> Bounded:
    """Adds one rounding; numbers below the smallest normal one may be flushed to 0 (decision G8)."""
    size = np.abs(values)
    error = np.where(np.isfinite(error), error, 0)
    error = error + np.where(np.isfinite(size) & (size > 0), 2 * ROUNDOFF * size + SMALLEST_FLOAT32, 0)
    return Bounded(values, error, marks | (np.isfinite(size) & (size + error > LARGEST_FLOAT32)))
