"""Reading and writing tensors in flat buffers.

https://learn.microsoft.com/windows/ai/directml/dml-strides
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.reference.registry import Array

Bytes = npt.NDArray[np.uint8]


def read(buffer: Bytes, desc: TensorDesc, offset: int = 0) -> Array:
    """The logical array of a view that starts at byte ``offset``, with 4-bit elements one to a byte.

    The array is read-only because it may share memory with the buffer.
    Raises ``ValueError`` if the view reaches past the end of the buffer.
    """
    if _in_order(desc):
        array = _span(buffer, desc, offset).view(desc.data_type.dtype).reshape(desc.sizes)
        if array.flags.aligned:
            array.flags.writeable = False
            return array
    return _view(_elements(buffer, desc, offset), desc).copy()


def write(buffer: Bytes, desc: TensorDesc, array: Array, offset: int = 0) -> None:
    """Scatters a logical array into the buffer and keeps all other bytes.

    Raises ``ValueError`` if the view reaches past the end of the buffer.
    """
    elements = _elements(buffer, desc, offset)
    _view(elements, desc)[...] = array
    used = desc.data_type.bytes_for(desc.extent)
    packed = _pack(elements) if desc.data_type.is_packed_nibbles else elements.view(np.uint8)
    buffer[offset : offset + used] = packed


def stored(nbytes: int, desc: TensorDesc, array: Array, offset: int = 0, below: Bytes | None = None) -> Bytes:
    """A read-only buffer that contains a logical array, with the bytes of ``below``, or zeros, elsewhere."""
    if _fills(nbytes, desc, offset):
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    buffer = np.zeros(nbytes, np.uint8)
    if below is not None:
        buffer[: below.size] = below
    write(buffer, desc, array, offset)
    return buffer


@dataclass(frozen=True, slots=True)
class Marks:
    """A property of every byte of a buffer, such as its error, stored once per run of ``grain`` bytes."""

    values: npt.NDArray[Any]
    grain: int = 1

    @classmethod
    def none(cls, nbytes: int, dtype: npt.DTypeLike, grain: int = 1) -> Marks:
        """Zeros for a buffer, in runs of ``grain`` bytes if that divides its size."""
        grain = gcd(nbytes, grain)
        return cls(np.zeros(nbytes // grain, dtype), grain)

    def resized(self, nbytes: int) -> Marks:
        """A copy for a buffer of ``nbytes``, with zeros for additional bytes."""
        fine = self.finer(gcd(self.grain, nbytes))
        return Marks(np.pad(fine.values, (0, nbytes // fine.grain - fine.values.size)), fine.grain)

    def finer(self, grain: int) -> Marks:
        """The same marks in shorter runs."""
        return self if grain == self.grain else Marks(np.repeat(self.values, self.grain // grain), grain)


def read_marks(marks: Marks, desc: TensorDesc, offset: int = 0) -> npt.NDArray[Any]:
    """The largest mark of each element's bytes."""
    result: npt.NDArray[Any]
    if desc.data_type.is_packed_nibbles:
        result = marks.finer(1).values[_nibble_bytes(desc, offset)]
        return result
    fine = _fine(marks, desc, offset)
    if _in_order(desc) and fine.grain == desc.data_type.itemsize:
        first = offset // fine.grain
        result = fine.values[first : first + desc.extent].reshape(desc.sizes)
        result.flags.writeable = False
        return result
    result = reduce(np.maximum, _parts(fine, desc, offset))
    return result.copy()


def write_marks(marks: Marks, desc: TensorDesc, values: npt.NDArray[Any] | float, offset: int = 0) -> Marks:
    """Marks every byte of each element, in place where possible."""
    if desc.data_type.is_packed_nibbles:
        bytewise = marks.finer(1)
        places = _nibble_bytes(desc, offset)
        bytewise.values[places] = 0
        np.maximum.at(bytewise.values, places, values)  # two elements share a byte
        return bytewise
    fine = _fine(marks, desc, offset)
    for part in _parts(fine, desc, offset):
        part[...] = values
    return fine


def stored_marks(
    nbytes: int,
    desc: TensorDesc,
    values: npt.NDArray[Any],
    dtype: npt.DTypeLike,
    offset: int = 0,
    below: Marks | None = None,
) -> Marks:
    """The marks of a buffer that :func:`stored` returns, with ``values`` for its elements."""
    if _fills(nbytes, desc, offset):
        flat = np.ascontiguousarray(np.broadcast_to(values, desc.sizes)).reshape(-1)
        return Marks(flat, desc.data_type.itemsize)
    grain = desc.data_type.bytes_for(1)
    return write_marks(
        Marks.none(nbytes, dtype, grain) if below is None else below.resized(nbytes), desc, values, offset
    )


def _fine(marks: Marks, desc: TensorDesc, offset: int) -> Marks:
    """The marks in runs that do not cross the end of an element."""
    return marks.finer(gcd(marks.grain, desc.data_type.itemsize, offset))


def _parts(marks: Marks, desc: TensorDesc, offset: int) -> list[npt.NDArray[Any]]:
    """The first mark of all elements, then the second, and so on."""
    count = desc.data_type.itemsize // marks.grain
    strides = [stride * count * marks.values.itemsize for stride in desc.effective_strides]
    first = offset // marks.grain
    return [np.lib.stride_tricks.as_strided(marks.values[first + part :], desc.sizes, strides) for part in range(count)]


def _nibble_bytes(desc: TensorDesc, offset: int) -> npt.NDArray[np.int64]:
    """The byte in which each 4-bit element lies."""
    elements = np.zeros((), np.int64)
    for size, stride in zip(desc.sizes, desc.effective_strides, strict=True):
        elements = elements[..., None] + stride * np.arange(size)
    return offset + elements // 2


def _in_order(desc: TensorDesc) -> bool:
    """Whether the elements are contiguous whole bytes."""
    return desc.is_packed and not desc.data_type.is_packed_nibbles


def _fills(nbytes: int, desc: TensorDesc, offset: int) -> bool:
    """Whether contiguous elements fill the buffer."""
    return offset == 0 and _in_order(desc) and desc.reach == nbytes


def _span(buffer: Bytes, desc: TensorDesc, offset: int) -> Bytes:
    """The bytes from the first to the last that the view touches."""
    if offset < 0 or offset + desc.reach > buffer.size:
        raise ValueError(f"{desc} at byte {offset} reaches past the end of a buffer of {buffer.size} bytes")
    return buffer[offset : offset + desc.reach]


def _elements(buffer: Bytes, desc: TensorDesc, offset: int) -> Array:
    """A copy of the elements that the view spans, in memory order."""
    span = _span(buffer, desc, offset).copy()
    if desc.data_type.is_packed_nibbles:
        return _unpack(span, desc.data_type.is_signed)
    return span.view(desc.data_type.dtype)


def _view(elements: Array, desc: TensorDesc) -> Array:
    strides = tuple(stride * elements.itemsize for stride in desc.effective_strides)
    return np.lib.stride_tricks.as_strided(elements, desc.sizes, strides)


def _unpack(span: Bytes, signed: bool) -> Array:
    """Nibbles, the low one of each byte first (decision Q6)."""
    nibbles = np.stack((span & 15, span >> 4), axis=-1).reshape(-1)
    if not signed:
        return nibbles
    return ((nibbles ^ 8).astype(np.int8) - np.int8(8)).astype(np.int8)


def _pack(elements: Array) -> Bytes:
    nibbles = (elements.view(np.uint8) & 15).astype(np.uint8)
    packed: Bytes = nibbles[0::2] | (nibbles[1::2] << np.uint8(4))
    return packed
