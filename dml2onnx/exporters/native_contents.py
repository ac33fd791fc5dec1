"""Contents of buffers in the native format: short ones in the text, others in one file beside the model.

Numbers in the text are compared with the contents, so that reading returns the same bytes.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.codes.exporting import TOO_LARGE_TO_WRITE
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters.descriptors import Json, number
from dml2onnx.frontends.numbers import unpack_nibbles
from dml2onnx.ir.data import Data, FillData, PaddedData, stored_bytes, stream
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]

MAX_VALUES = 64
"""Elements of contents that are written as text."""
ALIGNMENT = 64
"""Alignment of contents in the file, in bytes, for programs that map it into memory."""
CHUNK = 1 << 20
MAX_GENERATED = 1 << 30
"""Bytes of a file that patterns may generate: a descriptor of 400 bytes may describe terabytes."""


def require_writable(generated: int) -> None:
    """Raises :class:`DmlError` (DML1910) if patterns would generate too many bytes."""
    if generated > MAX_GENERATED:
        message = f"patterns in the model would become {generated} bytes of contents in files"
        raise DmlError(TOO_LARGE_TO_WRITE.at(message, expected=f"at most {MAX_GENERATED} bytes", found=generated))


class Sidecar:
    """The file of raw bytes beside a model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nbytes = 0
        self._generated = 0
        self._parts: list[tuple[int, Data, int]] = []

    def add(self, data: Data, nbytes: int) -> int:
        """Appends the first ``nbytes`` of ``data`` and returns their offset."""
        self._generated += max(0, nbytes - stored_bytes(data))
        require_writable(self._generated)
        start = -(-self.nbytes // ALIGNMENT) * ALIGNMENT
        self._parts.append((start, data, nbytes))
        self.nbytes = start + nbytes
        return start

    def stream(self) -> Iterator[bytes | memoryview]:
        """Yields all bytes in blocks; a block is valid until the next one."""
        position = 0
        for start, data, nbytes in self._parts:
            yield bytes(start - position)
            yield from stream(data, nbytes)
            position = start + nbytes


def npy_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header of a ``.npy`` file."""
    stream = BytesIO()
    members = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, members)
    return stream.getvalue()


def contents(data: Data, desc: TensorDesc, nbytes: int, sidecar: Sidecar) -> Json:
    """The members that describe the contents of a buffer of ``nbytes`` with the elements of ``desc``."""
    used = desc.data_type.bytes_for(desc.extent)
    if desc.extent > 1 or isinstance(data, FillData):
        fill = _fill(data, desc, nbytes)
        if fill is not None:
            return {"fill": fill}
    if not is_zero(data, used, nbytes):
        return {"file": sidecar.name, "offset": sidecar.add(data, nbytes), "length": nbytes}
    values = _values(data.read(0, used), desc) if desc.extent <= MAX_VALUES else None
    if values is not None:
        return {"values": values}
    return {"file": sidecar.name, "offset": sidecar.add(data, used)}


def is_zero(data: Data, start: int, end: int) -> bool:
    """Whether all bytes from ``start`` to ``end`` are zero; bytes after the end of the data are."""
    return not any(chunk.any() for chunk in _chunks(data, start, end))


def _explicit(data: Data, end: int) -> int:
    """An offset up to ``end`` with only zeros after it, from the kind of data and without reading it."""
    if isinstance(data, PaddedData):
        return min(end, _explicit(data.head, end))
    if isinstance(data, FillData) and not any(data.pattern):
        return 0
    return min(end, data.nbytes)


def _chunks(data: Data, start: int, end: int) -> Iterator[Bytes]:
    if isinstance(data, FillData):  # all of its chunks equal one of the first two
        end = min(end, start + 2 * CHUNK)
    end = _explicit(data, end)
    for position in range(start, end, CHUNK):
        yield data.read(position, min(CHUNK, end - position))


def _fill(data: Data, desc: TensorDesc, nbytes: int) -> int | float | str | None:
    """The value of all elements and of the padding to a multiple of 4 bytes; ``None`` if they differ."""
    filled = min(desc.minimum_bytes, nbytes)
    width = 1 if desc.data_type.is_packed_nibbles else desc.data_type.itemsize
    pattern = data.read(0, width)
    if pattern.size < width or not is_zero(data, filled, nbytes):
        return None
    if not (isinstance(data, FillData) and data.pattern == pattern.tobytes() and data.nbytes >= filled):
        repeated = FillData(pattern.tobytes(), filled)
        explicit = _explicit(data, filled)
        if explicit < filled and pattern.any():
            return None
        for position in range(0, explicit, CHUNK):
            length = min(CHUNK, explicit - position)
            if not np.array_equal(data.read(position, length), repeated.read(position, length)):
                return None
    values = _values(pattern, TensorDesc(desc.data_type, (2 if desc.data_type.is_packed_nibbles else 1,)))
    return values[0] if values and len(set(values)) == 1 else None


def _values(raw: Bytes, desc: TensorDesc) -> list[int | float | str] | None:
    """Elements as numbers; ``None`` if the numbers do not have the same bits."""
    data_type, count = desc.data_type, desc.extent
    if data_type.is_packed_nibbles:
        if count % 2 and raw[-1] >> 4:
            return None
        return [int(item) for item in unpack_nibbles(raw, count, is_signed=data_type.is_signed)]
    try:
        array = np.frombuffer(raw.tobytes(), data_type.dtype)
        values = [number(item.item(), data_type) for item in array]
    except DmlError:
        return None
    if data_type.is_float:
        default = np.full(count, np.nan, data_type.dtype)
        if not np.array_equal(raw, np.where(np.isnan(array), default, array).view(np.uint8)):
            return None
    return values
