"""Replacements, bit for bit, of operators for which a target has no kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce, wraps
from typing import Any, Literal

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.core import without_rules
from dml2onnx.emitter.recurrent import GateActivation
from dml2onnx.legalise import (
    attention,
    bits,
    division,
    indices,
    movements,
    powers,
    products,
    recurrent,
    reductions,
    regions,
    running,
    scans,
)
from dml2onnx.legalise.extremes import arg_extreme_as_signed, as_signed, clipped, top_k_by
from dml2onnx.legalise.formulas import layer_by_instances, normalized, plus, shrunk, times, wide
from dml2onnx.legalise.pools import average_pool, lp_pool, max_pool, max_pool_with_indices, max_unpool
from dml2onnx.legalise.rules import Rule
from dml2onnx.onnx_model import DOUBLE, FLOAT, INT32, UINT8, DType

RULES: dict[str, Rule] = {}
"""By ONNX operator."""


def _made_of(operator: str, *others: str, variable: str = "T") -> Callable[[Rule], Rule]:
    """Registers the replacement of an operator without a kernel, used if all of the others have one."""

    def mark(form: Rule) -> Rule:
        @wraps(form)
        def rule(e: Emitter, *args: Any, **kwargs: Any) -> Any:
            is_missing = e.takes_instead(operator, args[0].dtype, *others, variable=variable)
            return form(e, *args, **kwargs) if is_missing else None

        RULES[operator] = rule
        return form

    return mark


# --- extremes --------------------------------------------------------------------------------------------------------


@_made_of("Max", "Greater", "Equal", "Where")
def max_(e: Emitter, *items: Tensor) -> Tensor:
    """Comparisons."""
    return reduce(lambda a, b: _chosen(e, e.Greater, a, b), items)


@_made_of("Min", "Less", "Equal", "Where")
def min_(e: Emitter, *items: Tensor) -> Tensor:
    """Comparisons."""
    return reduce(lambda a, b: _chosen(e, e.Less, a, b), items)


def _chosen(e: Emitter, wins: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> Tensor:
    """Returns the operand that wins a comparison, or the one that is NaN."""
    if b.value is not None:
        a, b = b, a
    known = a.dtype.kind != "f" or (a.value is not None and not np.isnan(a.value).any())
    return e.Where(wins(a, b), a, b if known else e.Where(e.Equal(a, a), b, a))


@_made_of("Clip", "Less", "Greater", "Where")
def clip(e: Emitter, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor:
    """Max and Min."""
    return clipped(e, x, low, high)


@_made_of("Sign", "Greater", "Less", "Where")
def sign(e: Emitter, x: Tensor) -> Tensor:
    """Comparisons with 0."""
    zero, one = e.constant(0, x.dtype), e.constant(1, x.dtype)
    below = e.Where(e.Less(x, zero), e.Neg(one), x) if x.dtype.kind != "u" else x
    return e.Where(e.Greater(x, zero), one, below)


# --- logic -----------------------------------------------------------------------------------------------------------


@_made_of("Or", "And", "Not")
def or_(e: Emitter, a: Tensor, b: Tensor) -> Tensor:
    """``not (not a and not b)``."""
    return e.Not(e.And(e.Not(a), e.Not(b)))


@_made_of("Xor", "And", "Not")
def xor(e: Emitter, a: Tensor, b: Tensor) -> Tensor:
    """``(a or b) and not (a and b)``."""
    return e.And(e.Or(a, b), e.Not(e.And(a, b)))


@_made_of("IsNaN", "Equal", variable="T1")
def is_nan(e: Emitter, x: Tensor) -> Tensor:
    """``x != x``."""
    return e.Not(e.Equal(x, x))


def precise_type(e: Emitter) -> DType | None:
    """FLOAT if there is no arithmetic in DOUBLE."""
    return None if e.has_kernel("Pow", DOUBLE) else FLOAT


# --- functions -------------------------------------------------------------------------------------------------------


@_made_of("Mean", "Add", "Div")
def mean(e: Emitter, a: Tensor, b: Tensor) -> Tensor:
    """Half the sum."""
    return e.Div(e.Add(a, b), e.constant(2, a.dtype))


@_made_of("Softsign", "Abs", "Add", "Div")
def softsign(e: Emitter, x: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return e.Div(x, e.Add(e.Abs(x), e.constant(1, x.dtype)))


@_made_of("Selu", "Elu", "Mul")
def selu(e: Emitter, x: Tensor, alpha: float, gamma: float) -> Tensor:
    """Elu times a factor."""
    return e.Mul(e.Elu(x, alpha), e.constant(gamma, x.dtype))


@_made_of("LogSoftmax", "Exp", "Log", "ReduceMax", "ReduceSum", "Sub")
def log_softmax(e: Emitter, x: Tensor, axis: int) -> Tensor:
    """``x - max - ln(sum(exp(x - max)))``."""
    moved = e.Sub(x, e.ReduceMax(x, (axis,)))
    return e.Sub(moved, e.Log(e.ReduceSum(e.Exp(moved), (axis,))))


@_made_of("PRelu", "GreaterOrEqual", "Where", "Mul")
def prelu(e: Emitter, x: Tensor, slope: Tensor) -> Tensor:
    """``x`` times 1 or the slope."""
    return e.Mul(x, e.Where(e.GreaterOrEqual(x, e.constant(0, x.dtype)), e.constant(1, x.dtype), slope))


def gelu(e: Emitter, x: Tensor) -> Tensor | None:
    """``0.5 * x * (1 + erf(x / sqrt(2)))``."""
    if e.opset < 20:
        e.note("Gelu is new in opset 20; ONNX Runtime fuses these nodes into one")
        e.suggest_opset(20, "Gelu")
    elif e.takes_instead("Gelu", x.dtype, "Add", "Div", "Erf", "Mul"):
        e.note("Gelu has no kernel: Erf and its neighbors replace it")
    else:
        return None
    # a NaN in x makes the product NaN, whatever Erf returns
    erf = without_rules(e.Erf, e.Div(x, e.constant(math.sqrt(2), x.dtype)))
    return e.Mul(e.Mul(x, e.Add(erf, e.constant(1, x.dtype))), e.constant(0.5, x.dtype))


def swish(e: Emitter, x: Tensor, alpha: float) -> Tensor | None:
    """``x * sigmoid(alpha * x)``: ONNX Runtime has Swish in opset 24 only."""
    if alpha == 0 and not e.exact:  # exactly, 0 times infinity is NaN
        return e.Mul(x, e.constant(0.5, x.dtype))
    if e.has_kernel("Swish", x.dtype):
        return None
    return e.Mul(x, e.Sigmoid(e.Mul(x, e.constant(alpha, x.dtype))))


def hard_swish(e: Emitter, x: Tensor, alpha: float, beta: float) -> Tensor | None:
    """``x * HardSigmoid(x)``."""
    if (np.float32(alpha), beta) == (np.float32(1 / 6), 0.5) and e.has_kernel("HardSwish", x.dtype):
        return None
    if alpha == 0 and not e.exact:  # exactly, 0 times infinity is NaN
        return e.Mul(x, e.constant(min(max(beta, 0), 1), x.dtype))
    return e.Mul(x, e.HardSigmoid(x, alpha, beta))


def rms_normalization(e: Emitter, x: Tensor, scale: Tensor, axis: int, epsilon: float) -> Tensor:
    """The formula, FLOAT16 in FLOAT."""
    e.suggest_opset(23, "RMSNormalization")
    return times(e, normalized(e, x, range(axis, x.rank), epsilon, use_mean=False), scale)


def instance_normalization(e: Emitter, x: Tensor, scale: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """The formula, FLOAT16 in FLOAT."""
    factor, term = (e.Reshape(item, (item.size, *(1,) * (x.rank - 2))) for item in (scale, bias))
    return plus(e, times(e, normalized(e, x, range(2, x.rank), epsilon), factor), term)


def lp_normalization(e: Emitter, x: Tensor, axis: int, p: int, epsilon: float) -> Tensor:
    """``x / norm``, where ``0 / 0`` is 0."""
    y = wide(e, x)
    norm = e.ReduceSum(e.Abs(y), (axis,)) if p == 1 else e.Sqrt(e.ReduceSum(e.Mul(y, y), (axis,)))
    return e.Cast(e.Div(y, e.Max(norm, e.constant(np.finfo(y.dtype.name).tiny, y.dtype))), x.dtype)


INEXACT: Mapping[str, frozenset[str]] = {
    "RNN": frozenset({"Softplus", "ScaledTanh", "Sigmoid", "Tanh"}),
    "GRU": frozenset({"Softplus", "ScaledTanh"}),
    "LSTM": frozenset({"Softplus", "ScaledTanh"}),
}
"""Activations for which the CPU provider's kernels, the fallback of all targets, are too imprecise.

ScaledTanh, and Tanh in RNN, subtract numbers near 1, which leaves few digits near 0. The absolute error of Sigmoid is
acceptable in a gate, which is a factor, but in RNN it is the result.
"""


def gates(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation] | None:
    """Requests steps instead of the operator if an activation is inexact."""
    if e.has_kernel(operator, dtype) or INEXACT[operator].isdisjoint(item.name for item in activations):
        return None
    e.note(f"the target has no {operator}, and the CPU's is imprecise for its activations")
    return ()


# --- movements -------------------------------------------------------------------------------------------------------


def space_to_depth(e: Emitter, x: Tensor, block: int) -> Tensor | None:
    """Two Transposes."""
    if x.value is None and e.has_kernel("SpaceToDepth", x.dtype):
        return None
    return movements.gathered_depth(e, x, block, "DCR")


def depth_to_space(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor | None:
    """Two Transposes."""
    is_there = x.value is None and e.has_kernel("DepthToSpace", x.dtype)
    return None if is_there else movements.spread_depth(e, x, block, mode)


# --- UINT64 ----------------------------------------------------------------------------------------------------------


def _is_missing(e: Emitter, operator: str, x: Tensor) -> bool:
    return x.dtype == np.uint64 and x.value is None and not e.has_kernel(operator, x.dtype)


def arg_extreme(operator: str, e: Emitter, x: Tensor, axis: int, *, last: bool = False) -> Tensor | None:
    """ArgMax or ArgMin of UINT64 mapped to INT64 in the same order."""
    return arg_extreme_as_signed(operator, e, x, axis, last=last) if _is_missing(e, operator, x) else None


def top_k(e: Emitter, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor] | None:
    """TopK of UINT64 mapped to INT64 in the same order."""
    return top_k_by(e, as_signed(e, x), x, k, axis, largest=largest) if _is_missing(e, "TopK", x) else None


# --- quantisation ----------------------------------------------------------------------------------------------------


def quantize_linear(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None) -> Tensor | None:
    """Div, Round, Add, Clip and Cast."""
    if e.supports("QuantizeLinear", x.dtype, "T1"):
        return None
    limits = np.iinfo(zero_point.dtype.name)
    y = e.Round(e.Div(x, _along(e, scale, axis, x.rank)))
    y = e.Add(y, e.Cast(_along(e, zero_point, axis, x.rank), x.dtype))
    return e.Cast(e.Clip(y, float(limits.min), float(limits.max)), zero_point.dtype)


def dequantize_linear(
    e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor, axis: int | None = None, **_: bool
) -> Tensor | None:
    """Cast, Sub and Mul."""
    if e.supports("DequantizeLinear", x.dtype, _type_of_dequantized(e)):
        return None
    x = e.Sub(e.Cast(x, INT32), e.Cast(_along(e, zero_point, axis, x.rank), INT32))
    return e.Mul(e.Cast(x, scale.dtype), _along(e, scale, axis, x.rank))


def dequantizes(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """False without a kernel: integer products have better replacements than DequantizeLinear has."""
    return None if e.has_kernel("DequantizeLinear", x.dtype, _type_of_dequantized(e)) else False


def multiplies_quantised(e: Emitter, op: str, dtypes: tuple[DType, ...], *, known: bool) -> bool | None:
    """Whether there is a kernel, possibly for UINT8 only."""
    if products.has_product(e, op, dtypes):
        return None
    return None if products.has_product(e, op, (UINT8,) * 3) and not e.casts_saturate() else False


def stores_nibbles(e: Emitter, dtype: DType) -> bool | None:
    """Whether Cast widens 4-bit integers, which it does from opset 21 on."""
    return None if e.has_kernel("Cast", dtype, "T1") else False


def _type_of_dequantized(e: Emitter) -> str:
    return "T1" if e.opset >= 19 else "T"


def _along(e: Emitter, x: Tensor, axis: int | None, rank: int) -> Tensor:
    """Reshapes a vector to broadcast along an axis; returns a scalar unchanged."""
    return x if axis is None else e.Reshape(x, (x.size, *(1,) * (rank - axis - 1)))


MISSING: Mapping[str, Rule] = {
    "BitwiseNot": bits.inverted,
    "CumProd": running.cum_prod,
    "InstanceNormalization": instance_normalization,
    "LayerNormalization": layer_by_instances,
    "LpNormalization": lp_normalization,
    "RMSNormalization": rms_normalization,
    "Shrink": shrunk,
    "TensorScatter": attention.tensor_scatter,
    "Tile": movements.repeated,
}
"""The replacement of an operator without a kernel for the type of its first tensor."""


def _where_missing(operator: str, form: Rule) -> Rule:
    @wraps(form)
    def rule(e: Emitter, x: Tensor, *args: Any, **kwargs: Any) -> Any:
        return None if e.has_kernel(operator, x.dtype) else form(e, x, *args, **kwargs)

    return rule


RULES |= {
    **{operator: _where_missing(operator, form) for operator, form in MISSING.items()},
    **{operator: products.of_bytes(operator) for operator in ("ConvInteger", "MatMulInteger")},
    **{operator: products.of_quantised(operator) for operator in ("QLinearConv", "QLinearMatMul")},
    "AveragePool": average_pool,
    "LpPool": lp_pool,
    "MaxPool": max_pool,
    "MaxPoolWithIndices": max_pool_with_indices,
    "MaxUnpool": max_unpool,
    "ArgMax": partial(arg_extreme, "ArgMax"),
    "ArgMin": partial(arg_extreme, "ArgMin"),
    "Attention": attention.attention,
    "BitCast": bits.bit_cast,
    **{operator: partial(bits.bitwise, table) for operator, table in bits.TABLES.items()},
    "Col2Im": movements.col2im,
    "by_indices": indices.by_constants,
    "DepthToSpace": depth_to_space,
    "Div": division.divide,
    "DequantizeLinear": dequantize_linear,
    "dequantizes": dequantizes,
    "gates": gates,
    "multiplies_quantised": multiplies_quantised,
    "recurrent": recurrent.stepped,
    "precise_type": precise_type,
    "stores_nibbles": stores_nibbles,
    "Gelu": gelu,
    "HardSwish": hard_swish,
    "reversed": movements.reversed_by_place,
    "Scan": scans.scan,
    "Mod": division.remainder,
    "OneHot": movements.one_hot,
    "Pad": movements.pad,
    "Pow": powers.power,
    "QuantizeLinear": quantize_linear,
    "ReduceMax": partial(reductions.reduce_extreme, "ReduceMax"),
    "ReduceMin": partial(reductions.reduce_extreme, "ReduceMin"),
    "ReduceProd": reductions.reduce_prod,
    "ReduceSum": reductions.reduce_sum,
    "RoiAlign": regions.roi_align,
    "SpaceToDepth": space_to_depth,
    "Swish": swish,
    "TopK": top_k,
}
