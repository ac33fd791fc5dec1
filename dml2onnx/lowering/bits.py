"""The bytes of a tensor read as another data type, in standard ONNX (which has BitCast only from opset 26 on).

Between integers a Cast keeps the bits. A float is taken apart, or put together, by exact arithmetic in double
precision on its exponent and its mantissa; all values survive, only the payload of a NaN does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.lowering.emitter.core import DOUBLE, INT64

if TYPE_CHECKING:
    import numpy.typing as npt

    from dml2onnx.lowering.emitter import Emitter, Tensor
    from dml2onnx.lowering.emitter.core import Array, DType


@dataclass(frozen=True, slots=True)
class _Format:
    """An IEEE 754 binary format up to double, in which arithmetic on its parts is exact."""

    mantissa: int
    exponent: int

    @property
    def lowest(self) -> int:
        """Exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent - 1))

    @property
    def highest(self) -> int:
        """Exponent of the largest numbers."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """Its bits."""
        return ((1 << self.exponent) - 1) << self.mantissa


_FORMATS = {
    np.dtype(np.float16): _Format(10, 5),
    np.dtype(np.float32): _Format(23, 8),
    np.dtype(np.float64): _Format(52, 11),
}


def unsigned(dtype: DType) -> DType:
    """The unsigned integer of the same width."""
    return np.dtype(f"uint{8 * dtype.itemsize}")


def comparable(e: Emitter, x: Tensor) -> Tensor:
    """UINT64 in the order of INT64, which ArgMax and TopK have kernels for: the sign bit flips."""
    if x.dtype != np.uint64:
        return x
    return e.Add(e.Cast(x, INT64), e.constant(-(1 << 63), INT64))


def reinterpret(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """``numpy.ndarray.view(dtype)``, little-endian: a change of width shows in the last axis."""
    if x.dtype == dtype:
        return x
    if x.value is not None:
        return e.constant(np.ascontiguousarray(x.value).view(dtype), label=x.label)
    if x.dtype.kind == "f":
        x = _float_to_bits(e, x)
    if x.dtype.itemsize > dtype.itemsize:
        x = _narrow(e, e.Cast(x, unsigned(x.dtype)), unsigned(dtype))
    elif x.dtype.itemsize < dtype.itemsize:
        x = _widen(e, e.Cast(x, unsigned(x.dtype)), unsigned(dtype))
    if dtype.kind == "f":
        return _bits_to_float(e, x, dtype)
    return e.Cast(x, dtype)


def _power_of_2(exponent: npt.ArrayLike) -> Array:
    """Infinity beyond the range of double."""
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(1.0, exponent))


def _float_to_bits(e: Emitter, x: Tensor) -> Tensor:
    form = _FORMATS[x.dtype]
    wide = e.Cast(x, DOUBLE)
    zero = e.constant(0.0, DOUBLE)
    # 1 / -0 is minus infinity, which tells the two zeros apart
    negative = e.Or(e.Less(wide, zero), e.Less(e.Div(e.constant(1.0, DOUBLE), wide), zero))
    magnitude = e.Abs(wide)
    top = e.constant(_power_of_2(form.highest + 1), DOUBLE)
    finite = e.Where(e.Less(magnitude, top), magnitude, zero)
    smallest = e.constant(2.0**form.lowest, DOUBLE)
    # the logarithm may be one off at powers of two: both neighbours are tried against exact powers
    guess = e.Floor(e.Div(e.Log(e.Max(finite, smallest)), e.constant(np.log(2.0), DOUBLE)))
    powers = e.constant(_power_of_2(np.arange(form.lowest - 1, form.highest + 3)), DOUBLE)
    index = e.Add(e.Cast(guess, INT64), e.constant(1 - form.lowest, INT64))
    one = e.constant(1, INT64)
    index = e.Add(index, e.Cast(e.GreaterOrEqual(finite, e.Gather(powers, e.Add(index, one))), INT64))
    index = e.Sub(index, e.Cast(e.Less(finite, e.Gather(powers, index)), INT64))
    index = e.Max(index, one)
    steps = e.Mul(e.Div(finite, e.Gather(powers, index)), e.constant(2.0**form.mantissa, DOUBLE))
    bits = e.Add(e.Cast(steps, INT64), e.Mul(e.Sub(index, one), e.constant(1 << form.mantissa, INT64)))
    bits = e.Where(e.GreaterOrEqual(magnitude, top), e.constant(form.infinity, INT64), bits)
    quiet = form.infinity | 1 << (form.mantissa - 1)
    bits = e.Where(e.IsNaN(wide), e.constant(quiet, INT64), bits)
    top_bit = np.asarray(1 << (form.mantissa + form.exponent), np.uint64).view(np.int64)
    sign = e.Mul(e.Cast(negative, INT64), e.constant(top_bit))
    return e.Cast(e.Add(bits, sign), unsigned(x.dtype))


def _bits_to_float(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    form = _FORMATS[dtype]
    bits = e.Cast(e.Cast(x, unsigned(dtype)), np.dtype(np.uint64))
    step = e.constant(1 << form.mantissa, np.uint64)
    upper = e.Div(bits, step)
    mantissa = e.Cast(e.Sub(bits, e.Mul(upper, step)), INT64)
    high = e.Cast(upper, INT64)  # sign and exponent
    exponents = np.arange(1 << form.exponent)
    scale = 2.0 ** (np.maximum(exponents, 1) + form.lowest - 1 - form.mantissa)
    scale[-1] = np.inf
    implicit = np.where(exponents == 0, 0, 1 << form.mantissa).astype(np.int64)
    significand = e.Add(mantissa, e.Gather(e.constant(np.tile(implicit, 2)), high))
    value = e.Mul(e.Gather(e.constant(np.concatenate([scale, -scale])), high), e.Cast(significand, DOUBLE))
    special = e.constant(np.tile(exponents == len(exponents) - 1, 2).astype(np.int64))
    is_nan = e.Greater(e.Mul(e.Gather(special, high), mantissa), e.constant(0, INT64))
    return e.Cast(e.Where(is_nan, e.constant(np.nan, DOUBLE), value), dtype)


def _narrow(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Each unsigned element as ``k`` narrower ones, the low bits first."""
    ratio = x.dtype.itemsize // dtype.itemsize
    wide = e.Cast(x, np.dtype(np.uint64))
    parts = []
    for index in range(ratio):
        shifted = e.Div(wide, e.constant(1 << (8 * dtype.itemsize * index), np.uint64))
        parts.append(e.Reshape(e.Cast(shifted, dtype), (*x.shape, 1)))
    return e.Reshape(e.Concat(parts, x.rank), (*x.shape[:-1], x.shape[-1] * ratio))


def _widen(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Each ``k`` neighbours of the last axis as one wider element, the low bits first."""
    ratio = dtype.itemsize // x.dtype.itemsize
    count = x.shape[-1] // ratio
    rows = e.Reshape(e.Slice(x, [0] * x.rank, [*x.shape[:-1], count * ratio]), (*x.shape[:-1], count, ratio))
    total: Tensor | None = None
    for index in range(ratio):
        part = e.Cast(e.Gather(rows, e.constant(index, np.int64), x.rank), np.dtype(np.uint64))
        part = e.Mul(part, e.constant(1 << (8 * x.dtype.itemsize * index), np.uint64))
        total = part if total is None else e.Add(total, part)
    assert total is not None
    return e.Cast(total, dtype)


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
    """An even number of 4-bit integers, held one to a byte, as a vector of bytes: :func:`unpacked` backwards."""
    nibbles = e.Reshape(e.Cast(x, np.dtype(np.uint8)), (x.size // 2, 2))
    low, high = (e.Gather(nibbles, e.constant(half, INT64), 1) for half in (0, 1))
    sixteen = e.constant(16, low.dtype)
    low = e.Sub(low, e.Mul(e.Div(low, sixteen), sixteen))
    return e.Add(low, e.Mul(high, sixteen))
