"""The bytes of a tensor read as another data type: BitCast, which ONNX has from opset 26 on.

Before, and on targets without it: between integers a Cast keeps the bits. A float is taken apart, or put together, by
exact arithmetic on its exponent and its mantissa. All values survive, and the payload of a NaN does not: no operator of
ONNX before BitCast tells one NaN from another, and none but Gather from a table, which FLOAT16 has, makes more than
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.codes.compiling import LOST_BITS
from dml2onnx.model import DOUBLE, FLOAT, FLOAT16, INT64

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.model import DType


INT32: DType = np.dtype(np.int32)
LISTED = 1 << 12
"""Integers that are below this are read as floats by a table."""


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


def reinterpret(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """``numpy.ndarray.view(dtype)``, little-endian: a change of width shows in the last axis."""
    if x.dtype == dtype:
        return x
    if x.value is not None:
        return e.constant(np.ascontiguousarray(x.value).view(dtype), label=x.label)
    if x.dtype.itemsize == dtype.itemsize and "f" in (x.dtype.kind, dtype.kind) and _has_bit_cast(e, x.dtype, dtype):
        return e.BitCast(x, dtype)
    if x.dtype.itemsize == dtype.itemsize and dtype.kind == "f" and x.below is not None and x.below <= LISTED:
        e.note(f"each of the {x.below} numbers that there can be is read as {dtype} by a table")
        return e.Gather(e.constant(np.arange(x.below, dtype=unsigned(dtype)).view(dtype)), e.Cast(x, INT32))
    e.note(f"bytes of {x.dtype} are read as {dtype}, for which ONNX has no operator")
    if "f" in (x.dtype.kind, dtype.kind):
        e.suggest_opset(26, "BitCast")
        if FLOAT in (x.dtype, dtype) and not e.keeps_bits_of_floats():
            e.note(LOST_BITS)
    if x.dtype.kind == "f":
        x = _float_to_bits(e, x)
    if x.dtype.itemsize > dtype.itemsize:
        x = _narrow(e, e.Cast(x, unsigned(x.dtype)), unsigned(dtype))
    elif x.dtype.itemsize < dtype.itemsize:
        x = _widen(e, e.Cast(x, unsigned(x.dtype)), unsigned(dtype))
    if dtype.kind == "f":
        return _bits_to_float(e, x, dtype)
    return e.Cast(x, dtype)


def _has_bit_cast(e: Emitter, first: DType, last: DType) -> bool:
    return e.has_kernel("BitCast", first, "T1") and e.has_kernel("BitCast", last, "T2")


def _float_to_bits(e: Emitter, x: Tensor) -> Tensor:
    """The bits of every number as unsigned integers, and without BitCast of one NaN.

    Arithmetic on parts of a number is exact in its own type, or for FLOAT16 in FLOAT. The logarithm gives the exponent
    or, near a power of two, the one below; both end in the same bits.
    """
    if _has_bit_cast(e, x.dtype, unsigned(x.dtype)):
        return e.BitCast(x, unsigned(x.dtype))
    form = _FORMATS[x.dtype]
    work, integer = (DOUBLE, INT64) if x.dtype == DOUBLE else (FLOAT, INT32)
    top = 2.0**form.highest * (2 - 2.0**-form.mantissa)

    def number(value: float) -> Tensor:
        return e.constant(value, work)

    value = e.Cast(x, work)
    is_nan = e.IsNaN(value)
    finite = e.Min(e.Where(is_nan, number(1.0), e.Abs(value)), number(top))
    floor = number(2.0**form.lowest * (1 + 2.0**-9))
    logarithm = e.Mul(e.Log(e.Max(finite, floor)), number(1 / np.log(2.0)))
    # what is one more than the exponent's distance from the lowest, less what the logarithm may be off
    index = e.Cast(e.Add(logarithm, number(1 - form.lowest - 2.0**-11)), integer)
    powers = e.constant(np.ldexp(1.0, np.arange(form.lowest - 1, form.highest + 1)), work)
    # in [1, 2), or in [2, 4) above the exponent that was found, or below 1 if subnormal
    quotient = e.Div(finite, e.Gather(powers, index))
    above = e.Min(e.Sub(quotient, number(1.0)), e.Mul(quotient, number(0.5)))
    steps = e.Cast(e.Mul(above, number(2.0**form.mantissa)), integer)
    bits = e.Add(steps, e.Mul(index, e.constant(1 << form.mantissa, integer)))
    bits = e.Add(bits, e.Cast(e.IsInf(value), integer))  # next to the largest number
    quiet = form.infinity | 1 << (form.mantissa - 1)
    bits = e.Where(is_nan, e.constant(quiet, integer), bits)
    # 1 / -0 is minus infinity, which tells the two zeros apart
    negative = e.Less(e.Div(number(1.0), e.Clip(value, -top, top)), number(0.0))
    sign = 1 << (form.mantissa + form.exponent)
    weight = np.asarray(sign, np.uint64).astype(f"u{integer.itemsize}").view(integer)
    bits = e.Add(bits, e.Mul(e.Cast(negative, integer), e.constant(weight)))
    return e.Cast(bits, unsigned(x.dtype))


def _bits_to_float(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Integers of the same width as floats; of FLOAT16 all are in a table, of others NaNs become one.

    A number is 1, or of subnormal ones 0, and its mantissa, times a power of two that is itself a normal number.
    """
    if _has_bit_cast(e, unsigned(dtype), dtype):
        return e.BitCast(e.Cast(x, unsigned(dtype)), dtype)
    form, x = _FORMATS[dtype], e.Cast(x, unsigned(dtype))
    if dtype == FLOAT16:
        every = e.constant(np.arange(1 << 16, dtype=np.uint16).view(np.float16))
        return e.Gather(every, e.Cast(x, INT32))
    width = e.constant(form.mantissa, x.dtype)
    upper = e.BitShift(x, width, "RIGHT")
    integer: DType = INT64 if dtype == DOUBLE else INT32
    mantissa = e.Cast(e.Sub(x, e.BitShift(upper, width, "LEFT")), integer)
    high = e.Cast(upper, INT32)  # sign and exponent
    exponents = np.arange(1 << form.exponent)
    special = len(exponents) - 1
    powers = np.ldexp(1.0, np.clip(exponents, 1, special - 1) + form.lowest - 1)
    powers[special] = np.inf
    firsts = np.where(exponents == 0, 0.0, 1.0)
    tables = (e.constant(np.append(firsts, firsts), dtype), e.constant(np.append(powers, -powers), dtype))
    first, power = (e.Gather(table, high) for table in tables)
    fraction = e.Mul(e.Cast(mantissa, dtype), e.constant(2.0**-form.mantissa, dtype))
    value = e.Mul(power, e.Add(first, fraction))
    # the largest mantissa that is still a number
    last = np.where(exponents == special, 0, (1 << form.mantissa) - 1).astype(integer)
    is_nan = e.Greater(mantissa, e.Gather(e.constant(np.append(last, last)), high))
    return e.Where(is_nan, e.constant(np.nan, dtype), value)


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
    rows = e.Reshape(x, (*x.shape[:-1], count, ratio))
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
