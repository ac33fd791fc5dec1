"""Lowers DirectML operators to ONNX nodes.

The ``doc`` field of an operator's file in ``schemas/operators/`` names the page that documents it.
"""

from dml2onnx.lowering.driver import lower
from dml2onnx.lowering.registry import lowerings

__all__ = ["lower", "lowerings"]
