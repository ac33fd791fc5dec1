"""SLICE, SLICE1, SLICE_GRAD, SPLIT, TILE and REVERSE_SUBSEQUENCES: elements copied bit by bit to other places."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference


@reference("SLICE")
def slice_(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[c] = Input[Offsets + Strides * c]``."""
    fields = zip(op.uints("Offsets"), op.uints("Strides"), op.uints("Sizes"), strict=True)
    read = [offset + stride * np.arange(size) for offset, stride, size in fields]
    return {"OutputTensor": Result(inputs.tensor("InputTensor")[np.ix_(*read)])}


@reference("SLICE1")
def slice1(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Steps through a window of the input, backward from its last element if the stride is negative (decision X11)."""
    read = _window_places(op, op.tensor("OutputTensor").sizes)
    return {"OutputTensor": Result(inputs.tensor("InputTensor")[np.ix_(*read)])}


def _window_places(op: OperatorDesc, counts: tuple[int, ...]) -> list[npt.NDArray[np.int64]]:
    fields = zip(
        op.uints("InputWindowOffsets"),
        op.uints("InputWindowSizes"),
        op.uints("InputWindowStrides"),
        counts,
        strict=True,
    )
    return [
        (offset if stride > 0 else offset + window - 1) + stride * np.arange(size)
        for offset, window, stride, size in fields
    ]


@reference("SLICE_GRAD")
def slice_grad(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Zeros with the gradient at the elements that SLICE1 reads (decision X13)."""
    gradient = inputs.tensor("InputGradientTensor")
    y = np.zeros(op.tensor("OutputGradientTensor").sizes, gradient.dtype)
    y[np.ix_(*_window_places(op, gradient.shape))] = gradient
    return {"OutputGradientTensor": Result(y)}


@reference("SPLIT")
def split(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Consecutive pieces along Axis, as long as the outputs."""
    axis = op.uint("Axis")
    ends = list(accumulate(desc.sizes[axis] for desc in op.tensors("OutputTensors")))
    pieces = np.split(inputs.tensor("InputTensor"), ends[:-1], axis)
    return {"OutputTensors": [Result(piece) for piece in pieces]}


@reference("TILE")
def tile(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[x] = Input[x mod InputTensor.Sizes]``."""
    return {"OutputTensor": Result(np.tile(inputs.tensor("InputTensor"), op.uints("Repeats")))}


@reference("REVERSE_SUBSEQUENCES")
def reverse_subsequences(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Reverses the first L elements of each sequence along Axis (decision X19).

    If L exceeds the sequence, element k reads index L - 1 - k, clamped to the last.
    """
    x, lengths, axis = inputs.tensor("InputTensor"), inputs.tensor("SequenceLengthsTensor"), op.uint("Axis")
    n = x.shape[axis]
    # a length of more than 63 bits would be negative as INT64
    length = np.minimum(lengths, 2 * n).astype(np.int64)
    k = np.expand_dims(np.arange(n), tuple(d for d in range(x.ndim) if d != axis))
    source = np.where(k < length, np.minimum(length - 1 - k, n - 1), k)
    too_long = np.broadcast_to(lengths > n, x.shape)
    return {"OutputTensor": Result(np.take_along_axis(x, source, axis), open=too_long if too_long.any() else None)}
