"""Products of INT8 as those of UINT8, which are exact: sums of products of both saturate on some processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.legalise.rules import Rule
    from dml2onnx.onnx_model import DType

INT8: DType = np.dtype(np.int8)


def of_bytes(operator: str) -> Rule:
    """ConvInteger or MatMulInteger of both factors moved up."""

    def rule(
        e: Emitter, a: Tensor, b: Tensor, a_zero_point: Tensor, b_zero_point: Tensor, *others: Any
    ) -> Tensor | None:
        if INT8 not in (a.dtype, b.dtype):
            return None
        a, a_zero_point = _raised(e, a, a_zero_point)
        b, b_zero_point = _raised(e, b, b_zero_point)
        made: Tensor = getattr(e, operator)(a, b, a_zero_point, b_zero_point, *others)
        return made

    return rule


def of_quantised(operator: str) -> Rule:
    """QLinearConv or QLinearMatMul of the second factor moved up."""

    def rule(e: Emitter, inputs: Sequence[Tensor], *others: Any) -> Tensor | None:
        *first, w, scale, zero_point, after_scale, after_zero_point = inputs
        if w.dtype != INT8:
            return None
        w, zero_point = _raised(e, w, zero_point)
        inputs = [*first, w, scale, zero_point, after_scale, after_zero_point]
        made: Tensor = getattr(e, operator)(inputs, *others)
        return made

    return rule


def _raised(e: Emitter, x: Tensor, zero_point: Tensor) -> tuple[Tensor, Tensor]:
    if x.dtype != INT8:
        return x, zero_point
    e.note("INT8 is moved up by 128 to UINT8, of which products are exact on every processor")
    return e.raised(x), e.raised(zero_point)
