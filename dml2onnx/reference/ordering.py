"""TOP_K, TOP_K1, CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT, which work along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.numeric import product_result, sum_result, widen
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference


@reference("TOP_K", "TOP_K1")
def top_k(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The first K elements of Axis after a stable sort, and their indices (decisions R12 to R15).

    Sorts in descending order, or ascending with INCREASING, with NaN last.
    """
    x, axis = inputs.tensor("InputTensor"), op.uint("Axis")
    increasing = op.has("AxisDirection") and op.enum("AxisDirection") == "INCREASING"
    # ranks compare like the elements, whatever their type, and can be negated
    numbers, ranks = np.unique(x, return_inverse=True)
    rank = ranks.reshape(x.shape) * (1 if increasing else -1)
    is_nan = x != x
    order = np.argsort(np.where(is_nan, len(numbers), rank), axis=axis, kind="stable")
    index = np.take(order, np.arange(op.uint("K")), axis)
    marks = np.broadcast_to(is_nan.any(axis=axis, keepdims=True), index.shape)
    index_type = op.tensor("OutputIndexTensor").data_type
    return {
        "OutputValueTensor": Result(np.take_along_axis(x, index, axis), None, marks),
        "OutputIndexTensor": Result(index.astype(index_type.dtype), None, marks),
    }


@reference("CUMULATIVE_SUMMATION")
def cumulative_summation(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Running sums along Axis, inclusive or exclusive (decisions R16 to R18)."""
    x, exclusive = inputs.tensor("InputTensor"), op.flag("HasExclusiveSum")
    if x.dtype.kind != "f":
        return {"OutputTensor": Result(_running(op, np.add, x, exclusive))}
    wide = widen(x)
    total, magnitude, terms = (
        _running(op, np.add, array, exclusive) for array in (wide, np.abs(wide), np.ones_like(wide))
    )
    return {"OutputTensor": sum_result(total, magnitude, terms)}


@reference("CUMULATIVE_PRODUCT")
def cumulative_product(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Running products along Axis, inclusive or exclusive (decisions R16 to R18)."""
    x, exclusive = inputs.tensor("InputTensor"), op.flag("HasExclusiveProduct")
    if x.dtype.kind != "f":
        return {"OutputTensor": Result(_running(op, np.multiply, x, exclusive))}
    wide = widen(x)
    size = np.abs(wide)
    y, large, small = (
        _running(op, np.multiply, array, exclusive) for array in (wide, np.maximum(size, 1), np.minimum(size, 1))
    )
    terms = _running(op, np.add, np.ones_like(wide), exclusive)
    return {"OutputTensor": product_result(y, large, small, terms)}


def _running(op: OperatorDesc, function: np.ufunc, x: npt.NDArray[Any], exclusive: bool) -> npt.NDArray[Any]:
    """``function`` accumulated along Axis, in the array's own type; integers wrap."""
    axis, backward = op.uint("Axis"), op.enum("AxisDirection") == "DECREASING"
    along = np.flip(x, axis) if backward else x
    if exclusive:
        identity = np.full_like(np.take(along, [0], axis), function.identity)
        along = np.concatenate((identity, np.delete(along, -1, axis)), axis)
    y = function.accumulate(along, axis, dtype=x.dtype)
    return np.flip(y, axis) if backward else y
