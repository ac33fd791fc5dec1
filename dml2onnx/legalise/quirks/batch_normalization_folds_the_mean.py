"""BatchNormalization multiplies x by a factor and adds a term, which loses digits where the mean is large.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/batch_norm.cc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.formulas import has_finite_factor, loses_little, with_statistics
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1,1,2] x0, float[1] x1, float[1] x2, float[1] x3, float[1] x4) => (float[1,1,2] y) { y = "
        "BatchNormalization <epsilon: float = 0> (x0, x1, x2, x3, x4) }",
        ((4096, 4097), (0.1,), (0,), (4096.25,), (0.7,)),
        ((-0.029880716, 0.089642145),),
        digits=1e-05,
    ),
)


@QUIRK.rule("BatchNormalization")
def batch_normalization(
    e: Emitter, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor | None:
    """The mean is subtracted before it, unless all is known and little gets lost.

    The formula it is where numbers may be divided by 0, of which the folded mean would make NaN.
    """
    column = (mean.size, *(1,) * (x.rank - 2))
    if epsilon <= 0 and not has_finite_factor(e, variance, scale, epsilon):
        mean, variance, scale, bias = (e.Reshape(item, column) for item in (mean, variance, scale, bias))
        return with_statistics(e, x, mean, variance, scale, bias, epsilon)
    if loses_little(e, mean, variance, scale, bias, epsilon):
        return None
    e.note("the mean is subtracted before BatchNormalization, which loses digits where the mean is large")
    centred = e.Sub(x, e.Reshape(mean, column))
    zero = e.constant(np.zeros(mean.shape, x.dtype))
    return e.BatchNormalization(centred, scale, bias, zero, variance, epsilon)
