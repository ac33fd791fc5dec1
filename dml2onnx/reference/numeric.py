"""Shared arithmetic: widening, wrapping, truncation, and bounds on rounding errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import ScaleBias
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import (
    FLOAT64_ROUNDOFF,
    LARGEST_FLOAT32,
    ROUNDOFF,
    SMALLEST_FLOAT32,
    SMALLEST_FLOAT64,
    working_roundoff,
)
from dml2onnx.reference.registry import Array, Floats, Mask, Result, either

BLOCK_ELEMENTS = 1 << 16
"""Elements processed at once, so that intermediate results fit in the processor's caches."""


def in_blocks(function: Callable[..., tuple[Any, ...]], *arrays: Array) -> tuple[Any, ...]:
    """Applies an element-wise ``function`` block by block; arrays broadcast to the shape of the first."""
    shape, size = arrays[0].shape, arrays[0].size
    if size <= 2 * BLOCK_ELEMENTS:
        return function(*arrays)
    flat = [np.broadcast_to(array, shape).reshape(-1) for array in arrays]
    results = [function(*(array[part] for array in flat)) for part in blocks(size)]
    return tuple(np.concatenate(parts).reshape(shape) for parts in zip(*results, strict=True))


def blocks(size: int) -> Iterator[slice]:
    """Slices that cover ``size`` elements, one block each."""
    for first in range(0, size, BLOCK_ELEMENTS):
        yield slice(first, min(first + BLOCK_ELEMENTS, size))


def sum_error(terms: int | Floats, magnitude: Floats, roundoff: float) -> Floats:
    """Bound on the error of a sum of ``terms`` products, in any order, whose absolute values sum to ``magnitude``.

    Higham, Accuracy and Stability of Numerical Algorithms, section 3.1: ``n u / (1 - n u)`` times the magnitude.
    """
    n = (terms + 1) * roundoff
    return magnitude * (n / (1 - n))


def sum_result(total: Floats, magnitude: Floats, terms: int | Floats) -> Result:
    """A sum of FLOAT32 numbers in any order; ``magnitude`` is the sum of their absolute values."""
    return Result(total, sum_error(terms, magnitude, ROUNDOFF), order_matters(total, magnitude))


def order_matters(total: Floats, magnitude: Floats) -> Mask:
    """Where partial sums of FLOAT32 numbers may overflow although the total does not, so the order matters.

    Includes sums too large for FLOAT64 to tell.
    """
    if magnitude.max(initial=0) <= LARGEST_FLOAT32:
        return np.zeros(np.broadcast_shapes(total.shape, magnitude.shape), np.bool_)
    opposed = (np.abs(total) != magnitude) | (magnitude > LARGEST_FLOAT32 / FLOAT64_ROUNDOFF)
    marks: Mask = np.isfinite(magnitude) & (magnitude > LARGEST_FLOAT32) & opposed
    return marks


def products_result(
    a: Floats, b: Floats, total: Floats, product: Callable[[Floats, Floats], Floats], terms: int, more: Floats
) -> Result:
    """Sums of ``terms`` products of FLOAT32 numbers in any order.

    ``product`` is bilinear; ``total`` is ``product(a, b)`` plus an addend of magnitude ``more``. Unspecified where the
    order decides whether partial sums overflow or cancel an infinity.
    """
    size_a, size_b = np.abs(a), np.abs(b)
    magnitude = product(size_a, size_b)
    magnitude += more
    unspecified = order_matters(total, magnitude)
    if not np.isfinite(magnitude).all():
        finite = [np.where(np.isfinite(size), size, 0) for size in (size_a, size_b)]
        unspecified |= ~np.isfinite(magnitude) & (product(finite[0], finite[1]) > LARGEST_FLOAT32)
    return Result(total, sum_error(terms, magnitude, ROUNDOFF), unspecified)


def product_result(y: Floats, large: Floats, small: Floats, terms: int | Floats) -> Result:
    """A product of FLOAT32 numbers in any order, with the products of magnitudes above 1 and below 1.

    Unspecified where the order decides whether partial products overflow or underflow.
    """
    roundoff = (terms + 1) * ROUNDOFF
    vanishes = (small > 0) & (small < SMALLEST_FLOAT32)
    error = np.abs(y) * roundoff / (1 - roundoff) + np.where(vanishes, large * SMALLEST_FLOAT32, 0)
    may_recover = (small < SMALLEST_FLOAT32) | ((np.abs(y) <= LARGEST_FLOAT32) & (small < 1))
    return Result(y, error, (large > LARGEST_FLOAT32) & may_recover)


def through(function: Callable[[Floats], Floats], x: Result) -> Result:
    """``function(x)`` with the errors of ``x`` propagated.

    Unspecified where ``x`` is, and where the error of ``x`` crosses the boundary of the function's domain.
    """
    wide = widen(x.values)
    y = function(wide)
    error, unspecified = np.zeros_like(y), x.unspecified
    if x.error is None or not x.error.any():
        return Result(y, error, unspecified)
    reach = np.where(np.isfinite(wide) & np.isfinite(x.error), x.error, 0)
    for neighbour in (function(wide - reach), function(wide + reach)):
        change = np.abs(neighbour - y)
        error = np.maximum(error, np.where(np.isfinite(change), change, 0))
        unspecified = either(np.isfinite(neighbour) != np.isfinite(y), unspecified)
    return Result(y, error, unspecified)


def all_along(masks: list[Mask]) -> Mask:
    """Combines one mask per dimension with logical AND."""
    return reduce(np.logical_and, np.meshgrid(*masks, indexing="ij", sparse=True))


def widen(x: Array) -> Floats:
    """The array as ``float64``, in which products and sums of FLOAT16 and FLOAT32 are nearly exact."""
    return x.astype(np.float64)


def truncate(x: Floats, data_type: DataType) -> Array:
    """The CAST rule for floats to integers: toward zero, saturated, NaN to 0 (decisions E9 and E10)."""
    low, high = data_type.limits
    whole = np.trunc(x)
    # float64 cannot represent the largest INT64 and UINT64, but it can represent high + 1
    above, below = whole >= float(high + 1), whole <= float(low)
    inside = np.where(np.isnan(whole) | above | below, 0, whole).astype(data_type.dtype)
    return np.where(above, data_type.dtype.type(high), np.where(below, data_type.dtype.type(low), inside))


def truncate_within(y: Floats, error: Floats, data_type: DataType) -> Result:
    """:func:`truncate` of inexact values: the result is inexact where an integer is within the error."""
    ends: list[Array] = [truncate(end, data_type) for end in (y - error, y, y + error)]
    as_float = [widen(end) for end in ends]
    return Result(ends[1], np.maximum(as_float[2] - as_float[1], as_float[1] - as_float[0]))


def bound(value: float, data_type: DataType) -> Array:
    """A float attribute as a scalar of the tensor's type (decision E7).

    Integers drop the fraction and saturate; FLOAT16 rounds to nearest, ties to even.
    """
    if data_type.is_float:
        return np.asarray(value, data_type.dtype)
    return truncate(np.asarray(value, np.float64), data_type)


def limit(value: float, data_type: DataType) -> Array:
    """A bound of CLIP: a float attribute that is clamped to the finite range of FLOAT16 (decision E7)."""
    largest = float(np.finfo(np.float16).max)
    return bound(float(np.clip(value, -largest, largest)) if data_type is DataType.FLOAT16 else value, data_type)


def fill(value: float, data_type: DataType) -> Array:
    """A float attribute as a tensor element: integers drop the fraction and wrap (decisions D7 and X18)."""
    if data_type.is_float or not np.isfinite(value):
        return bound(value, data_type)
    low, _ = data_type.limits
    return np.asarray((int(value) - low) % (1 << data_type.bits) + low, data_type.dtype)


def as_integers(x: Array) -> npt.NDArray[np.integer[Any]]:
    """Asserts that an array has an integer type, for the type checker."""
    assert x.dtype.kind in "iu"
    return x  # type: ignore[return-value]  # checked by the assertion


def scale_and_bias_integers(x: Array, factors: ScaleBias | None, data_type: DataType) -> Array:
    """``x * Scale + Bias`` on an integer tensor, computed in FLOAT32 and converted like CAST (decision G3)."""
    if factors is None:
        return x
    in_float32 = x.astype(np.float32) * np.float32(factors.scale) + np.float32(factors.bias)
    return truncate(in_float32.astype(np.float64), data_type)


def scaled_integers_in_doubt(x: Array, factors: ScaleBias | None, data_type: DataType) -> Mask | None:
    """Where FLOAT32 has to round ``x * Scale + Bias``, or it is outside the type, which CAST leaves to the driver."""
    if factors is None:
        return None
    exact = x.astype(np.float64) * factors.scale + factors.bias
    low, high = data_type.limits
    largest = float(1 << 24)
    doubt: Mask = (np.abs(x.astype(np.float64)) > largest) | (np.abs(exact) > largest)
    doubt |= (np.trunc(exact) < low) | (np.trunc(exact) > high)
    return doubt if doubt.any() else None


def scale_and_bias_floats(x: Array, factors: ScaleBias | None, data_type: DataType) -> Result:
    """Unrounded ``x * Scale + Bias`` on a floating-point tensor (decision G4)."""
    wide = widen(x)
    if factors is None:
        return Result(wide, np.zeros_like(wide))
    product = wide * factors.scale
    smallest = SMALLEST_FLOAT64 if data_type is DataType.FLOAT64 else SMALLEST_FLOAT32
    # a subnormal product has fewer digits or is flushed to 0 (decision G8)
    vanishes = (product != 0) & (np.abs(product) < smallest)
    error = sum_error(2, np.abs(product) + abs(factors.bias), working_roundoff(data_type))
    return Result(product + factors.bias, error + np.where(vanishes, smallest, 0))
