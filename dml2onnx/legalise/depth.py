"""SpaceToDepth and DepthToSpace by two Transposes of few axes, which runtimes do much faster than one of six."""

from __future__ import annotations

from typing import Literal

from dml2onnx.emitter import Emitter, Tensor

_TWO_TRANSPOSES = "two Transposes of few axes, which ONNX Runtime runs much faster than one of six"


def gathered_depth(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor:
    """SpaceToDepth in either mode, of which ONNX has DCR: of rows, and of the blocks in them."""
    n, c, height, width = x.shape
    outer, inner = (n, c) if mode == "DCR" else (n * c, 1)
    e.note(_TWO_TRANSPOSES)
    rows = e.Transpose(e.Reshape(x, (outer, inner * height // block, block, width)), (0, 2, 1, 3))
    columns = e.Transpose(e.Reshape(rows, (outer * block, x.size // (outer * block**2), block)), (0, 2, 1))
    return e.Reshape(columns, (n, c * block**2, height // block, width // block))


def spread_depth(e: Emitter, x: Tensor, block: int, mode: Literal["DCR", "CRD"]) -> Tensor:
    """DepthToSpace by two Transposes, of the columns and of the rows of the blocks."""
    n, depth, height, width = x.shape
    c = depth // block**2
    outer, inner = (n, c) if mode == "DCR" else (n * c, 1)
    e.note(_TWO_TRANSPOSES)
    columns = e.Transpose(e.Reshape(x, (outer * block, block, x.size // (outer * block**2))), (0, 2, 1))
    rows = e.Transpose(e.Reshape(columns, (outer, block, inner * height, width * block)), (0, 2, 1, 3))
    return e.Reshape(rows, (n, c, height * block, width * block))
