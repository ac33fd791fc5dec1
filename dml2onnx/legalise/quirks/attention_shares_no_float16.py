"""Attention of FLOAT16 reads beyond keys and values that heads share, where none is past (ONNX Runtime 1.24).

It takes them as if each head had its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dml2onnx.legalise.attention import attended
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import FLOAT16

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
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


@QUIRK.rule("Attention")
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
    e.note("ONNX Runtime 1.24 computes Attention of FLOAT16 wrongly where heads share keys: it is MatMul and Softmax")
    return attended(e, query, key, value, mask, past, heads=heads, **how)
