"""CONVOLUTION: Conv and ConvTranspose."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.lowering.activation import apply_activation
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("CONVOLUTION")
def convolution(node: Operands, e: Emitter) -> Tensor:
    """``FusedActivation(conv(Input, Filter) + Bias)``: Conv for FORWARD, ConvTranspose for BACKWARD.

    The last OutputPadding elements of each spatial dimension are padded with 0 after the bias and before the
    activation [decisions C7, C8].
    """
    op = node.op
    x, w = node.widened(node.tensor("InputTensor")), node.widened(node.tensor("FilterTensor"))
    if op.enum("Mode") == "CONVOLUTION":
        w = e.Flip(w, range(2, w.rank))
    bias = node.optional("BiasTensor")
    if bias is not None:
        bias = node.widened(e.Reshape(bias, (bias.size,)))
    convolve = _forward if op.enum("Direction") == "FORWARD" else _backward
    return apply_activation(e, op.activation(), convolve(e, op, x, w, bias))


def _forward(e: Emitter, op: OperatorDesc, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    """A Conv with one window per output element, except those of OutputPadding [decision C9]."""
    sizes, wanted = op.tensor("OutputTensor").sizes, _wanted(op)
    window = windows_of(op, x, w)
    if min(wanted) <= 0:
        return _extended(e, None, x, sizes)
    y = e.Conv(x, w, bias, window, op.uint("GroupCount"))
    y = e.Slice(y, (0,) * y.rank, wanted)
    return y if wanted == sizes else _extended(e, y, x, sizes)


def _backward(e: Emitter, op: OperatorDesc, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    """A ConvTranspose, cropped or extended to the output's sizes regardless of EndPadding [decisions C6, C10]."""
    sizes, wanted = op.tensor("OutputTensor").sizes, _wanted(op)
    start, strides = op.uints("StartPadding"), op.uints("Strides")
    axes = zip(x.shape[2:], w.shape[2:], strides, op.uints("Dilations"), start, strict=True)
    # elements from StartPadding to the last one that depends on an input element
    reached = [(n - 1) * stride + (k - 1) * dilation + 1 - skipped for n, k, stride, dilation, skipped in axes]
    if min(wanted) <= 0:
        return _extended(e, None, x, sizes)
    if min(reached) <= 0:
        return _extended(e, _biased(e, _extended(e, None, x, wanted), bias), x, sizes)
    crop = tuple(max(r - n, 0) for r, n in zip(reached, wanted[2:], strict=True))
    missing = tuple(max(n - r, 0) for r, n in zip(reached, wanted[2:], strict=True))
    window = Window(w.shape[2:], strides, op.uints("Dilations"), start, crop)
    groups = op.uint("GroupCount")
    # ONNX requires output_padding to be smaller than the stride or the dilation
    if all(m < max(steps) for m, *steps in zip(missing, strides, window.dilations, strict=True)):
        window = window._replace(output_padding=missing)
        return _extended(e, e.ConvTranspose(x, w, bias, window, groups), x, sizes)
    y = _extended(e, e.ConvTranspose(x, w, None, window, groups), x, wanted)
    return _extended(e, _biased(e, y, bias), x, sizes)


# --- windows, padding, bias ------------------------------------------------------------------------------------------


def _wanted(op: OperatorDesc) -> tuple[int, ...]:
    """Returns the sizes of the output without OutputPadding."""
    sizes = op.tensor("OutputTensor").sizes
    return sizes[:2] + tuple(n - p for n, p in zip(sizes[2:], op.uints("OutputPadding"), strict=True))


def windows_of(op: OperatorDesc, x: Tensor, w: Tensor) -> Window:
    """Returns the windows of a filter over an input, one per output element [decision C9]."""
    steps = (op.uints(name) for name in ("Strides", "Dilations", "StartPadding", "EndPadding"))
    return Window(w.shape[2:], *steps).reaching(x.shape[2:], op.tensor("OutputTensor").sizes[2:])


def _extended(e: Emitter, y: Tensor | None, x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Pads ``y`` (``None``: empty) with 0 at the end up to ``sizes``."""
    if y is None:
        return e.ConstantOfShape(sizes, 0.0, x.dtype)
    if y.shape != sizes:
        e.note("elements that the convolution does not reach, and those of OutputPadding, are 0")
    return e.Pad(y, (0,) * y.rank, tuple(n - m for n, m in zip(sizes, y.shape, strict=True)))


def _biased(e: Emitter, y: Tensor, bias: Tensor | None) -> Tensor:
    """Adds the bias to all elements, also those without input elements [decision C11]."""
    return y if bias is None else e.Add(y, e.Reshape(bias, (1, bias.size, *(1,) * (y.rank - 2))))
