"""PADDING and PADDING1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.numeric import all_along, fill
from dml2onnx.reference.registry import Array, Inputs, Outputs, Result, reference

Indices = npt.NDArray[np.int64]


@reference("PADDING")
def padding(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Enlarges the input at both ends of every dimension; PaddingValue converts like a CLIP bound (decision D7)."""
    data_type = op.tensor("InputTensor").data_type
    return _pad(op, inputs.tensor("InputTensor"), lambda: fill(op.float("PaddingValue"), data_type))


@reference("PADDING1")
def padding1(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """PADDING with a typed value."""
    x = inputs.tensor("InputTensor")
    return _pad(op, x, lambda: np.asarray(op.scalar("PaddingValue").value, x.dtype))


def _pad(op: OperatorDesc, x: Array, value: Callable[[], Array]) -> Outputs:
    """``value`` is asked for in CONSTANT mode only: the others ignore the field, whatever it holds."""
    mode = op.enum("PaddingMode")
    sizes = op.tensor("OutputTensor").sizes
    # where each output coordinate lies in the input's own coordinates, per dimension
    places = [np.arange(size) - start for size, start in zip(sizes, op.uints("StartPadding"), strict=True)]
    source = [source_index(mode, k, n) for k, n in zip(places, x.shape, strict=True)]
    y = x[np.ix_(*source)]
    if mode == "CONSTANT":
        inside = [(k >= 0) & (k < n) for k, n in zip(places, x.shape, strict=True)]
        y = np.where(all_along(inside), y, value())
    return {"OutputTensor": Result(y)}


def source_index(mode: str, k: Indices, n: int) -> Indices:
    """Which of ``n`` elements a coordinate ``k``, possibly outside, repeats (decisions D1 to D6)."""
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
