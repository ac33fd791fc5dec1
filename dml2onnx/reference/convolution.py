"""CONVOLUTION."""

from __future__ import annotations

from types import EllipsisType

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.activation import apply_activation
from dml2onnx.reference.numeric import UNIT_ROUNDOFF, all_along, sum_error, widen
from dml2onnx.reference.registry import Floats, Inputs, Outputs, reference

Index = tuple[EllipsisType | slice, ...]


@reference("CONVOLUTION")
def convolution(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``FusedActivation(conv(Input, Filter) + Bias)``, forward or backward (decisions C1 to C16).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_convolution_operator_desc
    """
    x, w = widen(inputs.tensor("InputTensor")), widen(inputs.tensor("FilterTensor"))
    bias = inputs.optional("BiasTensor")
    if op.enum("Mode") == "CONVOLUTION":
        w = np.flip(w, axis=tuple(range(2, w.ndim)))
    convolve = forward if op.enum("Direction") == "FORWARD" else _backward
    total = _blank_output_padding(op, convolve(op, x, w))
    magnitude = _blank_output_padding(op, convolve(op, np.abs(x), np.abs(w)))
    if bias is not None:
        total = total + widen(bias)
        magnitude = magnitude + np.abs(widen(bias))
    terms = x.shape[1] // op.uint("GroupCount") * int(np.prod(w.shape[2:])) + 1
    error = sum_error(terms, magnitude, UNIT_ROUNDOFF[DataType.FLOAT32])
    return {"OutputTensor": apply_activation(op.activation(), total, error)}


def forward(op: OperatorDesc, x: Floats, w: Floats) -> Floats:
    """Gathers: each output element looks at its window of the zero-padded input (filter ``{Cout, Cin / G, ...}``)."""
    groups, sizes = op.uint("GroupCount"), op.tensor("OutputTensor").sizes
    pads = zip(op.uints("StartPadding"), op.uints("EndPadding"), strict=True)
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    w = w.reshape(groups, -1, *w.shape[1:])
    y = np.zeros((sizes[0], groups, sizes[1] // groups, *sizes[2:]))
    for tap in np.ndindex(*w.shape[3:]):
        steps = zip(tap, op.uints("Dilations"), op.uints("Strides"), sizes[2:], strict=True)
        window: Index = (..., *(slice(j * d, j * d + (n - 1) * s + 1, s) for j, d, s, n in steps))
        y += _mix(w[(..., *tap)], x[window])
    return y.reshape(sizes)


def _backward(op: OperatorDesc, x: Floats, w: Floats) -> Floats:
    """Scatters: ``y[i * Stride + j * Dilation - StartPadding] += x[i] * w[j]`` (filter ``{Cin, Cout / G, ...}``).

    OutputTensor says how much of that is kept; where nothing arrives it is 0 (decisions C6 and C10).
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
    """Output channels from input channels at one tap: ``{G, O, I} x {N, G, I, ...}`` to ``{N, G, O, ...}``."""
    flat = x.reshape(*x.shape[:3], -1)
    mixed: Floats = np.matmul(w, flat)
    return mixed.reshape(*x.shape[:2], w.shape[1], *x.shape[3:])


def _blank_output_padding(op: OperatorDesc, y: Floats) -> Floats:
    """Zeroes the last OutputPadding elements: appended to the convolution, before the bias (decisions C7, C8, C11)."""
    padding = op.uints("OutputPadding")
    if not any(padding):
        return y
    inside = [np.arange(n) < n - p for n, p in zip(y.shape[2:], padding, strict=True)]
    return np.where(np.broadcast_to(all_along(inside), y.shape), y, 0.0)
