"""Convolutions and matrix products of integers, and of quantized tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.convolution import forward
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.quantization import quantized
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, reference

Integers = npt.NDArray[np.int64]

_ROWS, _COLUMNS = -2, -1
_MOVED = 4
"""Roundings when a zero point is added in FLOAT."""


@reference("CONVOLUTION_INTEGER")
def convolution_integer(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``conv(Input - InputZeroPoint, Filter - FilterZeroPoint)``, wrapped to INT32 (decisions Q11, Q13, Q14)."""
    return {"OutputTensor": Result(_wrapped(_convolved(op, inputs)))}


@reference("QUANTIZED_LINEAR_CONVOLUTION")
def quantized_linear_convolution(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The INT32 convolution plus bias, scaled and quantized (decisions Q2, Q11 to Q15)."""
    total, bias = _convolved(op, inputs), inputs.optional("BiasTensor")
    if bias is not None:
        bias = along(bias, total.ndim, 1)
        total = total + bias.astype(np.int64)
    scales = [along(inputs.tensor(f"{name}ScaleTensor"), total.ndim, 1) for name in ("Input", "Filter", "Output")]
    zero_point = inputs.optional("OutputZeroPointTensor")
    zero_point = None if zero_point is None else along(zero_point, total.ndim, 1)
    terms = prod(inputs.tensor("FilterTensor").shape[1:]) + 1

    def magnitude() -> Floats:
        x, w = (np.abs(widen(_less(inputs, name, axis))) for name, axis in (("Input", 1), ("Filter", 0)))
        return forward(op, x, w) + (0 if bias is None else np.abs(widen(bias)))

    data_type = op.tensor("OutputTensor").data_type
    return {"OutputTensor": requantized(_wrapped(total), scales, zero_point, data_type, sums=Sums(terms, magnitude))}


@reference("MATRIX_MULTIPLY_INTEGER")
def matrix_multiply_integer(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``(A - AZeroPoint) x (B - BZeroPoint)``, wrapped to INT32 (decisions M3, M8, Q13, Q14)."""
    return {"OutputTensor": Result(_multiplied(inputs))}


@reference("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
def matrix_multiply_integer_to_float(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``product * AScale * BScale + Bias``, in INT32 for 8 bits and in FLOAT32 for more (decisions Q13, Q14, Q16).

    Unspecified where a scale is 0 or not finite, or where an intermediate product leaves FLOAT32's normal numbers.
    """
    is_wide = any(inputs.tensor(f"{name}Tensor").dtype.itemsize > 1 for name in "AB")
    less = _less_in_float if is_wide else _less
    total = np.matmul(less(inputs, "A", _ROWS), less(inputs, "B", _COLUMNS)) if is_wide else widen(_multiplied(inputs))
    bias = inputs.optional("BiasTensor")
    a = widen(along(inputs.tensor("AScaleTensor"), total.ndim, _ROWS))
    b = widen(along(inputs.tensor("BScaleTensor"), total.ndim, _COLUMNS))
    y, unspecified = total * a * b, _leaves_float32([a * b], [total * a, total * b, total * a * b])
    magnitude = np.abs(y)
    sums = _matrix_sums(inputs, less)
    if bias is not None:
        y, magnitude = y + widen(bias), magnitude + np.abs(widen(bias))

    def floats_error() -> Floats:
        more = 0 if bias is None else np.abs(widen(bias))
        return sums.error(a, b) + sum_error(sums.terms + 3, more + 0 * y, ROUNDOFF)

    error = floats_error() if is_wide else sum_error(4, magnitude, ROUNDOFF)
    return {"OutputTensor": Result(y, error, unspecified, floats_error=floats_error)}


@reference("QUANTIZED_LINEAR_MATRIX_MULTIPLY")
def quantized_linear_matrix_multiply(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The INT32 product, scaled and quantized (decisions Q2, Q13 to Q15)."""
    total, axes = _multiplied(inputs), {"A": _ROWS, "B": _COLUMNS, "Output": _ROWS}
    scales = [along(inputs.tensor(f"{name}ScaleTensor"), total.ndim, axis) for name, axis in axes.items()]
    zero_point = inputs.optional("OutputZeroPointTensor")
    zero_point = None if zero_point is None else along(zero_point, total.ndim, _ROWS)
    data_type = op.tensor("OutputTensor").data_type
    return {"OutputTensor": requantized(total, scales, zero_point, data_type, sums=_matrix_sums(inputs))}


def along(parameter: Array, rank: int, axis: int) -> Array:
    """A parameter of any rank, with one element in total or per index of ``axis``, in a broadcastable shape (Q13)."""
    shape = [1] * rank
    shape[axis] = parameter.size
    return parameter.reshape(shape)


def _less(inputs: Inputs, name: str, axis: int) -> Integers:
    """A tensor minus its zero point, if it has one."""
    x, zero_point = inputs.tensor(f"{name}Tensor"), inputs.optional(f"{name}ZeroPointTensor")
    wide: Integers = x.astype(np.int64)
    return wide if zero_point is None else wide - along(zero_point, x.ndim, axis).astype(np.int64)


def _less_in_float(inputs: Inputs, name: str, axis: int) -> Floats:
    """The same with both rounded to FLOAT32 (decision Q16)."""
    x, zero_point = inputs.tensor(f"{name}Tensor"), inputs.optional(f"{name}ZeroPointTensor")
    single = x.astype(np.float32)
    return widen(single if zero_point is None else single - along(zero_point, x.ndim, axis).astype(np.float32))


def _convolved(op: OperatorDesc, inputs: Inputs) -> Integers:
    """The convolution, exact since its sums stay far below 2**53. Padding adds 0."""
    # output channels are the first dimension of the filter
    y = forward(op, widen(_less(inputs, "Input", 1)), widen(_less(inputs, "Filter", 0)))
    return y.astype(np.int64)


def _multiplied(inputs: Inputs) -> Array:
    """The product, wrapped to INT32."""
    return _wrapped(np.matmul(_less(inputs, "A", _ROWS), _less(inputs, "B", _COLUMNS)))


def _matrix_sums(inputs: Inputs, less: Callable[[Inputs, str, int], Array] = _less) -> Sums:
    def magnitude() -> Floats:
        a, b = (np.abs(widen(less(inputs, name, axis))) for name, axis in (("A", _ROWS), ("B", _COLUMNS)))
        return np.asarray(np.matmul(a, b), np.float64)

    return Sums(inputs.tensor("ATensor").shape[-1], magnitude)


def _wrapped(x: Integers) -> Array:
    return x.astype(np.int32)


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of ``terms`` products of integers, with a function for the sums of their magnitudes."""

    terms: int
    magnitude: Callable[[], Floats]

    def error(self, first: Floats, second: Floats) -> Floats:
        """Bounds the error of the sums in FLOAT after dequantisation by two scales; infinite where FLOAT overflows.

        Each dequantised number is rounded, or flushed to 0 below the smallest normal one.
        """
        magnitude = self.magnitude()
        size = magnitude * np.abs(first * second)
        normal = [(np.abs(x) >= SMALLEST_FLOAT32) & (np.abs(x) <= LARGEST_FLOAT32) for x in (first, second)]
        kept = normal[0] & normal[1] & (size <= LARGEST_FLOAT32)
        rest = SMALLEST_FLOAT32 * (magnitude * np.maximum(np.abs(first), np.abs(second)) + self.terms)
        return np.where(kept, sum_error(self.terms + 3, size, ROUNDOFF) + rest, np.inf)


def requantized(
    total: Array,
    scales: list[Array],
    zero_point: Array | None,
    data_type: DataType,
    off: Floats | None = None,
    sums: Sums | None = None,
) -> Result:
    """``clamp(round(total * (scales[0] * scales[1] / scales[2])) + zero_point)`` (decision Q15).

    ``off`` bounds the error of ``total``; ``sums`` describes how it was computed.
    """
    first, second, output = map(widen, scales)
    y = widen(total) * first * second
    everywhere = np.zeros(y.shape)
    error = 6 * ROUNDOFF * np.abs(y)
    if off is not None:
        error = error + off * np.abs(first * second)
    result = quantized(y, error, output + everywhere, zero_point, data_type)
    factors = [first * second, first * second / output]
    unspecified = everywhere + _leaves_float32([*factors, 1 / factors[1]], [y, y / output]) > 0

    def floats_error() -> Floats:
        assert sums is not None
        # FLOAT kernels add the zero point before they round
        moved = 0 if zero_point is None else np.abs(widen(zero_point) * output) * _MOVED * ROUNDOFF
        more = error + sums.error(first + everywhere, second) + moved
        undefined: Mask = np.isinf(more)
        found = quantized(y, np.where(undefined, 0, more), output + everywhere, zero_point, data_type).error
        assert found is not None
        return np.where(undefined, np.inf, found)

    marked = result.marked(unspecified)
    return marked if sums is None else replace(marked, floats_error=floats_error)


def _leaves_float32(factors: list[Floats], products: list[Floats]) -> Mask:
    """Where a factor is not a normal number of FLOAT32, or a product overflows."""
    bad = np.zeros(np.broadcast_shapes(*(x.shape for x in (*factors, *products))), np.bool_)
    for factor in factors:
        bad |= ~((np.abs(factor) >= SMALLEST_FLOAT32) & (np.abs(factor) <= LARGEST_FLOAT32))
    for product in products:
        bad |= ~(np.abs(product) <= LARGEST_FLOAT32)
    return bad
