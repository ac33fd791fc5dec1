"""BitCast for targets without it (it is new in opset 26), and bitwise operations on integers.

Floats are split and assembled by exact arithmetic on exponent and mantissa. All values survive except NaN payloads:
before BitCast no ONNX operator distinguishes NaNs, and only Gather from a table (used for FLOAT16) produces several.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from dml2onnx.codes.compiling import LOST_BITS
from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.onnx_model import DOUBLE, FLOAT, FLOAT16, INT32, INT64, UINT32, UINT64, DType

LISTED = 1 << 12
"""Integers below this limit are converted to floats by a table."""
BITWISE_OPSET = 18
"""The first opset with BitwiseAnd, BitwiseNot, BitwiseOr and BitwiseXor."""


def unsigned(dtype: DType) -> DType:
    """The unsigned integer of the same width."""
    return np.dtype(f"uint{8 * dtype.itemsize}")


def bit_cast(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """Arithmetic; one of the two types is a float type."""
    if e.has_kernel("BitCast", x.dtype, "T1") and e.has_kernel("BitCast", dtype, "T2"):
        return None
    if dtype.kind == "f" and x.below is not None and x.below <= LISTED:
        e.note(f"a table converts each of the {x.below} possible integers to {dtype}")
        return e.Gather(e.constant(np.arange(x.below, dtype=unsigned(dtype)).view(dtype)), e.Cast(x, INT32))
    e.note(f"arithmetic reinterprets the bits of {x.dtype} as {dtype}: there is no BitCast")
    e.suggest_opset(26, "BitCast")
    if FLOAT in (x.dtype, dtype) and not e.keeps_bits_of_floats():
        e.note(LOST_BITS)
    if x.dtype.kind == "f":
        return e.Cast(_float_to_bits(e, x), dtype)
    return _bits_to_float(e, x, dtype)


@dataclass(frozen=True, slots=True)
class _Format:
    """An IEEE 754 binary format up to double, whose parts can be computed exactly."""

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
        """The bits of infinity."""
        return ((1 << self.exponent) - 1) << self.mantissa


_FORMATS = {
    np.dtype(np.float16): _Format(10, 5),
    np.dtype(np.float32): _Format(23, 8),
    np.dtype(np.float64): _Format(52, 11),
}


def _float_to_bits(e: Emitter, x: Tensor) -> Tensor:
    """The bits of every number and of one NaN, as unsigned integers.

    Arithmetic on the parts is exact in the type itself (FLOAT for FLOAT16). The logarithm yields the exponent or, near
    a power of two, the exponent below; both lead to the same bits.
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
    # the exponent's distance from the lowest, plus 1, minus the error of the logarithm
    index = e.Cast(e.Add(logarithm, number(1 - form.lowest - 2.0**-11)), integer)
    powers = e.constant(np.ldexp(1.0, np.arange(form.lowest - 1, form.highest + 1)), work)
    # in [1, 2); in [2, 4) if the exponent was one too low; below 1 if subnormal
    quotient = e.Div(finite, e.Gather(powers, index))
    above = e.Min(e.Sub(quotient, number(1.0)), e.Mul(quotient, number(0.5)))
    steps = e.Cast(e.Mul(above, number(2.0**form.mantissa)), integer)
    bits = e.Add(steps, e.Mul(index, e.constant(1 << form.mantissa, integer)))
    bits = e.Add(bits, e.Cast(e.IsInf(value), integer))  # infinity follows the largest number
    quiet = form.infinity | 1 << (form.mantissa - 1)
    bits = e.Where(is_nan, e.constant(quiet, integer), bits)
    # 1 / -0 is minus infinity, which distinguishes the two zeros
    negative = e.Less(e.Div(number(1.0), e.Clip(value, -top, top)), number(0.0))
    sign = 1 << (form.mantissa + form.exponent)
    weight = np.asarray(sign, np.uint64).astype(f"u{integer.itemsize}").view(integer)
    bits = e.Add(bits, e.Mul(e.Cast(negative, integer), e.constant(weight)))
    return e.Cast(bits, unsigned(x.dtype))


def _bits_to_float(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Integers to floats of the same width: FLOAT16 by a table, other types with a single NaN.

    The value is 1 (0 if subnormal) plus the mantissa, times a power of two that is itself a normal number.
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
    # the largest mantissa that is not NaN
    last = np.where(exponents == special, 0, (1 << form.mantissa) - 1).astype(integer)
    is_nan = e.Greater(mantissa, e.Gather(e.constant(np.append(last, last)), high))
    return e.Where(is_nan, e.constant(np.nan, dtype), value)


# --- bytes -----------------------------------------------------------------------------------------------------------


def narrowed(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Splits each unsigned element into ``k`` narrower ones along the last axis, low bits first."""
    ratio = x.dtype.itemsize // dtype.itemsize
    if ratio == 1:
        return e.Cast(x, dtype)
    wide = e.Cast(e.Reshape(x, (*x.shape, 1)), UINT64)
    parts = e.Div(wide, e.constant(_weights(ratio, dtype)))
    return e.Reshape(e.Cast(parts, dtype), (*x.shape[:-1], x.shape[-1] * ratio))


def widened(e: Emitter, x: Tensor, dtype: DType) -> Tensor:
    """Joins each ``k`` unsigned neighbors of the last axis into one wider element, low bits first."""
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
    """Splits integers (last axis of size 1) into 4-bit groups as INT32 along the last axis, low bits first."""
    x = e.Cast(x, unsigned(x.dtype))
    wide = e.Cast(x, UINT32) if x.dtype.itemsize == 2 else x  # BitShift has no 16 bits
    shifted = e.BitShift(wide, e.constant(np.arange(0, 8 * x.dtype.itemsize, 4), wide.dtype), "RIGHT")
    return e.Cast(e.Mod(shifted, e.constant(16, wide.dtype)), INT32)


def bitwise(table: npt.NDArray[np.int32], e: Emitter, *items: Tensor) -> Tensor | None:
    """Looks up pairs of 4-bit groups in a table of 256 numbers."""
    if e.opset >= BITWISE_OPSET:
        return None
    e.note("BitwiseAnd, BitwiseOr and BitwiseXor are new in opset 18: a table gives four bits at a time")
    e.suggest_opset(BITWISE_OPSET, "BitwiseAnd")
    dtype, shape = items[0].dtype, np.broadcast_shapes(*(x.shape for x in items))
    if any(x.rank < 2 or x.shape[-1] > 1 for x in items):  # a column already has an axis for its digits
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
    """BitwiseNot as a Sub from all ones, which never borrows."""
    ones = np.asarray((1 << 8 * x.dtype.itemsize) - 1, unsigned(x.dtype)).view(x.dtype)
    return e.Sub(e.constant(ones), x)


def bit_counts(e: Emitter, x: Tensor) -> Tensor:
    """Counts the bits that are set: in parallel within each integer, or by a table of 4-bit groups below opset 18."""
    x = e.Cast(x, unsigned(x.dtype))
    return _counted_in_parallel(e, x) if e.opset >= BITWISE_OPSET else _counted_by_nibbles(e, x)


def _counted_by_nibbles(e: Emitter, x: Tensor) -> Tensor:
    counts = np.array([value.bit_count() for value in range(16)], np.int32)
    found = e.Gather(e.constant(counts), in_nibbles(e, e.Reshape(x, (*x.shape, 1))))
    return e.Reshape(e.ReduceSum(found, (x.rank,)), x.shape)


def _counted_in_parallel(e: Emitter, x: Tensor) -> Tensor:
    """Adds neighboring counts of 1, 2 and 4 bits; a Mul then sums those of all bytes in the top byte."""
    width = 8 * x.dtype.itemsize
    if width == 16:
        x = e.Cast(x, UINT32)  # BitShift has no 16 bits
    dtype: DType = x.dtype

    def mask(step: int) -> Tensor:
        return e.constant(sum(((1 << step) - 1) << first for first in range(0, width, 2 * step)), dtype)

    def odd(step: int) -> Tensor:
        return e.BitShift(x, e.constant(step, dtype), "RIGHT")

    # two bits minus the upper one is their count; the sum of two such counts fits into four bits
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
"""The result for each pair of 4-bit operands."""
