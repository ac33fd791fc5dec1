"""Replacements of Clip, ReduceMax and ReduceMin, for rules that avoid these."""

from __future__ import annotations

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.reductions import merged, shrunk


def clipped(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor:
    """Clip by Max and Min."""
    x = x if low is None else e.Max(x, e.constant(low, x.dtype))
    return x if high is None else e.Min(x, e.constant(high, x.dtype))


def at_extremes(e: Emitter, operator: str, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """ReduceMax or ReduceMin by ArgMax or ArgMin along one axis at a time; neighboring axes are merged."""
    find = e.ArgMax if operator == "ReduceMax" else e.ArgMin
    y, inner = merged(e, x, axes) if len(axes) > 1 else (x, axes)
    for axis in inner:
        y = e.GatherElements(y, find(y, axis), axis)
    return e.Reshape(y, shrunk(x, axes))


def as_signed(e: Emitter, x: Tensor) -> Tensor:
    """Maps UINT32 or UINT64 to signed integers in the same order by flipping the sign bit."""
    signed = np.dtype(f"int{8 * x.dtype.itemsize}")
    return e.Add(e.Cast(x, signed), e.constant(np.iinfo(signed.name).min, signed))
