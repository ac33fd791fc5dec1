"""The bytes of a tensor read as another data type: BitCast, which many targets have to do without.

Between integers a Cast keeps the bits.
"""

from __future__ import annotations

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.bits import narrowed, unsigned, widened
from dml2onnx.onnx_model import INT64, DType


def reinterpret(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """``numpy.ndarray.view(dtype)``, little-endian: a change of width shows in the last axis."""
    if x.dtype == dtype:
        return x
    if x.value is not None:
        return e.constant(np.ascontiguousarray(x.value).view(dtype), label=x.label)
    if x.dtype.itemsize != dtype.itemsize:
        e.note(f"bytes of {x.dtype} are read as {dtype}, for which ONNX has no operator")
        of_another_width = narrowed if x.dtype.itemsize > dtype.itemsize else widened
        x = of_another_width(e, reinterpret(e, x, unsigned(x.dtype)), unsigned(dtype))
    return e.BitCast(x, dtype) if "f" in (x.dtype.kind, dtype.kind) else e.Cast(x, dtype)


def unpacked(e: Emitter, x: Tensor, *, signed: bool) -> Tensor:
    """The 4-bit integers in a vector of bytes, one to a byte, the low half of each first [decision Q6]."""
    high = e.Div(x, e.constant(16, x.dtype))
    halves = [e.Sub(x, e.Mul(high, e.constant(16, x.dtype))), high]
    nibbles = e.Reshape(e.Concat([e.Reshape(half, (x.size, 1)) for half in halves], 1), (2 * x.size,))
    if not signed:
        return nibbles
    negative = e.Cast(e.Greater(nibbles, e.constant(7, x.dtype)), x.dtype)
    # modulo 256 that is 16 less
    return e.Cast(e.Add(nibbles, e.Mul(negative, e.constant(240, x.dtype))), np.dtype(np.int8))


def packed(e: Emitter, x: Tensor) -> Tensor:
    """An even number of 4-bit integers, stored one to a byte, as a vector of bytes: :func:`unpacked` backwards."""
    nibbles = e.Reshape(e.Cast(x, np.dtype(np.uint8)), (x.size // 2, 2))
    low, high = (e.Gather(nibbles, e.constant(half, INT64), 1) for half in (0, 1))
    sixteen = e.constant(16, low.dtype)
    low = e.Sub(low, e.Mul(e.Div(low, sixteen), sixteen))
    return e.Add(low, e.Mul(high, sixteen))
