"""ConvTranspose, and Conv in groups, take two spatial dimensions at most; others are refused in a run (WebGPU)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,2,1,1,1] x, float[2,1,1,1,1] w) => (float[1,2,1,1,1] y) { y = Conv <group = 2> (x, w) }",
        ((1, 2), (3, 4)),
        ((3, 8),),
        says="does not support grouped convolution",
    ),
)

MOST_GROUPS = 64
"""How many Convs may stand for the groups of one."""


@QUIRK.rule("Conv")
def conv(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A Conv of planes where nothing moves along an axis, else one for each group."""
    if group == 1 or len(window.shape) < 3:
        return None
    axis = _folded(x, window)
    if axis is not None:
        filters, planes = _without(e, w, axis), _window_without(window, axis)
        return _over_planes(e, x, axis, lambda plane: e.Conv(plane, filters, b, planes, group))
    if group > MOST_GROUPS:
        return None
    e.note("Conv takes no groups with more than two spatial dimensions: one Conv for each group")
    inputs = e.Split(x, [x.shape[1] // group] * group, 1)
    filters_of = e.Split(w, [w.shape[0] // group] * group, 0)
    biases = [None] * group if b is None else e.Split(b, [b.size // group] * group, 0)
    parts = zip(inputs, filters_of, biases, strict=True)
    return e.Concat([e.Conv(mine, weights, term, window) for mine, weights, term in parts], 1)


@QUIRK.rule("ConvTranspose")
def conv_transpose(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A ConvTranspose of planes where nothing moves along an axis."""
    axis = _folded(x, window) if len(window.shape) > 2 else None
    if axis is None or any(window.output_padding[axis : axis + 1]):
        return None
    filters, planes = _without(e, w, axis), _window_without(window, axis)
    return _over_planes(e, x, axis, lambda plane: e.ConvTranspose(plane, filters, b, planes, group))


def _folded(x: Tensor, window: Window) -> int | None:
    """A spatial axis of which each element is convolved by itself."""
    axes = zip(x.shape[2:], window.shape, window.strides, window.start, window.end, strict=True)
    found = [kernel == 1 and not start and not end and 1 in (size, step) for size, kernel, step, start, end in axes]
    return found.index(True) if True in found else None


def _without(e: Emitter, w: Tensor, axis: int) -> Tensor:
    return e.Reshape(w, w.shape[: 2 + axis] + w.shape[3 + axis :])


def _window_without(window: Window, axis: int) -> Window:
    return Window(*(part[:axis] + part[axis + 1 :] for part in window))


def _over_planes(e: Emitter, x: Tensor, axis: int, convolve: Callable[[Tensor], Tensor]) -> Tensor:
    """``convolve`` with a spatial axis as part of the batch."""
    e.note(
        f"the kernel takes two spatial dimensions at most: number {axis}, along which nothing moves, joins the batch"
    )
    batch, depth = x.shape[0], x.shape[2 + axis]
    rest = [i for i in range(1, x.rank) if i != 2 + axis]
    planes = e.Transpose(x, (0, 2 + axis, *rest))
    y = convolve(e.Reshape(planes, (batch * depth, *planes.shape[2:])))
    back = [0, *range(2, x.rank)]
    back.insert(2 + axis, 1)
    return e.Transpose(e.Reshape(y, (batch, depth, *y.shape[1:])), back)
