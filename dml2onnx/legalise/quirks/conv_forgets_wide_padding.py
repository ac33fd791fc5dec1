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


def in_padding(window: Window, axis: int, size: int) -> tuple[int, int]:
    """How many windows lie wholly in front of the elements, and how many wholly behind them."""
    step, extent, start = window.strides[axis], window.extent(axis), window.start[axis]
    # those that begin in the padding, even if a stride is longer than a window
    before = min((start - extent) // step + 1, start // step) if start >= extent else 0
    reached = -(-(start + size) // step)
    return before, max(window.output_size(axis, size) - max(reached, before), 0)


def without(window: Window, axis: int, size: int, before: int, behind: int) -> Window:
    """The same without that many windows at the start and at the end of an axis, all of them in padding."""
    start = window.start[axis] - before * window.strides[axis]
    last = (window.output_size(axis, size) - before - behind - 1) * window.strides[axis]
    end = max(last + window.extent(axis) - start - size, 0) if behind else window.end[axis]
    return window._replace(
        start=(*window.start[:axis], start, *window.start[axis + 1 :]),
        end=(*window.end[:axis], end, *window.end[axis + 1 :]),
    )


@QUIRK.rule("Conv")
def conv(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """Zeros around the result for windows that meet nothing; a Pad before it would become its own."""
    if x.value is not None:
        return None
    outside = [(0, 0), (0, 0)]
    narrow = window
    for axis, size in enumerate(x.shape[2:]):
        before, behind = in_padding(window, axis, size)
        if before + behind >= window.output_size(axis, size):
            before = behind = 0
        narrow = without(narrow, axis, size, before, behind)
        outside.append((before, behind))
    if narrow == window:
        return None
    start, end = zip(*outside, strict=True)
    result = e.Pad(e.Conv(x, w, None, narrow, group), start, end)
    return result if b is None else e.Add(result, e.Reshape(b, (b.size, *(1,) * len(window.shape))))
