"""Pad, Slice, Split, Tile and other operators that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import PadMode
from dml2onnx.legalise.movements import continued, repeated, spread_depth, surrounded
from dml2onnx.legalise.rules import Kind, Quirk, Shown
from dml2onnx.onnx_model import has_unknown

DEPTH_TO_SPACE_SLOWER_THAN_TRANSPOSE = Quirk(Kind.SPEED)
"""DepthToSpace takes longer than two Transposes, but for 64 bits."""


@DEPTH_TO_SPACE_SLOWER_THAN_TRANSPOSE.rule("DepthToSpace")
def depth_to_space(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor | None:
    """Two Transposes."""
    return None if x.dtype.itemsize == 8 else spread_depth(e, x, block, mode)


EDGES_PADDED_WITH_ZEROS = Quirk(
    Kind.NUMBERS,
    Shown(
        '(float[1,3] x) => (float[1,5] y) <int64[4] p = {0, 1, 0, 1}> { y = Pad <mode = "edge"> (x, p) }',
        ((1.0, 2.0, 3.0),),
        ((1.0, 1.0, 2.0, 3.0, 3.0),),
    ),
)
"""Pad of mode edge puts next to 0 where the outermost elements belong (QNN)."""


@EDGES_PADDED_WITH_ZEROS.rule("Pad")
def pad_with_edges(
    e: Emitter,
    x: Tensor,
    start: Sequence[int],
    end: Sequence[int],
    mode: PadMode = "constant",
    value: float | int | np.generic = 0,
) -> Tensor | None:
    """A Gather for each dimension."""
    if mode != "edge" or x.value is not None:
        return None
    return continued(e, x, start, end, mode)


EDGES_ARE_NOT_PADDED = Quirk(
    Kind.NUMBERS,
    Shown(
        '(float[1,3] x) => (float[1,5] y) <int64[4] p = {0, 1, 0, 1}> { y = Pad <mode = "edge"> (x, p) }',
        ((1.0, 2.0, 3.0),),
        ((1.0, 1.0, 2.0, 3.0, 3.0),),
        says="edge padding mode is not supported",
    ),
)
"""Pad has no mode edge: the graph is not built (WebNN in Chromium)."""
EDGES_ARE_NOT_PADDED.rule("Pad")(pad_with_edges)


PAD_COPIES_ROW_BY_ROW = Quirk(Kind.SPEED)
"""Pad copies each row by itself, which takes three to ten times as long as Concat where rows are short.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/pad.cc
"""
NARROW, MANY = 128, 256
"""Bytes of a row, and rows, up to and from which Concat takes a third to a tenth of the time of Pad."""


@PAD_COPIES_ROW_BY_ROW.rule("Pad")
def pad_short_rows(
    e: Emitter,
    x: Tensor,
    start: Sequence[int],
    end: Sequence[int],
    mode: str = "constant",
    value: float | int | np.generic = 0,
) -> Tensor | None:
    """Concat of many short rows that get longer along one axis."""
    axes = [axis for axis in range(x.rank) if start[axis] or end[axis]]
    if mode != "constant" or len(axes) != 1 or has_unknown(x.shape):
        return None
    (axis,) = axes
    row = (start[axis] + x.shape[axis] + end[axis]) * prod(x.shape[axis + 1 :]) * x.dtype.itemsize
    return surrounded(e, x, start, end, value) if row <= NARROW and prod(x.shape[:axis]) >= MANY else None


REVERSE_SEQUENCE_SKIPS_EMPTY_ONES = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[1,2] x) => (float[1,2] y) <int64[1] n = {0}> { y = ReverseSequence <batch_axis = 0, time_axis = 1> "
        "(x, n) }",
        ((3.0, 4.0),),
        ((3.0, 4.0),),
        versions=((1, 24), (1, 25)),
    ),
)
"""ReverseSequence leaves the first element of a sequence of length 0 unwritten (ONNX Runtime 1.24).

https://github.com/microsoft/onnxruntime/blob/v1.24.4/onnxruntime/core/providers/cpu/sequence/reverse_sequence.cc
"""


@REVERSE_SEQUENCE_SKIPS_EMPTY_ONES.rule("ReverseSequence")
def reverse_sequence(e: Emitter, x: Tensor, lengths: Tensor, *, time_axis: int) -> Tensor:
    """Lengths 0 and 1 mean the same."""
    return e.ReverseSequence(x, e.Max(lengths, e.constant(1, lengths.dtype)), time_axis=time_axis)


SLICE_SPELLS_OUT_STEPS = Quirk(Kind.SPEED)
"""Slice is known with its steps alone (Windows ML's processors, by winml-cli).

All that Microsoft has measured states them, so that ``winml analyze`` calls any other one unknown. Steps of 1 are what
is meant where none are stated.
"""


@SLICE_SPELLS_OUT_STEPS.rule("Slice")
def slice_(
    e: Emitter,
    x: Tensor,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None = None,
    *,
    states_steps: bool = False,
) -> Tensor | None:
    """The same, in more words."""
    return None if states_steps else e.Slice(x, starts, ends, steps, states_steps=True)


MOST_PARTS = 7
"""Beside the input, of the eight storage buffers that WebGPU promises a shader."""
SPLIT_GIVES_FEW_PARTS = Quirk(
    Kind.NUMBERS,
    Shown(
        "(float[11] x) => (float[1] a, float[1] b, float[1] c, float[1] d, float[1] e, float[1] f, float[1] g,"
        " float[1] h, float[1] i, float[1] j, float[1] k)"
        " { a, b, c, d, e, f, g, h, i, j, k = Split <num_outputs = 11> (x) }",
        (tuple(range(11)),),
        tuple((number,) for number in range(11)),
        says="Too many storage buffers",
    ),
)
"""Split binds a buffer for each part, of which shaders in browsers have few: many parts are refused (WebGPU)."""


@SPLIT_GIVES_FEW_PARTS.rule("Split")
def split(e: Emitter, x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor] | None:
    """Into few groups of parts, and each of these into its own."""
    if len(sizes) <= MOST_PARTS:
        return None
    each = -(-len(sizes) // MOST_PARTS)
    groups = [sizes[first : first + each] for first in range(0, len(sizes), each)]
    parts = e.Split(x, [sum(group) for group in groups], axis)
    return [
        piece
        for part, group in zip(parts, groups, strict=True)
        for piece in split(e, part, group, axis) or e.Split(part, group, axis)
    ]


TILE_COPIES_BLOCK_BY_BLOCK = Quirk(Kind.SPEED)
"""Tile copies each block by itself, which takes long where blocks are tiny.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/tile.cc
"""
TINY_BLOCK = 32
"""Bytes of a repeated block from which on Tile is faster than Expand."""


@TILE_COPIES_BLOCK_BY_BLOCK.rule("Tile")
def tile(e: Emitter, x: Tensor, repeats: Sequence[int]) -> Tensor | None:
    """Expand along dimensions of their own."""
    last = max((axis for axis, count in enumerate(repeats) if count > 1), default=0)
    return None if prod(x.shape[last:]) * x.dtype.itemsize >= TINY_BLOCK else repeated(e, x, repeats)
