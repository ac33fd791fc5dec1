"""AveragePool counts padding, whatever count_include_pad says (WebNN of Chromium, on LiteRT).

Padding as TensorFlow Lite's SAME has it comes out right by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.pools import whole_to_inside
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.legalise.windows import Pool

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x) => (float[1,1,2,2] y) { y = AveragePool <kernel_shape = [2, 2], pads = [1, 1, 0, 0]> (x) }",
        ((4.0, 4.0, 4.0, 4.0),),
        ((4.0, 4.0, 4.0, 4.0),),
    ),
)


@QUIRK.rule("AveragePool")
def average_pool(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """The mean over padding that is real, times how much larger the one without is."""
    pool = Pool.over(x.shape[2:], window)
    if count_include_pad or not pool.is_padded or pool.window.is_dilated:
        return None
    e.note("AveragePool counts what is in the padding")
    e.budget.require(pool.table_size)
    none = (0,) * len(window.shape)
    padded = e.Pad(x, (0, 0, *window.start), (0, 0, *window.end))
    mean = e.AveragePool(padded, window._replace(start=none, end=none), count_include_pad=False)
    return e.Mul(mean, e.constant(whole_to_inside(pool), x.dtype))
