"""Subnormal numbers of FLOAT32 are numbers like others, which Direct3D takes as 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.legalise.rules import Kind, Quirk, Shown

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter

QUIRK = Quirk(
    Kind.EDGES,
    Shown(
        "(float[1] x0) => (float[1] y) { y = Sign (x0) }",
        ((1.0e-45,),),
        ((0,),),
    ),
)


@QUIRK.rule("keeps_subnormals")
def keeps_subnormals(e: Emitter) -> bool:
    """Lowerings take them as 0."""
    return True
