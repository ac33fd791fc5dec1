"""TOP_K, TOP_K1, CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: what runs along one axis."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.lowering.registry import lowers
from dml2onnx.model import INT64

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands

MOST_FACTORS = 16
"""Elements up to this many are multiplied one after the other; of more, blocks of :data:`BLOCK` are."""
BLOCK = 8


def along(node: Operands, e: Emitter, axes: Iterable[int]) -> Tensor:
    """InputTensor with ``axes`` in full; all others that only repeat their elements have size 1."""
    x, sizes = node.broadcastable("InputTensor"), node.op.tensor("InputTensor").sizes
    needed = set(axes)
    return e.Expand(x, tuple(sizes[i] if i in needed else size for i, size in enumerate(x.shape)))


def modular(e: Emitter, x: Tensor) -> Tensor:
    """Integers in a signed type that has all kernels and the same low bits: what sums and products are made in."""
    return e.Cast(x, INT64 if x.dtype.itemsize == 8 else np.dtype(np.int32))


# --- TOP_K -----------------------------------------------------------------------------------------------------------


@lowers("TOP_K", "TOP_K1")
def top_k(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """The K largest, or with INCREASING the K smallest, along Axis in order, and their indices in it: TopK.

    Of equal elements the first comes first, whatever the direction [decision R13]; NaN comes last [decision R14].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_top_k1_operator_desc
    """
    axis, k = node.op.uint("Axis"), node.op.uint("K")
    largest = not node.op.has("AxisDirection") or node.op.enum("AxisDirection") == "DECREASING"
    x = along(node, e, [axis])
    values, indices = e.TopK(x, k, axis, largest=largest)
    index_type = node.output("OutputIndexTensor").data_type.dtype
    sizes = node.output("OutputValueTensor").sizes
    return {
        "OutputValueTensor": e.Expand(values, sizes),
        "OutputIndexTensor": e.Expand(e.Cast(indices, index_type), sizes),
    }


# --- running sums and products ---------------------------------------------------------------------------------------


@lowers("CUMULATIVE_SUMMATION")
def cumulative_summation(node: Operands, e: Emitter) -> Tensor:
    """The sum of the elements along Axis up to each, or up to the one before it; integers wrap: CumSum.

    Decisions R16 to R18.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_cumulative_summation_operator_desc
    """
    axis, reverse = node.op.uint("Axis"), node.op.enum("AxisDirection") == "DECREASING"
    x = node.widened(along(node, e, [axis]))
    y = e.CumSum(x, axis, exclusive=node.op.flag("HasExclusiveSum"), reverse=reverse)
    return e.Expand(y, node.output().sizes)


@lowers("CUMULATIVE_PRODUCT")
def cumulative_product(node: Operands, e: Emitter) -> Tensor:
    """The product of the elements along Axis up to each, or up to the one before it; integers wrap: CumProd.

    Before opset 26 ONNX has no such operator, and it is Mul of slices. Decisions R16 to R18.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_cumulative_product_operator_desc
    """
    axis, reverse = node.op.uint("Axis"), node.op.enum("AxisDirection") == "DECREASING"
    x = along(node, e, [axis])
    dtype = x.dtype
    x = node.widened(x) if dtype.kind == "f" else modular(e, x)
    exclusive = node.op.flag("HasExclusiveProduct")
    if e.has_kernel("CumProd", x.dtype):
        y = e.CumProd(x, axis, exclusive=exclusive, reverse=reverse)
    else:
        e.suggest_opset(26, "CumProd")
        rows = e.Reshape(x, (prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])))
        y = e.Reshape(_products_before(e, rows, reverse) if exclusive else _products(e, rows, reverse), x.shape)
    return e.Expand(y if dtype.kind == "f" else e.Cast(y, dtype), node.output().sizes)


def _products(e: Emitter, x: Tensor, reverse: bool) -> Tensor:
    """Running products along the middle of three axes.

    Those of blocks first, all blocks at once, then each block times the product of all blocks before it: about
    twice the multiplications of a loop, in few nodes, none of which has to broadcast.
    """
    outer, count, inner = x.shape
    if count <= MOST_FACTORS:
        return e.Concat(_running(e, x, 1, reverse), 1)
    blocks = -(-count // BLOCK)
    # ones behind the end change nothing, in either direction
    padded = e.Pad(x, (0, 0, 0), (0, blocks * BLOCK - count, 0), value=1)
    parts = _running(e, e.Reshape(padded, (outer, blocks, BLOCK, inner)), 2, reverse)
    totals = e.Reshape(parts[0 if reverse else -1], (outer, blocks, inner))
    before = e.Reshape(_products_before(e, totals, reverse), (outer, blocks, 1, inner))
    y = e.Concat([e.Mul(part, before) for part in parts], 2)
    return e.Slice(e.Reshape(y, (outer, blocks * BLOCK, inner)), (0, 0, 0), (outer, count, inner))


def _products_before(e: Emitter, x: Tensor, reverse: bool) -> Tensor:
    """:func:`_products` without the element itself: the first is 1."""
    outer, count, inner = x.shape
    first, start, end = (1, (0, 0, 0), (0, 1, 0)) if reverse else (0, (0, 1, 0), (0, 0, 0))
    if count == 1:
        return e.ConstantOfShape(x.shape, 1, x.dtype)
    others = e.Slice(x, (0, first, 0), (outer, first + count - 1, inner))
    return e.Pad(_products(e, others, reverse), start, end, value=1)


def _running(e: Emitter, x: Tensor, axis: int, reverse: bool) -> list[Tensor]:
    """Running products along a short axis, one multiplication each, not yet joined."""
    parts = e.Split(x, (1,) * x.shape[axis], axis)
    products = list(accumulate(reversed(parts) if reverse else parts, e.Mul))
    return products[::-1] if reverse else products
