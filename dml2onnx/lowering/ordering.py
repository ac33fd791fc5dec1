"""TOP_K, TOP_K1, CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: what runs along one axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import INT64


def along(node: Operands, e: Emitter, axes: Iterable[int]) -> Tensor:
    """InputTensor with ``axes`` in full; all others that only repeat their elements have size 1."""
    x, sizes = node.broadcastable("InputTensor"), node.op.tensor("InputTensor").sizes
    needed = set(axes)
    return e.Expand(x, tuple(sizes[i] if i in needed else size for i, size in enumerate(x.shape)))


# --- TOP_K -----------------------------------------------------------------------------------------------------------


@lowers("TOP_K", "TOP_K1")
def top_k(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The K largest, or with INCREASING the K smallest, along Axis in order, and their indices in it: TopK.

    Of equal elements the first comes first, whatever the direction [decision R13]; NaN comes last [decision R14].
    """
    axis, k = node.op.uint("Axis"), node.op.uint("K")
    largest = not node.op.has("AxisDirection") or node.op.enum("AxisDirection") == "DECREASING"
    x = along(node, e, [axis])
    values, indices = e.TopK(x, k, axis, largest=largest)
    return {"OutputValueTensor": values, "OutputIndexTensor": indices}


# --- running sums and products ---------------------------------------------------------------------------------------


@lowers("CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT")
def cumulative(node: Operands, e: Emitter) -> Tensor:
    """What the elements along Axis up to each, or up to the one before it, add or multiply up to: CumSum, CumProd.

    Integers wrap. Decisions R16 to R18.
    """
    axis, reverse = node.op.uint("Axis"), node.op.enum("AxisDirection") == "DECREASING"
    x = along(node, e, [axis])
    if node.op.type == "CUMULATIVE_SUMMATION":
        return e.CumSum(node.widened(x), axis, exclusive=node.op.flag("HasExclusiveSum"), reverse=reverse)
    # of integers in a signed type of the same low bits, which ONNX multiplies
    wide = node.widened(x) if x.dtype.kind == "f" else e.Cast(x, INT64 if x.dtype.itemsize == 8 else np.dtype(np.int32))
    y = e.CumProd(wide, axis, exclusive=node.op.flag("HasExclusiveProduct"), reverse=reverse)
    return y if x.dtype.kind == "f" else e.Cast(y, x.dtype)
