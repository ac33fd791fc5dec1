"""Max, Min, Clip, TopK, Where and other comparing operators."""

from __future__ import annotations

from functools import partial, reduce
from math import nan

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.core import Keeps, Traits, without_rules
from dml2onnx.emitter.tensor import are_constant, broadcast_shape
from dml2onnx.legalise.extremes import arg_extreme_as_signed, as_signed, at_extremes, clipped, top_k_by
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import DOUBLE, FLOAT, FLOAT16, INT32, INT64, UINT32, has_unknown

CLIP_SPELLS_OUT_INFINITY = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1,1] x) => (float[1,1,1,1] y) <float[1,1,1,1] w = {2}, float low = {1}, float high = "
        "{inf}> { z = Conv (x, w) y = Clip (z, low, high) }",
        ((3,),),
        ((6,),),
        says="is invalid due to a previous error",
    ),
)
"""Clip with an infinite bound is fused into a preceding Conv, which then fails to compile (WebGPU)."""


@CLIP_SPELLS_OUT_INFINITY.rule("Clip")
def clip_at_one_bound(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor | None:
    """Max or Min for a single bound: Clip would replace the other by the largest number."""
    if x.value is not None or x.dtype.kind != "f":
        return None
    low, high = None if low == -np.inf else low, None if high == np.inf else high
    return clipped(e, x, low, high) if low is None or high is None else None


EXTREMES_END_AT_5 = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(int32[2,2,2,2,2,2] x) => (int32[2,2,2,2,2,2] y) <int32 k = {2}> { y = Min (x, k) }",
        ((3,) * 64,),
        ((2,) * 64,),
        "the process ended",
    ),
)
"""Max and Min of integers in more than five dimensions are refused when the model is loaded (QNN).

Other nodes with such tensors run on the CPU, which DML2009 reports.
"""
MOST_DIMENSIONS = 5


@EXTREMES_END_AT_5.each("Max", "Min")
def extreme_of_rows(operator: str, e: Emitter, *items: Tensor) -> Tensor | None:
    """Flattens the operands, or uses Greater or Less and Where."""
    shape = broadcast_shape(*(item.shape for item in items))
    if len(shape) <= MOST_DIMENSIONS or items[0].dtype.kind == "f" or len(items) != 2 or are_constant(items):
        return None
    a, b = items
    if has_unknown(shape) or any(item.size > 1 and item.shape != shape for item in items):
        return _chosen(operator, e, a, b)
    rows = (e.Reshape(item, (item.size,)) for item in items)
    return e.Reshape(getattr(e, operator)(*rows), shape)


def _chosen(operator: str, e: Emitter, a: Tensor, b: Tensor) -> Tensor:
    return e.Where(e.Greater(a, b) if operator == "Max" else e.Less(a, b), a, b)


INT64_COMPARED_BY_HALVES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(int64[16] x0, int64[16] x1) => (int64[16] y) { y = Max (x0, x1) }",
        ((2147483648,) * 16, (1,) * 16),
        ((2147483648,) * 16,),
        versions=((1, 24), (1, 32)),
    ),
)
"""INT64 numbers with equal upper halves are compared by their lower halves as signed numbers.

So 2**31 is less than 1 in Max, Min, Clip, Sign, ReduceMax and ReduceMin of ONNX Runtime 1.24 to 1.31 on x86. Greater,
Less, Equal, ArgMax and all UINT64 kernels are right. Any session may place a node on the CPU provider.
"""


@INT64_COMPARED_BY_HALVES.each("Max", "Min")
def extreme_of_int64(operator: str, e: Emitter, *items: Tensor) -> Tensor | None:
    """Where."""
    if items[0].dtype != INT64 or are_constant(items):
        return None
    return reduce(partial(_chosen, operator, e), items)


@INT64_COMPARED_BY_HALVES.rule("Clip")
def clip_of_int64(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor | None:
    """Max and Min, each a Where."""
    return clipped(e, x, low, high) if x.dtype == INT64 and x.value is None else None


@INT64_COMPARED_BY_HALVES.rule("Sign")
def sign_of_int64(e: Emitter, x: Tensor) -> Tensor | None:
    """Two comparisons."""
    if x.dtype != INT64:
        return None
    zero = e.constant(0, INT64)
    return e.Sub(e.Cast(e.Greater(x, zero), INT64), e.Cast(e.Less(x, zero), INT64))


@INT64_COMPARED_BY_HALVES.each("ReduceMax", "ReduceMin")
def reduced_int64(operator: str, e: Emitter, x: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """ArgMax or ArgMin; types that would be widened to INT64 are compared as DOUBLE."""
    if x.dtype == INT64:
        return at_extremes(e, operator, x, axes)
    if e.supports(operator, x.dtype) and e.legal(operator, Traits(), x.dtype) == INT64:
        return e.Cast(getattr(e, operator)(e.Cast(x, DOUBLE), axes), x.dtype)
    return None


UINT32_COMPARED_AS_INT32 = Quirk(
    RuleKind.NUMBERS,
    Shown("(uint32[1] x, uint32[1] k) => (uint32[1] y) { y = Max (x, k) }", ((4294967295,), (85,)), ((4294967295,),)),
)
"""Operators that find extremes treat UINT32 as INT32: 2**31 is the lowest number (OpenVINO)."""


@UINT32_COMPARED_AS_INT32.each("Max", "Min")
def extreme_of_uint32(operator: str, e: Emitter, *items: Tensor) -> Tensor | None:
    """Maps to INT32 in the same order."""
    if items[0].dtype != UINT32 or len(items) == 1 or are_constant(items):
        return None
    signed: Tensor = getattr(e, operator)(*(as_signed(e, item) for item in items))
    return e.Cast(e.Add(signed, e.constant(-(1 << 31), INT32)), UINT32)


@UINT32_COMPARED_AS_INT32.rule("Clip")
def clip_of_uint32(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor | None:
    """Max and Min."""
    return clipped(e, x, low, high) if x.dtype == UINT32 and x.value is None else None


@UINT32_COMPARED_AS_INT32.each("ArgMax", "ArgMin")
def index_of_uint32(operator: str, e: Emitter, x: Tensor, axis: int, **how: bool) -> Tensor | None:
    """Maps to INT32 in the same order."""
    return arg_extreme_as_signed(operator, e, x, axis, **how) if x.dtype == UINT32 and x.value is None else None


@UINT32_COMPARED_AS_INT32.rule("TopK")
def top_k_of_uint32(e: Emitter, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor] | None:
    """Maps to INT32 in the same order."""
    if x.dtype != UINT32 or x.value is not None:
        return None
    return top_k_by(e, as_signed(e, x), x, k, axis, largest=largest)


TOP_K_LOSES_ITS_WAY_AT_NAN = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[8] x0, int64[1] x1) => (float[3] y) { y, places = TopK (x0, x1) }",
        ((nan, 1, nan, 3, 2, nan, -1, 0), (3,)),
        ((3, 2, 1),),
    ),
)
"""TopK compares with C++ operators, which do not order NaN.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/math/top_k.cc
"""


@TOP_K_LOSES_ITS_WAY_AT_NAN.rule("TopK")
def top_k_of_floats(e: Emitter, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor] | None:
    """Sorts in the next wider type: infinities become finite, and NaN the infinity that comes last."""
    if x.dtype.kind != "f":
        return None
    e.note("sorted in a wider type, in which NaN becomes the infinity that comes last")
    wide = FLOAT if x.dtype == FLOAT16 else DOUBLE
    limit = float(np.finfo(np.float32).max if wide == FLOAT else np.finfo(np.float64).max)
    last = e.constant(-np.inf if largest else np.inf, wide)
    keys = e.Where(e.IsNaN(x), last, e.Clip(e.Cast(x, wide), -limit, limit))
    return top_k_by(e, keys, x, k, axis, largest=largest)


WHERE_LOSES_MINUS_ZERO = Quirk(
    RuleKind.EDGES,
    Shown(
        "(bool[1] x0, float[1] x1, float[1] x2) => (float[1] y) { y = Where (x0, x1, x2) }",
        ((True,), (-0.0,), (1,)),
        ((-0.0,),),
    ),
)
"""Where sets the operand that is not chosen to 0, then takes ``y`` if ``x`` is 0: -0.0 becomes 0.0.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/where_op.cc
"""


@WHERE_LOSES_MINUS_ZERO.rule("Where")
def where(e: Emitter, condition: Tensor, x: Tensor, y: Tensor, *, no_minus_zero: bool = False) -> Tensor | None:
    """Makes the operand that may be -0.0 ``y``.

    If both may be, replaces the unchosen elements of each by minus infinity, and takes the maximum.
    """
    if x.dtype.kind != "f" or no_minus_zero or x.is_never_minus_zero:
        return None
    # not by Not: ONNX Runtime removes it and swaps the operands
    otherwise = e.Equal(condition, e.constant(False))
    if y.is_never_minus_zero:
        return e.Where(otherwise, y, x)
    wide = e.legal("Where", Traits(keeps=Keeps.BITS), x.dtype)
    lowest = e.constant(-np.inf, wide)
    first, second = (e.Cast(item, wide) for item in (x, y))
    return e.Cast(e.Max(e.Where(otherwise, lowest, first), e.Where(condition, lowest, second)), x.dtype)


@WHERE_LOSES_MINUS_ZERO.each("Max", "Min")
def extreme_of_zeros(operator: str, e: Emitter, *items: Tensor) -> Tensor | None:
    """Prevents the replacement of a missing kernel by Where if -0.0 matters, since Where itself needs Max here."""
    if items[0].dtype.kind != "f":
        return None
    if len(items) == 2 and any(item.value is not None and item.is_never_minus_zero for item in items):
        return None
    return without_rules(e.Max if operator == "Max" else e.Min, *items)
