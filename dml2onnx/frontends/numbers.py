"""Converts decoded JSON numbers to DirectML's data types.

All formats follow the rules of DxDispatch, except for FLOAT16: DxDispatch truncates toward zero (the default of its
half-precision library), the other formats round to nearest even.
"""

from __future__ import annotations

import math
import struct
import sys
from typing import TYPE_CHECKING, NamedTuple

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code
from dml2onnx.frontends.findings import show
from dml2onnx.ir.tensor import DataType
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
else:
    np = lazy_module("numpy")

_FLOAT32 = struct.Struct("<f")
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LARGEST_TOKEN = 1 << 64
"""DxDispatch parses whole numbers from here on (and below the 64-bit integers) as floating-point tokens."""
_LARGEST = {
    DataType.FLOAT16: 65504.0,
    DataType.FLOAT32: float.fromhex("0x1.fffffep127"),
    DataType.FLOAT64: sys.float_info.max,
}
"""The largest finite value of each floating point type."""


class Bad(NamedTuple):
    """The reason why a number is rejected."""

    code: Code
    message: str
    expected: str
    found: str


def to_double(raw: object, *, strings: bool = True) -> float | Bad:
    """Converts a number, or one of ``"inf"``, ``"-inf"``, ``"nan"`` in any letter case, to a double."""
    kind = type(raw)
    if kind is float:
        value: float = raw  # type: ignore[assignment]  # the type check above is faster than isinstance
        if math.isfinite(value):
            return value
        return Bad(codes.NOT_FINITE, "is too large for a double", "a double", "a larger number")
    if kind is int:
        return _whole_to_double(raw)  # type: ignore[arg-type]  # as above
    if strings and kind is str:
        special = _SPECIAL.get(raw.lower())  # type: ignore[attr-defined]  # as above
        if special is not None:
            return special
    expected = 'a number, "inf", "-inf" or "nan"' if strings else "a number"
    return Bad(codes.FIELD_KIND, f"is {show(raw)}, not {expected}", expected, show(raw))


def _whole_to_double(value: int) -> float | Bad:
    try:
        rounded = float(value)
    except OverflowError:
        return Bad(codes.NOT_FINITE, "is too large for a double", "a double", show(value))
    if rounded != value and -(_LARGEST_TOKEN >> 1) <= value < _LARGEST_TOKEN:
        return Bad(codes.NOT_EXACT, f"is {value}, which no double holds", f"{rounded:.0f}, or {value}.0", str(value))
    return rounded


def round_to_float32(value: float) -> float:
    """Rounds to the nearest float32, ties to even, with overflow to infinity."""
    try:
        return _FLOAT32.unpack(_FLOAT32.pack(value))[0]  # type: ignore[no-any-return]  # struct is untyped
    except OverflowError:
        return math.copysign(math.inf, value)


def beyond_range(raw: object, value: object, data_type: DataType) -> Bad | None:
    """Reports a finite number that overflows to infinity in the data type."""
    if type(value) is not float or not math.isinf(value) or type(raw) is str:
        return None
    largest = _LARGEST[data_type]
    message = f"is {show(raw)}, beyond the range of {data_type.name}, and becomes {'-' if value < 0 else ''}infinite"
    return Bad(codes.BEYOND_RANGE, message, f"at most {largest} in magnitude", show(raw))


def first_beyond_range(raw: list[object], array: Array, data_type: DataType) -> tuple[int, Bad] | None:
    """Returns the index and the problem of the first finite number in ``raw`` that is infinite in ``array``."""
    if data_type.is_float:
        for index in np.flatnonzero(np.isinf(array)):
            bad = beyond_range(raw[index], float(array[index]), data_type)
            if bad is not None:
                return int(index), bad
    return None


def to_integer(raw: object, data_type: DataType) -> int | Bad:
    """Checks for a whole number in the range of an integer type."""
    low, high = data_type.limits
    if type(raw) is int and low <= raw <= high:
        return raw
    expected, found = f"a whole number from {low} to {high}", show(raw)
    if type(raw) is not int:
        return Bad(codes.FIELD_KIND, f"is {found}, not a whole number", expected, found)
    return Bad(codes.FIELD_RANGE, f"is {found}, which {data_type.name} cannot hold", expected, found)


def to_element(raw: object, data_type: DataType, *, truncate: bool, strings: bool = True) -> int | float | Bad:
    """Converts one value to a data type; floats are rounded to it."""
    if not data_type.is_float:
        return to_integer(raw, data_type)
    value = to_double(raw, strings=strings)
    if isinstance(value, Bad) or data_type is DataType.FLOAT64:
        return value
    if data_type is DataType.FLOAT32:
        return round_to_float32(value)
    return float(to_half(np.array([value]), truncate=truncate)[0])


def to_half(values: npt.NDArray[np.float64], *, truncate: bool) -> npt.NDArray[np.float16]:
    """Converts doubles to halves: rounds to nearest even, or rounds to float32 and truncates.

    Truncation overflows to infinity from 65536 on, as DxDispatch's half-precision library does.
    """
    with np.errstate(over="ignore", under="ignore"):
        if not truncate:
            return values.astype(np.float16)
        singles = values.astype(np.float32)
        halves = singles.astype(np.float16)
        magnitude = np.abs(singles)
        away = (np.abs(halves.astype(np.float32)) > magnitude) & (magnitude < 65536)
    bits = halves.view(np.uint16)
    return (bits - away.astype(np.uint16)).view(np.float16)


def to_array(raw: list[object], data_type: DataType, *, truncate: bool) -> Array | tuple[int, Bad]:
    """Converts elements to a data type; for a rejected one, returns its index and the reason."""
    kinds = set(map(type, raw))
    if not data_type.is_float:
        low, high = data_type.limits
        if kinds <= {int} and (not raw or (low <= min(raw) and max(raw) <= high)):  # type: ignore[type-var,operator]  # ints
            return np.array(raw, data_type.dtype)
    elif kinds <= {float} or (kinds <= {int, float} and max(map(abs, raw)) <= 1 << 53):  # type: ignore[arg-type]  # numbers
        doubles = np.array(raw, np.float64)
        if np.isfinite(doubles).all():
            return from_doubles(doubles, data_type, truncate=truncate)
    values: list[int | float] = []
    for index, item in enumerate(raw):
        value = to_double(item) if data_type.is_float else to_integer(item, data_type)
        if isinstance(value, Bad):
            return index, value
        values.append(value)
    if data_type.is_float:
        return from_doubles(np.array(values, np.float64), data_type, truncate=truncate)
    return np.array(values, data_type.dtype)


def from_doubles(doubles: npt.NDArray[np.float64], data_type: DataType, *, truncate: bool) -> Array:
    """Rounds doubles to a floating-point type."""
    if data_type is DataType.FLOAT16:
        return to_half(doubles, truncate=truncate)
    with np.errstate(over="ignore", under="ignore"):
        return doubles.astype(data_type.dtype)


def pack_nibbles(values: Array) -> npt.NDArray[np.uint8]:
    """Packs 4-bit values, one per byte, into two per byte, the first in the low half; pads with zero."""
    nibbles = np.bitwise_and(values.view(np.uint8), np.uint8(0xF))
    if nibbles.size % 2:
        nibbles = np.append(nibbles, np.uint8(0))
    return np.bitwise_or(nibbles[0::2], np.left_shift(nibbles[1::2], np.uint8(4)))


def unpack_nibbles(raw: npt.NDArray[np.uint8], count: int, *, is_signed: bool) -> Array:
    """Unpacks the first ``count`` elements of :func:`pack_nibbles`, one per byte."""
    nibbles = np.stack([raw & 15, raw >> 4], -1).reshape(-1)[:count]
    return ((nibbles ^ 8).astype(np.int8) - 8) if is_signed else nibbles


def to_bytes(values: Array, data_type: DataType) -> npt.NDArray[np.uint8]:
    """Returns elements as the bytes of a buffer."""
    if data_type.is_packed_nibbles:
        return pack_nibbles(values)
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)
