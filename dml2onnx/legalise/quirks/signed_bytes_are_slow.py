"""Products of INT8 with INT8 take five times as long as those of UINT8 with UINT8 on x86 processors (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/platform.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.legalise.products import multiplied_as, multiplied_as_uint8
from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.legalise.rules import Rule

QUIRK = Quirk(Kind.SPEED)


def _of_integers(operator: str) -> Rule:
    def rule(e: Emitter, *inputs: Any) -> Tensor | None:
        return None if e.casts_saturate() else multiplied_as_uint8(e, operator, *inputs)

    return rule


def _of_quantised(operator: str) -> Rule:
    def rule(e: Emitter, inputs: Sequence[Tensor], *others: Any) -> Tensor | None:
        if inputs[0].dtype != np.int8 or e.casts_saturate():
            return None
        return multiplied_as(e, operator, np.dtype(np.uint8), inputs, *others)

    return rule


for name in ("ConvInteger", "MatMulInteger"):
    QUIRK.rule(name)(_of_integers(name))
for name in ("QLinearConv", "QLinearMatMul"):
    QUIRK.rule(name)(_of_quantised(name))
