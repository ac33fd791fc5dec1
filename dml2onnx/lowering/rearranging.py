"""SPACE_TO_DEPTH, DEPTH_TO_SPACE, UNFOLD and FOLD."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from dml2onnx.buffer_views.buffers import take
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Gather, Layout
from dml2onnx.legalise.movements import gathered_depth
from dml2onnx.legalise.windows import PoolWindows
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers

Places = npt.NDArray[np.int64]

# --- blocks ----------------------------------------------------------------------------------------------------------


@lowers("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", moves=("InputTensor",))
def space_to_depth(node: Operands, e: Emitter) -> Tensor:
    """``Output[n, d(c, by, bx), h, w] = Input[n, c, h * B + by, w * B + bx]``, d depends on Order [decision X23].

    SpaceToDepth, or two Transposes for the Order that it does not have.
    """
    x, block = node.tensor("InputTensor"), node.op.uint("BlockSize")
    if block == 1:
        return x
    return e.SpaceToDepth(x, block) if _depth_comes_last(node) else gathered_depth(e, x, block, "CRD")


@lowers("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1", moves=("InputTensor",))
def depth_to_space(node: Operands, e: Emitter) -> Tensor:
    """``Output[n, c, h * B + by, w * B + bx] = Input[n, d(c, by, bx), h, w]``, d depends on Order [decision X23].

    DepthToSpace.
    """
    x, block = node.tensor("InputTensor"), node.op.uint("BlockSize")
    if block == 1:
        return x
    return e.DepthToSpace(x, block, "DCR" if _depth_comes_last(node) else "CRD")


def _depth_comes_last(node: Operands) -> bool:
    """Whether a depth channel is ``(by * B + bx) * C + c`` (ONNX: DCR) and not ``(c * B + by) * B + bx`` (CRD)."""
    return not node.op.has("Order") or node.op.enum("Order") == "DEPTH_COLUMN_ROW"


MOST_SLICES = 64
"""The most window elements along the last dimension that become one Slice each; more become one Gather.

A window can be as large as the tensor, and the model should not grow with it.
"""

# --- windows ---------------------------------------------------------------------------------------------------------


def _windows(node: Operands, image: TensorDesc) -> tuple[int, PoolWindows]:
    """Returns the number of planes, and the windows that slide over each.

    The image may have additional leading dimensions of size 1 [decision X21].
    """
    batch, channels, *spatial = image.sizes[-node.op.uint("DimensionCount") - 2 :]
    fields = ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding")
    return batch * channels, PoolWindows.over(tuple(spatial), Window(*map(node.op.uints, fields)))


@lowers("UNFOLD", moves=("InputTensor",))
def unfold(node: Operands, e: Emitter) -> Tensor:
    """The windows of the image, one per column, with 0 for padding [decision X21].

    Pad; then along the last dimension a Slice per window element and Concat, or a Gather for many elements; then one
    Gather for all other dimensions, which copies whole rows of blocks.
    """
    planes, pool = _windows(node, node.op.tensor("InputTensor"))
    x, window, padded = node.tensor("InputTensor"), pool.window, pool.padded
    rank = len(padded) + 2
    x = e.Pad(e.Reshape(x, x.shape[x.rank - rank :]), (0, 0, *window.start), (0, 0, *window.end))
    rows = prod(padded[:-1])
    x = e.Reshape(x, (planes, 1, rows, padded[-1]))
    x = e.Reshape(_unfold_last(e, x, pool), (planes, window.shape[-1] * rows, pool.output[-1]))
    if any(size != 1 for size in padded[:-1]):
        e.budget.require(prod(window.shape) * prod(pool.output[:-1]))
        x = e.Gather(x, e.positions(_row_places(pool, rows)), 1)
    return e.Reshape(x, node.output().sizes)


def _unfold_last(e: Emitter, x: Tensor, pool: PoolWindows) -> Tensor:
    """``[n, 1, rows, size]`` to ``[n, elements of the window, rows, blocks]``."""
    size, stride, dilation = pool.window.shape[-1], pool.window.strides[-1], pool.window.dilations[-1]
    blocks = pool.output[-1]
    n, _, rows, _ = x.shape
    if size == stride and dilation == 1:
        e.note("windows that touch but do not overlap are blocks: a Transpose")
        whole = e.Slice(x, (0, 0, 0, 0), (n, 1, rows, blocks * size))
        return e.Transpose(e.Reshape(whole, (n, rows * blocks, size)), (0, 2, 1))
    if size > MOST_SLICES and stride and dilation:
        places = Layout((size, blocks), (dilation, stride))
        x = take(e, (Gather(2, places),), e.Reshape(x, (n, rows, x.shape[3])))
        return e.Transpose(x, (0, 2, 1, 3))
    firsts = [i * dilation for i in range(size)]
    parts = [e.Slice(x, (0, 0, 0, i), (n, 1, rows, i + (blocks - 1) * stride + 1), (1, 1, 1, stride)) for i in firsts]
    return e.Concat(parts, 1)


def _row_places(pool: PoolWindows, rows: int) -> Places:
    """Returns the row to gather for ``[elements of the window.., blocks of all dimensions but the last..]``."""
    count = len(pool.sizes) - 1
    places = np.expand_dims(pool.flat_places(count), count)
    return places + (np.arange(pool.window.shape[-1]) * rows).reshape(-1, *(1,) * count)


@lowers("FOLD")
def fold(node: Operands, e: Emitter) -> Tensor:
    """Adds the columns to the windows of the image and drops the padding [decisions X21, X22]: Col2Im.

    One spatial dimension becomes an image of one row, since Col2Im needs at least two.
    """
    (planes, pool), x = _windows(node, node.output()), node.tensor("InputTensor")
    batch, columns = node.output().sizes[-len(pool.sizes) - 2], prod(pool.window.shape)
    sizes, window = pool.sizes, pool.window
    if len(sizes) == 1:
        sizes, window = (
            (1, *sizes),
            Window(*((one, *part) for one, part in zip((1, 1, 1, 0, 0), window[:5], strict=True))),
        )
    y = e.Col2Im(e.Reshape(x, (batch, planes // batch * columns, prod(pool.output))), sizes, window)
    return e.Reshape(y, node.output().sizes)
