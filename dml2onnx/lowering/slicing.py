"""SLICE, SLICE1, SLICE_GRAD, SPLIT, TILE and REVERSE_SUBSEQUENCES."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.ir.tensor import MAX_DIMENSIONS
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("SLICE", moves=("InputTensor",))
def slice_(node: Operands, e: Emitter) -> Tensor:
    """Element k of a dimension is the input's ``Offsets + k * Strides``: Slice."""
    return _strided(node, e, node.op.uints("Offsets"), node.op.uints("Strides"))


@lowers("SLICE1", moves=("InputTensor",))
def slice1(node: Operands, e: Emitter) -> Tensor:
    """Every ``|stride|``-th element of a window, from its end if the stride is negative [decision X11]: Slice.

    A smaller output gets the first of these elements.
    """
    op = node.op
    steps = op.uints("InputWindowStrides")
    windows = zip(op.uints("InputWindowOffsets"), op.uints("InputWindowSizes"), steps, strict=True)
    return _strided(node, e, [offset if step > 0 else offset + size - 1 for offset, size, step in windows], steps)


def _strided(node: Operands, e: Emitter, starts: Sequence[int], steps: Sequence[int]) -> Tensor:
    """Slices from ``starts`` with ``steps`` as far as the output needs; broadcast dimensions keep size 1."""
    x, counts = node.broadcastable("InputTensor"), node.output().sizes
    parts = [
        (0, 1, 1)
        if size == 1
        else (start, start + 1, 1)
        if count == 1
        else (start, start + (count - 1) * step + (1 if step > 0 else -1), step)
        for size, count, start, step in zip(x.shape, counts, starts, steps, strict=True)
    ]
    first, last, by = zip(*parts, strict=True)
    return e.Slice(x, first, last, by)


@lowers("SLICE_GRAD", moves=("InputGradientTensor",))
def slice_grad(node: Operands, e: Emitter) -> Tensor:
    """The gradient at the elements that SLICE1 reads, 0 elsewhere [decision X13]: Pad.

    With steps, each element is first padded with zeros along a dimension of its own.
    """
    op, x, sizes = node.op, node.tensor("InputGradientTensor"), node.output("OutputGradientTensor").sizes
    strides = op.uints("InputWindowStrides")
    fields = zip(op.uints("InputWindowOffsets"), op.uints("InputWindowSizes"), strides, x.shape, strict=True)
    # with a negative step, the last element read comes first in the input
    first = [a if step > 0 else a + size - 1 + (n - 1) * step for a, size, step, n in fields]
    steps = [abs(step) if n > 1 else 1 for step, n in zip(strides, x.shape, strict=True)]
    x = e.Flip(x, [axis for axis, step in enumerate(strides) if step < 0])
    if any(step > 1 for step in steps):
        x = _dilated(e, x, steps)
        ends = [min(n, size - a) for n, size, a in zip(x.shape, sizes, first, strict=True)]
        x = e.Slice(x, (0,) * x.rank, ends)
    return e.Pad(x, first, [size - a - n for size, a, n in zip(sizes, first, x.shape, strict=True)])


def _dilated(e: Emitter, x: Tensor, steps: Sequence[int]) -> Tensor:
    """Inserts ``step - 1`` zeros after every element along each axis."""
    if x.rank + sum(step > 1 for step in steps) > MAX_DIMENSIONS:
        for axis, step in enumerate(steps):
            front, back = x.shape[: axis + 1], x.shape[axis + 1 :]
            rows = _dilated(e, e.Reshape(x, (prod(front), prod(back))), (step, 1)) if step > 1 else x
            x = e.Reshape(rows, (*front[:-1], front[-1] * step, *back))
        return x
    apart = [item for n, step in zip(x.shape, steps, strict=True) for item in ([n] if step == 1 else [n, 1])]
    zeros = [item for step in steps for item in ([0] if step == 1 else [0, step - 1])]
    padded = e.Pad(e.Reshape(x, apart), (0,) * len(apart), zeros)
    return e.Reshape(padded, [n * step for n, step in zip(x.shape, steps, strict=True)])


@lowers("SPLIT", moves=("InputTensor",))
def split(node: Operands, e: Emitter) -> Mapping[str, list[Tensor]]:
    """Consecutive pieces along Axis: Split."""
    x, axis = node.broadcastable("InputTensor"), node.op.uint("Axis")
    counts = [desc.sizes[axis] for desc in node.op.tensors("OutputTensors")]
    return {"OutputTensors": [x] * len(counts) if x.shape[axis] == 1 else e.Split(x, counts, axis)}


@lowers("TILE", moves=("InputTensor",))
def tile(node: Operands, e: Emitter) -> Tensor:
    """Repeats the tensor along each dimension: Tile, or Expand for dimensions of size 1."""
    x, sizes = node.broadcastable("InputTensor"), node.output().sizes
    if all(before in (1, after) for before, after in zip(x.shape, sizes, strict=True)):
        return x
    repeats = [after // before for before, after in zip(x.shape, sizes, strict=True)]
    return e.Tile(x, repeats)


# --- REVERSE_SUBSEQUENCES --------------------------------------------------------------------------------------------


@lowers("REVERSE_SUBSEQUENCES", moves=("InputTensor",))
def reverse_subsequences(node: Operands, e: Emitter) -> Tensor:
    """Reverses the first elements of each sequence along Axis, up to its length: ReverseSequence.

    Zero strides show that lengths do not vary along other dimensions.
    """
    return e.reversed(node.tensor("InputTensor"), node.broadcastable("SequenceLengthsTensor"), node.op.uint("Axis"))
