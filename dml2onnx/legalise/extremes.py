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


def arg_extreme_as_signed(operator: str, e: Emitter, x: Tensor, axis: int, **how: bool) -> Tensor:
    """ArgMax or ArgMin of unsigned integers as signed ones."""
    found: Tensor = getattr(e, operator)(as_signed(e, x), axis, **how)
    return found


def top_k_by(e: Emitter, keys: Tensor, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor]:
    """TopK of ``x`` in the order of ``keys``."""
    _, indices = e.TopK(keys, k, axis, largest=largest)
    return e.GatherElements(x, indices, axis), indices


def as_signed(e: Emitter, x: Tensor) -> Tensor:
    """Maps UINT32 or UINT64 to signed integers in the same order by flipping the sign bit."""
    signed = np.dtype(f"int{8 * x.dtype.itemsize}")
    return e.Add(e.Cast(x, signed), e.constant(np.iinfo(signed.name).min, signed))
