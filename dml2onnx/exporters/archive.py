"""The arrays of a program as one ``.npz`` file, written block by block."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from zipfile import ZipFile, ZipInfo

import numpy as np

from dml2onnx.exporters.native_contents import npy_head, require_writable
from dml2onnx.frontends.numbers import unpack_nibbles
from dml2onnx.ir.data import stored_bytes, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dml2onnx.source_code.contents import StoredArray

DATE = (1980, 1, 1, 0, 0, 0)
"""The date of all members, for reproducible files."""


class Archive:
    """Arrays by their names."""

    def __init__(self, arrays: Mapping[str, StoredArray]) -> None:
        self._arrays = arrays
        sizes = [int(np.prod(item.shape, dtype=object)) * item.dtype.itemsize for item in arrays.values()]
        stored = [stored_bytes(item.data) for item in arrays.values()]
        require_writable(sum(max(0, size - part) for size, part in zip(sizes, stored, strict=True)))

    def stream(self) -> Iterator[bytes | memoryview]:
        """The file, in blocks."""
        sink = _Sink()
        with ZipFile(sink, "w") as archive:
            for name, item in self._arrays.items():
                with archive.open(ZipInfo(f"{name}.npy", DATE), "w", force_zip64=True) as member:
                    member.write(npy_head(item.dtype, item.shape))
                    for part in _blocks(item):
                        member.write(part)
                        yield sink.drain()
        yield sink.drain()


def _blocks(item: StoredArray) -> Iterator[bytes | memoryview]:
    count = int(np.prod(item.shape, dtype=object))
    if item.nibbles is None:
        yield from stream(item.data, count * item.dtype.itemsize)
        return
    done = 0
    for block in stream(item.data, item.nibbles.bytes_for(count)):
        nibbles = unpack_nibbles(np.frombuffer(block, np.uint8), count - done, is_signed=item.nibbles.is_signed)
        done += nibbles.size
        yield nibbles.tobytes()


class _Sink(io.RawIOBase):
    """A buffer of written bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        part = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._parts.append(part)
        return len(part)

    def drain(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
