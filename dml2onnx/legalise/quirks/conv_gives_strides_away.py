"""The strides of a Conv whose filters have one element are moved to what is in front of it, and get lost (OpenVINO)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1,1] x) => (float[1,1,1,2] y) <float[1,1,1,1] w = {1}> { z = Abs (x) y = Conv "
        "<strides = [1, 2], pads = [0, 1, 0, 1]> (z, w) }",
        ((3,),),
        ((0, 0),),
    ),
)


@QUIRK.rule("Conv")
def conv(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A Slice takes the strides."""
    if max(window.shape) > 1 or max(window.strides) == 1 or x.value is not None:
        return None
    x = e.Pad(x, (0, 0, *window.start), (0, 0, *window.end))
    x = e.Slice(x, (0,) * x.rank, x.shape, (1, 1, *window.strides))
    ones, zeros = (1,) * len(window.shape), (0,) * len(window.shape)
    return e.Conv(x, w, b, Window(ones, ones, ones, zeros, zeros), group)
