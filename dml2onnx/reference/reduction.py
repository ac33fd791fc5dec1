"""REDUCE, ARGMIN and ARGMAX."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.accuracy import ACCURACY, FEW, LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.numeric import as_integers, product_result, sum_error, sum_result, through, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Outputs, Result, reference

Axes: TypeAlias = tuple[int, ...]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]


def _sum(x: Floats, axes: Axes) -> Result:
    terms = prod(x.shape[axis] for axis in axes)
    magnitude = np.abs(x).sum(axis=axes, keepdims=True)
    return sum_result(x.sum(axis=axes, keepdims=True), magnitude, terms)


def _average(x: Floats, axes: Axes) -> Result:
    total, terms = _sum(x, axes), prod(x.shape[axis] for axis in axes)
    magnitude = np.abs(x).sum(axis=axes, keepdims=True)
    # the sum may overflow where the mean is finite
    overflows = np.isfinite(magnitude) & (magnitude > LARGEST_FLOAT32)
    return Result(widen(total.values) / terms, sum_error(terms + 1, magnitude / terms, ROUNDOFF), overflows)


def _multiply(x: Floats, axes: Axes) -> Result:
    size = np.abs(x)
    return product_result(
        x.prod(axis=axes, keepdims=True),
        np.maximum(size, 1).prod(axis=axes, keepdims=True),
        np.minimum(size, 1).prod(axis=axes, keepdims=True),
        prod(x.shape[axis] for axis in axes),
    )


def _sum_square(x: Floats, axes: Axes) -> Result:
    terms = prod(x.shape[axis] for axis in axes)
    total = (x * x).sum(axis=axes, keepdims=True)
    # squares below the smallest normal number may be 0 (decision G8)
    return Result(total, sum_error(terms + 1, total, ROUNDOFF) + terms * SMALLEST_FLOAT32)


def _l2(x: Floats, axes: Axes) -> Result:
    squares = _sum_square(x, axes)
    total = widen(squares.values)
    y = np.sqrt(total)
    error = np.sqrt(total + squares.bound) - np.sqrt(np.maximum(total - squares.bound, 0)) + FEW * y
    # the root may be finite where the squares overflow FLOAT32
    return Result(y, error, np.isfinite(total) & (total > LARGEST_FLOAT32))


def _log_sum(x: Floats, axes: Axes) -> Result:
    total = _sum(x, axes)
    after = through(np.log, total)
    # the logarithm is finite where the sum overflows FLOAT32
    overflows = np.isfinite(total.values) & (np.abs(total.values) > LARGEST_FLOAT32)
    return Result(after.values, after.bound + ACCURACY * np.abs(after.values), after.marks | overflows)


def _log_sum_exp(x: Floats, axes: Axes) -> Result:
    terms = prod(x.shape[axis] for axis in axes)
    top = x.max(axis=axes, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    total = np.exp(x - shift).sum(axis=axes, keepdims=True)
    rest = np.log(total)
    # the sum of exponentials is at least 1, so its relative error is the absolute error of the logarithm
    own = sum_error(terms, np.ones_like(total), ROUNDOFF) + ACCURACY
    error = np.where(np.isfinite(rest), own + FEW * (np.abs(shift) + np.abs(rest)), 0)
    # DirectML does not subtract the maximum: exponentials were seen to overflow and underflow (decision R2)
    plain = np.exp(x).sum(axis=axes, keepdims=True)
    undefined = np.isfinite(top) & ((plain > LARGEST_FLOAT32) | (plain < SMALLEST_FLOAT32))
    seen = np.where(plain > LARGEST_FLOAT32, np.inf, -np.inf)
    return Result(np.where(undefined, seen, shift + rest), error, undefined if undefined.any() else None)


def _extremum(function: Callable[..., Any]) -> Callable[[Floats, Axes], Result]:
    def reduce(x: Floats, axes: Axes) -> Result:
        # NaN is ignored, which is not promised (decisions G1, R8)
        marks: Mask = np.any(np.isnan(x), axis=axes, keepdims=True)
        return Result(function(x, axis=axes, keepdims=True), None, marks)

    return reduce


_FLOAT_FUNCTIONS: dict[str, Callable[[Floats, Axes], Result]] = {
    "AVERAGE": _average,
    "L1": lambda x, axes: _sum(np.abs(x), axes),
    "L2": _l2,
    "LOG_SUM": _log_sum,
    "LOG_SUM_EXP": _log_sum_exp,
    "MAX": _extremum(np.fmax.reduce),
    "MIN": _extremum(np.fmin.reduce),
    "MULTIPLY": _multiply,
    "SUM": _sum,
    "SUM_SQUARE": _sum_square,
}

# numpy would widen the sums of narrow types; all must wrap in their own type (decision R3)
_INTEGER_FUNCTIONS: dict[str, Callable[[Integers, Axes], Integers]] = {
    "L1": lambda x, axes: np.abs(x).sum(axis=axes, keepdims=True, dtype=x.dtype),
    "MAX": lambda x, axes: x.max(axis=axes, keepdims=True),
    "MIN": lambda x, axes: x.min(axis=axes, keepdims=True),
    "MULTIPLY": lambda x, axes: x.prod(axis=axes, keepdims=True, dtype=x.dtype),
    "SUM": lambda x, axes: x.sum(axis=axes, keepdims=True, dtype=x.dtype),
    "SUM_SQUARE": lambda x, axes: (x * x).sum(axis=axes, keepdims=True, dtype=x.dtype),
}


@reference("REDUCE")
def reduce(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Reduces Axes to size 1 with ``Function`` (decisions R1 to R11)."""
    x, name = inputs.tensor("InputTensor"), op.enum("Function")
    axes = tuple(dict.fromkeys(op.uints("Axes")))  # repeated axes count once (decision R6)
    if name.startswith("ARG"):
        return {"OutputTensor": _arg_extremum(op, x, name, is_last=False)}
    if x.dtype.kind == "f":
        return {"OutputTensor": _FLOAT_FUNCTIONS[name](widen(x), axes)}
    return {"OutputTensor": Result(_INTEGER_FUNCTIONS[name](as_integers(x), axes))}


@reference("ARGMIN", "ARGMAX")
def arg_extremum(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The index of the first minimum or maximum along Axes, or of the last with DECREASING.

    Indices are row-major over the reduced dimensions; NaN is ignored (decisions R9 to R11).
    """
    is_last = op.enum("AxisDirection") == "DECREASING"
    return {"OutputTensor": _arg_extremum(op, inputs.tensor("InputTensor"), op.type, is_last)}


def _arg_extremum(op: OperatorDesc, x: Array, name: str, is_last: bool) -> Result:
    axes, output = tuple(sorted(set(op.uints("Axes")))), op.tensor("OutputTensor")
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    rows = x.transpose(*kept, *axes).reshape(prod(x.shape[axis] for axis in kept), -1)
    # fmax and fmin ignore NaN
    choose = np.fmax if name == "ARGMAX" else np.fmin
    hits = rows == choose.reduce(rows, axis=1, keepdims=True)
    first = np.argmax(hits, axis=1)
    index = rows.shape[1] - 1 - np.argmax(hits[:, ::-1], axis=1) if is_last else first
    # index 0 if all are NaN
    index = np.where(hits.any(axis=1), index, 0).astype(output.data_type.dtype)
    return Result(index.reshape(output.sizes), None, (rows != rows).any(axis=1).reshape(output.sizes))
