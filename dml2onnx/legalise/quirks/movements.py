"""Pad, Slice, Split, Tile and other data movement."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import PadMode
from dml2onnx.legalise.movements import continued, repeated, spread_depth, surrounded
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import has_unknown

DEPTH_TO_SPACE_SLOWER_THAN_TRANSPOSE = Quirk(RuleKind.SPEED)
"""DepthToSpace is slower than two Transposes, except for 64-bit types."""


@DEPTH_TO_SPACE_SLOWER_THAN_TRANSPOSE.rule("DepthToSpace")
def depth_to_space(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor | None:
    """Two Transposes."""
    return None if x.dtype.itemsize == 8 else spread_depth(e, x, block, mode)


EDGES_PADDED_WITH_ZEROS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        '(float[1,3] x) => (float[1,5] y) <int64[4] p = {0, 1, 0, 1}> { y = Pad <mode = "edge"> (x, p) }',
        ((1.0, 2.0, 3.0),),
        ((1.0, 1.0, 2.0, 3.0, 3.0),),
    ),
)
"""Pad of mode edge pads with numbers close to 0 (QNN)."""


@EDGES_PADDED_WITH_ZEROS.rule("Pad")
def pad_with_edges(
    e: Emitter,
    x: Tensor,
    start: Sequence[int],
    end: Sequence[int],
    mode: PadMode = "constant",
    value: float | int | np.generic = 0,
) -> Tensor | None:
    """A Gather per dimension."""
    if mode != "edge" or x.value is not None:
        return None
    return continued(e, x, start, end, mode)


EDGES_ARE_NOT_PADDED = Quirk(
    RuleKind.NUMBERS,
    Shown(
        '(float[1,3] x) => (float[1,5] y) <int64[4] p = {0, 1, 0, 1}> { y = Pad <mode = "edge"> (x, p) }',
        ((1.0, 2.0, 3.0),),
        ((1.0, 1.0, 2.0, 3.0, 3.0),),
        says="edge padding mode is not supported",
    ),
)
"""Pad of mode edge fails to build (WebNN in Chromium)."""
EDGES_ARE_NOT_PADDED.rule("Pad")(pad_with_edges)


PAD_COPIES_ROW_BY_ROW = Quirk(RuleKind.SPEED)
"""Pad copies row by row, which takes three to ten times as long as Concat for short rows.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/pad.cc
"""
NARROW, MANY = 128, 256
"""Concat is faster for rows of up to ``NARROW`` bytes, if there are at least ``MANY``."""


@PAD_COPIES_ROW_BY_ROW.rule("Pad")
def pad_short_rows(
    e: Emitter,
    x: Tensor,
    start: Sequence[int],
    end: Sequence[int],
    mode: str = "constant",
    value: float | int | np.generic = 0,
) -> Tensor | None:
    """Concat, for many short rows padded along one axis."""
    axes = [axis for axis in range(x.rank) if start[axis] or end[axis]]
    if mode != "constant" or len(axes) != 1 or has_unknown(x.shape):
        return None
    (axis,) = axes
    row = (start[axis] + x.shape[axis] + end[axis]) * prod(x.shape[axis + 1 :]) * x.dtype.itemsize
    return surrounded(e, x, start, end, value) if row <= NARROW and prod(x.shape[:axis]) >= MANY else None


REVERSE_SEQUENCE_SKIPS_EMPTY_ONES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,2] x) => (float[1,2] y) <int64[1] n = {0}> { y = ReverseSequence <batch_axis = 0, time_axis = 1> "
        "(x, n) }",
        ((3.0, 4.0),),
        ((3.0, 4.0),),
        versions=((1, 24), (1, 25)),
    ),
)
"""ReverseSequence does not write the first element of a sequence of length 0 (ONNX Runtime 1.24).

https://github.com/microsoft/onnxruntime/blob/v1.24.4/onnxruntime/core/providers/cpu/sequence/reverse_sequence.cc
"""


@REVERSE_SEQUENCE_SKIPS_EMPTY_ONES.rule("ReverseSequence")
def reverse_sequence(e: Emitter, x: Tensor, lengths: Tensor, *, time_axis: int) -> Tensor:
    """Replaces length 0 by 1, which means the same."""
    return e.ReverseSequence(x, e.Max(lengths, e.constant(1, lengths.dtype)), time_axis=time_axis)


SLICE_SPELLS_OUT_STEPS = Quirk(RuleKind.SPEED)
"""Slice is listed only with steps (Windows ML's processors, by winml-cli).

All Slices that Microsoft measured have steps, so ``winml analyze`` reports others as unknown. The default is 1.
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
    """Adds the steps."""
    return None if states_steps else e.Slice(x, starts, ends, steps, states_steps=True)


MOST_PARTS = 7
"""WebGPU guarantees eight storage buffers per shader, one of which is the input."""
SPLIT_GIVES_FEW_PARTS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[11] x) => (float[1] a, float[1] b, float[1] c, float[1] d, float[1] e, float[1] f, float[1] g,"
        " float[1] h, float[1] i, float[1] j, float[1] k)"
        " { a, b, c, d, e, f, g, h, i, j, k = Split <num_outputs = 11> (x) }",
        (tuple(range(11)),),
        tuple((number,) for number in range(11)),
        says="Too many storage buffers",
    ),
)
"""Split binds one buffer per part; more parts than a shader has buffers are refused (WebGPU)."""


@SPLIT_GIVES_FEW_PARTS.rule("Split")
def split(e: Emitter, x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor] | None:
    """Splits into few groups of parts, then splits each group."""
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


TILE_COPIES_BLOCK_BY_BLOCK = Quirk(RuleKind.SPEED)
"""Tile copies block by block, which is slow for tiny blocks.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/tile.cc
"""
TINY_BLOCK = 32
"""Tile is faster than Expand for repeated blocks of at least this many bytes."""


@TILE_COPIES_BLOCK_BY_BLOCK.rule("Tile")
def tile(e: Emitter, x: Tensor, repeats: Sequence[int]) -> Tensor | None:
    """Expand along separate dimensions."""
    last = max((axis for axis, count in enumerate(repeats) if count > 1), default=0)
    return None if prod(x.shape[last:]) * x.dtype.itemsize >= TINY_BLOCK else repeated(e, x, repeats)
