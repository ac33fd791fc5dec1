"""BitCast where a target has none, as it is before opset 26, and the bytes of integers.

A float is taken apart, or put together, by exact arithmetic on its exponent and its mantissa. All values survive, and
the payload of a NaN does not: no operator of ONNX before BitCast tells one NaN from another, and none but Gather from a
table, which FLOAT16 has, makes more than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from dml2onnx.codes.compiling import LOST_BITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import DOUBLE, FLOAT, FLOAT16, INT64, DType

INT32: DType = np.dtype(np.int32)
UINT32: DType = np.dtype(np.uint32)
LISTED = 1 << 12
"""Integers that are below this are read as floats by a table."""
BITWISE_OPSET = 18
"""From here on ONNX has BitwiseAnd, BitwiseNot, BitwiseOr and BitwiseXor."""


def unsigned(dtype: DType) -> DType:
    """The unsigned integer of the same width."""
    return np.dtype(f"uint{8 * dtype.itemsize}")


def bit_cast(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """Arithmetic; of two types one is of floats."""
    if e.has_kernel("BitCast", x.dtype, "T1") and e.has_kernel("BitCast", dtype, "T2"):
        return None
    if dtype.kind == "f" and x.below is not None and x.below <= LISTED:
        e.note(f"each of the {x.below} numbers that there can be is read as {dtype} by a table")
        return e.Gather(e.constant(np.arange(x.below, dtype=unsigned(dtype)).view(dtype)), e.Cast(x, INT32))
    e.note(f"bytes of {x.dtype} are read as {dtype}, for which ONNX has no operator")
    e.suggest_opset(26, "BitCast")
    if FLOAT in (x.dtype, dtype) and not e.keeps_bits_of_floats():
        e.note(LOST_BITS)
    if x.dtype.kind == "f":
        return e.Cast(_float_to_bits(e, x), dtype)
    return _bits_to_float(e, x, dtype)


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


def _float_to_bits(e: Emitter, x: Tensor) -> Tensor:
    """The bits of every number and of one NaN, as unsigned integers.

    Arithmetic on parts of a number is exact in its own type, or for FLOAT16 in FLOAT. The logarithm gives the exponent
    or, near a power of two, the one below; both end in the same bits.
    """
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


# --- bytes -----------------------------------------------------------------------------------------------------------


def narrowed(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Each unsigned element as ``k`` narrower ones along the last axis, the low bits first."""
    ratio = x.dtype.itemsize // dtype.itemsize
    if ratio == 1:
        return e.Cast(x, dtype)
    wide = e.Cast(e.Reshape(x, (*x.shape, 1)), np.dtype(np.uint64))
    parts = e.Div(wide, e.constant(_weights(ratio, dtype)))
    return e.Reshape(e.Cast(parts, dtype), (*x.shape[:-1], x.shape[-1] * ratio))


def widened(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Each ``k`` unsigned neighbours of the last axis as one wider element, the low bits first."""
    ratio = dtype.itemsize // x.dtype.itemsize
    if ratio == 1:
        return e.Cast(x, dtype)
    shape = (*x.shape[:-1], x.shape[-1] // ratio)
    parts = e.Mul(e.Cast(e.Reshape(x, (*shape, ratio)), INT64), e.constant(_weights(ratio, x.dtype).view(np.int64)))
    total = e.ReduceSum(parts, (x.rank,), wraps=dtype.itemsize == INT64.itemsize)
    return e.Cast(e.Reshape(total, shape), dtype)


def _weights(count: int, dtype: DType) -> npt.NDArray[np.uint64]:
    return np.array([1 << (8 * dtype.itemsize * index) for index in range(count)], np.uint64)


def in_nibbles(e: Emitter, x: Tensor) -> Tensor:
    """Four bits each of integers as INT32 along the last axis, of which they have one element, the low ones first."""
    x = e.Cast(x, unsigned(x.dtype))
    wide = e.Cast(x, UINT32) if x.dtype.itemsize == 2 else x  # BitShift has no 16 bits
    shifted = e.BitShift(wide, e.constant(np.arange(0, 8 * x.dtype.itemsize, 4), wide.dtype), "RIGHT")
    return e.Cast(e.Mod(shifted, e.constant(16, wide.dtype)), INT32)


def bitwise(table: npt.NDArray[np.int32], e: Emitter, *items: Tensor) -> Tensor | None:
    """Each two times four bits are the index into a table of 256 numbers."""
    if e.opset >= BITWISE_OPSET:
        return None
    e.note("BitwiseAnd, BitwiseOr and BitwiseXor are new in opset 18: four bits each are looked up in a table")
    e.suggest_opset(BITWISE_OPSET, "BitwiseAnd")
    dtype, shape = items[0].dtype, np.broadcast_shapes(*(x.shape for x in items))
    if any(x.rank < 2 or x.shape[-1] > 1 for x in items):  # a column has a place for its digits as it is
        items = tuple(e.Reshape(x, (1, *x.shape, 1)) for x in items)
    of_two, sixteen = e.constant(table), e.constant(16, INT32)
    nibbles = reduce(lambda a, b: e.Gather(of_two, e.Add(e.Mul(a, sixteen), b)), (in_nibbles(e, x) for x in items))
    work = INT64 if dtype.itemsize == INT64.itemsize else INT32
    places = np.array([[1 << 4 * i] for i in range(nibbles.shape[-1])], f"u{work.itemsize}").view(work)
    if e.has_kernel("MatMul", work):
        total = e.MatMul(e.Cast(nibbles, work), e.constant(places))
    else:
        parts = e.Mul(e.Cast(nibbles, work), e.constant(places.reshape(-1)))
        total = e.ReduceSum(parts, (parts.rank - 1,), wraps=True)
    return e.Reshape(e.Cast(e.Cast(total, unsigned(dtype)), dtype), shape)


def inverted(e: Emitter, x: Tensor) -> Tensor:
    """BitwiseNot as a Sub from all ones, which borrows from no bit."""
    ones = np.asarray((1 << 8 * x.dtype.itemsize) - 1, unsigned(x.dtype)).view(x.dtype)
    return e.Sub(e.constant(ones), x)


def bit_counts(e: Emitter, x: Tensor) -> Tensor:
    """How many bits are set: summed in parallel within each integer, or looked up four by four below opset 18."""
    x = e.Cast(x, unsigned(x.dtype))
    return _counted_in_parallel(e, x) if e.opset >= BITWISE_OPSET else _counted_by_nibbles(e, x)


def _counted_by_nibbles(e: Emitter, x: Tensor) -> Tensor:
    counts = np.array([value.bit_count() for value in range(16)], np.int32)
    found = e.Gather(e.constant(counts), in_nibbles(e, e.Reshape(x, (*x.shape, 1))))
    return e.Reshape(e.ReduceSum(found, (x.rank,)), x.shape)


def _counted_in_parallel(e: Emitter, x: Tensor) -> Tensor:
    """Neighbouring counts are added in pairs, of 1 bit, of 2, of 4; a Mul adds those of all bytes in the top one."""
    width = 8 * x.dtype.itemsize
    if width == 16:
        x = e.Cast(x, UINT32)  # BitShift has no 16 bits
    dtype: DType = x.dtype

    def mask(step: int) -> Tensor:
        return e.constant(sum(((1 << step) - 1) << first for first in range(0, width, 2 * step)), dtype)

    def odd(step: int) -> Tensor:
        return e.BitShift(x, e.constant(step, dtype), "RIGHT")

    # of two bits, the pair less the upper one is how many are set; four bits have room for what two counts add up to
    x = e.Sub(x, e.BitwiseAnd(odd(1), mask(1)))
    x = e.Add(e.BitwiseAnd(x, mask(2)), e.BitwiseAnd(odd(2), mask(2)))
    x = e.BitwiseAnd(e.Add(x, odd(4)), mask(4))
    if width == 8:
        return x
    wide = 8 * dtype.itemsize
    ones = sum(1 << first for first in range(0, wide, 8))
    return e.BitShift(e.Mul(x, e.constant(ones, dtype)), e.constant(wide - 8, dtype), "RIGHT")


_NIBBLE = np.arange(16, dtype=np.int32)
TABLES = {
    "BitwiseAnd": (_NIBBLE[:, None] & _NIBBLE).reshape(-1),
    "BitwiseOr": (_NIBBLE[:, None] | _NIBBLE).reshape(-1),
    "BitwiseXor": (_NIBBLE[:, None] ^ _NIBBLE).reshape(-1),
}
"""What the operators make of each two times four bits."""
