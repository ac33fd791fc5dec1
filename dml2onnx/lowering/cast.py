"""CAST: every element in another data type."""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.lowering.operands import Operands
from dml2onnx.lowering.registry import lowers


@lowers("CAST")
def cast(node: Operands, e: Emitter) -> Tensor:
    """The nearest value of another type: Cast.

    Floats become integers toward zero, saturated, NaN 0; integers keep their low bits; what becomes a float is
    rounded to nearest even [decisions E9 to E13].
    """
    x, dtype = node.broadcastable("InputTensor"), node.output().data_type.dtype
    return e.to_integers(x, dtype) if x.dtype.kind == "f" and dtype.kind in "iu" else e.Cast(x, dtype)
