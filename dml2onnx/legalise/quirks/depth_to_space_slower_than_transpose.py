"""DepthToSpace takes longer than two Transposes, but for 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dml2onnx.legalise.depth import spread_depth
from dml2onnx.legalise.rules import Kind, Quirk

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor

QUIRK = Quirk(Kind.SPEED)


@QUIRK.rule("DepthToSpace")
def depth_to_space(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor | None:
    """Two Transposes."""
    return None if x.dtype.itemsize == 8 else spread_depth(e, x, block, mode)
