"""TOP_K, TOP_K1, CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import INT64


def along(node: Operands, e: Emitter, axes: Iterable[int]) -> Tensor:
    """Returns InputTensor with ``axes`` in full size; other broadcast axes have size 1."""
    x, sizes, full = node.broadcastable("InputTensor"), node.op.tensor("InputTensor").sizes, set(axes)
    return e.Expand(x, tuple(sizes[i] if i in full else size for i, size in enumerate(x.shape)))


# --- TOP_K -----------------------------------------------------------------------------------------------------------


@lowers("TOP_K", "TOP_K1")
def top_k(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The K largest (with INCREASING: smallest) elements along Axis in order, and their indices: TopK.

    Equal elements keep their order in either direction [decision R13]; NaN comes last [decision R14].
    """
    axis = node.op.uint("Axis")
    largest = not node.op.has("AxisDirection") or node.op.enum("AxisDirection") == "DECREASING"
    values, indices = e.TopK(along(node, e, [axis]), node.op.uint("K"), axis, largest=largest)
    return {"OutputValueTensor": values, "OutputIndexTensor": indices}


# --- running sums and products ---------------------------------------------------------------------------------------


@lowers("CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT")
def cumulative(node: Operands, e: Emitter) -> Tensor:
    """Running sums or products along Axis, with or without the element itself: CumSum, CumProd.

    Integers wrap [decisions R16 to R18].
    """
    axis, reverse = node.op.uint("Axis"), node.op.enum("AxisDirection") == "DECREASING"
    x = along(node, e, [axis])
    if node.op.type == "CUMULATIVE_SUMMATION":
        return e.CumSum(node.widened(x), axis, exclusive=node.op.flag("HasExclusiveSum"), reverse=reverse)
    # ONNX multiplies signed integers, whose products have the same low bits
    wide = node.widened(x) if x.dtype.kind == "f" else e.Cast(x, INT64 if x.dtype.itemsize == 8 else np.dtype(np.int32))
    y = e.CumProd(wide, axis, exclusive=node.op.flag("HasExclusiveProduct"), reverse=reverse)
    return y if x.dtype.kind == "f" else e.Cast(y, x.dtype)
