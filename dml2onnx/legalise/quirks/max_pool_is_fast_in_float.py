"""MaxPool is fast in FLOAT only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.pools import max_pool_in_float, maxima_in_wider_type
from dml2onnx.legalise.rules import Kind, Quirk
from dml2onnx.onnx_model import FLOAT

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(Kind.SPEED)


@QUIRK.rule("MaxPool")
def max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """In FLOAT, or Max over slices for what that cannot hold."""
    return None if x.dtype == FLOAT else max_pool_in_float(e, x, window)


QUIRK.rule("MaxPoolWithIndices")(maxima_in_wider_type)
