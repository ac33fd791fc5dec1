"""SPACE_TO_DEPTH, DEPTH_TO_SPACE, UNFOLD and FOLD."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.reference.accuracy import working_roundoff
from dml2onnx.reference.cast import narrowed
from dml2onnx.reference.numeric import as_integers, sum_error, widen
from dml2onnx.reference.registry import Array, Inputs, Outputs, Result, reference


@reference("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1")
def space_to_depth(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[n, d(c, by, bx), h, w] = Input[n, c, h * B + by, w * B + bx]``; Order defines d (decision X23)."""
    block, (n, c, height, width) = op.uint("BlockSize"), op.tensor("InputTensor").sizes
    blocks = inputs.tensor("InputTensor").reshape(n, c, height // block, block, width // block, block)
    if _depth_comes_last(op):
        y = blocks.transpose(0, 3, 5, 1, 2, 4)
    else:
        y = blocks.transpose(0, 1, 3, 5, 2, 4)
    return {"OutputTensor": Result(y.reshape(op.tensor("OutputTensor").sizes))}


@reference("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1")
def depth_to_space(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``Output[n, c, h * B + by, w * B + bx] = Input[n, d(c, by, bx), h, w]``; Order defines d (decision X23)."""
    block, (n, depth, h, w) = op.uint("BlockSize"), op.tensor("InputTensor").sizes
    x, c = inputs.tensor("InputTensor"), depth // block**2
    if _depth_comes_last(op):
        y = x.reshape(n, block, block, c, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return {"OutputTensor": Result(y.reshape(op.tensor("OutputTensor").sizes))}


def _depth_comes_last(op: OperatorDesc) -> bool:
    """Whether a depth channel is ``(by * B + bx) * C + c``; otherwise it is ``(c * B + by) * B + bx``."""
    return not op.has("Order") or op.enum("Order") == "DEPTH_COLUMN_ROW"


@reference("UNFOLD")
def unfold(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """The windows of the zero-padded image, one per column (decision X21)."""
    sizes = _image_sizes(op, op.tensor("InputTensor"))
    padding = zip(op.uints("StartPadding"), op.uints("EndPadding"), strict=True)
    padded = np.pad(inputs.tensor("InputTensor").reshape(sizes), [(0, 0), (0, 0), *padding])
    return {"OutputTensor": Result(padded[_windows(op, padded.shape)].reshape(op.tensor("OutputTensor").sizes))}


@reference("FOLD")
def fold(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Sums the columns into the windows of the image and drops the padding (decisions X21, X22, E11)."""
    image, supplied = op.tensor("OutputTensor"), inputs.tensor("InputTensor")
    batch, channels, *spatial = _image_sizes(op, image)
    starts, ends = op.uints("StartPadding"), op.uints("EndPadding")
    padded = (batch, channels, *(s + n + e for s, n, e in zip(starts, spatial, ends, strict=True)))
    windows = _windows(op, padded)
    inner = (slice(None), slice(None), *(slice(s, s + n) for s, n in zip(starts, spatial, strict=True)))

    def total(columns: Array) -> Array:
        canvas = np.zeros(padded, columns.dtype)
        np.add.at(canvas, windows, columns.reshape(canvas[windows].shape))
        return canvas[inner].reshape(image.sizes)

    if not image.data_type.is_float:
        # 32 and 64 bits wrap; 8 and 16 bits convert like CAST
        wide = supplied if image.data_type.bits >= 32 else supplied.astype(np.int64)
        return {"OutputTensor": narrowed(as_integers(total(wide)), image.data_type)}
    x = widen(supplied)
    # no element lies in more windows than a window has elements
    magnitude = widen(total(np.abs(x)))
    error = sum_error(prod(op.uints("WindowSizes")), magnitude, working_roundoff(image.data_type))
    return {"OutputTensor": Result(total(x), error)}


def _image_sizes(op: OperatorDesc, image: TensorDesc) -> tuple[int, ...]:
    """Batch, channels and spatial sizes, without leading ones."""
    return image.sizes[-op.uint("DimensionCount") - 2 :]


def _windows(op: OperatorDesc, padded: tuple[int, ...]) -> tuple[Any, ...]:
    """An index into the padded image that yields ``[batch, channels, elements of the window.., blocks..]``."""
    rank = op.uint("DimensionCount")
    index: list[Any] = [slice(None), slice(None)]
    fields = zip(padded[2:], op.uints("WindowSizes"), op.uints("Strides"), op.uints("Dilations"), strict=True)
    for d, (size, window, stride, dilation) in enumerate(fields):
        blocks = (size - dilation * (window - 1) - 1) // stride + 1
        places = np.add.outer(np.arange(window) * dilation, np.arange(blocks) * stride)
        index.append(np.expand_dims(places, tuple(axis for axis in range(2 * rank) if axis % rank != d)))
    return tuple(index)
