"""CAST: every element in another data type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.lowering.element_wise import truncated
from dml2onnx.lowering.registry import lowers
from dml2onnx.model import DOUBLE, FLOAT, FLOAT16

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
    if x.dtype.kind == "f" and dtype.kind != "f" and e.exact:
        x = e.Cast(x, FLOAT) if x.dtype == FLOAT16 else x
        y = truncated(e, e.Where(e.IsNaN(x), e.constant(0, x.dtype), x), dtype)
    elif (x.dtype, dtype) == (DOUBLE, FLOAT16):
        y = _halved(e, x)
    else:
        y = e.Cast(x, dtype)
    return y


def _halved(e: Emitter, x: Tensor) -> Tensor:
    """DOUBLE as FLOAT16, rounded once: ONNX Runtime's Cast rounds to FLOAT on the way.

    So the digits that FLOAT16 does not have are rounded off before: what is added to ``2**42`` times its size keeps
    just 11 binary digits, and what is added to ``1.5 * 2**28`` just multiples of ``2**-24``, the smallest FLOAT16.
    """
    magnitude = e.Abs(x)
    # a size of few digits is a multiple of whatever it makes the sum be rounded to
    size = e.Cast(e.Clip(e.Cast(magnitude, FLOAT), 1.5 * 2.0**-14, 2.0**18), DOUBLE)
    scale = e.Mul(size, e.constant(2.0**42, DOUBLE))
    rounded = e.Sub(e.Add(magnitude, scale), scale)
    # 1 for all that does not round to 0, and of the sign that a 0 keeps
    sign = e.Clip(e.Mul(x, e.constant(2.0**25, DOUBLE)), -1, 1)
    return e.Cast(e.Mul(rounded, sign), FLOAT16)
