"""An operator between DequantizeLinear and QuantizeLinear is one kernel of integers (QNN).

By themselves the two have hardly any kernels, so the table of the target is without them; parameters are constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.codes.compiling import IN_UNITS
from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(Kind.SPEED)


@QUIRK.rule("dequantizes")
def dequantizes(e: Emitter, x: Tensor, *, known: bool = False) -> bool | None:
    """Inputs, constants, and what another unit gives; QDQ behind a Cast, Reshape or Slice of integers is refused."""
    return True if known and (x.is_input or x.value is not None or x.steps is not None) else None


@QUIRK.rule("MaxPool")
def max_pool(e: Emitter, x: Tensor, window: Window) -> Tensor | None:
    """Between two units, of the same numbers: a Cast would part the second one from its input."""
    if x.steps is None:
        return None
    e.note(IN_UNITS)
    scale, zero_point = x.steps
    y = e.QuantizeLinear(e.MaxPool(e.DequantizeLinear(x, scale, zero_point), window), scale, zero_point)
    y.steps = x.steps
    return y
