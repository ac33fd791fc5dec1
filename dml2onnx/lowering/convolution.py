"""CONVOLUTION: Conv and ConvTranspose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.lowering.activation import apply_activation
from dml2onnx.lowering.emitter.neural import Window
from dml2onnx.lowering.registry import lowers
from dml2onnx.targets import Quirk

if TYPE_CHECKING:
    from collections.abc import Callable

    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.lowering.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands

MOST_GROUPS = 64
"""How many Convs may stand for the groups of one."""


@lowers("CONVOLUTION")
def convolution(node: Operands, e: Emitter) -> Tensor:
    """``FusedActivation(conv(Input, Filter) + Bias)``: Conv for FORWARD, ConvTranspose for BACKWARD.

    The last OutputPadding elements of each spatial dimension are 0, behind the bias and before the activation
    [decisions C7, C8]: they are not computed but padded.
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
    """A Conv of as many windows as the output has, all of them wanted unless there is OutputPadding [decision C9]."""
    sizes, wanted = op.tensor("OutputTensor").sizes, _wanted(op)
    window = _window(op, w, op.uints("StartPadding"), op.uints("EndPadding")).reaching(x.shape[2:], sizes[2:])
    if min(wanted) <= 0:
        return _extended(e, None, x, sizes)
    y = convolved(e, x, w, bias, window, op.uint("GroupCount"))
    y = e.Slice(y, (0,) * y.rank, wanted)
    return y if wanted == sizes else _extended(e, y, x, sizes)


def _backward(e: Emitter, op: OperatorDesc, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    """A ConvTranspose, cropped or extended to the output whatever EndPadding says [decisions C6, C10]."""
    sizes, wanted = op.tensor("OutputTensor").sizes, _wanted(op)
    start, strides = op.uints("StartPadding"), op.uints("Strides")
    axes = zip(x.shape[2:], w.shape[2:], strides, op.uints("Dilations"), start, strict=True)
    # elements from StartPadding to the last that an input element contributes to
    reached = [(n - 1) * stride + (k - 1) * dilation + 1 - skipped for n, k, stride, dilation, skipped in axes]
    if min(wanted) <= 0:
        return _extended(e, None, x, sizes)
    if min(reached) <= 0:
        return _extended(e, _biased(e, _extended(e, None, x, wanted), bias), x, sizes)
    crop = tuple(max(r - n, 0) for r, n in zip(reached, wanted[2:], strict=True))
    missing = [max(n - r, 0) for r, n in zip(reached, wanted[2:], strict=True)]
    # ONNX allows output_padding up to a dilation that exceeds the stride; ONNX Runtime's kernel does not
    pads = len(strides) > 1 or not e.target.has(Quirk.LINES_HAVE_NO_OUTPUT_PADDING)
    extra = tuple(m if pads and m < stride else 0 for m, stride in zip(missing, strides, strict=True))
    window = _window(op, w, start, crop)
    groups = op.uint("GroupCount")
    if extra == tuple(missing):
        return _extended(e, _conv_transpose(e, x, w, bias, window, groups, extra), x, sizes)
    y = _extended(e, _conv_transpose(e, x, w, None, window, groups, extra), x, wanted)
    return _extended(e, _biased(e, y, bias), x, sizes)


# --- kernels that take no more than planes ---------------------------------------------------------------------------


def convolved(e: Emitter, x: Tensor, w: Tensor, bias: Tensor | None, window: Window, groups: int) -> Tensor:
    """Conv; where it takes no groups of more than planes, one of planes, or one for each group."""
    if groups == 1 or len(window.shape) < 3 or not e.target.has(Quirk.CONVOLVES_PLANES):
        return e.Conv(x, w, bias, window, groups)
    axis = _folded(x, window)
    if axis is not None:
        filters, planes = _without(e, w, axis), _window_without(window, axis)
        return _over_planes(e, x, axis, lambda plane: e.Conv(plane, filters, bias, planes, groups))
    if groups > MOST_GROUPS:
        return e.Conv(x, w, bias, window, groups)
    e.note("Conv takes no groups with more than two spatial dimensions: one Conv for each group")
    inputs = e.Split(x, [x.shape[1] // groups] * groups, 1)
    filters_of = e.Split(w, [w.shape[0] // groups] * groups, 0)
    biases = [None] * groups if bias is None else e.Split(bias, [bias.size // groups] * groups, 0)
    parts = zip(inputs, filters_of, biases, strict=True)
    return e.Concat([e.Conv(mine, weights, term, window) for mine, weights, term in parts], 1)


def _conv_transpose(
    e: Emitter, x: Tensor, w: Tensor, bias: Tensor | None, window: Window, groups: int, extra: tuple[int, ...]
) -> Tensor:
    """ConvTranspose; where it takes no more than planes, of planes if there is an axis along which nothing moves."""
    axis = _folded(x, window) if len(window.shape) > 2 and e.target.has(Quirk.CONVOLVES_PLANES) else None
    if axis is None or extra[axis]:
        return e.ConvTranspose(x, w, bias, window, groups, extra)
    filters, planes = _without(e, w, axis), _window_without(window, axis)
    rest = extra[:axis] + extra[axis + 1 :]
    return _over_planes(e, x, axis, lambda plane: e.ConvTranspose(plane, filters, bias, planes, groups, rest))


def _folded(x: Tensor, window: Window) -> int | None:
    """A spatial axis of which each element is convolved by itself."""
    axes = zip(x.shape[2:], window.shape, window.strides, window.start, window.end, strict=True)
    found = [kernel == 1 and not start and not end and 1 in (size, step) for size, kernel, step, start, end in axes]
    return found.index(True) if True in found else None


def _without(e: Emitter, w: Tensor, axis: int) -> Tensor:
    return e.Reshape(w, w.shape[: 2 + axis] + w.shape[3 + axis :])


def _window_without(window: Window, axis: int) -> Window:
    parts = (window.shape, window.strides, window.dilations, window.start, window.end)
    return Window(*(part[:axis] + part[axis + 1 :] for part in parts))


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


# --- what surrounds them ---------------------------------------------------------------------------------------------


def _wanted(op: OperatorDesc) -> tuple[int, ...]:
    """The sizes of the output without its OutputPadding."""
    sizes = op.tensor("OutputTensor").sizes
    return sizes[:2] + tuple(n - p for n, p in zip(sizes[2:], op.uints("OutputPadding"), strict=True))


def _window(op: OperatorDesc, w: Tensor, start: tuple[int, ...], end: tuple[int, ...]) -> Window:
    return Window(w.shape[2:], op.uints("Strides"), op.uints("Dilations"), start, end)


def _extended(e: Emitter, y: Tensor | None, x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """``y``, or nothing, with 0 behind it up to ``sizes``."""
    if y is None:
        return e.ConstantOfShape(sizes, 0.0, x.dtype)
    if y.shape != sizes:
        e.note("elements that the convolution does not reach, and those of OutputPadding, are 0")
    return e.Pad(y, (0,) * y.rank, tuple(n - m for n, m in zip(sizes, y.shape, strict=True)))


def _biased(e: Emitter, y: Tensor, bias: Tensor | None) -> Tensor:
    """The bias on all elements, those that nothing reaches too [decision C11]."""
    return y if bias is None else e.Add(y, e.Reshape(bias, (1, bias.size, *(1,) * (y.rank - 2))))
