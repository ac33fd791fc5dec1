"""BatchNormalization, LayerNormalization and LRN."""

from __future__ import annotations

from math import inf, nan

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.formulas import (
    by_instances,
    has_finite_factor,
    layer_by_instances,
    loses_little,
    lrn,
    plus,
    times,
    with_statistics,
)
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown

BATCH_NORMALIZATION_FOLDS_THE_MEAN = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[1,1,2] x0, float[1] x1, float[1] x2, float[1] x3, float[1] x4) => (float[1,1,2] y) { y = "
        "BatchNormalization <epsilon: float = 0> (x0, x1, x2, x3, x4) }",
        ((4096, 4097), (0.1,), (0,), (4096.25,), (0.7,)),
        ((-0.029880716, 0.089642145),),
        digits=1e-05,
    ),
)
"""BatchNormalization multiplies x by a factor and adds a term, which loses precision if the mean is large.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/batch_norm.cc
"""


@BATCH_NORMALIZATION_FOLDS_THE_MEAN.rule("BatchNormalization")
def batch_normalization(
    e: Emitter, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor | None:
    """Subtracts the mean first, unless all parameters are known and the loss is small.

    Uses the plain formula if there may be a division by 0, where the folded mean would yield NaN.
    """
    column = (mean.size, *(1,) * (x.rank - 2))
    if epsilon <= 0 and not has_finite_factor(e, variance, scale, epsilon):
        mean, variance, scale, bias = (e.Reshape(item, column) for item in (mean, variance, scale, bias))
        return with_statistics(e, x, mean, variance, scale, bias, epsilon)
    if loses_little(e, mean, variance, scale, bias, epsilon):
        return None
    e.note("the mean is subtracted before BatchNormalization, which loses precision if the mean is large")
    centred = e.Sub(x, e.Reshape(mean, column))
    zero = e.constant(np.zeros(mean.shape, x.dtype))
    return e.BatchNormalization(centred, scale, bias, zero, variance, epsilon)


LAYER_NORMALIZATION_SQUARES_THE_MEAN = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[1,2] x, float[2] s) => (float[1,2] y) { y = LayerNormalization <axis = 1, epsilon = 0.0> (x, s) }",
        ((16384, 16385), (1, 1)),
        ((-1, 1),),
        digits=1e-3,
        versions=((1, 24), (1, 25)),
    ),
)
"""LayerNormalization subtracts the square of the mean from the mean of the squares (ONNX Runtime 1.24).

That leaves no correct digit, or NaN, if the mean is large compared with the deviation. GroupNormalization, which is
expanded to it, does the same.
https://github.com/microsoft/onnxruntime/blob/v1.24.4/onnxruntime/core/providers/cpu/nn/layer_norm_impl.cc
"""
LAYER_NORMALIZATION_SQUARES_THE_MEAN.rule("LayerNormalization")(layer_by_instances)


@LAYER_NORMALIZATION_SQUARES_THE_MEAN.rule("GroupNormalization")
def group_normalization(e: Emitter, x: Tensor, scale: Tensor, bias: Tensor, groups: int, epsilon: float) -> Tensor:
    """InstanceNormalization, then scale and bias."""
    y = e.Reshape(x, (x.shape[0], groups, x.size // (x.shape[0] * groups)))
    y = e.Reshape(by_instances(e, y, 2, epsilon), x.shape)
    column = (x.shape[1], *(1,) * (x.rank - 2))
    return plus(e, times(e, y, e.Reshape(scale, column)), e.Reshape(bias, column))


LRN_LOSES_SMALL_ELEMENTS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[3,3,1,1] x) => (float[3,3,1,1] y) { y = LRN <alpha = 1.0, beta = 1.0, bias = 0.0, size = 1> (x) }",
        ((1.5, 1e-3, 2) * 3,),
        ((1 / 1.5, 1e3, 0.5) * 3,),
        digits=1e-6,
    ),
)
"""LRN subtracts squares that leave its window, so small squares next to large ones lose precision (ONNX Runtime).

This is visible unless the bias dominates the sum.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.cc
"""


@LRN_LOSES_SMALL_ELEMENTS.rule("LRN")
def lrn_of_small_elements(e: Emitter, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor | None:
    """Sums of slices of channels."""
    return None if alpha <= bias * size else lrn(e, x, size, alpha, beta, bias)


LRN_SUBTRACTS_WHAT_IT_ADDED = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[1,4,1,1] x0) => (float[1,4,1,1] y) { y = LRN <alpha: float = 1, beta: float = 1, bias: "
        "float = 1, size: int = 3> (x0) }",
        ((inf, 1, 1, 1),),
        ((nan, 0, 0.6, 0.6),),
        digits=1e-06,
    ),
)
"""LRN subtracts squares that leave its window, even infinite ones, and is several times as slow as sums of slices.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.cc
"""
LRN_SUBTRACTS_WHAT_IT_ADDED.rule("LRN")(lrn)


LRN_WANTS_ODD_SIZES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[2,2,1,1] x) => (float[2,2,1,1] y) { y = LRN <alpha = 2.0, beta = 1.0, bias = 1.0, size = 2> (x) }",
        ((1, 2, 1, 2),),
        ((1 / 6, 0.4, 1 / 6, 0.4),),
        says="size_ % 2 == 1 was false",
        digits=1e-6,
    ),
)
"""LRN refuses an even size, and an alpha or a beta that is not positive (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/lrn.h
"""


@LRN_WANTS_ODD_SIZES.rule("LRN")
def lrn_of_any_size(e: Emitter, x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor | None:
    """Sums of slices of channels."""
    return None if size % 2 and alpha > 0 and beta > 0 and bias >= 0 else lrn(e, x, size, alpha, beta, bias)
