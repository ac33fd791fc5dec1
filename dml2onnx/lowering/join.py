"""JOIN: Concat."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("JOIN", moves=("InputTensors",))
def join(node: Operands, e: Emitter) -> Tensor:
    """Concatenates the inputs along Axis; a single input is copied."""
    return e.Concat(node.array("InputTensors"), node.op.uint("Axis"))
