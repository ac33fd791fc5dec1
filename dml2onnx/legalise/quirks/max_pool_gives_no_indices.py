"""MaxPool has one output; a model that asks for indices is refused when it runs (WebGPU)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.pools import searched
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.legalise.windows import Pool

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2] x) => (float[1,1,1] y, int64[1,1,1] i) { y, i = MaxPool <kernel_shape = [2]> (x) }",
        ((1, 2),),
        ((2,), (1,)),
        says="pool.cc",
    ),
)


@QUIRK.rule("MaxPoolWithIndices")
def max_pool_with_indices(e: Emitter, x: Tensor, window: Window) -> tuple[Tensor, Tensor]:
    """Windows gathered side by side, and ArgMax over them."""
    return searched(e, x, Pool.over(x.shape[2:], window))
