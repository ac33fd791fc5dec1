"""Products of matrices and of 8-bit integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.attention import attended
from dml2onnx.legalise.products import multiplied_as, multiplied_as_uint8
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import FLOAT16, UINT8

ATTENTION_SHARES_NO_FLOAT16 = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float16[2,1,2] q, float16[2,1,1] k, float16[2,1,1] v) => (float16[2,1,2] y) "
        "{ y = Attention <q_num_heads = 2, kv_num_heads = 1, scale = 1.0> (q, k, v) }",
        ((0, 0, 0, 0), (1, 1), (3, 5)),
        ((3, 3, 5, 5),),
        digits=1e-2,
        versions=((1, 24), (1, 25)),
        opset=23,
    ),
)
"""FLOAT16 Attention without past keys reads out of bounds if heads share keys and values (ONNX Runtime 1.24).

It assumes separate keys and values for each head.
"""


@ATTENTION_SHARES_NO_FLOAT16.rule("Attention")
def attention(
    e: Emitter,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    past: tuple[Tensor, Tensor] | None,
    *,
    heads: tuple[int, int],
    **how: Any,
) -> list[Tensor] | None:
    """MatMul and Softmax."""
    if query.dtype != FLOAT16 or heads[0] == heads[1] or past is not None:
        return None
    if not e.has_kernel("Attention", query.dtype, "T1"):
        return None
    e.note("ONNX Runtime 1.24 miscomputes FLOAT16 Attention with shared keys: MatMul and Softmax replace it")
    return attended(e, query, key, value, mask, past, heads=heads, **how)


GEMM_WANTS_C = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1] a, float[1,1] b) => (float[1,1] y) { p = Gemm (a, b) y = Elu (p) }",
        ((2,), (3,)),
        ((6,),),
        says="DmlFusedGemm",
    ),
)
"""Gemm without C before an activation is refused when the model is loaded (DirectML).

The two are fused into an operator that needs three inputs.
"""


@GEMM_WANTS_C.rule("Gemm")
def gemm(e: Emitter, a: Tensor, b: Tensor, c: Tensor | None, **attributes: Any) -> Tensor | None:
    """Adds a C of minus zero, which changes nothing."""
    return None if c is not None else e.Gemm(a, b, e.constant(-0.0, a.dtype), **{**attributes, "beta": 1.0})


PAIRS_OF_BYTES_SATURATE = Quirk(RuleKind.SPEED)
"""Products of UINT8 with INT8 are summed in pairs of 16 bits, which saturate, on processors without VNNI.

With VNNI they take less than half the time of UINT8 with UINT8, so the pass ``sign-weights`` lets the session choose
when it loads the model.
https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
"""


@PAIRS_OF_BYTES_SATURATE.rule("multiplies_signed")
def multiplies_signed_constants(e: Emitter, x: Tensor, w: Tensor) -> bool | None:
    """Constant INT8 factors of UINT8 become UINT8."""
    return False if w.value is not None and x.dtype == np.uint8 else None


UNKNOWN_PAIRS_OF_BYTES_SATURATE = Quirk(RuleKind.NUMBERS)
"""Products of UINT8 with INT8 known only at run time saturate without VNNI, whatever the session options are.

Sessions with the option for exact products convert constant INT8 factors to UINT8, so constants need no rule.
https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
"""


@UNKNOWN_PAIRS_OF_BYTES_SATURATE.rule("multiplies_signed")
def multiplies_signed_others(e: Emitter, x: Tensor, w: Tensor) -> bool | None:
    """INT8 factors that are not constant become UINT8."""
    return False if w.value is None and (x.dtype == np.uint8 or x.value is not None) else None


SIGNED_BYTES_ARE_SLOW = Quirk(RuleKind.SPEED)
"""Products of INT8 with INT8 take five times as long as those of UINT8 with UINT8 on x86 processors (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/platform.cpp
"""


@SIGNED_BYTES_ARE_SLOW.each("ConvInteger", "MatMulInteger")
def product_of_bytes(operator: str, e: Emitter, *inputs: Any) -> Tensor | None:
    """The product in UINT8."""
    return None if e.casts_saturate() else multiplied_as_uint8(e, operator, *inputs)


@SIGNED_BYTES_ARE_SLOW.each("QLinearConv", "QLinearMatMul")
def quantised_product(operator: str, e: Emitter, inputs: Sequence[Tensor], *others: Any) -> Tensor | None:
    """The product in UINT8."""
    if inputs[0].dtype != np.int8 or e.casts_saturate():
        return None
    return multiplied_as(e, operator, UINT8, inputs, *others)


SCALES_OF_ROWS_ARE_FUSED = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(uint8[1,1,2,1] a, uint8[1,1,1,1] b, float[1,1,2,1] s, float[1,1,1,1] t) => (float[1,1,2,1] y) "
        "<uint8 k = {128}> { p = MatMulInteger (a, b, k, k) f = Cast <to = 1> (p) r = Mul (s, t) y = Mul "
        "(f, r) }",
        ((128, 129), (130,), (1, 2), (1,)),
        ((0, 4),),
        says="80070057",
    ),
)
"""MatMulInteger, Cast, and Mul by a product of two scales are fused into one operator (DirectML).

With one scale per row and a single zero point it is refused when the model is loaded.
"""


@SCALES_OF_ROWS_ARE_FUSED.rule("scaled")
def scaled(e: Emitter, x: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Multiplies by one scale at a time."""
    return e.Mul(e.Mul(x, first), second)
