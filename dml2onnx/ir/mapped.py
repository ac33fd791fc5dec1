"""Arrays over mapped files, read block by block so that few of their pages are in memory at once.

A page of a mapped file counts as memory of the process once it is read. So pages are released after use; the system
keeps them in its page cache, and reading them again is cheap.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dml2onnx.codes.reading import FILE_UNREADABLE
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.ir.pages import Pages, mapped_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

BLOCK = 1 << 18
"""Bytes per block: they fit into a processor's cache, since they are written to a file next."""
WINDOW = 1 << 22
"""Bytes of a file after which its pages are released."""
GATHERED = 1 << 25
"""Bytes of a non-contiguous array copied at once, and bytes of its file in memory meanwhile."""
_ALL_AT_ONCE = 22 if sys.platform == "linux" else None
"""MADV_POPULATE_READ, which Python does not define: one page fault instead of one for every few pages."""
_DROP, _AHEAD = getattr(mmap, "MADV_DONTNEED", None), getattr(mmap, "MADV_SEQUENTIAL", None)


class FileMap(np.memmap):
    """Bytes of a file, mapped for reading, with the file's identity: another file may get its name."""

    path: Path
    pages: Pages
    _identity: tuple[int, ...]

    @classmethod
    def of(cls, path: Path, offset: int, count: int) -> FileMap:
        """``count`` bytes from ``offset``; :class:`OSError` or :class:`ValueError` if the file does not have them."""
        before = offset % mmap.ALLOCATIONGRANULARITY
        with path.open("rb") as file:
            pages = mapped_pages(file, offset - before, before + count)
            made = np.ndarray.__new__(cls, (count,), np.uint8, pages.buffer, before)
            made.pages, made.offset, made.mode = pages, offset, "r"
            made.path = Path(os.path.realpath(path))
            made._identity = _identity(file)
        return made

    @property
    def inode(self) -> tuple[int, ...]:
        """The file's device and inode."""
        return self._identity[:2]

    def is_current(self) -> bool:
        """Whether the file has kept its name and size."""
        with self.opened() as file:
            return file is not None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO | None]:
        """The file, open for reading; ``None`` if it has lost its name or changed its size."""
        try:
            file = self.path.open("rb")
        except OSError:
            yield None
            return
        with file:
            yield file if _identity(file) == self._identity else None


def _identity(file: BinaryIO) -> tuple[int, ...]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino, found.st_size


def mapping(array: Array) -> np.memmap | None:
    """The mapped file that an array is a view of; ``None`` for other memory.

    A copy-on-write mapping counts as other memory: its pages may hold the only copy of the contents.
    """
    item: object = array
    while item is not None:
        if isinstance(item, np.memmap) and isinstance(item.base, (mmap.mmap, ctypes.Array)):
            return None if item.mode == "c" else item
        item = getattr(item, "base", None)
    return None


def mapped_ends(arrays: Iterable[Array]) -> dict[Path, tuple[int, tuple[int, ...] | None]]:
    """The end of the bytes that arrays use in each mapped file, and the file's inode if known.

    Reading a page beyond the end of a file that has become shorter kills the process.
    """
    ends: dict[Path, tuple[int, tuple[int, ...] | None]] = {}
    for array in arrays:
        found = mapping(array)
        if found is None:
            continue
        # a view may repeat or skip elements
        end = found.offset + byte_bounds(array)[1] - _address(found)
        path = found.path if isinstance(found, FileMap) else found.filename
        if path is not None:
            named, identity = Path(path), found.inode if isinstance(found, FileMap) else None
            ends[named] = (max(ends.get(named, (0, None))[0], end), identity)
    return ends


def shortened_file(ends: Mapping[Path, tuple[int, tuple[int, ...] | None]]) -> Path | None:
    """The first file of :func:`mapped_ends` that has become shorter; ``None`` if there is none.

    A file that was deleted or renamed exists as long as it is mapped.
    """
    for path, (end, inode) in ends.items():
        try:
            status = path.stat()
        except OSError:
            continue
        if status.st_size < end and inode in (None, (status.st_dev, status.st_ino)):
            return path
    return None


class MappedFiles:
    """Files that arrays are mapped from, whose sizes are checked before their pages are read."""

    def __init__(self, arrays: Iterable[Array]) -> None:
        self._ends = mapped_ends(arrays)

    def require(self) -> None:
        """:class:`DmlError` (DML1021) if a file has become shorter."""
        path = shortened_file(self._ends)
        if path is not None:
            end = self._ends[path][0]
            message = f"{quote(str(path))} cannot be read any more: it has become shorter"
            raise DmlError(FILE_UNREADABLE.at(message, expected=f"at least {end} bytes", found="fewer bytes"))


def is_lasting(array: Array) -> bool:
    """Whether an array is a read-only mapping, which this process cannot change."""
    found = mapping(array)
    return found is not None and found.mode == "r"


def file_place(array: Array) -> int | None:
    """The byte offset of a mapped array in its file."""
    found = mapping(array)
    return None if found is None else found.offset + _address(array) - _address(found)


def file_of(array: Array) -> Path | None:
    """The file that contains the bytes of an array unchanged; ``None`` if no file has this name any more."""
    found = mapping(array)
    if not isinstance(found, FileMap) or not array.flags.c_contiguous or not array.flags.aligned:
        return None
    return found.path if array.dtype.newbyteorder("<") == array.dtype and found.is_current() else None


def blocks(array: Array) -> Iterator[memoryview]:
    """The bytes of an array in row-major order and little-endian, at most :data:`GATHERED` at once.

    A block is valid until the next one.
    """
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
        _advise(flat, _AHEAD)
        for first in range(0, flat.size, max(1, WINDOW // array.itemsize)):
            window = flat[first : first + max(1, WINDOW // array.itemsize)]
            _advise(window, _ALL_AT_ONCE)
            for start in range(0, window.size, max(1, BLOCK // array.itemsize)):
                yield _bytes(window[start : start + max(1, BLOCK // array.itemsize)])
            let_go(window)
    elif array.nbytes <= GATHERED:
        yield _bytes(_gathered(array))
    elif array[0].nbytes > GATHERED:
        for item in array:
            yield from blocks(item)
    else:
        rows = GATHERED // array[0].nbytes
        for start in range(0, len(array), rows):
            yield _bytes(_gathered(array[start : start + rows]))


def let_go(array: Array) -> None:
    """Releases the pages of an array in a mapped file, where the system supports it."""
    _advise(array, _DROP)


def _advise(array: Array, advice: int | None) -> None:
    """Advises the system about the pages of a mapped array, where it supports that."""
    found = None if advice is None or not array.size else mapping(array)
    if advice is None or found is None:
        return
    low, high = np.lib.array_utils.byte_bounds(array)
    first = low - _address(found) + found.offset % mmap.ALLOCATIONGRANULARITY
    start = first // mmap.PAGESIZE * mmap.PAGESIZE
    pages = found.pages if isinstance(found, FileMap) else found.base
    assert isinstance(pages, (Pages, mmap.mmap))
    with suppress(OSError):  # Linux before 5.14 does not know all of them
        pages.madvise(advice, start, first + high - low - start)


def _gathered(array: Array) -> Array:
    """A copy in row-major order, made in steps along the axis with the largest stride."""
    made = np.empty(array.shape, array.dtype)
    if mapping(array) is None:
        made[...] = array
        return made
    axis = max(range(array.ndim), key=lambda index: abs(array.strides[index]) * (array.shape[index] > 1))
    low, high = np.lib.array_utils.byte_bounds(array)
    step = max(1, array.shape[axis] * GATHERED // max(1, high - low))
    source, target = np.moveaxis(array, axis, 0), np.moveaxis(made, axis, 0)
    for start in range(0, len(source), step):
        part = source[start : start + step]
        target[start : start + step] = part
        let_go(part)
    return made


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def _address(array: Array) -> int:
    return array.ctypes.data
