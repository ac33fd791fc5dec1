"""PADDING and PADDING1: Pad, or Gather for SYMMETRIC."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.movement import PadMode
from dml2onnx.legalise.movements import continued
from dml2onnx.lowering.element_wise import fill
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers

_MODES: dict[str, PadMode] = {"EDGE": "edge", "REFLECTION": "reflect", "WRAP": "wrap"}
"""The modes of ONNX Pad besides constant; it has no symmetric mode."""


@lowers("PADDING", "PADDING1", moves=("InputTensor",))
def padding(node: Operands, e: Emitter) -> Tensor:
    """Pads both ends of each axis; an integer PaddingValue wraps [decision D7]."""
    x, start, end = node.tensor("InputTensor"), node.op.uints("StartPadding"), node.op.uints("EndPadding")
    mode = node.op.enum("PaddingMode")
    if mode == "SYMMETRIC":
        e.note("Gather: Pad has no mode that repeats the border")
        return continued(e, x, start, end, "symmetric")
    if mode != "CONSTANT":
        return e.Pad(x, start, end, _MODES[mode])
    if node.op.type == "PADDING":
        value = fill(node.op.float("PaddingValue"), node.output().data_type.dtype)
    else:
        value = node.op.scalar("PaddingValue").value
    return e.Pad(x, start, end, "constant", node.as_moved(value))
