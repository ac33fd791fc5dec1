"""Col2Im of three dimensions takes dilations wrongly, and stops in some shapes (ONNX Runtime; the latter 1.24).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/col2im.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.movements import image_of_columns
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,4,1] x) => (float[1,1,1,2,3] y) <int64[3] i = {1,2,3}, int64[3] b = {1,2,2}> { y = Col2Im "
        "<dilations = [1, 1, 2]> (x, i, b) }",
        ((1, 2, 3, 4),),
        ((1, 0, 2, 3, 0, 4),),
    ),
)


@QUIRK.rule("Col2Im")
def col2im(e: Emitter, x: Tensor, image: tuple[int, ...], window: Window) -> Tensor | None:
    """ScatterElements adds them up."""
    return None if len(image) <= 2 else image_of_columns(e, x, image, window)
