"""Pow with special exponents, of integers, and with DirectML's edge cases [decisions E18 to E20]."""

from __future__ import annotations

import math

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.tensor import broadcast_shape
from dml2onnx.legalise.formulas import truncated
from dml2onnx.onnx_model import DOUBLE, INT32


def _known(exponent: Tensor) -> float | None:
    """The single known exponent of all elements, if any."""
    return None if exponent.value is None or exponent.size != 1 else float(exponent.value.item())


def power(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """The base, Sqrt, Reciprocal or ones; integers other than INT32 in double precision."""
    base, exponent, known = a, b, _known(b)
    if known == 1 and exponent.rank <= base.rank:
        return base
    if base.dtype.kind != "f":
        return None if base.dtype == INT32 else _of_integers(e, base, exponent)
    if known is None or exponent.rank > base.rank:
        return None
    if known == 0:
        return e.ConstantOfShape(base.shape, 1, base.dtype)
    # Sqrt is NaN at -inf, as the power is
    return {0.5: e.Sqrt, -1: e.Reciprocal}[known](base) if known in (0.5, -1) else None


def exact_power(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """0 for base 0; NaN where ``b * log |a|`` is, and for negative bases with fractional exponents."""
    base, exponent, known = a, b, _known(b)
    if known == 1 or len(e.applying) > 1:  # formulas of other rules avoid the edge cases
        return None
    if base.dtype.kind != "f":
        return _of_integers(e, base, exponent)
    if base.value is not None and not base.value.any():
        return e.ConstantOfShape(broadcast_shape(base.shape, exponent.shape), 0, base.dtype)
    if exponent.is_integral and base.value is not None and (base.value > 0).all():
        return None
    if known is not None and (known == 0.5 or (known > 0 and known.is_integer())):
        return None
    y, zero, nan = e.Pow(base, exponent), e.constant(0, base.dtype), e.constant(math.nan, base.dtype)
    if known is None or known == 0 or not math.isfinite(known):
        e.note("powers of 0 are 0; others are NaN where the exponent times the logarithm is")
        exponent = e.Cast(exponent, base.dtype)
        lost = e.IsNaN(e.Mul(exponent, e.Log(base if base.is_never_negative else e.Abs(base))))
        if not base.is_never_negative:
            is_whole = e.Equal(e.Sub(exponent, e.Floor(exponent)), zero)
            lost = e.Or(lost, e.And(e.Less(base, zero), e.Not(is_whole)))
        return e.Where(e.Equal(base, zero), zero, e.Where(lost, nan, y))
    if not known.is_integer() and not base.is_never_negative:
        y = e.Where(e.Less(base, zero), nan, y)
    return e.Where(e.Equal(base, zero), zero, y) if known < 0 else y


def _of_integers(e: Emitter, base: Tensor, exponent: Tensor) -> Tensor:
    """Double precision, which holds all integers of these types, then truncation; overflow is up to the driver
    [decision E19]."""
    e.note("integer powers are computed in double precision, then truncated")
    y, known = e.Pow(e.Cast(base, DOUBLE), e.Cast(exponent, DOUBLE)), _known(exponent)
    if exponent.dtype.kind != "f" or (known is not None and known.is_integer()):
        return truncated(e, e.Round(y), base.dtype)
    none = e.Or(e.IsNaN(y), e.Equal(base, e.constant(0, base.dtype))) if e.exact else e.IsNaN(y)
    return truncated(e, e.Where(none, e.constant(0, DOUBLE), y), base.dtype)
