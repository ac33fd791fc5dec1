"""Conv, ConvTranspose and Col2Im."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.legalise.movements import image_of_columns
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import has_unknown

CONV_FORGETS_WIDE_PADDING = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,4,6] x) => (float[1,1,4,8] y) <float[1,1,1,2] w = {1, 1}> { y = Conv <pads = [0, 3, "
        "0, 0]> (x, w) }",
        ((1,) * 24,),
        ((0, 0, 1, 2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 2),),
    ),
)
"""Windows of a Conv that lie in padding only yield uninitialized memory (OpenVINO).

This happens for more than one such window, on processors without AVX-512.
"""


def in_padding(window: Window, axis: int, size: int) -> tuple[int, int]:
    """How many windows lie entirely before the elements, and how many entirely after them."""
    step, extent, start = window.strides[axis], window.extent(axis), window.start[axis]
    # only windows that begin in the padding, even if a stride is longer than a window
    before = min((start - extent) // step + 1, start // step) if start >= extent else 0
    reached = -(-(start + size) // step)
    return before, max(window.output_size(axis, size) - max(reached, before), 0)


def without(window: Window, axis: int, size: int, before: int, after: int) -> Window:
    """Removes that many windows, all of them in padding, at the start and the end of an axis."""
    start = window.start[axis] - before * window.strides[axis]
    last = (window.output_size(axis, size) - before - after - 1) * window.strides[axis]
    end = max(last + window.extent(axis) - start - size, 0) if after else window.end[axis]
    return window._replace(
        start=(*window.start[:axis], start, *window.start[axis + 1 :]),
        end=(*window.end[:axis], end, *window.end[axis + 1 :]),
    )


@CONV_FORGETS_WIDE_PADDING.rule("Conv")
def conv_inside_padding(
    e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1
) -> Tensor | None:
    """Pads the result with zeros for such windows; OpenVINO would fuse a Pad of the input into the Conv."""
    if x.value is not None:
        return None
    outside = [(0, 0), (0, 0)]
    narrow = window
    for axis, size in enumerate(x.shape[2:]):
        before, after = in_padding(window, axis, size)
        if before + after >= window.output_size(axis, size):
            before = after = 0
        narrow = without(narrow, axis, size, before, after)
        outside.append((before, after))
    if narrow == window:
        return None
    start, end = zip(*outside, strict=True)
    result = e.Pad(e.Conv(x, w, None, narrow, group), start, end)
    return result if b is None else e.Add(result, e.Reshape(b, (b.size, *(1,) * len(window.shape))))


CONV_GIVES_STRIDES_AWAY = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1,1] x) => (float[1,1,1,2] y) <float[1,1,1,1] w = {1}> { z = Abs (x) y = Conv "
        "<strides = [1, 2], pads = [0, 1, 0, 1]> (z, w) }",
        ((3,),),
        ((0, 0),),
    ),
)
"""Strides of a Conv with filters of one element are moved to the preceding node, and get lost (OpenVINO)."""


@CONV_GIVES_STRIDES_AWAY.rule("Conv")
def conv_of_slice(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A Slice applies the strides."""
    if max(window.shape) > 1 or max(window.strides) == 1 or x.value is not None:
        return None
    x = e.Pad(x, (0, 0, *window.start), (0, 0, *window.end))
    x = e.Slice(x, (0,) * x.rank, x.shape, (1, 1, *window.strides))
    ones, zeros = (1,) * len(window.shape), (0,) * len(window.shape)
    return e.Conv(x, w, b, Window(ones, ones, ones, zeros, zeros), group)


CONVOLVES_PLANES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,2,1,1,1] x, float[2,1,1,1,1] w) => (float[1,2,1,1,1] y) { y = Conv <group = 2> (x, w) }",
        ((1, 2), (3, 4)),
        ((3, 8),),
        says="does not support grouped convolution",
    ),
)
"""ConvTranspose and grouped Conv fail at run time with more than two spatial dimensions (WebGPU)."""
MOST_GROUPS = 64
"""The maximal number of Convs that replace a grouped one."""


@CONVOLVES_PLANES.rule("Conv")
def conv_of_planes(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1) -> Tensor | None:
    """A Conv of planes if the window does not move along some axis, else one Conv per group."""
    if group == 1 or len(window.shape) < 3:
        return None
    axis = _folded(x, window)
    if axis is not None:
        filters, planes = _filter_without(e, w, axis), _window_without(window, axis)
        return _over_planes(e, x, axis, lambda plane: e.Conv(plane, filters, b, planes, group))
    if group > MOST_GROUPS:
        return None
    e.note("grouped Conv has two spatial dimensions at most: one Conv per group")
    inputs = e.Split(x, [x.shape[1] // group] * group, 1)
    filters_of = e.Split(w, [w.shape[0] // group] * group, 0)
    biases = [None] * group if b is None else e.Split(b, [b.size // group] * group, 0)
    parts = zip(inputs, filters_of, biases, strict=True)
    return e.Concat([e.Conv(part, weights, term, window) for part, weights, term in parts], 1)


@CONVOLVES_PLANES.rule("ConvTranspose")
def conv_transpose_of_planes(
    e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1
) -> Tensor | None:
    """A ConvTranspose of planes if the window does not move along some axis."""
    axis = _folded(x, window) if len(window.shape) > 2 else None
    if axis is None or any(window.output_padding[axis : axis + 1]):
        return None
    filters, planes = _filter_without(e, w, axis), _window_without(window, axis)
    return _over_planes(e, x, axis, lambda plane: e.ConvTranspose(plane, filters, b, planes, group))


def _folded(x: Tensor, window: Window) -> int | None:
    """A spatial axis along which each element is convolved separately."""
    axes = zip(x.shape[2:], window.shape, window.strides, window.start, window.end, strict=True)
    found = [kernel == 1 and not start and not end and 1 in (size, step) for size, kernel, step, start, end in axes]
    return found.index(True) if True in found else None


def _filter_without(e: Emitter, w: Tensor, axis: int) -> Tensor:
    return e.Reshape(w, w.shape[: 2 + axis] + w.shape[3 + axis :])


def _window_without(window: Window, axis: int) -> Window:
    return Window(*(part[:axis] + part[axis + 1 :] for part in window))


def _over_planes(e: Emitter, x: Tensor, axis: int, convolve: Callable[[Tensor], Tensor]) -> Tensor:
    """Applies ``convolve`` with a spatial axis moved into the batch."""
    e.note(f"the kernel has two spatial dimensions at most: dimension {axis}, with windows of 1, joins the batch")
    batch, depth = x.shape[0], x.shape[2 + axis]
    rest = [i for i in range(1, x.rank) if i != 2 + axis]
    planes = e.Transpose(x, (0, 2 + axis, *rest))
    y = convolve(e.Reshape(planes, (batch * depth, *planes.shape[2:])))
    back = [0, *range(2, x.rank)]
    back.insert(2 + axis, 1)
    return e.Transpose(e.Reshape(y, (batch, depth, *y.shape[1:])), back)


LINES_HAVE_NO_OUTPUT_PADDING = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1] x, float[1,1,1] w) => (float[1,1,2] y) { y = ConvTranspose <strides = [2], "
        "output_padding = [1]> (x, w) }",
        ((3,), (5,)),
        ((15, 0),),
        says="80070057",
    ),
)
"""ConvTranspose with one spatial dimension and output_padding is refused when the model is loaded (DirectML)."""


@LINES_HAVE_NO_OUTPUT_PADDING.rule("ConvTranspose")
def conv_transpose_of_lines(
    e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1
) -> Tensor | None:
    """A Pad, then the bias."""
    if len(window.shape) > 1 or not any(window.output_padding):
        return None
    return padded_after(e, x, w, b, window, group)


def padded_after(e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int) -> Tensor:
    """ConvTranspose without the bias, zeros at the end of each dimension, then the bias."""
    extra = window.output_padding
    y = e.ConvTranspose(x, w, None, window._replace(output_padding=()), group)
    y = e.Pad(y, (0,) * y.rank, (0, 0, *extra))
    return y if b is None else e.Add(y, e.Reshape(b, (1, b.size, *(1,) * len(extra))))


OUTPUT_PADDING_BELOW_THE_STRIDE = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1] x, float[1,1,1] w) => (float[1,1,2] y) { y = ConvTranspose <dilations = [2], strides = [1], "
        "kernel_shape = [1], output_padding = [1]> (x, w) }",
        ((3,), (5,)),
        ((15, 0),),
        says="output_padding (1) may be too large for stride (1)",
        versions=((1, 25), (9, 0)),
    ),
)
"""ConvTranspose refuses output_padding >= stride, which ONNX allows if it is less than the dilation (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/nn/conv_transpose_attributes.h
"""


@OUTPUT_PADDING_BELOW_THE_STRIDE.rule("ConvTranspose")
def conv_transpose_of_long_strides(
    e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1
) -> Tensor | None:
    """A Pad, then the bias."""
    extra = window.output_padding
    if all(n < step for n, step in zip(extra, window.strides, strict=bool(extra))):
        return None
    return padded_after(e, x, w, b, window, group)


TRANSPOSED_CONVOLUTION_IS_PLAIN = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,2,2] x, float[1,1,2,2] w) => (float[1,1,1,1] y) { y = ConvTranspose <pads = [1, 1, 1, 1]> (x, w) }",
        ((1.0, 2.0, 3.0, 4.0), (1.0, 1.0, 1.0, 1.0)),
        ((10.0,),),
        says="Explicit padding is not supported",
    ),
)
"""ConvTranspose with pads, dilations or groups fails to build (WebNN in Chromium)."""


def _dilated(e: Emitter, w: Tensor, dilations: tuple[int, ...]) -> Tensor:
    """Inserts zeros between the elements of the filter."""
    for axis, step in enumerate(dilations, 2):
        size = w.shape[axis]
        if step == 1 or size == 1:
            continue
        before, after, length = w.shape[:axis], w.shape[axis + 1 :], (size - 1) * step + 1
        rows = e.Reshape(w, (prod(before) * size, 1, prod(after)))
        rows = e.Pad(rows, (0, 0, 0), (0, step - 1, 0))
        rows = e.Reshape(rows, (prod(before), size * step, prod(after)))
        rows = e.Slice(rows, [0, 0, 0], [rows.shape[0], length, rows.shape[2]])
        w = e.Reshape(rows, (*before, length, *after))
    return w


def _of_one_group(e: Emitter, w: Tensor, group: int) -> Tensor:
    """The equivalent filter without groups: zero between channels of different groups."""
    channels, each = w.shape[:2]
    e.budget.require(w.size * group)
    own = np.arange(channels)[:, None] // (channels // group) == np.arange(each * group)[None] // each
    mask = e.constant(own.reshape(channels, each * group, *(1,) * (w.rank - 2)), w.dtype)
    return e.Mul(e.Concat([w] * group, 1), mask)


@TRANSPOSED_CONVOLUTION_IS_PLAIN.rule("ConvTranspose")
def plain_conv_transpose(
    e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1
) -> Tensor | None:
    """A filter with zeros instead of dilations and groups, and a Slice instead of pads."""
    plain = group == 1 and all(step == 1 for step in window.dilations)
    if (plain and not any((*window.start, *window.end))) or has_unknown((*x.shape, *w.shape)):
        return None
    e.note("ConvTranspose does not support pads, dilations or groups")
    if group > 1:
        w = _of_one_group(e, w, group)
    w = _dilated(e, w, window.dilations)
    axes = len(window.shape)
    whole_window = window._replace(shape=w.shape[2:], dilations=(1,) * axes, start=(0,) * axes, end=(0,) * axes)
    whole = e.ConvTranspose(x, w, b, whole_window)
    stop = [size - end for size, end in zip(whole.shape[2:], window.end, strict=True)]
    return e.Slice(whole, [0, 0, *window.start], [*whole.shape[:2], *stop])


WEIGHTS_ARE_LAID_OUT_ONCE = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,2,1,1] x) => (float[1,2,1,1] y) <float[2,2,1,1] w = {1, 2, 3, 4}> { z = Conv (x, w) "
        "y = ConvTranspose (z, w) }",
        ((1, 5),),
        ((80, 114),),
    ),
)
"""A ConvTranspose that shares weights with a preceding Conv reads them in the layout made for the Conv (OpenVINO).

So an encoder and a decoder with tied weights are wrong; separate initializers with the same contents are right.
"""


@WEIGHTS_ARE_LAID_OUT_ONCE.rule("ConvTranspose")
def conv_transpose_of_own_weights(
    e: Emitter, x: Tensor, w: Tensor, b: Tensor | None, window: Window, group: int = 1
) -> Tensor | None:
    """Duplicates the weights."""
    if w.value is None or w.reader:
        return None
    own = replace(w, stored=None, reader="ConvTranspose")
    return e.ConvTranspose(x, own, b, window, group)


COLUMNS_MAKE_PLANES_ONLY = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,4,1] x) => (float[1,1,1,2,3] y) <int64[3] i = {1,2,3}, int64[3] b = {1,2,2}> { y = Col2Im "
        "<dilations = [1, 1, 2]> (x, i, b) }",
        ((1, 2, 3, 4),),
        ((1, 0, 2, 3, 0, 4),),
    ),
)
"""Col2Im of three dimensions miscomputes dilations and, in ONNX Runtime 1.24, crashes for some shapes.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/col2im.cc
"""


@COLUMNS_MAKE_PLANES_ONLY.rule("Col2Im")
def col2im(e: Emitter, x: Tensor, image: tuple[int, ...], window: Window) -> Tensor | None:
    """ScatterElements."""
    return None if len(image) <= 2 else image_of_columns(e, x, image, window)
