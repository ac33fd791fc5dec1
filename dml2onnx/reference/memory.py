"""Reading and writing tensors in flat buffers.

https://learn.microsoft.com/windows/ai/directml/dml-strides
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.reference.registry import Array, Mask

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


def read_marks(marks: npt.NDArray[Any], desc: TensorDesc, offset: int = 0) -> npt.NDArray[Any]:
    """The largest mark that the bytes of each element carry; ``marks`` has one entry for every byte of a buffer."""
    result: npt.NDArray[Any] = marks[_byte_indices(desc, offset)].max(axis=-1)
    return result


def write_marks(marks: npt.NDArray[Any], desc: TensorDesc, values: npt.NDArray[Any] | float, offset: int = 0) -> None:
    """Marks every byte of each element."""
    indices = _byte_indices(desc, offset)
    marks[indices] = np.asarray(values)[..., None] if np.ndim(values) else values


def covered(nbytes: int, desc: TensorDesc, offset: int = 0) -> Mask:
    """Which bytes of a buffer hold an element of the view."""
    mask = np.zeros(nbytes, np.bool_)
    mask[_byte_indices(desc, offset)] = True
    return mask


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


def _byte_indices(desc: TensorDesc, offset: int) -> npt.NDArray[np.int64]:
    """For each element the indices of its bytes, along a last axis."""
    elements = np.zeros((), np.int64)
    for size, stride in zip(desc.sizes, desc.effective_strides, strict=True):
        elements = elements[..., None] + stride * np.arange(size)
    if desc.data_type.is_packed_nibbles:
        return offset + elements[..., None] // 2
    return offset + elements[..., None] * desc.data_type.itemsize + np.arange(desc.data_type.itemsize)
