"""Contents of buffers in the native format: short ones in the text, others in one file beside the model.

Whatever is chosen gives the same bytes when it is read; that is compared here rather than believed.
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

MOST_VALUES = 64
"""Longer contents are for tools."""
ALIGNMENT = 64
"""Where the contents of a buffer start in a file, in bytes, so that what maps the file finds aligned elements."""
CHUNK = 1 << 20
MOST_MADE = 1 << 30
"""Bytes of a file beyond those that the model has somewhere: a descriptor of 400 bytes may ask for terabytes."""


def require_writable(made: int) -> None:
    """:class:`DmlError` (DML1910) for more bytes that the model has nowhere than are written."""
    if made > MOST_MADE:
        message = f"{made} bytes of contents would be written that are in no file, but described by a pattern"
        raise DmlError(TOO_LARGE_TO_WRITE.at(message, expected=f"at most {MOST_MADE} bytes", found=made))


class Sidecar:
    """The file of raw bytes beside a model, as far as it is filled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nbytes = 0
        self._made = 0
        self._parts: list[tuple[int, Data, int]] = []

    def add(self, data: Data, nbytes: int) -> int:
        """Appends the first ``nbytes`` of ``data`` and returns where they start."""
        self._made += max(0, nbytes - stored_bytes(data))
        require_writable(self._made)
        start = -(-self.nbytes // ALIGNMENT) * ALIGNMENT
        self._parts.append((start, data, nbytes))
        self.nbytes = start + nbytes
        return start

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        """As :meth:`Data.read`."""
        end = self.nbytes if length is None else min(self.nbytes, offset + length)
        made = np.zeros(max(0, end - offset), np.uint8)
        for start, data, nbytes in self._parts:
            first, last = max(start, offset), min(start + nbytes, end)
            if first < last:
                made[first - offset : last - offset] = data.read(first - start, last - first)
        return made

    def stream(self) -> Iterator[bytes | memoryview]:
        """All bytes, in blocks that are valid one after the other."""
        position = 0
        for start, data, nbytes in self._parts:
            yield bytes(start - position)
            yield from stream(data, nbytes)
            position = start + nbytes


def npy_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """What stands before the elements of a ``.npy`` file."""
    stream = BytesIO()
    described_as = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, described_as)
    return stream.getvalue()


def contents(data: Data, desc: TensorDesc, nbytes: int, sidecar: Sidecar) -> Json:
    """The members that give ``data`` to a buffer of ``nbytes`` whose elements are those of ``desc``."""
    wanted = desc.data_type.bytes_for(desc.extent)
    if desc.extent > 1 or isinstance(data, FillData):
        fill = _fill(data, desc, nbytes)
        if fill is not None:
            return {"fill": fill}
    if desc.extent <= MOST_VALUES and is_zero(data, wanted, nbytes):
        values = _values(data.read(0, wanted), desc)
        if values is not None:
            return {"values": values}
    if is_zero(data, wanted, nbytes):
        return {"file": sidecar.name, "offset": sidecar.add(data, wanted)}
    return {"file": sidecar.name, "offset": sidecar.add(data, nbytes), "length": nbytes}


def is_zero(data: Data, start: int, end: int) -> bool:
    """Whether nothing follows the bytes before ``start``; what is not there reads as zero."""
    return not any(chunk.any() for chunk in _chunks(data, start, end))


def _explicit(data: Data, end: int) -> int:
    """Before ``end``, behind what there are zeros only, as far as that is known without a look at them."""
    if isinstance(data, PaddedData):
        return min(end, _explicit(data.head, end))
    if isinstance(data, FillData) and not any(data.pattern):
        return 0
    return min(end, data.nbytes)


def _chunks(data: Data, start: int, end: int) -> Iterator[Bytes]:
    if isinstance(data, FillData):  # each of its chunks would be like the first two
        end = min(end, start + 2 * CHUNK)
    end = _explicit(data, end)
    for position in range(start, end, CHUNK):
        yield data.read(position, min(CHUNK, end - position))


def _fill(data: Data, desc: TensorDesc, nbytes: int) -> int | float | str | None:
    """The one value that fills all elements, and the bytes up to the next multiple of 4, as the format has it."""
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
    """Elements as numbers; ``None`` where numbers do not have these bits."""
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
        usual = np.full(count, np.nan, data_type.dtype)
        if not np.array_equal(raw, np.where(np.isnan(array), usual, array).view(np.uint8)):
            return None
    return values
