"""Indices below 0 that are known only at run time are not counted from the end (QNN).

They give 0 in GatherElements, and in Gather of integers, and write nothing in ScatterElements and ScatterND.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.movement import Reduction

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,3] x, int64[1,2] i) => (float[1,2] y) { y = GatherElements <axis = 1> (x, i) }",
        (
            (1.0, 2.0, 3.0),
            (-1, -3),
        ),
        ((3.0, 1.0),),
    ),
)


def _from_the_start(e: Emitter, indices: Tensor, sizes: Sequence[int]) -> Tensor | None:
    """Indices below 0 plus the size of their axis, of which there is one, or one for each of the last axis."""
    if indices.value is not None:
        return None
    e.note("kernels take no indices that count from the end")
    count = np.array(sizes[:1] if len(set(sizes)) == 1 else sizes)
    is_below = e.Less(indices, e.constant(0, indices.dtype))
    return e.Where(is_below, e.Add(indices, e.constant(count, indices.dtype)), indices)


@QUIRK.rule("Gather")
def gather(e: Emitter, x: Tensor, indices: Tensor, axis: int = 0) -> Tensor | None:
    """Of integers."""
    places = None if x.dtype.kind == "f" else _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.Gather(x, places, axis)


@QUIRK.rule("GatherElements")
def gather_elements(e: Emitter, x: Tensor, indices: Tensor, axis: int) -> Tensor | None:
    """From the start."""
    places = _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.GatherElements(x, places, axis)


@QUIRK.rule("ScatterElements")
def scatter_elements(
    e: Emitter, x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: Reduction = "none"
) -> Tensor | None:
    """From the start."""
    places = _from_the_start(e, indices, (x.shape[axis],))
    return None if places is None else e.ScatterElements(x, places, updates, axis, reduction)


@QUIRK.rule("ScatterND")
def scatter_nd(e: Emitter, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor | None:
    """From the start, each coordinate in its own axis."""
    places = _from_the_start(e, indices, x.shape[: indices.shape[-1]])
    return None if places is None else e.ScatterND(x, places, updates)
