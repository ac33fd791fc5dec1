"""Gather copies each element by itself where it copies no rows, in some hundred nanoseconds.

GatherElements is many times as fast, and so is Gather of rows.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/gather.cc
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.emitter.tensor import are_constant
from dml2onnx.legalise.rules import Kind, Quirk
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.SPEED)

MANY_ELEMENTS = 1 << 8
"""So many elements are worth more nodes than one."""
COLUMNS_WORTH_TURNING = 1 << 14
"""Elements from which on two Transposes cost less than GatherElements, if at least half of the columns are taken."""


@QUIRK.rule("Gather")
def gather(e: Emitter, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor | None:
    """Single elements by GatherElements; columns of a large tensor as the rows of its transpose."""
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if prod(x.shape[axis + 1 :]) > 1 or has_unknown(shape) or are_constant([x, indices]):
        return None
    rows, count = prod(x.shape[:axis]), indices.size
    if rows * count < MANY_ELEMENTS:
        return None
    table = e.Reshape(x, (rows, x.shape[axis]))
    if rows > 1 and 2 * count >= x.shape[axis] and rows * min(count, x.shape[axis]) >= COLUMNS_WORTH_TURNING:
        turned = e.Gather(e.Transpose(table, (1, 0)), e.Reshape(indices, (count,)), 0)
        return e.Reshape(e.Transpose(turned, (1, 0)), shape)
    places = e.Expand(e.Reshape(indices, (1, count)), (rows, count))
    return e.Reshape(e.GatherElements(table, places, 1), shape)


@QUIRK.rule("GatherND")
def gather_nd(e: Emitter, x: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor | None:
    """Tuples of one coordinate are what Gather takes."""
    if indices.shape[-1] > 1 or prod(x.shape[:batch_dims]) > 1:
        return None
    y = e.Gather(e.Reshape(x, x.shape[batch_dims:]), e.Reshape(indices, indices.shape[:-1]), 0)
    return e.Reshape(y, (*indices.shape[:-1], *x.shape[batch_dims + 1 :]))
