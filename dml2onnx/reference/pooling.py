"""MAX_POOLING and AVERAGE_POOLING, all versions."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.numeric import UNIT_ROUNDOFF, sum_error, widen
from dml2onnx.reference.registry import Floats, Inputs, Mask, Outputs, Result, reference

Indices = npt.NDArray[np.int64]


def windows(op: OperatorDesc, sizes: tuple[int, ...]) -> Iterator[tuple[Indices, Mask]]:
    """For every element of the window, in row-major order, where it lies for each output element.

    Gives flat indices into the spatial dimensions (``sizes``) of the input, clamped to them, and whether the
    element is inside; both have the spatial shape of the output, whose size drives the loop (decision P2).
    """
    strides, starts, shape = op.uints("Strides"), op.uints("StartPadding"), op.tensor("OutputTensor").sizes[2:]
    dilations = op.uints("Dilations") if op.has("Dilations") else (1,) * len(sizes)
    for tap in np.ndindex(op.uints("WindowSize")):
        flat, inside = np.zeros((), np.int64), np.ones((), np.bool_)
        for j, dilation, stride, start, size, n in zip(tap, dilations, strides, starts, shape, sizes, strict=True):
            place = np.arange(size) * stride + j * dilation - start
            flat = flat[..., None] * n + np.clip(place, 0, n - 1)
            inside = inside[..., None] & (place >= 0) & (place < n)
        yield flat, inside


@reference("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
def max_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The first largest element of each window and its index in the whole tensor (decisions P6 to P10).

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_max_pooling2_operator_desc
    """
    x = inputs.tensor("InputTensor")
    batch, channels, *spatial = x.shape
    planes = x.reshape(batch, channels, -1)
    # the plane's own start in the row-major order of the whole tensor
    base = np.arange(batch * channels).reshape(batch, channels, *(1 for _ in spatial)) * prod(spatial)
    shape = op.tensor("OutputTensor").sizes
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min  # type: ignore[type-var]
    best = np.full(shape, lowest, x.dtype)
    index = np.zeros(shape, np.int64)
    found, any_nan = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for flat, inside in windows(op, tuple(spatial)):
        candidate = planes[:, :, flat]
        is_nan = candidate != candidate
        any_nan |= is_nan & inside
        # NaN is preferred to numbers (decision G1), the first element to its equals (decision P9)
        better = inside & (~found | (candidate > best) | (is_nan & (best == best)))  # type: ignore[operator]
        best, index = np.where(better, candidate, best), np.where(better, base + flat, index)
        found |= inside
    outputs = {"OutputTensor": Result(best, None, any_nan)}
    if op.has("OutputIndicesTensor"):
        dtype = op.tensor("OutputIndicesTensor").data_type.dtype
        outputs["OutputIndicesTensor"] = Result(index.astype(dtype), None, any_nan | ~found)
    return outputs


@reference("AVERAGE_POOLING", "AVERAGE_POOLING1")
def average_pooling(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The mean of each window's elements inside the input (decisions P3 to P5).

    With IncludePadding the divisor is the full window, even where it hangs over the padded end.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_average_pooling1_operator_desc
    """
    x = widen(inputs.tensor("InputTensor"))
    planes = x.reshape(*x.shape[:2], -1)
    shape = op.tensor("OutputTensor").sizes
    total, magnitude, count = np.zeros(shape), np.zeros(shape), np.zeros(shape[2:], np.int64)
    for flat, inside in windows(op, x.shape[2:]):
        element = np.where(inside, planes[:, :, flat], 0)
        total += element
        magnitude += np.abs(element)
        count += inside
    terms = prod(op.uints("WindowSize"))
    divisor: Indices = np.full_like(count, terms) if op.flag("IncludePadding") else count
    error: Floats = sum_error(terms + 1, magnitude / np.maximum(divisor, 1), UNIT_ROUNDOFF[DataType.FLOAT32])
    y = np.where(divisor == 0, 0, total / np.maximum(divisor, 1))
    return {"OutputTensor": Result(y, error, np.broadcast_to(divisor == 0, shape))}
