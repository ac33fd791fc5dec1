"""From DirectML operators to ONNX nodes: the face of the room, all that other rooms know of it."""

from dml2onnx.lowering.driver import lower
from dml2onnx.lowering.registry import lowerings

__all__ = ["lower", "lowerings"]
