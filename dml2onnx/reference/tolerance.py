"""How far a conforming result may be from the reference.

The tolerance is derived, not chosen. What an evaluation does before its last rounding is bounded by the reference
itself (``Result.error``): nothing for data movement, selection and integers; ``n u`` times the sum of magnitudes
for a sum of ``n`` products in any order; for formulas with exp, tanh or erf the accuracy that DirectML promises
(1e-5 of the result, decision G13) and a few roundings of the largest intermediate value; and a fused activation
passes on what its slope makes of the sum's error. On top comes the rounding to the output type, which may fall the
other way when the value before it lies near the middle: one unit in the last place. Numbers below the smallest
normal one may be flushed to 0 (decision G8).
"""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import UNIT_ROUNDOFF
from dml2onnx.reference.numeric import widen
from dml2onnx.reference.registry import Array, Floats, Mask, Result

SMALLEST_NORMAL = {
    DataType.FLOAT16: float(np.finfo(np.float16).smallest_normal),
    DataType.FLOAT32: float(np.finfo(np.float32).smallest_normal),
    DataType.FLOAT64: float(np.finfo(np.float64).smallest_normal),
}
TOP_POWER = {DataType.FLOAT16: 2.0**15, DataType.FLOAT32: 2.0**127, DataType.FLOAT64: 2.0**1023}
# Half a unit beyond the largest number (of FLOAT64, that number, as nothing beyond it can be written).
INFINITY_BEGINS = {
    DataType.FLOAT16: 65520.0,
    DataType.FLOAT32: 2.0**128 - 2.0**103,
    DataType.FLOAT64: float(np.finfo(np.float64).max),
}
"""The first value that rounds to infinity, for which an infinity stands."""

HALF_ACCUMULATION = UNIT_ROUNDOFF[DataType.FLOAT16] / UNIT_ROUNDOFF[DataType.FLOAT32]
"""Factor on ``Result.error`` where FLOAT16 is accumulated in FLOAT16, as DirectML may (decision G5)."""


@np.errstate(all="ignore")
def allowed_error(result: Result, data_type: DataType, half_accumulation: bool = False) -> Floats:
    """The largest absolute difference per element; 0 where the result has to be equal.

    ``half_accumulation`` admits providers that sum FLOAT16 tensors in FLOAT16.
    """
    if result.error is None:
        return np.zeros(result.values.shape)
    if not data_type.is_float:
        return result.error
    size = np.abs(result.values.astype(data_type.dtype))
    # all numbers from the last power of two on are spaced alike, the largest too, above which numpy sees infinity
    with np.errstate(invalid="ignore"):
        spacing = widen(np.spacing(np.minimum(size, data_type.dtype.type(TOP_POWER[data_type]))))
    error = _zero_where(~np.isfinite(result.error), result.error)
    if half_accumulation and data_type is DataType.FLOAT16:
        error = HALF_ACCUMULATION * error
    smallest = SMALLEST_NORMAL[data_type]
    flushed = size - error < smallest
    rounding = _zero_where(np.isnan(size), spacing)
    return error + (np.where(flushed, np.maximum(rounding, smallest), rounding) if flushed.any() else rounding)


def _zero_where(mask: Mask, values: Floats) -> Floats:
    return np.where(mask, 0, values) if mask.any() else values


@np.errstate(all="ignore")
def disagreements(
    got: Array,
    result: Result,
    data_type: DataType,
    half_accumulation: bool = False,
    allowed: Floats | None = None,
) -> Mask:
    """Where ``got`` is not what the reference allows; NaN has to be NaN, and an infinity an infinity.

    Except that a finite number may stand for one, or the reverse, where the allowed error reaches across the limit
    of the type. Unspecified elements never disagree. ``allowed`` is what :func:`allowed_error` gives, where somebody
    has asked it already.
    """
    bad: Mask = got != result.values
    if not bad.any():
        return bad
    if result.error is not None:
        want, have = widen(result.values), widen(got)
        with np.errstate(all="ignore"):
            edge = INFINITY_BEGINS[data_type] if data_type.is_float else np.inf
            distance = np.abs(np.clip(have, -edge, edge) - np.clip(want, -edge, edge))
            limit = allowed_error(result, data_type, half_accumulation) if allowed is None else allowed
            bad &= ~(distance <= limit)
    if data_type.is_float:
        bad &= ~(np.isnan(widen(got)) & np.isnan(widen(result.values)))
    return bad if result.unspecified is None else bad & ~result.unspecified
