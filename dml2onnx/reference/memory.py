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
    """The logical array (a copy) that ``desc`` sees from byte ``offset`` on; 4-bit elements one to a byte.

    Raises ``ValueError`` when the view reaches past the end of the buffer.
    """
    return _view(_elements(buffer, desc, offset), desc).copy()


def write(buffer: Bytes, desc: TensorDesc, array: Array, offset: int = 0) -> None:
    """Scatters a logical array into the buffer, leaving all other bytes as they are.

    Raises ``ValueError`` when the view reaches past the end of the buffer.
    """
    elements = _elements(buffer, desc, offset)
    _view(elements, desc)[...] = array
    used = desc.data_type.bytes_for(desc.extent)
    packed = _pack(elements) if desc.data_type.is_packed_nibbles else elements.view(np.uint8)
    buffer[offset : offset + used] = packed


@dataclass(frozen=True, slots=True)
class Marks:
    """Something that is known of every byte of a buffer, held once for each run of ``grain`` bytes."""

    values: npt.NDArray[Any]
    grain: int = 1

    @classmethod
    def none(cls, nbytes: int, dtype: npt.DTypeLike, grain: int = 1) -> Marks:
        """Zeros for a buffer, in runs of ``grain`` bytes where they come out even."""
        grain = gcd(nbytes, grain)
        return cls(np.zeros(nbytes // grain, dtype), grain)

    def resized(self, nbytes: int) -> Marks:
        """A copy for a buffer of as many bytes, with nothing known of those behind its own."""
        fine = self.finer(gcd(self.grain, nbytes))
        return Marks(np.pad(fine.values, (0, nbytes // fine.grain - fine.values.size)), fine.grain)

    def finer(self, grain: int) -> Marks:
        """The same in shorter runs."""
        return self if grain == self.grain else Marks(np.repeat(self.values, self.grain // grain), grain)


def read_marks(marks: Marks, desc: TensorDesc, offset: int = 0) -> npt.NDArray[Any]:
    """The largest mark that the bytes of each element carry."""
    result: npt.NDArray[Any]
    if desc.data_type.is_packed_nibbles:
        result = marks.finer(1).values[_nibble_bytes(desc, offset)]
        return result
    fine = _fine(marks, desc, offset)
    result = reduce(np.maximum, _parts(fine, desc, offset))
    return result.copy()


def write_marks(marks: Marks, desc: TensorDesc, values: npt.NDArray[Any] | float, offset: int = 0) -> Marks:
    """``marks``, which may be written to, with every byte of each element marked."""
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


def _fine(marks: Marks, desc: TensorDesc, offset: int) -> Marks:
    """The marks in runs of which none reaches across the end of an element."""
    return marks.finer(gcd(marks.grain, desc.data_type.itemsize, offset))


def _parts(marks: Marks, desc: TensorDesc, offset: int) -> list[npt.NDArray[Any]]:
    """The first marks of all elements, the second ones, and so on."""
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


def _elements(buffer: Bytes, desc: TensorDesc, offset: int) -> Array:
    """A copy of the elements of memory that the view spans."""
    count = desc.data_type.bytes_for(desc.extent)
    if offset < 0 or offset + count > buffer.size:
        raise ValueError(f"{desc} at byte {offset} reaches past the end of a buffer of {buffer.size} bytes")
    span = buffer[offset : offset + count].copy()
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
