"""LayerNormalization subtracts the square of the mean from the mean of the squares (ONNX Runtime 1.24).

That leaves no digit, or NaN, where the mean is large against the deviation. So does GroupNormalization, as a function.
https://github.com/microsoft/onnxruntime/blob/v1.24.4/onnxruntime/core/providers/cpu/nn/layer_norm_impl.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.formulas import by_instances, layer_by_instances, plus, times
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1,2] x, float[2] s) => (float[1,2] y) { y = LayerNormalization <axis = 1, epsilon = 0.0> (x, s) }",
        ((16384, 16385), (1, 1)),
        ((-1, 1),),
        digits=1e-3,
        versions=((1, 24), (1, 25)),
    ),
)


QUIRK.rule("LayerNormalization")(layer_by_instances)


@QUIRK.rule("GroupNormalization")
def group_normalization(e: Emitter, x: Tensor, scale: Tensor, bias: Tensor, groups: int, epsilon: float) -> Tensor:
    """InstanceNormalization, and scale and bias behind it."""
    y = e.Reshape(x, (x.shape[0], groups, x.size // (x.shape[0] * groups)))
    y = e.Reshape(by_instances(e, y, 2, epsilon), x.shape)
    column = (x.shape[1], *(1,) * (x.rank - 2))
    return plus(e, times(e, y, e.Reshape(scale, column)), e.Reshape(bias, column))
