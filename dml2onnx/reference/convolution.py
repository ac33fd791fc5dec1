"""CONVOLUTION."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.activation import activated, apply_activation
from dml2onnx.reference.numeric import all_along, products_result, widen
from dml2onnx.reference.registry import Floats, Inputs, Mask, Outputs, either, reference

Index = tuple[EllipsisType | slice, ...]

BLOCK_ELEMENTS = 1 << 16
"""Elements of the matrix of windows that are multiplied at once."""


@reference("CONVOLUTION")
def convolution(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``FusedActivation(conv(Input, Filter) + Bias)``, forward or backward (decisions C1 to C16)."""
    x, w = widen(inputs.tensor("InputTensor")), widen(inputs.tensor("FilterTensor"))
    bias = inputs.optional("BiasTensor")
    if op.enum("Mode") == "CONVOLUTION":
        w = np.flip(w, axis=tuple(range(2, w.ndim)))
    convolve = forward if op.enum("Direction") == "FORWARD" else _backward

    def product(x: Floats, w: Floats) -> Floats:
        return _blank_output_padding(op, convolve(op, x, w))

    total = product(x, w)
    if bias is not None:
        total += _blank_output_padding(op, np.broadcast_to(widen(bias), total.shape))
    undefined = _left_to_driver(op, w, total)
    if undefined is not None and op.enum("Direction") == "BACKWARD":
        is_stuffed = op.uint("GroupCount") > 1 or max(op.uints("Dilations")) > 1
        seen = undefined if is_stuffed else _blanked(op, _meets_nothing(op, w, is_stuffed=False), total)
        total = np.where(seen, np.nan, total)
    if inputs.values_only:
        return {"OutputTensor": activated(op.activation(), total)}
    terms = x.shape[1] // op.uint("GroupCount") * int(np.prod(w.shape[2:])) + 1
    sums = products_result(x, w, total, product, terms, np.zeros(()) if bias is None else np.abs(widen(bias)))
    marks = sums.unspecified if undefined is None else either(undefined, sums.unspecified)
    return {"OutputTensor": apply_activation(op.activation(), total, sums.error, marks)}


def _left_to_driver(op: OperatorDesc, w: Floats, total: Floats) -> Mask | None:
    """Elements that depend on the driver, or on DirectML's choice of kernel (decisions C6 and C8)."""
    if op.enum("Direction") == "FORWARD":
        return ~np.isfinite(total) if any(op.uints("OutputPadding")) else None
    if np.isfinite(w).all():
        return None
    return _blanked(op, _meets_nothing(op, w, is_stuffed=True), total)


def _blanked(op: OperatorDesc, mask: Mask, total: Floats) -> Mask:
    """The mask of one image, repeated for all, without the output padding, which is always 0."""
    outside = _blank_output_padding(op, mask.astype(np.float64)[np.newaxis])
    return np.broadcast_to(outside != 0, total.shape)


def _meets_nothing(op: OperatorDesc, w: Floats, *, is_stuffed: bool) -> Mask:
    """Where a backward convolution multiplies a non-finite filter element by an implicit 0.

    Implicit zeros surround the input. ``is_stuffed`` adds those between its elements, which DirectML's general kernel
    for groups and dilations inserts.
    """
    groups, sizes = op.uint("GroupCount"), op.tensor("OutputTensor").sizes
    inputs = op.tensor("InputTensor").sizes[2:]
    strides, dilations = op.uints("Strides"), op.uints("Dilations")
    # {groups, output channels of one, kernel}
    nonfinite: Mask = np.logical_or.reduce((~np.isfinite(w)).reshape(groups, -1, *w.shape[1:]), axis=1)
    found: Mask = np.zeros((groups, w.shape[1], *sizes[2:]), np.bool_)
    lines = list(zip(inputs, sizes[2:], strides, dilations, op.uints("StartPadding"), strict=True))
    for tap in np.ndindex(*w.shape[2:]):
        met: list[Mask] = []
        phase: list[Mask] = []
        for j, (n, size, s, d, p) in zip(tap, lines, strict=True):
            at = np.arange(size) + p - j * d
            phase.append(at % s == 0)
            met.append((at % s == 0) & (at >= 0) & (at < n * s))
        missed = ~all_along(met) if is_stuffed else ~all_along(met) & all_along(phase)
        found |= np.array(nonfinite[(..., *tap)]).reshape(groups, -1, *[1] * len(lines)) & missed
    return found.reshape(groups * w.shape[1], *sizes[2:])


def forward(op: OperatorDesc, x: Floats, w: Floats) -> Floats:
    """Gathers each output element from its window of the zero-padded input (filter ``{Cout, Cin / G, ...}``).

    Blocks of windows become columns of a matrix, which the filters multiply from the left.
    """
    groups, sizes = op.uint("GroupCount"), op.tensor("OutputTensor").sizes
    filters = w.reshape(groups, w.shape[0] // groups, -1)
    spatial, kernel = sizes[2:], w.shape[2:]
    x = _padded(op, x, kernel, spatial)
    if math.prod(kernel) == 1 and x.shape[2:] == spatial:
        # the input is the matrix
        points: Floats = np.matmul(filters, x.reshape(len(x), groups, filters.shape[2], -1))
        return points.reshape(sizes)
    steps = list(zip(op.uints("Strides"), op.uints("Dilations"), kernel, spatial, strict=True))
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, [(k - 1) * d + 1 for _, d, k, _ in steps], axes)
    firsts: Index = tuple(slice(0, (n - 1) * s + 1, s) for s, _, _, n in steps)
    windows = windows[(slice(None), slice(None), *firsts, *(slice(None, None, d) for _, d, _, _ in steps))]
    # {N, Cin, kernel, output}
    windows = np.moveaxis(windows, axes, tuple(range(-len(axes), 0)))
    y = np.empty(sizes)
    images, rows = _block(windows.shape[1:], len(axes))
    for n in range(0, sizes[0], images):
        for row in range(0, spatial[0], rows):
            block = windows[(slice(n, n + images), *[slice(None)] * (1 + len(axes)), slice(row, row + rows))]
            columns = block.reshape(len(block), groups, filters.shape[2], -1)
            y[n : n + images, :, row : row + rows] = np.matmul(filters, columns).reshape(
                len(block), sizes[1], -1, *spatial[1:]
            )
    return y


def _padded(op: OperatorDesc, x: Floats, kernel: Sequence[int], spatial: Sequence[int]) -> Floats:
    """The input, zero-padded as far as the windows of the output reach (``np.pad`` is slower).

    EndPadding only enters the formula of the output's sizes, which are known here (decision C9).
    """
    steps = op.uints("Strides"), op.uints("Dilations")
    geometry = zip(x.shape[2:], op.uints("StartPadding"), *steps, kernel, spatial, strict=True)
    pads = [(start, max((m - 1) * s + (k - 1) * d + 1 - start - n, 0)) for n, start, s, d, k, m in geometry]
    if not any(start or end for start, end in pads):
        return x
    sizes = [start + n + end for n, (start, end) in zip(x.shape[2:], pads, strict=True)]
    padded = np.zeros((*x.shape[:2], *sizes))
    inside: Index = (..., *(slice(start, start + n) for n, (start, _) in zip(x.shape[2:], pads, strict=True)))
    padded[inside] = x
    return padded


def _block(shape: tuple[int, ...], rank: int) -> tuple[int, int]:
    """How many images, and how many rows of each, have windows that fit in the processor's caches."""
    per_row = math.prod(shape) // shape[-rank]
    rows = max(1, min(shape[-rank], BLOCK_ELEMENTS // per_row))
    return max(1, BLOCK_ELEMENTS // (per_row * shape[-rank])), rows


def _backward(op: OperatorDesc, x: Floats, w: Floats) -> Floats:
    """Scatters: ``y[i * Stride + j * Dilation - StartPadding] += x[i] * w[j]`` (filter ``{Cin, Cout / G, ...}``).

    The sizes of OutputTensor crop the result; elements without a contribution are 0 (decisions C6 and C10).
    """
    groups, sizes = op.uint("GroupCount"), op.tensor("OutputTensor").sizes
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    w = np.swapaxes(w.reshape(groups, -1, *w.shape[1:]), 1, 2)
    steps = list(zip(x.shape[3:], w.shape[3:], op.uints("Strides"), op.uints("Dilations"), strict=True))
    full = [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in steps]
    ends = [p + n for p, n in zip(op.uints("StartPadding"), sizes[2:], strict=True)]
    y = np.zeros((x.shape[0], groups, sizes[1] // groups, *map(max, full, ends)))
    for tap in np.ndindex(*w.shape[3:]):
        landing: Index = (
            ...,
            *(slice(j * d, j * d + (n - 1) * s + 1, s) for j, (n, _, s, d) in zip(tap, steps, strict=True)),
        )
        y[landing] += _mix(w[(..., *tap)], x)
    kept: Index = (..., *(slice(p, end) for p, end in zip(op.uints("StartPadding"), ends, strict=True)))
    return y[kept].reshape(sizes)


def _mix(w: Floats, x: Floats) -> Floats:
    """Multiplies channels at one tap: ``{G, O, I} x {N, G, I, ...}`` to ``{N, G, O, ...}``."""
    flat = x.reshape(*x.shape[:3], -1)
    mixed: Floats = np.matmul(w, flat)
    return mixed.reshape(*x.shape[:2], w.shape[1], *x.shape[3:])


def _blank_output_padding(op: OperatorDesc, y: Floats) -> Floats:
    """Zeroes the last OutputPadding elements, after the bias and before the activation (decisions C7, C8, C11)."""
    padding = op.uints("OutputPadding")
    if not any(padding):
        return y
    inside = [np.arange(n) < n - p for n, p in zip(y.shape[2:], padding, strict=True)]
    return np.where(np.broadcast_to(all_along(inside), y.shape), y, 0.0)
