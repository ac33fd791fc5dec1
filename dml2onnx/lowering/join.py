"""JOIN: Concat."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("JOIN", moves=("InputTensors",))
def join(node: Operands, e: Emitter) -> Tensor:
    """The inputs one behind the other along Axis; a single input is a copy."""
    return e.Concat(node.array("InputTensors"), node.op.uint("Axis"))
