"""What looks for extremes of UINT32 takes it for INT32: 2**31 is the lowest (OpenVINO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.emitter.tensor import are_constant
from dml2onnx.legalise.extremes import as_signed, clipped
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(uint32[1] x, uint32[1] k) => (uint32[1] y) { y = Max (x, k) }",
        ((4294967295,), (85,)),
        ((4294967295,),),
    ),
)
_INT32, _UINT32 = np.dtype(np.int32), np.dtype(np.uint32)


@QUIRK.rule("Max")
def max_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Of INT32 in the same order."""
    return _extreme(e, items, e.Max)


@QUIRK.rule("Min")
def min_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Of INT32 in the same order."""
    return _extreme(e, items, e.Min)


def _extreme(e: Emitter, items: tuple[Tensor, ...], extreme: Callable[..., Tensor]) -> Tensor | None:
    if items[0].dtype != _UINT32 or len(items) == 1 or are_constant(items):
        return None
    signed = extreme(*(as_signed(e, item) for item in items))
    return e.Cast(e.Add(signed, e.constant(-(1 << 31), _INT32)), _UINT32)


@QUIRK.rule("Clip")
def clip(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor | None:
    """Max and Min."""
    return clipped(e, x, low, high) if x.dtype == _UINT32 and x.value is None else None


@QUIRK.rule("ArgMax")
def arg_max(e: Emitter, x: Tensor, axis: int, *, last: bool = False) -> Tensor | None:
    """Of INT32 in the same order."""
    return e.ArgMax(as_signed(e, x), axis, last=last) if x.dtype == _UINT32 and x.value is None else None


@QUIRK.rule("ArgMin")
def arg_min(e: Emitter, x: Tensor, axis: int, *, last: bool = False) -> Tensor | None:
    """Of INT32 in the same order."""
    return e.ArgMin(as_signed(e, x), axis, last=last) if x.dtype == _UINT32 and x.value is None else None


@QUIRK.rule("TopK")
def top_k(e: Emitter, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor] | None:
    """Of INT32 in the same order."""
    if x.dtype != _UINT32 or x.value is not None:
        return None
    _, indices = e.TopK(as_signed(e, x), k, axis, largest=largest)
    return e.GatherElements(x, indices, axis), indices
