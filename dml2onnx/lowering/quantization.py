"""QUANTIZE and DEQUANTIZE operators, DYNAMIC_QUANTIZE_LINEAR, and the addition of quantized tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.tensor import MAX_DIMENSIONS, DataType
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.pairs import QuantizationSteps, fits, has_positive_scale, numbers, quantised
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT, INT4, INT64, UINT4, DType

PACKED_FROM = 1024
"""The number of elements from which 4-bit constants are stored as such."""


@lowers("ELEMENT_WISE_QUANTIZE_LINEAR")
def quantize_linear(node: Operands, e: Emitter) -> Tensor:
    """``clamp(round(Input / Scale) + ZeroPoint)``, halves to even [decision Q1]: QuantizeLinear."""
    x, scale = node.broadcastable("InputTensor"), node.broadcastable("ScaleTensor")
    zero_point, dtype = zero_point_of(node, "ZeroPointTensor"), node.output().data_type.dtype
    return quantized(e, e.Cast(x, FLOAT), e.Cast(scale, FLOAT), zero_point, dtype)


@lowers("ELEMENT_WISE_DEQUANTIZE_LINEAR")
def dequantize_linear(node: Operands, e: Emitter) -> Tensor:
    """``(Input - ZeroPoint) * Scale`` with an exact difference [decision Q8]: DequantizeLinear if possible."""
    # FLOAT16 is rounded once, after the product
    scale = e.Cast(node.broadcastable("ScaleTensor"), FLOAT)
    return dequantized(e, node.broadcastable("InputTensor"), scale, zero_point_of(node, "ZeroPointTensor"))


@lowers("ELEMENT_WISE_QUANTIZED_LINEAR_ADD")
def quantized_linear_add(node: Operands, e: Emitter) -> Tensor:
    """Dequantizes, adds in FLOAT32 and quantizes [decision E32]: DequantizeLinear, Add, QuantizeLinear."""
    tensors, dtype = [node.broadcastable(f"{name}Tensor") for name in "AB"], node.output().data_type.dtype
    *before, after = steps = [steps_of(node, e, name) for name in ("A", "B", "Output")]
    is_pair = not e.rounds_pairs() and max(item.count for item in steps) == 1 and has_positive_scale(after)
    if is_pair and all(map(fits, (e, e), tensors, before)):
        a, b = (numbers(e, x, item) for x, item in zip(tensors, before, strict=True))
        return quantised(e, e.Add(a, b), after, dtype)
    a, b = (dequantized(e, x, item.scale, item.zero_point) for x, item in zip(tensors, before, strict=True))
    return quantized(e, e.Add(a, b), after.scale, after.zero_point, dtype)


@lowers("QUANTIZE")
def quantize(node: Operands, e: Emitter) -> Tensor:
    """``clamp(round(Input / Scale) + ZeroPoint)``, one scale for each block [decisions Q1, Q3 to Q5]."""
    output = node.output()
    x, scale, zero_point = _in_blocks(node, e, output.data_type)
    y = quantized(e, e.Cast(x, FLOAT), scale, zero_point, output.data_type.dtype)
    if output.data_type.is_packed_nibbles:
        y = e.Clip(y, *output.data_type.limits)
    return e.Reshape(e.Expand(y, x.shape), output.sizes)


@lowers("DEQUANTIZE")
def dequantize(node: Operands, e: Emitter) -> Tensor:
    """``(Input - ZeroPoint) * Scale``, one scale for each block [decisions Q3 to Q5, Q8]."""
    data_type = node.op.tensor("InputTensor").data_type
    x, scale, zero_point = _in_blocks(node, e, data_type)
    nibble = INT4 if data_type.is_signed else UINT4
    if data_type.is_packed_nibbles and _stays_packed(e, x, nibble):
        e.note("the weights stay packed: runtimes unpack them when they load the model")
        y = e.stored_nibbles(x, nibble)
        if zero_point is not None:
            is_packed = _stays_packed(e, zero_point, nibble)
            y = e.Sub(y, e.stored_nibbles(zero_point, nibble) if is_packed else e.Cast(zero_point, FLOAT))
        y = e.Mul(y, scale)
    else:
        y = dequantized(e, x, scale, zero_point)
    return e.Reshape(e.Expand(y, x.shape), node.output().sizes)


@lowers("DYNAMIC_QUANTIZE_LINEAR")
def dynamic_quantize_linear(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """DynamicQuantizeLinear, which extends the range to 0 [decision Q9]; INT8 results are 128 lower."""
    x, dtype = e.Cast(node.tensor("InputTensor"), FLOAT), node.output().data_type.dtype
    y, scale, zero_point = e.DynamicQuantizeLinear(x)
    if dtype != y.dtype:
        e.note("DynamicQuantizeLinear gives UINT8 only: INT8 is quantized by its scale, with a zero point 128 lower")
        # 128 higher is the same modulo 256
        zero_point = e.Cast(e.Add(zero_point, e.constant(128, zero_point.dtype)), dtype)
        y = e.QuantizeLinear(x, scale, zero_point)
    return {"OutputTensor": y, "OutputScaleTensor": scale, "OutputZeroPointTensor": zero_point}


def _stays_packed(e: Emitter, x: Tensor, nibble: DType) -> bool:
    """Whether ``x`` is a constant that is stored with 4 bits per element."""
    return x.value is not None and x.size >= PACKED_FROM and e.stores_nibbles(nibble)


def _in_blocks(node: Operands, e: Emitter, data_type: DataType) -> tuple[Tensor, Tensor, Tensor | None]:
    """Returns input, FLOAT scale and zero point so that they broadcast.

    A dimension of several blocks is split into two: the blocks, and the elements of each. A missing zero point is 0,
    or the middle of an unsigned type [decision Q3].
    """
    x, items = node.tensor("InputTensor"), node.array("QuantizationTensors", units=True)
    if len(items) == 1 and not data_type.is_signed:
        items.append(e.constant(np.full((1,) * x.rank, 1 << (data_type.bits - 1), data_type.dtype)))
    split = {
        axis
        for item in items
        for axis, (size, entries) in enumerate(zip(x.shape, item.shape, strict=True))
        if 1 < entries < size
    }
    if x.rank + len(split) > MAX_DIMENSIONS:
        e.note("scales are repeated for each element of a block: splitting dimensions would exceed the maximum rank")
        scale, *zero_points = (_repeated(e, item, x.shape) for item in items)
        return x, e.Cast(scale, FLOAT), zero_points[0] if zero_points else None
    if split:
        e.note("dimensions of several blocks are split into the blocks and the elements of each")
    counts = [max(item.shape[axis] for item in items) for axis in range(x.rank)]

    def divided(item: Tensor) -> Tensor:
        shape: list[int] = []
        for axis, size in enumerate(item.shape):
            within = size // counts[axis] if size == x.shape[axis] else 1
            shape += [size // within, within] if axis in split else [size]
        return e.Reshape(item, shape)

    x, scale, *zero_points = (divided(item) for item in (x, *items))
    return x, e.Cast(scale, FLOAT), zero_points[0] if zero_points else None


def _repeated(e: Emitter, item: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Repeats the parameters of blocks for each element of the block."""
    for axis, (entries, size) in enumerate(zip(item.shape, sizes, strict=True)):
        if 1 < entries < size:
            item = e.Gather(item, e.positions(np.arange(size) // (size // entries)), axis)
    return item


def steps_of(node: Operands, e: Emitter, name: str) -> QuantizationSteps:
    """Returns scale and zero point of a tensor."""
    scale = e.Cast(node.broadcastable(f"{name}ScaleTensor"), FLOAT)
    return QuantizationSteps(scale, zero_point_of(node, f"{name}ZeroPointTensor"))


def zero_point_of(node: Operands, field: str) -> Tensor | None:
    """Returns a zero point, or ``None`` if it is null or known to be 0 [decision Q2]."""
    if not node.op.get(field):
        return None
    zero_point = node.broadcastable(field)
    return zero_point if zero_point.value is None or zero_point.value.any() else None


def quantized(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor | None, dtype: DType) -> Tensor:
    """``round(x / scale) + zero_point`` saturated to 8 bits, for FLOAT ``x`` and ``scale`` that broadcast.

    Halves are rounded to even before the zero point is added. NaN becomes the lowest number.
    """
    parameters = _parameters(e, x, [scale, or_zero(e, zero_point, x.rank, dtype)])
    if parameters is not None:
        (scale, zero_point), axis = parameters
        return e.QuantizeLinear(x, scale, zero_point, axis)
    e.note("Div broadcasts the scales; QuantizeLinear saturates")
    return saturated(e, e.Div(x, scale), zero_point, dtype)


def or_zero(e: Emitter, zero_point: Tensor | None, rank: int, dtype: DType) -> Tensor:
    """Returns a zero point, or a constant 0 in ``dtype`` if there is none."""
    return e.constant(np.zeros((1,) * rank, dtype)) if zero_point is None else zero_point


def saturated(e: Emitter, x: Tensor, zero_point: Tensor | None, dtype: DType) -> Tensor:
    """``round(x) + zero_point`` saturated to 8 bits by QuantizeLinear, which handles infinities and NaN."""
    if zero_point is not None and zero_point.size > 1:
        return saturated(e, e.Add(e.Round(x), e.Cast(zero_point, FLOAT)), None, dtype)
    zero_point = e.constant(0, dtype) if zero_point is None else e.Reshape(zero_point, ())
    return e.QuantizeLinear(x, e.constant(1, FLOAT), zero_point)


def dequantized(e: Emitter, x: Tensor, scale: Tensor, zero_point: Tensor | None) -> Tensor:
    """``(x - zero_point) * scale`` in FLOAT, for operands of one rank that broadcast."""
    # for 32-bit numbers ONNX has no zero point
    if e.dequantizes(x) and (zero_point is None or x.dtype.itemsize < 4):
        parameters = _parameters(e, x, [scale, or_zero(e, zero_point, x.rank, x.dtype)])
        if parameters is not None:
            (scale, zero_point), axis = parameters
            return e.DequantizeLinear(x, scale, zero_point, axis)
    # round once: the difference of 16-bit numbers is exact in FLOAT, that of 32-bit numbers has 33 bits
    exact = shifted(e, x, zero_point, FLOAT if zero_point is None or x.dtype.itemsize < 4 else INT64)
    return e.Mul(e.Cast(exact, FLOAT), scale)


def shifted(e: Emitter, x: Tensor, zero_point: Tensor | None, dtype: DType) -> Tensor:
    """``x - zero_point`` in ``dtype``."""
    x = e.Cast(x, dtype)
    return x if zero_point is None else e.Sub(x, e.Cast(zero_point, dtype))


# --- along axes ------------------------------------------------------------------------------------------------------


def _placed(e: Emitter, x: Tensor, rank: int, axis: int) -> Tensor:
    """Reshapes one element, or one for each index along ``axis``, to ``rank`` dimensions [decision Q13]."""
    shape = [1] * rank
    shape[axis] = x.size
    return e.Reshape(x, shape)


def scale_along(node: Operands, e: Emitter, name: str, rank: int, axis: int) -> Tensor:
    """Returns the scale of a tensor: one, or one for each index along ``axis``."""
    return e.Cast(_placed(e, node.broadcastable(f"{name}ScaleTensor"), rank, axis), FLOAT)


def zero_point_along(node: Operands, e: Emitter, name: str, rank: int, axis: int) -> Tensor | None:
    """Returns the zero point of a tensor, or ``None`` if it is 0: one, or one for each index along ``axis``."""
    zero_point = zero_point_of(node, f"{name}ZeroPointTensor")
    return None if zero_point is None else _placed(e, zero_point, rank, axis)


def requantized(node: Operands, e: Emitter, total: Tensor, factor: Tensor, axis: int) -> Tensor:
    """``clamp(round(total * (factor / OutputScale)) + OutputZeroPoint)`` [decision Q15]."""
    factor = e.Div(factor, scale_along(node, e, "Output", total.rank, axis))
    steps = e.Mul(e.Cast(total, FLOAT), factor)
    zero_point = zero_point_along(node, e, "Output", total.rank, axis)
    return saturated(e, steps, zero_point, node.output().data_type.dtype)


def _parameters(e: Emitter, x: Tensor, items: Sequence[Tensor]) -> tuple[list[Tensor], int | None] | None:
    """Returns scale and zero point as scalars, or as vectors with their axis, for QuantizeLinear.

    ``None`` if they vary along several axes or one along which ``x`` is broadcast, or if the scale is not a positive
    number, which optimisers that move quantisations assume.
    """
    factors = items[0].value
    if factors is not None and not (np.isfinite(factors) & (factors >= np.finfo(np.float32).tiny)).all():
        return None
    axes = {axis for item in items for axis, size in enumerate(item.shape) if size > 1}
    if not axes:
        return [e.Reshape(item, ()) for item in items], None
    axis = max(axes)
    size = x.shape[axis]
    if len(axes) > 1 or size == 1 or not e.quantizes_along(x.shape, axis):
        return None
    e.note(f"one scale and zero point for each index along axis {axis}")
    return [e.Expand(e.Reshape(item, (item.size,)), (size,)) for item in items], axis
