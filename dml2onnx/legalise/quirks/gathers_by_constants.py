"""GatherElements and ScatterElements want indices that are constants (WebNN in Chromium).

Of others the graph is not built, and ONNX Runtime Web waits for it for ever. ScatterElements is not built of INT64
constants either. GatherND and ScatterND take any.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.movement import Reduction

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,3] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        (
            (1.0, 2.0, 3.0),
            (2, 0),
        ),
        ((3.0, 1.0),),
        says="only supports constant indices",
    ),
)


def _places(e: Emitter, indices: Tensor, axis: int) -> Tensor:
    """The coordinates of the elements that indices along an axis name, in a last axis of their own."""
    shape = indices.shape
    e.budget.require(prod(shape) * len(shape))
    grid = np.moveaxis(np.indices(shape), 0, -1)
    along = e.Reshape(e.Cast(indices, np.dtype(np.int64)), (*shape, 1))
    parts = [e.constant(part, np.int64) for part in (grid[..., :axis], grid[..., axis + 1 :])]
    return e.Concat([part for part in (parts[0], along, parts[1]) if part.size], len(shape))


@QUIRK.rule("GatherElements")
def gather_elements(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor | None:
    """Gather where there is nothing but that axis, else GatherND."""
    if indices.value is not None or has_unknown(indices.shape):
        return None
    e.note("GatherElements takes no indices that are computed")
    if prod(x.shape) == x.shape[axis]:
        row = e.Gather(e.Reshape(x, (x.size,)), e.Reshape(indices, (indices.size,)), 0)
        return e.Reshape(row, indices.shape)
    return e.GatherND(x, _places(e, indices, axis))


@QUIRK.rule("ScatterElements")
def scatter_elements(
    e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
) -> Tensor | None:
    """ScatterND; sums are left to the CPU, which computes them."""
    if reduction != "none" or has_unknown(indices.shape):
        return None
    e.note("ScatterElements takes no indices that are computed")
    return e.ScatterND(x, _places(e, indices, axis), updates)
