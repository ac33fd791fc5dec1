"""ConvTranspose refuses output_padding from the stride on, which ONNX allows below a larger dilation (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/conv_transpose_attributes.h
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.quirks.lines_have_no_output_padding import padded_behind
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1] x, float[1,1,1] w) => (float[1,1,2] y) { y = ConvTranspose <dilations = [2], strides = [1], "
        "kernel_shape = [1], output_padding = [1]> (x, w) }",
        ((3,), (5,)),
        ((15, 0),),
        says="output_padding (1) may be too large for stride (1)",
        versions=((1, 25), (9, 0)),
    ),
)


@QUIRK.rule("ConvTranspose")
def conv_transpose(
    e: Emitter,
    x: Tensor,
    w: Tensor,
    b: Tensor | None,
    window: Window,
    group: int = 1,
) -> Tensor | None:
    """A Pad, and the bias behind it."""
    extra = window.output_padding
    if all(n < step for n, step in zip(extra, window.strides, strict=bool(extra))):
        return None
    return padded_behind(e, x, w, b, window, group)
