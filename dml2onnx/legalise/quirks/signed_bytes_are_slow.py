"""Products of INT8 with INT8 take five times as long as those of UINT8 with UINT8 on x86 processors (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/mlas/lib/platform.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.legalise.products import multiplied_as
from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.legalise.rules import Rule

QUIRK = Quirk(Kind.SPEED)


def _of_uint8(operator: str) -> Rule:
    def rule(e: Emitter, inputs: Sequence[Tensor], *others: Any) -> Tensor | None:
        if inputs[0].dtype != np.int8 or e.casts_saturate():
            return None
        return multiplied_as(e, operator, np.dtype(np.uint8), inputs, *others)

    return rule


QUIRK.rule("QLinearConv")(_of_uint8("QLinearConv"))
QUIRK.rule("QLinearMatMul")(_of_uint8("QLinearMatMul"))
