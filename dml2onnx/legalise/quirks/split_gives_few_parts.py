"""Split binds a buffer for each part, of which shaders in browsers have few: many parts are refused (WebGPU)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor

MOST = 7
"""Beside the input, of the eight storage buffers that WebGPU promises a shader."""

QUIRK = Quirk(
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


@QUIRK.rule("Split")
def split(e: Emitter, x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor] | None:
    """Into few groups of parts, and each of these into its own."""
    if len(sizes) <= MOST:
        return None
    each = -(-len(sizes) // MOST)
    groups = [sizes[first : first + each] for first in range(0, len(sizes), each)]
    parts = e.Split(x, [sum(group) for group in groups], axis)
    return [
        piece
        for part, group in zip(parts, groups, strict=True)
        for piece in split(e, part, group, axis) or e.Split(part, group, axis)
    ]
