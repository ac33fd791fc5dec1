"""CAST: Cast."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("CAST")
def cast(node: Operands, e: Emitter) -> Tensor:
    """Converts the data type.

    Floats are truncated to integers and saturated, NaN becomes 0; integers keep their low bits; conversions to
    floats round to nearest even [decisions E9 to E13].
    """
    x, dtype = node.broadcastable("InputTensor"), node.output().data_type.dtype
    return e.to_integers(x, dtype) if x.dtype.kind == "f" and dtype.kind in "iu" else e.Cast(x, dtype)
