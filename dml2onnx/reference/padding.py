"""PADDING and PADDING1."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.numeric import all_along, fill
from dml2onnx.reference.registry import Indices, Inputs, Outputs, Result, reference


@reference("PADDING", "PADDING1")
def padding(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Pads the input at both ends of every dimension.

    PaddingValue, which only CONSTANT mode reads, converts like a CLIP bound (decision D7); that of PADDING1 already has
    the tensor's type.
    """
    x, data_type = inputs.tensor("InputTensor"), op.tensor("InputTensor").data_type
    mode = op.enum("PaddingMode")
    sizes = op.tensor("OutputTensor").sizes
    # each output coordinate as an input coordinate, per dimension
    places = [np.arange(size) - start for size, start in zip(sizes, op.uints("StartPadding"), strict=True)]
    source = [source_index(mode, k, n) for k, n in zip(places, x.shape, strict=True)]
    y = x[np.ix_(*source)]
    if mode == "CONSTANT":
        inside = [(k >= 0) & (k < n) for k, n in zip(places, x.shape, strict=True)]
        is_typed = op.type == "PADDING1"
        value = op.scalar("PaddingValue").value if is_typed else fill(op.float("PaddingValue"), data_type)
        y = np.where(all_along(inside), y, np.asarray(value, x.dtype))
    return {"OutputTensor": Result(y)}


def source_index(mode: str, k: Indices, n: int) -> Indices:
    """The element, of ``n``, that a coordinate ``k`` inside or outside the input repeats (decisions D1 to D6)."""
    match mode:
        case "CONSTANT" | "EDGE":
            return np.clip(k, 0, n - 1)
        case "WRAP":
            return k % n
        case "SYMMETRIC":
            k = k % (2 * n)
            return np.minimum(k, 2 * n - 1 - k)
        case "REFLECTION":
            if n == 1:
                return np.zeros_like(k)
            k = k % (2 * n - 2)
            return np.minimum(k, 2 * n - 2 - k)
    raise AssertionError(mode)
