"""CONVOLUTION: Conv and ConvTranspose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.lowering.activation import apply_activation
from dml2onnx.lowering.emitter.neural import Window
from dml2onnx.lowering.registry import lowers

if TYPE_CHECKING:
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.lowering.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands


@lowers("CONVOLUTION")
def convolution(node: Operands, e: Emitter) -> Tensor:
    """``FusedActivation(conv(Input, Filter) + Bias)``: Conv for FORWARD, ConvTranspose for BACKWARD.

    The last OutputPadding elements of each spatial dimension are 0 before the bias [decisions C7, C8]: they are
    not computed but padded.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_convolution_operator_desc
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
    """A Conv, all of which is wanted unless there is OutputPadding."""
    window = _window(op, w, op.uints("StartPadding"), op.uints("EndPadding"))
    sizes, wanted = op.tensor("OutputTensor").sizes, _wanted(op)
    if wanted == sizes:
        return e.Conv(x, w, bias, window, op.uint("GroupCount"))
    if min(wanted) <= 0:
        return _extended(e, None, x, bias, sizes)
    y = e.Conv(x, w, None, window, op.uint("GroupCount"))
    return _extended(e, e.Slice(y, (0,) * y.rank, wanted), x, bias, sizes)


def _backward(e: Emitter, op: OperatorDesc, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    """A ConvTranspose, cropped or extended to the output whatever EndPadding says [decisions C6, C10]."""
    sizes, wanted = op.tensor("OutputTensor").sizes, _wanted(op)
    start, strides = op.uints("StartPadding"), op.uints("Strides")
    axes = zip(x.shape[2:], w.shape[2:], strides, op.uints("Dilations"), start, strict=True)
    # elements from StartPadding to the last that an input element contributes to
    reached = [(n - 1) * stride + (k - 1) * dilation + 1 - skipped for n, k, stride, dilation, skipped in axes]
    if min(*wanted, *reached) <= 0:
        return _extended(e, None, x, bias, sizes)
    crop = tuple(max(r - n, 0) for r, n in zip(reached, wanted[2:], strict=True))
    missing = [max(n - r, 0) for r, n in zip(reached, wanted[2:], strict=True)]
    # ONNX allows output_padding up to a dilation that exceeds the stride; ONNX Runtime's kernel does not
    extra = tuple(m if m < stride else 0 for m, stride in zip(missing, strides, strict=True))
    window = _window(op, w, start, crop)
    if wanted == sizes and extra == tuple(missing):
        return e.ConvTranspose(x, w, bias, window, op.uint("GroupCount"), extra)
    return _extended(e, e.ConvTranspose(x, w, None, window, op.uint("GroupCount"), extra), x, bias, sizes)


def _wanted(op: OperatorDesc) -> tuple[int, ...]:
    """The sizes of the output without its OutputPadding."""
    sizes = op.tensor("OutputTensor").sizes
    return sizes[:2] + tuple(n - p for n, p in zip(sizes[2:], op.uints("OutputPadding"), strict=True))


def _window(op: OperatorDesc, w: Tensor, start: tuple[int, ...], end: tuple[int, ...]) -> Window:
    return Window(w.shape[2:], op.uints("Strides"), op.uints("Dilations"), start, end)


def _extended(e: Emitter, y: Tensor | None, x: Tensor, bias: Tensor | None, sizes: tuple[int, ...]) -> Tensor:
    """``y``, or nothing, with 0 behind it up to ``sizes``, and then the bias on all of it [decision C11]."""
    e.note("elements that the convolution does not reach, or OutputPadding, are padded with 0 before the bias")
    if y is None:
        y = e.ConstantOfShape(sizes, 0.0, x.dtype)
    else:
        y = e.Pad(y, (0,) * y.rank, tuple(n - m for n, m in zip(sizes, y.shape, strict=True)))
    return y if bias is None else e.Add(y, e.Reshape(bias, (1, bias.size, *(1,) * (y.rank - 2))))
