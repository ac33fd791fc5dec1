"""LpPool over padding gives more than there is: the mean of what is inside, times the whole window (WebNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.pools import norms
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x) => (float[1,1,2,2] y) { y = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
        ((1.0, 1.0, 1.0, 1.0),),
        ((2.0, 2.0, 2.0, 2.0),),
    ),
)


@QUIRK.rule("LpPool")
def lp_pool(e: Emitter, x: Tensor, window: Window, p: int) -> Tensor | None:
    """Sums between powers."""
    if not any((*window.start, *window.end)):
        return None
    e.note("LpPool counts what is in the padding")
    return norms(e, x, window, p)
