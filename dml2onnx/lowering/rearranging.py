"""Blocks of space moved into channels and back, windows cut out and put back: SPACE_TO_DEPTH, UNFOLD, inverses."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.ir.view import Gather, Layout
from dml2onnx.legalise.depth import gathered_depth
from dml2onnx.lowering.buffers import take
from dml2onnx.lowering.registry import lowers

if TYPE_CHECKING:
    import numpy.typing as npt

    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.ir.tensor import TensorDesc
    from dml2onnx.lowering.operands import Operands

    Places = npt.NDArray[np.int64]

# --- blocks ----------------------------------------------------------------------------------------------------------


@lowers("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", moves=("InputTensor",))
def space_to_depth(node: Operands, e: Emitter) -> Tensor:
    """``Output[n, d(c, by, bx), h, w] = Input[n, c, h * B + by, w * B + bx]``, d as Order says [decision X23].

    SpaceToDepth, or for an Order that it does not have two Transposes.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_space_to_depth1_operator_desc
    """
    x, block = node.tensor("InputTensor"), node.op.uint("BlockSize")
    if block == 1:
        return x
    return e.SpaceToDepth(x, block) if _depth_comes_last(node) else gathered_depth(e, x, block, "CRD")


@lowers("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1", moves=("InputTensor",))
def depth_to_space(node: Operands, e: Emitter) -> Tensor:
    """``Output[n, c, h * B + by, w * B + bx] = Input[n, d(c, by, bx), h, w]``, d as Order says [decision X23].

    DepthToSpace.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_depth_to_space1_operator_desc
    """
    x, block = node.tensor("InputTensor"), node.op.uint("BlockSize")
    if block == 1:
        return x
    return e.DepthToSpace(x, block, "DCR" if _depth_comes_last(node) else "CRD")


def _depth_comes_last(node: Operands) -> bool:
    """Whether a depth channel is ``(by * B + bx) * C + c`` (ONNX: DCR) and not ``(c * B + by) * B + bx`` (CRD)."""
    return not node.op.has("Order") or node.op.enum("Order") == "DEPTH_COLUMN_ROW"


MOST_SLICES = 64
"""Elements of a window, along the last dimension, each of which is a Slice; more are one Gather.

There can be as many as elements in a tensor, and a file need not be longer for that.
"""

# --- windows ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Windows:
    """Windows that slide over an image; all tuples have one entry per spatial dimension."""

    batch: int
    channels: int
    spatial: tuple[int, ...]
    """Sizes of the image without padding."""
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]

    @property
    def padded(self) -> tuple[int, ...]:
        """Sizes of the image with its padding."""
        return tuple(a + n + b for a, n, b in zip(self.start, self.spatial, self.end, strict=True))

    @property
    def blocks(self) -> tuple[int, ...]:
        """How many windows fit along each dimension."""
        every = zip(self.padded, self.sizes, self.strides, self.dilations, strict=True)
        return tuple((n - dilation * (size - 1) - 1) // stride + 1 for n, size, stride, dilation in every)

    def places(self, dimension: int) -> Places:
        """Padded coordinates, for each element of a window and each block: ``[elements, blocks]``."""
        elements = np.arange(self.sizes[dimension]).reshape(-1, 1) * self.dilations[dimension]
        return elements + np.arange(self.blocks[dimension]) * self.strides[dimension]

    def flat_places(self, count: int) -> Places:
        """Row-major positions in the first ``count`` dimensions alone, ``[elements of the window.., blocks..]``."""
        total: Places = np.zeros((1,) * 2 * count, np.int64)
        for d in range(count):
            shape = [1] * 2 * count
            shape[d], shape[count + d] = self.sizes[d], self.blocks[d]
            total = total * self.padded[d] + self.places(d).reshape(shape)
        return total


def _windows(node: Operands, image: TensorDesc) -> _Windows:
    """The image may have more dimensions in front, of size 1 [decision X21]."""
    op = node.op
    batch, channels, *spatial = image.sizes[-op.uint("DimensionCount") - 2 :]
    fields = ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding")
    return _Windows(batch, channels, tuple(spatial), *map(op.uints, fields))


@lowers("UNFOLD", moves=("InputTensor",))
def unfold(node: Operands, e: Emitter) -> Tensor:
    """The windows of the image, one to a column, 0 where they lie in the padding [decision X21].

    Pad; along the last dimension a Slice per element of the window, and Concat, or where they are many a Gather; along
    all others together one Gather, which then copies whole rows of blocks.
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_unfold_operator_desc
    """
    w = _windows(node, node.op.tensor("InputTensor"))
    x = e.Reshape(node.tensor("InputTensor"), (w.batch, w.channels, *w.spatial))
    x = e.Pad(x, (0, 0, *w.start), (0, 0, *w.end))
    rows = prod(w.padded[:-1])
    x = e.Reshape(x, (w.batch * w.channels, 1, rows, w.padded[-1]))
    x = e.Reshape(_unfold_last(e, x, w), (w.batch * w.channels, w.sizes[-1] * rows, w.blocks[-1]))
    if len(w.spatial) > 1 and w.padded[:-1] != (1,) * (len(w.spatial) - 1):
        e.budget.require(prod(w.sizes) * prod(w.blocks[:-1]))
        x = e.Gather(x, e.positions(_row_places(w, rows)), 1)
    return e.Reshape(x, node.output().sizes)


def _unfold_last(e: Emitter, x: Tensor, w: _Windows) -> Tensor:
    """``[n, 1, rows, size]`` to ``[n, elements of the window, rows, blocks]``."""
    size, stride, blocks = w.sizes[-1], w.strides[-1], w.blocks[-1]
    n, _, rows, _ = x.shape
    if size == stride and w.dilations[-1] == 1:
        e.note("windows that touch but do not overlap are blocks: a Transpose")
        whole = e.Slice(x, (0, 0, 0, 0), (n, 1, rows, blocks * size))
        return e.Transpose(e.Reshape(whole, (n, rows * blocks, size)), (0, 2, 1))
    if size > MOST_SLICES and stride and w.dilations[-1]:
        places = Layout((size, blocks), (w.dilations[-1], stride))
        x = take(e, (Gather(2, places),), e.Reshape(x, (n, rows, w.padded[-1])))
        return e.Transpose(x, (0, 2, 1, 3))
    firsts = [i * w.dilations[-1] for i in range(size)]
    parts = [e.Slice(x, (0, 0, 0, i), (n, 1, rows, i + (blocks - 1) * stride + 1), (1, 1, 1, stride)) for i in firsts]
    return e.Concat(parts, 1)


def _row_places(w: _Windows, rows: int) -> Places:
    """Which row of which element of the window, for ``[elements of the window.., blocks of all but the last..]``."""
    count = len(w.spatial) - 1
    places = np.expand_dims(w.flat_places(count), count)
    return places + (np.arange(w.sizes[-1]) * rows).reshape(-1, *(1,) * count)


@lowers("FOLD")
def fold(node: Operands, e: Emitter) -> Tensor:
    """Adds the columns up in the windows of the image, drops what falls into the padding [decisions X21, X22].

    Col2Im of an image or a row; ScatterElements for more dimensions, in which Col2Im of ONNX Runtime 1.24 stops and
    that of 1.31 takes dilations wrongly.
    https://learn.microsoft.com/windows/ai/directml/api/ns-directml-dml_fold_operator_desc
    """
    w, x = _windows(node, node.output()), node.tensor("InputTensor")
    x = e.Reshape(x, (w.batch, w.channels * prod(w.sizes), prod(w.blocks)))
    if len(w.spatial) <= 2 and x.value is None and e.supports("Col2Im", x.dtype):
        y = _column_to_image(e, x, w)
    else:
        y = _scatter_to_image(e, x, w)
    return e.Reshape(y, node.output().sizes)


def _column_to_image(e: Emitter, x: Tensor, w: _Windows) -> Tensor:
    one, none = ((1,), (0,)) if len(w.spatial) == 1 else ((), ())
    pads = (*none, *w.start, *none, *w.end)
    return e.Col2Im(x, one + w.spatial, one + w.sizes, one + w.strides, one + w.dilations, pads)


def _scatter_to_image(e: Emitter, x: Tensor, w: _Windows) -> Tensor:
    e.note("ScatterElements adds the elements up in the padded image, of which a Slice is the result")
    e.budget.require(w.batch * w.channels * prod(w.sizes) * prod(w.blocks))
    images, places = w.batch * w.channels, w.flat_places(len(w.spatial)).reshape(1, -1)
    canvas = e.ConstantOfShape((images, prod(w.padded)), 0, x.dtype, fold=x.value is not None)
    indices = e.Expand(e.positions(places), (images, places.size))
    padded = e.ScatterElements(canvas, indices, e.Reshape(x, (images, places.size)), 1, reduction="add")
    last = (a + n for a, n in zip(w.start, w.spatial, strict=True))
    return e.Slice(e.Reshape(padded, (images, *w.padded)), (0, *w.start), (images, *last))
