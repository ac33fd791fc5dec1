"""AveragePool counts padding wrongly where it is not the same all around (ONNX Runtime 1.24)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.pools import inside_to_whole, is_filtered
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.legalise.windows import Pool

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x0) => (float[1,1,2,2] y) { y = AveragePool <count_include_pad: int = 1, "
        "kernel_shape: ints = [2, 2], pads: ints = [0, 0, 1, 1]> (x0) }",
        ((1, 2, 3, 4),),
        ((2.5, 1.5, 1.75, 1),),
        versions=((1, 24), (1, 25)),
    ),
)


@QUIRK.rule("AveragePool")
def average_pool(e: Emitter, x: Tensor, window: Window, *, count_include_pad: bool) -> Tensor | None:
    """The mean of the elements inside, and the divisor is corrected."""
    if not count_include_pad or len({*window.start, *window.end}) == 1:
        return None
    pool = Pool.over(x.shape[2:], window)
    if is_filtered(e, x, pool):
        return None
    e.budget.require(pool.table_size)
    e.note("the divisor is corrected: ONNX Runtime 1.24 counts padding wrongly where it is not the same all around")
    mean = e.AveragePool(x, window, count_include_pad=False)
    return e.Mul(mean, e.constant(inside_to_whole(pool), x.dtype))
