"""Convolutions and matrix products of integers and of quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from dml2onnx.codes.compiling import IN_UNITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.convolution import windows_of
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.pairs import QuantizationSteps, bias_of, fits, has_positive_scale, numbers, quantised
from dml2onnx.lowering.quantization import or_zero, requantized, scale_along, shifted, steps_of, zero_point_along
from dml2onnx.lowering.registry import lowers
from dml2onnx.onnx_model import FLOAT, DType

INT8: DType = np.dtype(np.int8)
INT32: DType = np.dtype(np.int32)
UINT32: DType = np.dtype(np.uint32)


@lowers("CONVOLUTION_INTEGER")
def convolution_integer(node: Operands, e: Emitter) -> Tensor:
    """``conv(Input - InputZeroPoint, Filter - FilterZeroPoint)`` in INT32 [decisions Q11, Q13, Q14]: ConvInteger."""
    return _convolved(node, e)


@lowers("QUANTIZED_LINEAR_CONVOLUTION")
def quantized_linear_convolution(node: Operands, e: Emitter) -> Tensor:
    """The INT32 convolution and its bias, times the scales, quantized [decisions Q11 to Q15]."""
    whole = _paired_convolution(node, e) if e.writes_pairs() else _convolution_in_one(node, e)
    if whole is not None:
        return whole
    total, bias = _convolved(node, e), node.optional("BiasTensor")
    if bias is not None:
        total = e.Add(total, e.Reshape(bias, (bias.size, *(1,) * (total.rank - 2))))
    factor = e.Mul(scale_along(node, e, "Input", total.rank, 1), scale_along(node, e, "Filter", total.rank, 1))
    return requantized(node, e, total, factor, 1)


@lowers("MATRIX_MULTIPLY_INTEGER")
def matrix_multiply_integer(node: Operands, e: Emitter) -> Tensor:
    """``(A - AZeroPoint) x (B - BZeroPoint)`` in INT32 [decisions M3, M8, Q13, Q14]: MatMulInteger."""
    return _multiplied(node, e)


@lowers("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
def matrix_multiply_integer_to_float(node: Operands, e: Emitter) -> Tensor:
    """The product times AScale and BScale, plus Bias [decisions Q13, Q14, Q16]: 8 bits in INT32, more in FLOAT."""
    y = _paired_product(node, e, FLOAT) if e.writes_pairs() else None
    if y is None:
        total, rank = _multiplied(node, e, FLOAT), node.output().rank
        a_scale, b_scale = scale_along(node, e, "A", rank, rank - 2), scale_along(node, e, "B", rank, rank - 1)
        y = e.scaled(e.Cast(total, FLOAT), a_scale, b_scale)
    return e.Add(y, e.Cast(node.broadcastable("BiasTensor"), FLOAT)) if node.op.has("BiasTensor") else y


@lowers("QUANTIZED_LINEAR_MATRIX_MULTIPLY")
def quantized_linear_matrix_multiply(node: Operands, e: Emitter) -> Tensor:
    """The INT32 product times the scales, quantized [decisions Q13 to Q15]."""
    dtype = node.output().data_type.dtype
    whole = _paired_product(node, e, dtype) if e.writes_pairs() else _product_in_one(node, e)
    if whole is not None:
        return whole
    total, rank = _multiplied(node, e), node.output().rank
    factor = e.Mul(scale_along(node, e, "A", rank, rank - 2), scale_along(node, e, "B", rank, rank - 1))
    return requantized(node, e, total, factor, rank - 2)


# --- QDQ -------------------------------------------------------------------------------------------------------------


def _paired_convolution(node: Operands, e: Emitter) -> Tensor | None:
    """Conv between DequantizeLinear and QuantizeLinear; ``None`` if the parameters do not fit."""
    x, w = node.tensor("InputTensor"), node.tensor("FilterTensor")
    before, filters, after = (steps_of(node, e, name) for name in ("Input", "Filter", "Output"))
    if max(before.count, after.count) > 1 or not filters.has_one_zero_point or not has_positive_scale(after):
        return None
    if not (fits(e, x, before) and fits(e, w, filters)):
        return None
    w, filters = _as_multiplied(e, x, w, filters)
    bias = bias_of(e, node.optional("BiasTensor"), before, filters)
    output = node.output()
    window = windows_of(node.op, x, w)
    groups = node.op.uint("GroupCount")
    y = e.Conv(numbers(e, x, before), numbers(e, w, filters), bias, window, groups)
    return e.Slice(quantised(e, y, after, output.data_type.dtype), (0,) * y.rank, output.sizes)


def _paired_product(node: Operands, e: Emitter, dtype: DType) -> Tensor | None:
    """MatMul after DequantizeLinear, quantized if ``dtype`` is an integer type; ``None`` if parameters do not fit."""
    a, b = node.matrices("ATensor"), node.matrices("BTensor")
    rows, columns = steps_of(node, e, "A"), steps_of(node, e, "B")
    if columns.count > 1:
        if b.size != b.shape[-2] * b.shape[-1]:
            return None
        b = e.Reshape(b, b.shape[-2:])
    if rows.count > 1 or not (fits(e, a, rows) and fits(e, b, columns, b.rank - 1)):
        return None
    b, columns = _as_multiplied(e, a, b, columns)
    if dtype == FLOAT:
        y = e.MatMul(numbers(e, a, rows), numbers(e, b, columns, b.rank - 1))
        y.paired = True
        e.note(IN_UNITS)
        return y
    after = steps_of(node, e, "Output")
    if after.count > 1 or not has_positive_scale(after):
        return None
    return quantised(e, e.MatMul(numbers(e, a, rows), numbers(e, b, columns, b.rank - 1)), after, dtype)


def _as_multiplied(e: Emitter, x: Tensor, w: Tensor, steps: QuantizationSteps) -> tuple[Tensor, QuantizationSteps]:
    """Converts the second operand of a product from INT8 to UINT8 if the target multiplies INT8 wrongly."""
    if w.dtype != INT8 or e.multiplies_signed(x, w):
        return w, steps
    zero_point = or_zero(e, steps.zero_point, w.rank, INT8)
    e.note("128 is added to make UINT8 of INT8: products of UINT8 are exact on every processor")
    return e.raised(w), QuantizationSteps(steps.scale, e.raised(zero_point))


# --- QLinearConv and QLinearMatMul -----------------------------------------------------------------------------------


def _in_one(
    node: Operands, e: Emitter, op: str, x: Tensor, w: Tensor, names: tuple[str, str], *, each: bool = True
) -> list[Tensor] | None:
    """Returns the inputs of QLinearConv or QLinearMatMul; ``None`` if types or parameters do not fit.

    With ``each``, ``w`` may have a scale for each channel or column.
    """
    before, factor, after = steps = [steps_of(node, e, name) for name in (*names, "Output")]
    dtype = node.output().data_type.dtype
    if max(x.dtype.itemsize, w.dtype.itemsize) > 1 or max(before.count, after.count) > 1:
        return None
    if not factor.has_one_zero_point or (factor.count > 1 and not each) or not all(map(has_positive_scale, steps)):
        return None
    if not e.multiplies_quantised(op, (x.dtype, w.dtype, dtype), known=_is_finite(steps)):
        return None
    return [x, *before.parameters(e, x.dtype), w, *factor.parameters(e, w.dtype), *after.parameters(e, dtype)]


def _is_finite(steps: Sequence[QuantizationSteps]) -> bool:
    """Whether the factor of the sums is constant and finite."""
    first, second, last = (item.scale.value for item in steps)
    if first is None or second is None or last is None:
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(first.reshape(-1) * second.reshape(-1) / last.reshape(-1)).all())


def _convolution_in_one(node: Operands, e: Emitter) -> Tensor | None:
    """QLinearConv."""
    x, w = node.tensor("InputTensor"), node.tensor("FilterTensor")
    inputs, bias = _in_one(node, e, "QLinearConv", x, w, ("Input", "Filter")), node.optional("BiasTensor")
    if inputs is None:
        return None
    output = node.output()
    flat = None if bias is None else e.Reshape(bias, (bias.size,))
    y = e.QLinearConv(inputs, flat, windows_of(node.op, x, w), node.op.uint("GroupCount"), output.data_type.dtype)
    return e.Slice(y, (0,) * y.rank, output.sizes)


def _product_in_one(node: Operands, e: Emitter) -> Tensor | None:
    """QLinearMatMul; it takes scales of columns for a single matrix only."""
    a, b = node.matrices("ATensor"), node.matrices("BTensor")
    inputs = _in_one(node, e, "QLinearMatMul", a, b, ("A", "B"), each=b.rank == 2)
    return None if inputs is None else e.QLinearMatMul(inputs, node.output().data_type.dtype)


# --- integers --------------------------------------------------------------------------------------------------------


def _convolved(node: Operands, e: Emitter) -> Tensor:
    """The convolution in INT32, with one window per output element [decision C9].

    ConvInteger takes one zero point of the filter. If channels have different ones, each is subtracted afterwards,
    times the sum of the window, which is a convolution with ones.
    """
    op, x, w = node.op, node.tensor("InputTensor"), node.tensor("FilterTensor")
    group = op.uint("GroupCount")
    window = windows_of(op, x, w)
    x_zero_point = e.Reshape(or_zero(e, zero_point_along(node, e, "Input", x.rank, 1), x.rank, x.dtype), ())
    w_zero_point = or_zero(e, zero_point_along(node, e, "Filter", w.rank, 0), w.rank, w.dtype)
    if w_zero_point.size == 1:
        y = e.ConvInteger(x, w, x_zero_point, e.Reshape(w_zero_point, ()), window, group)
        return e.Slice(y, (0,) * y.rank, node.output().sizes)
    e.note("zero points of channels are subtracted after ConvInteger, each times the sum of its window")
    y = e.ConvInteger(x, w, x_zero_point, e.constant(0, w.dtype), window, group)
    e.budget.require(group * prod(w.shape[1:]))
    ones = e.constant(np.ones((group, *w.shape[1:]), x.dtype))
    sums = e.ConvInteger(x, ones, x_zero_point, e.constant(0, x.dtype), window, group)
    spatial = y.shape[2:]
    by_channel = e.Reshape(e.Cast(w_zero_point, INT32), (1, group, w.shape[0] // group, *(1,) * len(spatial)))
    extra = e.Mul(e.Reshape(sums, (y.shape[0], group, 1, *spatial)), by_channel)
    return e.Slice(e.Sub(y, e.Reshape(extra, y.shape)), (0,) * y.rank, node.output().sizes)


def _multiplied(node: Operands, e: Emitter, wide: DType = UINT32) -> Tensor:
    """The matrix product in INT32, or in ``wide`` for more than 8 bits; broadcast batches have size 1."""
    a, b = node.matrices("ATensor"), node.matrices("BTensor")
    a_zero_point = zero_point_along(node, e, "A", a.rank, a.rank - 2)
    b_zero_point = zero_point_along(node, e, "B", b.rank, b.rank - 1)
    if a.dtype.itemsize > 1 or b.dtype.itemsize > 1:
        y = e.MatMul(shifted(e, a, a_zero_point, wide), shifted(e, b, b_zero_point, wide))
        if wide == FLOAT:
            return y
        e.note("integers of more than 8 bits are multiplied in UINT32, which gives the same bits as INT32")
        return e.Cast(y, INT32)
    a_zero_point, b_zero_point = (or_zero(e, z, a.rank, x.dtype) for z, x in ((a_zero_point, a), (b_zero_point, b)))
    columns = _of_columns(e, b_zero_point, b)
    if a_zero_point.size == 1:
        return e.MatMulInteger(a, b, e.Reshape(a_zero_point, ()), columns)
    e.note("zero points of rows are subtracted after MatMulInteger, each times the sum of the column")
    y = e.MatMulInteger(a, b, e.constant(0, a.dtype), columns)
    sums = e.ReduceSum(shifted(e, b, b_zero_point, INT32), (b.rank - 2,))
    return e.Sub(y, e.Mul(e.Cast(a_zero_point, INT32), sums))


def _of_columns(e: Emitter, zero_point: Tensor, b: Tensor) -> Tensor:
    """Returns the zero point of ``b`` in MatMulInteger's form: a scalar, a vector, or one row for each batch."""
    if zero_point.size == 1:
        return e.Reshape(zero_point, ())
    if b.rank == 2:
        return e.Reshape(zero_point, (zero_point.size,))
    return e.Expand(zero_point, (*b.shape[:-2], 1, b.shape[-1]))
