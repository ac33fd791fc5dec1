"""Bytes of constants: in memory, mapped from files, or described by a pattern; read when needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dml2onnx.codes.reading import FILE_UNREADABLE
from dml2onnx.diagnostics import Remedy, UnreadableError, quote
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir import mapped

    Bytes = npt.NDArray[np.uint8]
else:
    np, mapped = lazy_module("numpy"), lazy_module("dml2onnx.ir.mapped")

STREAMED = 1 << 24
"""Bytes read at once when data are streamed; a pattern is expanded to as many."""


class Data(Protocol):
    """A run of bytes."""

    @property
    def nbytes(self) -> int:
        """Length."""

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        """``length`` bytes from ``offset`` (default: to the end); a view if possible."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayData:
    """Bytes in memory or in a memory-mapped file."""

    array: Bytes
    """One-dimensional ``uint8``; an ``np.memmap`` stays on disk until it is read."""
    is_made: bool = False
    """Whether they were generated from a few numbers of the model."""

    @classmethod
    def of(cls, array: npt.NDArray[np.generic]) -> ArrayData:
        """The bytes of any array, row-major."""
        return cls(np.ascontiguousarray(array).reshape(-1).view(np.uint8))

    def __deepcopy__(self, memo: object) -> ArrayData:
        return self  # it is never written to, and may be a file of gigabytes

    def __reduce__(self) -> tuple[type[ArrayData], tuple[Bytes, bool]]:
        """Pickles the bytes, also of a mapped file, which another process may not have."""
        return ArrayData, (np.asarray(self.array), self.is_made)

    @property
    def nbytes(self) -> int:
        return self.array.size

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        return self.array[offset:] if length is None else self.array[offset : offset + length]


@dataclass(frozen=True, slots=True, eq=False)
class FileData:
    """Bytes of a file, mapped on reading; :class:`UnreadableError` if the file is gone or has shrunk."""

    path: Path
    offset: int
    nbytes: int

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        count = self.nbytes - offset if length is None else min(length, self.nbytes - offset)
        if count <= 0:
            return np.empty(0, np.uint8)
        try:
            return mapped.FileMap.of(self.path, self.offset + offset, count)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it has become shorter"
            message = f"{quote(str(self.path))} cannot be read any more: {reason}"
            raise UnreadableError(FILE_UNREADABLE.at(message, expected="the file as it was", found=reason)) from None


@dataclass(frozen=True, slots=True, eq=False)
class MissingData:
    """Bytes of a missing file, of which only the number is known."""

    path: Path
    nbytes: int

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        """Raises :class:`UnreadableError`."""
        raise UnreadableError(self.problem())

    def problem(self) -> Diagnostic:
        """The finding that names the missing file."""
        where = quote(str(self.path.parent))
        message = f"{quote(self.path.name)} is not there, and its {self.nbytes} bytes are needed (in {where})"
        how = Remedy(f"--constants DIR (constant_directories), where DIR has {quote(self.path.name)}")
        return FILE_UNREADABLE.at(message, expected=f"a file of {self.nbytes} bytes", found="no file", remedies=(how,))


@dataclass(frozen=True, slots=True, eq=False)
class FillData:
    """One element repeated; takes no memory until it is read."""

    pattern: bytes
    nbytes: int

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        count = self.nbytes - offset if length is None else min(length, self.nbytes - offset)
        if count <= 0:
            return np.empty(0, np.uint8)
        start = offset % len(self.pattern)
        repeats = -(-(start + count) // len(self.pattern))
        return np.tile(np.frombuffer(self.pattern, np.uint8), repeats)[start : start + count]


@dataclass(frozen=True, slots=True, eq=False)
class PaddedData:
    """Data followed by zeros."""

    head: Data
    nbytes: int

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        """As :meth:`Data.read`."""
        end = self.nbytes if length is None else min(self.nbytes, offset + length)
        if end <= self.head.nbytes or offset >= end:
            return self.head.read(offset, max(0, end - offset))
        inside = max(0, self.head.nbytes - offset)
        padded = np.zeros(end - offset, np.uint8)
        if inside:
            padded[:inside] = self.head.read(offset, inside)
        return padded


@dataclass(frozen=True, slots=True, eq=False)
class HeadData:
    """The first bytes of data."""

    whole: Data
    nbytes: int

    def read(self, offset: int = 0, length: int | None = None) -> Bytes:
        """As :meth:`Data.read`."""
        count = self.nbytes - offset if length is None else min(length, self.nbytes - offset)
        return self.whole.read(offset, max(0, count))


def head(data: Data, nbytes: int) -> Data:
    """The first ``nbytes`` of ``data``."""
    return data if data.nbytes <= nbytes else HeadData(data, nbytes)


def padded(data: Data, nbytes: int) -> Data:
    """``data`` followed by zeros, ``nbytes`` in all."""
    return data if data.nbytes >= nbytes else PaddedData(data, nbytes)


def stream(data: Data, nbytes: int | None = None) -> Iterator[memoryview]:
    """The first ``nbytes`` of data (default: all) in blocks. Each is valid until the next, which saves memory."""
    end = data.nbytes if nbytes is None else nbytes
    for start in range(0, end, STREAMED):
        yield from mapped.blocks(data.read(start, min(STREAMED, end - start)))


def stored_bytes(data: Data) -> int:
    """Bytes stored in the model: not those of patterns, sequences and padding."""
    match data:
        case FillData(pattern):
            return len(pattern)
        case PaddedData(head):
            return stored_bytes(head)
        case ArrayData(is_made=True):
            return 0
    return data.nbytes
