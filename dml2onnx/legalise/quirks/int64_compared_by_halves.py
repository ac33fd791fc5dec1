"""INT64 numbers whose upper halves are equal are compared by their lower halves as if those were signed.

So 2**31 is less than 1 in Max, Min, Clip, Sign, ReduceMax and ReduceMin of ONNX Runtime 1.24 to 1.31 on x86. Greater,
Less, Equal, ArgMax and all UINT64 kernels are right. Any session may place a node on the CPU provider.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from dml2onnx.emitter.core import Traits
from dml2onnx.emitter.tensor import are_constant
from dml2onnx.legalise.extremes import at_extremes, clipped
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import DOUBLE, INT64

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(int64[16] x0, int64[16] x1) => (int64[16] y) { y = Max (x0, x1) }",
        ((2147483648,) * 16, (1,) * 16),
        ((2147483648,) * 16,),
        versions=((1, 24), (1, 32)),
    ),
)


@QUIRK.rule("Max")
def max_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Where."""
    if items[0].dtype != INT64 or are_constant(items):
        return None
    return reduce(lambda a, b: e.Where(e.Greater(a, b), a, b), items)


@QUIRK.rule("Min")
def min_(e: Emitter, *items: Tensor) -> Tensor | None:
    """Where."""
    if items[0].dtype != INT64 or are_constant(items):
        return None
    return reduce(lambda a, b: e.Where(e.Less(a, b), a, b), items)


@QUIRK.rule("Clip")
def clip(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor | None:
    """Max and Min, of which each is a Where."""
    return clipped(e, x, low, high) if x.dtype == INT64 and x.value is None else None


@QUIRK.rule("Sign")
def sign(e: Emitter, x: Tensor) -> Tensor | None:
    """Two comparisons."""
    if x.dtype != INT64:
        return None
    zero = e.constant(0, INT64)
    return e.Sub(e.Cast(e.Greater(x, zero), INT64), e.Cast(e.Less(x, zero), INT64))


@QUIRK.rule("ReduceMax")
def reduce_max(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """What ArgMax finds; what would be widened to INT64 is compared as DOUBLE."""
    if x.dtype == INT64:
        return at_extremes(e, x, axes, e.ArgMax)
    if _is_widened(e, "ReduceMax", x):
        return e.Cast(e.ReduceMax(e.Cast(x, DOUBLE), axes), x.dtype)
    return None


@QUIRK.rule("ReduceMin")
def reduce_min(e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """As :func:`reduce_max`."""
    if x.dtype == INT64:
        return at_extremes(e, x, axes, e.ArgMin)
    if _is_widened(e, "ReduceMin", x):
        return e.Cast(e.ReduceMin(e.Cast(x, DOUBLE), axes), x.dtype)
    return None


def _is_widened(e: Emitter, operator: str, x: Tensor) -> bool:
    return e.supports(operator, x.dtype) and e.legal(operator, Traits(), x.dtype) == INT64
