"""A ConvTranspose that has the weights of a Conv in front of it takes them as that one has laid them out (OpenVINO).

So an encoder and a decoder with tied weights give other numbers; two initializers of the same contents do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,2,1,1] x) => (float[1,2,1,1] y) <float[2,2,1,1] w = {1, 2, 3, 4}> { z = Conv (x, w) "
        "y = ConvTranspose (z, w) }",
        ((1, 5),),
        ((80, 114),),
    ),
)


@QUIRK.rule("ConvTranspose")
def conv_transpose(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """Weights of its own."""
    if w.value is None or w.reader:
        return None
    own = replace(w, stored=None, reader="ConvTranspose")
    return e.ConvTranspose(x, own, b, window, group)
