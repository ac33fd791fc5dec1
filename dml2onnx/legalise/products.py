"""Products of INT8 with UINT8 in one type, which is exact: mixed ones saturate on some processors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.rules import Rule
from dml2onnx.onnx_model import ELEMENT_TYPES, INT8, UINT8, DType

SATURATING = {"ConvInteger": (INT8, UINT8), "MatMulInteger": (UINT8, INT8)}
"""Operand types whose products ONNX Runtime sums in pairs of 16 bits; its ConvInteger has the filter first."""


def of_bytes(operator: str) -> Rule:
    """ConvInteger or MatMulInteger of UINT8 if the products would saturate, or have no kernel."""

    def rule(e: Emitter, a: Tensor, b: Tensor, *others: Any) -> Tensor | None:
        types = (a.dtype, b.dtype)
        if types != SATURATING[operator] and has_product(e, operator, types):
            return None
        return multiplied_as_uint8(e, operator, a, b, *others)

    return rule


def multiplied_as_uint8(
    e: Emitter, operator: str, a: Tensor, b: Tensor, a_zero_point: Tensor, b_zero_point: Tensor, *others: Any
) -> Tensor | None:
    """ConvInteger or MatMulInteger with INT8 offset to UINT8; ``None`` without INT8."""
    if INT8 not in (a.dtype, b.dtype):
        return None
    a, a_zero_point, b, b_zero_point = (_as(e, item, UINT8) for item in (a, a_zero_point, b, b_zero_point))
    y: Tensor = getattr(e, operator)(a, b, a_zero_point, b_zero_point, *others)
    return y


def of_quantised(operator: str) -> Rule:
    """QLinearConv or QLinearMatMul with factors of one type, and the result too if kernels need that."""

    def rule(e: Emitter, inputs: Sequence[Tensor], *others: Any) -> Tensor | None:
        x, w, wanted = inputs[0].dtype, inputs[3].dtype, others[-1]
        dtype = x if has_product(e, operator, (x, x, x)) else UINT8
        if x == w == dtype and has_product(e, operator, (x, w, wanted)):
            return None
        return multiplied_as(e, operator, dtype, inputs, *others)

    return rule


def has_product(e: Emitter, operator: str, dtypes: Sequence[DType]) -> bool:
    """Whether there is a kernel for the types of both factors and, optionally, of the result."""
    types = (ELEMENT_TYPES[dtype][1] for dtype in dtypes)
    return e.target.has_kernel(operator, dict(zip(("T1", "T2", "T3"), types, strict=False)))


def multiplied_as(e: Emitter, operator: str, dtype: DType, inputs: Sequence[Tensor], *others: Any) -> Tensor:
    """QLinearConv or QLinearMatMul with both factors cast to ``dtype``."""
    x, x_scale, x_zero_point, w, w_scale, w_zero_point, scale, zero_point = inputs
    *rest, wanted = others
    output = wanted if has_product(e, operator, (dtype, dtype, wanted)) else dtype
    x, x_zero_point, w, w_zero_point = (_as(e, item, dtype) for item in (x, x_zero_point, w, w_zero_point))
    inputs = [x, x_scale, x_zero_point, w, w_scale, w_zero_point, scale, _as(e, zero_point, output)]
    return _as(e, getattr(e, operator)(inputs, *rest, output), wanted)


def _as(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Offsets bytes of the other signedness by 128."""
    if x.dtype == dtype:
        return x
    e.note(f"{x.dtype.name.upper()} is offset by 128 to {dtype.name.upper()}, in which products are exact, or faster")
    return e.raised(x) if dtype == UINT8 else e.lowered(x)
