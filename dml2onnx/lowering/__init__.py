"""From DirectML operators to ONNX nodes; these names are all that other packages use of it.

The page that documents an operator is the ``doc`` of its file in ``schemas/operators/``.
"""

from dml2onnx.lowering.driver import lower
from dml2onnx.lowering.registry import lowerings

__all__ = ["lower", "lowerings"]
