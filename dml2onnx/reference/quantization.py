"""QUANTIZE, DEQUANTIZE and their element-wise and dynamic forms, and the addition of quantized tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.numeric import sum_error, truncate, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Outputs, Result, reference

_ROUNDINGS = 8
"""Roundings in a sum of two quantised numbers, whatever the kernel."""
_WHOLE_IN_FLOAT32 = 2.0**24
"""FLOAT32 represents all integers up to here."""


@reference("ELEMENT_WISE_QUANTIZE_LINEAR")
def quantize_linear(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``clamp(round(Input / Scale) + ZeroPoint)``, halves to even, or off by one with a reciprocal (decisions Q1, Q2).

    Infinities saturate; NaN and a scale of 0 are unspecified.
    """
    x, scale = widen(inputs.tensor("InputTensor")), widen(inputs.tensor("ScaleTensor"))
    data_type = op.tensor("OutputTensor").data_type
    y = quantized(x, np.zeros(x.shape), scale, inputs.optional("ZeroPointTensor"), data_type)
    return {"OutputTensor": y}


@reference("ELEMENT_WISE_DEQUANTIZE_LINEAR")
def dequantize_linear(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(Input - ZeroPoint) * Scale`` with an exact difference (decisions Q2, Q8); a scale of 0 is unspecified."""
    scale = widen(inputs.tensor("ScaleTensor"))
    zero_point, data_type = inputs.optional("ZeroPointTensor"), op.tensor("OutputTensor").data_type
    return {"OutputTensor": _dequantized(inputs.tensor("InputTensor"), scale, zero_point, data_type)}


@reference("QUANTIZE")
def quantize(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``clamp(round(Input / Scale) + ZeroPoint)``, one scale and zero point for each block (decisions Q1, Q3 to Q5)."""
    x, data_type = widen(inputs.tensor("InputTensor")), op.tensor("OutputTensor").data_type
    scale, zero_point = _of_blocks(inputs, x.shape, data_type)
    return {"OutputTensor": quantized(x, np.zeros(x.shape), scale, zero_point, data_type)}


@reference("DEQUANTIZE")
def dequantize(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(Input - ZeroPoint) * Scale``, one scale and zero point for each block (decisions Q3 to Q5, Q8)."""
    x = inputs.tensor("InputTensor")
    scale, zero_point = _of_blocks(inputs, x.shape, op.tensor("InputTensor").data_type)
    return {"OutputTensor": _dequantized(x, scale, zero_point, op.tensor("OutputTensor").data_type)}


@reference("DYNAMIC_QUANTIZE_LINEAR")
def dynamic_quantize_linear(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Quantizes by the range of the data and 0 (decision Q9).

    Unspecified for all zeros (decision Q10), infinities, NaN, and ranges that overflow FLOAT32.
    """
    x, data_type = widen(inputs.tensor("InputTensor")), op.tensor("OutputTensor").data_type
    low, high = data_type.limits
    least, span = np.minimum(x.min(), 0), np.maximum(x.max(), 0) - np.minimum(x.min(), 0)
    scale = span / (high - low)
    # a subnormal scale may be 0 (decision G8)
    uncertain = not scale >= SMALLEST_FLOAT32
    undefined = not (np.isfinite(x).all() and span <= LARGEST_FLOAT32)
    steps = -least / scale if scale > 0 else np.float64(0)
    # the range, the scale, the quotient and the sum, each rounded
    reach = 6 * ROUNDOFF * np.abs(steps) + (high - low) * ROUNDOFF
    zeros = [truncate(np.rint(low + steps + move * reach), data_type) for move in (-1, 0, 1)]
    zero_off = max(float(zeros[2]) - float(zeros[1]), float(zeros[1]) - float(zeros[0]))
    if scale > 0:
        error = 4 * ROUNDOFF * np.abs(x) + np.where(np.abs(x) < SMALLEST_FLOAT32, SMALLEST_FLOAT32, 0)
        y = quantized(x, error, np.full(x.shape, scale), zeros[1], data_type)
    else:
        y = Result(np.full(x.shape, zeros[1]), np.zeros(x.shape))
    sizes = op.tensor("OutputScaleTensor").sizes
    return {
        "OutputTensor": Result(y.values, y.bound + zero_off, np.full(x.shape, uncertain or undefined)),
        "OutputScaleTensor": Result(
            np.full(sizes, scale), np.full(sizes, 3 * ROUNDOFF * scale), np.full(sizes, undefined or span == 0)
        ),
        "OutputZeroPointTensor": Result(
            np.full(op.tensor("OutputZeroPointTensor").sizes, zeros[1]),
            np.full(op.tensor("OutputZeroPointTensor").sizes, zero_off),
            np.full(op.tensor("OutputZeroPointTensor").sizes, uncertain or undefined),
        ),
    }


@reference("ELEMENT_WISE_QUANTIZED_LINEAR_ADD")
def quantized_linear_add(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale`` in FLOAT32, quantized (decisions E32, Q1, Q2)."""
    a, b = (
        _difference(inputs.tensor(f"{name}Tensor"), inputs.optional(f"{name}ZeroPointTensor"))
        * widen(inputs.tensor(f"{name}ScaleTensor"))
        for name in "AB"
    )
    magnitude = np.abs(a) + np.abs(b)
    # both products and the sum may be flushed to 0 (decision G8)
    error = sum_error(2, magnitude, ROUNDOFF) + 3 * SMALLEST_FLOAT32
    scale, zero_point = widen(inputs.tensor("OutputScaleTensor")), inputs.optional("OutputZeroPointTensor")
    y = quantized(a + b, error, scale, zero_point, op.tensor("OutputTensor").data_type)
    # where the sum overflows, a large output scale matters only if it is applied earlier
    overflows = np.isfinite(magnitude) & (magnitude > LARGEST_FLOAT32)
    marked = y.marked(overflows)

    def floats_error() -> Floats:
        # ONNX Runtime's kernel scales the raw numbers, and combines all zero points
        moved = sum(
            np.abs(widen(stated) * widen(inputs.tensor(f"{name}ScaleTensor")))
            for name in ("A", "B", "Output")
            if (stated := inputs.optional(f"{name}ZeroPointTensor")) is not None
        )
        reach = error + _ROUNDINGS * ROUNDOFF * (magnitude + moved)
        found = quantized(a + b, reach, scale, zero_point, op.tensor("OutputTensor").data_type).error
        assert found is not None
        return found

    return {"OutputTensor": replace(marked, floats_error=floats_error)}


def _of_blocks(inputs: Inputs, sizes: tuple[int, ...], data_type: DataType) -> tuple[Floats, Array]:
    """Scale and zero point of each element: entry ``i // (size / entries)`` in every dimension.

    A missing zero point is 0, or the middle of an unsigned type (decision Q3).
    """
    parameters = []
    for parameter in inputs.array("QuantizationTensors"):
        for axis, size in enumerate(sizes):
            parameter = np.repeat(parameter, size // parameter.shape[axis], axis)
        parameters.append(parameter)
    middle = 0 if data_type.is_signed else 1 << (data_type.bits - 1)
    zero_point = parameters[1] if len(parameters) > 1 else np.full(sizes, middle, data_type.dtype)
    return widen(parameters[0]), zero_point


def _dequantized(x: Array, scale: Floats, zero_point: Array | None, data_type: DataType) -> Result:
    difference = _difference(x, zero_point)
    y = difference * scale
    # roundings before the last: of a wide difference to FLOAT32 and, for FLOAT16, of the product to FLOAT32
    roundings = widen(np.abs(difference) > _WHOLE_IN_FLOAT32) + (data_type is DataType.FLOAT16)
    return Result(y, roundings * ROUNDOFF * np.abs(y), scale == 0)


def _difference(x: Array, zero_point: Array | None) -> Floats:
    """``x - zero_point``, exact: the difference of 32-bit integers has 33 bits."""
    return widen(x) if zero_point is None else widen(x) - widen(zero_point)


def quantized(x: Floats, error: Floats, scale: Floats, zero_point: Array | None, data_type: DataType) -> Result:
    """``clamp(round(x / scale) + zero_point)`` of an ``x`` that may be off by ``error`` (decision Q1).

    The result may be another integer if the quotient may cross a half.
    """
    y, reciprocal = x / scale, np.abs(1 / scale)
    # a subnormal reciprocal has fewer digits or is 0 (decision G8)
    vanishes = (reciprocal > 0) & (reciprocal < SMALLEST_FLOAT32)
    # an INT32 in FLOAT32, a reciprocal and a product, accurate to a few units in the last place (decision G7)
    reach = 4 * ROUNDOFF * np.abs(y) + error * reciprocal + np.where(vanishes, np.abs(x), 0) * SMALLEST_FLOAT32
    reach = np.where(np.isfinite(y), reach, 0)
    offset = 0 if zero_point is None else widen(zero_point)
    low, middle, high = (truncate(np.rint(end) + offset, data_type) for end in (y - reach, y, y + reach))
    off = np.maximum(widen(high) - widen(middle), widen(middle) - widen(low))
    unspecified = np.isnan(y) | (reciprocal > LARGEST_FLOAT32) | (np.isinf(x) & vanishes)
    return Result(middle, off, unspecified)
