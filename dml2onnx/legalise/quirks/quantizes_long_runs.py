"""QuantizeLinear and DequantizeLinear are slow along an axis that few elements lie behind."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.SPEED)

SHORTEST_RUN = 64
"""Elements that share a scale and lie together, from which on ONNX Runtime is fast with one scale per channel."""


@QUIRK.rule("quantizes_along")
def quantizes_along(e: Emitter, shape: tuple[int, ...], axis: int) -> bool | None:
    """Short runs are broadcast by Div and Mul."""
    return None if prod(shape[axis + 1 :]) >= SHORTEST_RUN else False
