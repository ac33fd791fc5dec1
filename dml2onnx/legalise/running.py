"""CumProd by products of slices, for targets without it: ONNX has it from opset 26 on."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

MOST_FACTORS = 16
"""Elements up to this many are multiplied one after the other; of more, blocks of :data:`BLOCK` are."""
BLOCK = 8


def cum_prod(e: Emitter, x: Tensor, axis: int, *, exclusive: bool = False, reverse: bool = False) -> Tensor | None:
    """Mul of slices."""
    if e.has_kernel("CumProd", x.dtype):
        return None
    e.suggest_opset(26, "CumProd")
    rows = e.Reshape(x, (prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])))
    return e.Reshape(_products_before(e, rows, reverse) if exclusive else _products(e, rows, reverse), x.shape)


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
