"""CAST."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.numeric import as_integers, truncate, widen
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference


@reference("CAST")
def cast(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Converts each element to the output's type (decisions E9 to E13).

    Floats truncate toward zero and saturate in integers, with nothing promised outside their range; integers of 32 bits
    or more keep their low bits; conversions to floats round to nearest even.
    """
    x, target = inputs.tensor("InputTensor"), op.tensor("OutputTensor").data_type
    if x.dtype.kind == "f" and not target.is_float:
        wide = widen(x)
        low, high = target.limits
        whole = np.trunc(wide)
        # high need not be a double, high + 1 is a power of two
        inside = (whole >= low) & (whole < float(high + 1))
        return {"OutputTensor": Result(truncate(wide, target), None, ~inside)}
    if x.dtype.kind == "f" or target.is_float:
        return {"OutputTensor": Result(x.astype(target.dtype))}
    return {"OutputTensor": narrowed(as_integers(x), target)}


def narrowed(x: npt.NDArray[np.integer[Any]], target: DataType) -> Result:
    """The low bits. Values outside 8 and 16 bits are left to the driver; DirectML was seen to saturate them."""
    low, high = target.limits
    source = np.iinfo(x.dtype.name)
    if target.bits >= 32 or (source.min >= low and source.max <= high):
        return Result(x.astype(target.dtype))
    # the intermediate type has 32 bits, with the target's signedness
    wide = x.astype(np.int32 if target.is_signed else np.uint32).astype(np.int64)
    outside = (wide < low) | (wide > high)
    return Result(np.clip(wide, low, high).astype(target.dtype), None, outside if outside.any() else None)
