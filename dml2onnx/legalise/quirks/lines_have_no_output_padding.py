"""ConvTranspose of one spatial dimension is refused with output_padding when the model is loaded (DirectML)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,1] x, float[1,1,1] w) => (float[1,1,2] y) { y = ConvTranspose <strides = [2], "
        "output_padding = [1]> (x, w) }",
        ((3,), (5,)),
        ((15, 0),),
        says="80070057",
    ),
)


@QUIRK.rule("ConvTranspose")
def conv_transpose(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A Pad, and the bias behind it."""
    if len(window.shape) > 1 or not any(window.output_padding):
        return None
    return padded_behind(e, x, w, b, window, group)


def padded_behind(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int) -> Tensor:
    """ConvTranspose without the bias, zeros behind the end of each dimension, and then the bias."""
    extra = window.output_padding
    y = e.ConvTranspose(x, w, None, window._replace(output_padding=()), group)
    y = e.Pad(y, (0,) * y.rank, (0, 0, *extra))
    return y if b is None else e.Add(y, e.Reshape(b, (1, b.size, *(1,) * len(extra))))
