"""Products of UINT8 with INT8 that only the run tells saturate on processors without VNNI, whatever a session asks for.

A session that asks for exact products of constants has them as UINT8, so a constant INT8 factor is as good as UINT8.
https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("multiplies_signed")
def multiplies_signed(e: Emitter, x: Tensor, w: Tensor) -> bool | None:
    """INT8 factors that are not constant are moved to UINT8."""
    return False if w.value is None and (x.dtype == np.uint8 or x.value is not None) else None
