"""Tile copies each block by itself, which takes long where blocks are tiny.

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/tile.cc
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.legalise.movements import repeated
from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.SPEED)

TINY_BLOCK = 32
"""Bytes of a repeated block from which on Tile is faster than Expand."""


@QUIRK.rule("Tile")
def tile(e: Emitter, x: Tensor, repeats: Sequence[int]) -> Tensor | None:
    """Expand along dimensions of their own."""
    last = max((axis for axis, count in enumerate(repeats) if count > 1), default=0)
    return None if prod(x.shape[last:]) * x.dtype.itemsize >= TINY_BLOCK else repeated(e, x, repeats)
