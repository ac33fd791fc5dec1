"""Subnormal numbers of FLOAT32 are numbers like others, which Direct3D takes as 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(Kind.EDGES)


@QUIRK.rule("keeps_subnormals")
def keeps_subnormals(e: Emitter) -> bool:
    """Lowerings take them as 0."""
    return True
