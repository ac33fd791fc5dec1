"""How far a conforming result may be from the reference.

Tolerances are derived, not chosen. The reference bounds the error before the last rounding (``Result.error``): 0 for
data movement, selection and integers; ``n u`` times the sum of magnitudes for a sum of ``n`` products in any order; for
formulas with exp, tanh or erf the accuracy that DirectML promises (1e-5 of the result, decision G13) plus a few
roundings of the largest intermediate value; a fused activation multiplies the error of its input by its slope. Rounding
to the output type adds one unit in the last place, since a value near a midpoint may round either way. Numbers below
the smallest normal one may be flushed to 0 (decision G8).
"""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import UNIT_ROUNDOFF
from dml2onnx.reference.numeric import in_blocks, widen
from dml2onnx.reference.registry import Array, Floats, Mask, Result

SMALLEST_NORMAL = {
    DataType.FLOAT16: float(np.finfo(np.float16).smallest_normal),
    DataType.FLOAT32: float(np.finfo(np.float32).smallest_normal),
    DataType.FLOAT64: float(np.finfo(np.float64).smallest_normal),
}
TOP_POWER = {DataType.FLOAT16: 2.0**15, DataType.FLOAT32: 2.0**127, DataType.FLOAT64: 2.0**1023}
INFINITY_BEGINS = {
    DataType.FLOAT16: 65520.0,
    DataType.FLOAT32: 2.0**128 - 2.0**103,
    DataType.FLOAT64: float(np.finfo(np.float64).max),
}
"""The smallest value that rounds to infinity: half a unit above the largest number. FLOAT64 cannot represent that, so
its entry is the largest number itself."""

HALF_ACCUMULATION = UNIT_ROUNDOFF[DataType.FLOAT16] / UNIT_ROUNDOFF[DataType.FLOAT32]
"""Factor on ``Result.error`` where FLOAT16 is accumulated in FLOAT16, as DirectML may (decision G5)."""


@np.errstate(all="ignore")
def allowed_error(result: Result, data_type: DataType, half_accumulation: bool = False) -> Floats:
    """The largest allowed absolute difference of each element; ``half_accumulation`` allows FLOAT16 sums in FLOAT16."""
    if result.error is None or not data_type.is_float:
        return result.bound
    factor = HALF_ACCUMULATION if half_accumulation and data_type is DataType.FLOAT16 else 1.0
    smallest = SMALLEST_NORMAL[data_type]

    def allowing(values: Array, error: Floats) -> tuple[Floats]:
        size = np.abs(values.astype(data_type.dtype, copy=False))
        known = np.isfinite(error)
        if factor != 1 or not known.all():
            error = factor * np.where(known, error, 0)
        allowed = spacing(size, data_type)
        np.maximum(allowed, smallest * (size - error < smallest), out=allowed)
        if np.isnan(size).any():
            allowed[np.isnan(size)] = 0
        allowed += error
        return (allowed,)

    allowed: Floats = in_blocks(allowing, result.values, result.error)[0]
    return allowed


def spacing(size: Array, data_type: DataType) -> Floats:
    """The distance from each positive number to the next larger one of its type, like ``np.spacing`` but much faster.

    It is computed from the bits of the exponent; infinity has the spacing of the largest number.
    """
    limits = np.finfo(str(data_type.dtype))
    bits = np.dtype(f"u{data_type.dtype.itemsize}")
    exponent = np.array(np.inf, data_type.dtype).view(bits)
    power = widen((np.ascontiguousarray(size).view(bits) & exponent).view(data_type.dtype))
    np.minimum(power, TOP_POWER[data_type], out=power)
    power *= float(limits.eps)
    return np.maximum(power, float(limits.smallest_subnormal), out=power)


@np.errstate(all="ignore")
def disagreements(
    got: Array,
    result: Result,
    data_type: DataType,
    half_accumulation: bool = False,
    allowed: Floats | None = None,
) -> Mask:
    """Where ``got`` differs from the reference by more than the allowed error.

    NaN matches only NaN, and an infinity only itself, unless the allowed error reaches the limit of the type.
    Unspecified elements always match. ``allowed`` is the result of :func:`allowed_error`, if the caller has it.
    """
    bad: Mask = got != result.values
    if not bad.any():
        return bad
    if result.error is not None:
        limit = allowed_error(result, data_type, half_accumulation) if allowed is None else allowed
        (far,) = in_blocks(lambda a, b, limit: (~(np.abs(widen(a) - b) <= limit),), got, result.values, limit)
        bad &= far
        if not bad.any():
            return bad
        edge = INFINITY_BEGINS[data_type] if data_type.is_float else np.inf
        have, want = (np.clip(widen(item), -edge, edge) for item in (got, result.values))
        bad &= ~(np.abs(have - want) <= limit)
    if data_type.is_float:
        bad &= ~(np.isnan(widen(got)) & np.isnan(widen(result.values)))
    return bad if result.unspecified is None else bad & ~result.unspecified
