"""ConvTranspose takes no pads, dilations or groups: with any of them the graph is not built (WebNN in Chromium)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.windows import Window

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x, float[1,1,2,2] w) => (float[1,1,1,1] y) { y = ConvTranspose <pads = [1, 1, 1, 1]> (x, w) }",
        (
            (1.0, 2.0, 3.0, 4.0),
            (1.0, 1.0, 1.0, 1.0),
        ),
        ((10.0,),),
        says="Explicit padding is not supported",
    ),
)


def _dilated(e: Emitter, w: Tensor, dilations: tuple[int, ...]) -> Tensor:
    """The filter with zeros between its elements."""
    for axis, step in enumerate(dilations, 2):
        size = w.shape[axis]
        if step == 1 or size == 1:
            continue
        before, behind, length = w.shape[:axis], w.shape[axis + 1 :], (size - 1) * step + 1
        apart = e.Reshape(w, (prod(before) * size, 1, prod(behind)))
        apart = e.Pad(apart, (0, 0, 0), (0, step - 1, 0))
        rows = e.Reshape(apart, (prod(before), size * step, prod(behind)))
        rows = e.Slice(rows, [0, 0, 0], [rows.shape[0], length, rows.shape[2]])
        w = e.Reshape(rows, (*before, length, *behind))
    return w


def _of_one_group(e: Emitter, w: Tensor, group: int) -> Tensor:
    """The filter of all channels for all, with zeros from each group to the others."""
    channels, each = w.shape[:2]
    e.budget.require(w.size * group)
    own = np.arange(channels)[:, None] // (channels // group) == np.arange(each * group)[None] // each
    mask = e.constant(own.reshape(channels, each * group, *(1,) * (w.rank - 2)), w.dtype)
    return e.Mul(e.Concat([w] * group, 1), mask)


@QUIRK.rule("ConvTranspose")
def conv_transpose(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A filter with zeros in it, the whole of the result, and a Slice of that."""
    plain = group == 1 and all(step == 1 for step in window.dilations)
    if (plain and not any((*window.start, *window.end))) or has_unknown((*x.shape, *w.shape)):
        return None
    e.note("ConvTranspose takes no pads, dilations or groups")
    if group > 1:
        w = _of_one_group(e, w, group)
    w = _dilated(e, w, window.dilations)
    axes = len(window.shape)
    whole_window = window._replace(shape=w.shape[2:], dilations=(1,) * axes, start=(0,) * axes, end=(0,) * axes)
    whole = e.ConvTranspose(x, w, b, whole_window)
    stop = [size - end for size, end in zip(whole.shape[2:], window.end, strict=True)]
    return e.Slice(whole, [0, 0, *window.start], [*whole.shape[:2], *stop])
