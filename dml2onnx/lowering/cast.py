"""CAST: every element in another data type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.lowering.element_wise import truncated
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import FLOAT, FLOAT16

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.lowering.operands import Operands


@lowers("CAST")
def cast(node: Operands, e: Emitter) -> Tensor:
    """The nearest value of another type: Cast; exactly, behind Where and Clip where a float may not fit.

    Floats become integers toward zero, saturated, NaN 0; integers keep their low bits; what becomes a float is
    rounded to nearest even [decisions E9 to E13].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_cast_operator_desc
    """
    x, dtype = node.broadcastable("InputTensor"), node.output().data_type.dtype
    if x.dtype.kind != "f" or dtype.kind == "f" or not e.exact:
        return e.Cast(x, dtype)
    x = e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x
    return truncated(e, e.Where(e.IsNaN(x), e.constant(0, x.dtype), x), dtype)
