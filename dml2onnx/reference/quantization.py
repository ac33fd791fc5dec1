"""ELEMENT_WISE quantization, and arithmetic on quantized tensors."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.numeric import LARGEST_FLOAT32, SMALLEST_FLOAT32, UNIT_ROUNDOFF, sum_error, truncate, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Outputs, Result, reference

_FLOAT32_ROUNDOFF = UNIT_ROUNDOFF[DataType.FLOAT32]
_WHOLE_IN_FLOAT32 = 2.0**24
"""Up to here FLOAT32 has all whole numbers."""


@reference("ELEMENT_WISE_QUANTIZE_LINEAR")
def quantize_linear(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``clamp(round(Input / Scale) + ZeroPoint)``, halves to even or, by the reciprocal, one off (decisions Q1, Q2).

    Infinities saturate; nothing is promised of NaN, nor of a scale of 0.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_quantize_linear_operator_desc
    """
    x, scale = widen(inputs.tensor("InputTensor")), widen(inputs.tensor("ScaleTensor"))
    data_type = op.tensor("OutputTensor").data_type
    y = _quantized(x, np.zeros(x.shape), scale, inputs.optional("ZeroPointTensor"), data_type)
    return {"OutputTensor": y}


@reference("ELEMENT_WISE_DEQUANTIZE_LINEAR")
def dequantize_linear(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(Input - ZeroPoint) * Scale``, the difference exact (decisions Q2, Q8); nothing is promised of a scale of 0.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_dequantize_linear_operator_desc
    """
    scale, data_type = widen(inputs.tensor("ScaleTensor")), op.tensor("OutputTensor").data_type
    difference = _difference(inputs.tensor("InputTensor"), inputs.optional("ZeroPointTensor"))
    y = difference * scale
    # what comes before the last rounding: a wide difference in FLOAT32 and, of FLOAT16, the product in FLOAT32
    roundings = widen(np.abs(difference) > _WHOLE_IN_FLOAT32) + (data_type is DataType.FLOAT16)
    return {"OutputTensor": Result(y, roundings * _FLOAT32_ROUNDOFF * np.abs(y), scale == 0)}


@reference("ELEMENT_WISE_QUANTIZED_LINEAR_ADD")
def quantized_linear_add(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale`` in FLOAT32, quantized (decisions E32, Q1, Q2).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_element_wise_quantized_linear_add_operator_desc
    """
    a, b = (
        _difference(inputs.tensor(f"{name}Tensor"), inputs.optional(f"{name}ZeroPointTensor"))
        * widen(inputs.tensor(f"{name}ScaleTensor"))
        for name in "AB"
    )
    magnitude = np.abs(a) + np.abs(b)
    # either product and the sum may vanish where FLOAT32 has no normal numbers (decision G8)
    error = sum_error(2, magnitude, _FLOAT32_ROUNDOFF) + 3 * SMALLEST_FLOAT32
    scale, zero_point = widen(inputs.tensor("OutputScaleTensor")), inputs.optional("OutputZeroPointTensor")
    y = _quantized(a + b, error, scale, zero_point, op.tensor("OutputTensor").data_type)
    # a large output scale brings back what overflows on the way to it, unless it is divided by earlier
    overflows = np.isfinite(magnitude) & (magnitude > LARGEST_FLOAT32)
    assert y.unspecified is not None
    return {"OutputTensor": Result(y.values, y.error, y.unspecified | overflows)}


def _difference(x: Array, zero_point: Array | None) -> Floats:
    """``x - zero_point``, exact: of 32-bit integers it has 33 bits."""
    return widen(x) if zero_point is None else widen(x) - widen(zero_point)


def _quantized(x: Floats, error: Floats, scale: Floats, zero_point: Array | None, data_type: DataType) -> Result:
    """``clamp(round(x / scale) + zero_point)`` of an ``x`` that may be off by ``error`` (decision Q1).

    It may be another integer where a half is within reach of the quotient.
    """
    y, reciprocal = x / scale, np.abs(1 / scale)
    # below the normal numbers the reciprocal has fewer digits, or none (decision G8)
    vanishes = (reciprocal > 0) & (reciprocal < SMALLEST_FLOAT32)
    # an INT32 in FLOAT32, a reciprocal and a product: accurate to a few units in the last place (decision G7)
    reach = 4 * _FLOAT32_ROUNDOFF * np.abs(y) + error * reciprocal + np.where(vanishes, np.abs(x), 0) * SMALLEST_FLOAT32
    reach = np.where(np.isfinite(y), reach, 0)
    offset = 0 if zero_point is None else widen(zero_point)
    low, middle, high = (truncate(np.rint(end) + offset, data_type) for end in (y - reach, y, y + reach))
    off = np.maximum(widen(high) - widen(middle), widen(middle) - widen(low))
    unspecified = np.isnan(y) | (reciprocal > LARGEST_FLOAT32) | (np.isinf(x) & vanishes)
    return Result(middle, off, unspecified)
