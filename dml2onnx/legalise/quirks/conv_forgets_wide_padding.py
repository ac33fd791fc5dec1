"""Windows of a Conv that lie wholly in padding give what happens to be in memory.

Where they are several, on processors without AVX-512 (OpenVINO).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,4,6] x) => (float[1,1,4,8] y) <float[1,1,1,2] w = {1, 1}> { y = Conv <pads = [0, 3, "
        "0, 0]> (x, w) }",
        ((1,) * 24,),
        ((0, 0, 1, 2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 2),),
    ),
)


@QUIRK.rule("Conv")
def conv(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """Zeros around the result for windows that meet nothing; a Pad before it would become its own."""
    if x.value is not None:
        return None
    outside = [(0, 0), (0, 0)]
    narrow = window
    for axis, size in enumerate(x.shape[2:]):
        before, behind = window.in_padding(axis, size)
        if before + behind >= window.output_size(axis, size):
            before = behind = 0
        narrow = narrow.without(axis, size, before, behind)
        outside.append((before, behind))
    if narrow == window:
        return None
    start, end = zip(*outside, strict=True)
    result = e.Pad(e.Conv(x, w, None, narrow, group), start, end)
    return result if b is None else e.Add(result, e.Reshape(b, (b.size, *(1,) * len(window.shape))))
