"""CumProd, which is new in opset 26, by products of slices."""

from __future__ import annotations

from itertools import accumulate
from math import prod

from dml2onnx.emitter import Emitter, Tensor

MOST_FACTORS = 16
"""Up to this many elements are multiplied one by one, more in blocks of :data:`BLOCK`."""
BLOCK = 8


def cum_prod(e: Emitter, x: Tensor, axis: int, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Mul of slices."""
    e.suggest_opset(26, "CumProd")
    rows, at = (x, axis) if x.shape[axis] <= MOST_FACTORS else (_around(e, x, axis), 1)
    return e.Reshape((_products_before if exclusive else _products)(e, rows, at, reverse), x.shape)


def _around(e: Emitter, x: Tensor, axis: int) -> Tensor:
    """Reshapes to three axes: those before ``axis``, itself, and those after it."""
    return e.Reshape(x, (prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])))


def _products(e: Emitter, x: Tensor, axis: int, reverse: bool) -> Tensor:
    """Running products along an axis, which must be the middle of three if it is long.

    Computes the products within all blocks at once, then multiplies each block by the product of all blocks before it:
    about twice the multiplications of a loop, but in few nodes.
    """
    count = x.shape[axis]
    if count <= MOST_FACTORS:
        return e.Concat(_running(e, x, axis, reverse), axis)
    outer, _, inner = x.shape
    blocks = -(-count // BLOCK)
    # trailing ones change nothing, in either direction
    padded = e.Pad(x, (0, 0, 0), (0, blocks * BLOCK - count, 0), value=1)
    parts = _running(e, e.Reshape(padded, (outer, blocks, BLOCK, inner)), 2, reverse)
    totals = e.Reshape(parts[0 if reverse else -1], (outer, blocks, inner))
    before = e.Reshape(_products_before(e, totals, 1, reverse), (outer, blocks, 1, inner))
    y = e.Concat([e.Mul(part, before) for part in parts], 2)
    return e.Slice(e.Reshape(y, (outer, blocks * BLOCK, inner)), (0, 0, 0), (outer, count, inner))


def _products_before(e: Emitter, x: Tensor, axis: int, reverse: bool) -> Tensor:
    """:func:`_products` without the element itself: the first is 1."""
    if x.shape[axis] == 1:
        return e.ConstantOfShape(x.shape, 1, x.dtype)
    one = tuple(int(i == axis) for i in range(x.rank))
    none, shorter = (0,) * x.rank, tuple(size - i for size, i in zip(x.shape, one, strict=True))
    first, start, end = (one, none, one) if reverse else (none, one, none)
    others = e.Slice(x, first, x.shape if reverse else shorter)
    return e.Pad(_products(e, others, axis, reverse), start, end, value=1)


def _running(e: Emitter, x: Tensor, axis: int, reverse: bool) -> list[Tensor]:
    """Running products along a short axis by one multiplication each, as a list."""
    parts = e.Split(x, (1,) * x.shape[axis], axis)
    products = list(accumulate(reversed(parts) if reverse else parts, e.Mul))
    return products[::-1] if reverse else products
