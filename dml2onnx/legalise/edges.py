"""DirectML's results for NaN, infinities, zeros and out-of-range indices where ONNX differs or is silent.

Default models leave these open: only exact models use these rules, before all others.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise import division, indices, movements, powers, recurrent, regions
from dml2onnx.legalise.attention import attended, is_attention, masked
from dml2onnx.legalise.formulas import over_norm, truncated
from dml2onnx.legalise.pools import exact_max_unpool, lowest_of
from dml2onnx.legalise.rules import Rule
from dml2onnx.onnx_model import FLOAT, FLOAT16, DType

LARGE = 1e37
"""Attention may take larger addends of scores for a mask, and returns 0 for a row that is all masked."""


# --- NaN ------------------------------------------------------------------------------------------------------------


def _is_number(x: Tensor) -> bool:
    return x.dtype.kind != "f" or x.is_bounded or (x.value is not None and not np.isnan(x.value).any())


def unless_nan(e: Emitter, x: Tensor, y: Tensor, instead: Tensor | float) -> Tensor | None:
    """Where, unless NaN is impossible."""
    if _is_number(x):
        return None
    return e.Where(e.IsNaN(x), e.constant(instead, y.dtype) if isinstance(instead, (int, float)) else instead, y)


def from_lowest(e: Emitter, x: Tensor, most: float | None = None) -> Tensor | None:
    """Where and Clip [decisions G1, P7]."""
    if x.dtype.kind != "f" or (x.is_bounded and most is None):
        return None
    lowest = lowest_of(x.dtype)
    if x.value is not None and bool((x.value >= lowest).all()):  # False for NaN
        return None
    above = e.Clip(e.Where(e.IsNaN(x), e.constant(lowest, x.dtype), x), lowest, most)
    above.is_bounded = True
    return above


def thresholded_relu(e: Emitter, x: Tensor, alpha: float) -> Tensor:
    """NaN stays."""
    low = e.constant(alpha, x.dtype)
    return e.Where(e.LessOrEqual(x, low), e.constant(0, x.dtype), x, no_minus_zero=True)


def asinh(e: Emitter, x: Tensor) -> Tensor | None:
    """NaN at -infinity, as in DirectML's formula [decision G12]."""
    if x.is_bounded:
        return None
    y = e.Asinh(x)
    return e.Where(e.Equal(x, e.constant(-math.inf, x.dtype)), e.constant(math.nan, x.dtype), y)


def mod(e: Emitter, a: Tensor, b: Tensor, *, truncates: bool = False) -> Tensor | None:
    """NaN where the divisor is infinite [decision E4]."""
    if b.dtype.kind != "f" or not (b.value is None or np.isinf(b.value).any()):
        return None
    result = e.Mod(a, b, truncates=truncates)
    e.note("modulo an infinite divisor is NaN, as in DirectML")
    return e.Where(e.IsInf(b), e.constant(math.nan, b.dtype), result, no_minus_zero=True)


def lp_normalization(e: Emitter, x: Tensor, axis: int, p: int, epsilon: float) -> Tensor:
    """The plain formula, in which squares and sums may overflow to infinity and NaN."""
    return e.Cast(over_norm(e, x, axis, p, epsilon), x.dtype)


# --- integers --------------------------------------------------------------------------------------------------------


def to_integers(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Saturates; NaN becomes 0 [decisions E9, E10]."""
    x = e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x
    return truncated(e, e.Where(e.IsNaN(x), e.constant(0, x.dtype), x), dtype)


def of_existing(e: Emitter, x: Tensor, indices: Tensor, count: int) -> Tensor:
    """Regions of nonexistent images are 0 [decision O11]."""
    e.note("regions of nonexistent images are set to 0")
    is_there = e.Reshape(e.Less(indices, e.constant(count, indices.dtype)), (indices.size, *(1,) * (x.rank - 1)))
    return e.Where(is_there, x, e.constant(0, x.dtype))


def bit_shift(e: Emitter, a: Tensor, b: Tensor, direction: Literal["LEFT", "RIGHT"]) -> Tensor | None:
    """Shifts by the count modulo the width; 8 and 16 bits count as 32 [decision E14]."""
    if b.value is not None and b.value.max() < 8 * a.dtype.itemsize:
        return None
    width = 64 if a.dtype.itemsize == 8 else 32
    wide = np.dtype(f"uint{width}")
    count = e.Mod(e.Cast(b, wide), e.constant(width, wide))
    shifted = e.BitShift(e.Cast(a, wide), count, direction)
    if direction == "LEFT" and a.dtype != wide and e.casts_saturate():
        shifted = e.Mod(shifted, e.constant(1 << 8 * a.dtype.itemsize, wide))
    return e.Cast(shifted, a.dtype)


# --- others ----------------------------------------------------------------------------------------------------------


def attention(
    e: Emitter, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *others: Any, **how: Any
) -> list[Tensor] | None:
    """MatMul and Softmax, unless the addend of the scores is known not to be a mask."""
    if mask is None or not is_attention(e, mask, how["heads"], how["scale"]):
        return None
    if mask.value is not None and bool((np.abs(mask.value.astype(np.float64)) < LARGE).all()):
        return None
    e.note("Attention may treat the addend of the scores as a mask: MatMul and Softmax replace it")
    return attended(e, query, key, value, mask, *others, **how)


def multiplies_quantised(e: Emitter, op: str, dtypes: tuple[DType, ...], *, known: bool) -> bool | None:
    """Scales computed at run time may be negative or NaN."""
    return None if known else False


RULES: dict[str, Rule] = {
    "Asinh": asinh,
    "Attention": attention,
    "BitShift": bit_shift,
    "Div": division.divide_by_zero,
    "LpNormalization": lp_normalization,
    "MaxUnpool": exact_max_unpool,
    "Mod": mod,
    "OneHot": movements.chosen_of_two,
    "Pow": powers.exact_power,
    "reversed": movements.reversed_by_place,
    "RoiAlign": regions.exact_roi_align,
    "ThresholdedRelu": thresholded_relu,
    "by_indices": indices.by_computed,
    "from_lowest": from_lowest,
    "masked": masked,
    "multiplies_quantised": multiplies_quantised,
    "of_existing": of_existing,
    "recurrent": recurrent.of_lengths,
    "rounds_pairs": lambda e: True,  # fused pairs may be off by one quantization step
    "to_integers": to_integers,
    "unless_nan": unless_nan,
}
"""By ONNX operator or emitter query."""
