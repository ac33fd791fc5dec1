"""CAST."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.numeric import truncate, widen
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference


@reference("CAST")
def cast(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Each element in the type of the output (decisions E9 to E13).

    Floats truncate toward zero into integers, which they saturate, though nothing is promised beyond their range;
    integers keep their low bits; into floats all round to nearest even.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_cast_operator_desc
    """
    x, target = inputs.tensor("InputTensor"), op.tensor("OutputTensor").data_type
    if x.dtype.kind == "f" and not target.is_float:
        wide = widen(x)
        low, high = target.limits
        whole = np.trunc(wide)
        # high need not be a double, high + 1 is a power of two
        inside = (whole >= low) & (whole < float(high + 1))
        return {"OutputTensor": Result(truncate(wide, target), None, ~inside)}
    return {"OutputTensor": Result(x.astype(target.dtype))}
