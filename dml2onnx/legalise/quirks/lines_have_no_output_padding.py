"""ConvTranspose of one spatial dimension is refused with output_padding when the model is loaded (DirectML)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(Kind.NUMBERS)


@QUIRK.rule("ConvTranspose")
def conv_transpose(
    e: Emitter,
    x: Tensor,
    w: Tensor,
    b: Tensor | None,
    window: Window,
    group: int = 1,
    output_padding: tuple[int, ...] | None = None,
) -> Tensor | None:
    """A Pad, and the bias behind it."""
    if len(window.shape) > 1 or not output_padding or not any(output_padding):
        return None
    y = e.ConvTranspose(x, w, None, window, group)
    y = e.Pad(y, (0, 0, 0), (0, 0, *output_padding))
    return y if b is None else e.Add(y, e.Reshape(b, (1, b.size, 1)))
