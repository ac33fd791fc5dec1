"""Pages of files, mapped for reading without a descriptor each: a model may have thousands of files.

``mmap`` of Python keeps the file's descriptor open; from 3.13 on an option avoids that (``trackfd``). Before, on POSIX
systems, the C library's own function is called.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

_FAILED = ctypes.c_void_p(-1).value
"""MAP_FAILED."""


@dataclass(frozen=True, slots=True, eq=False)
class Pages:
    """Mapped bytes, unmapped with ``buffer``."""

    buffer: memoryview | mmap.mmap
    madvise: Callable[[int, int, int], None]
    """Takes an advice, a start (of a page) and a length."""


def mapped_pages(file: BinaryIO, offset: int, length: int) -> Pages:
    """``length`` bytes from ``offset`` on, a multiple of the allocation granularity.

    :class:`OSError` or :class:`ValueError` where the file has no such bytes.
    """
    if os.fstat(file.fileno()).st_size < offset + length:
        raise ValueError("the file has fewer bytes")
    if os.name == "posix" and sys.version_info < (3, 13):
        return _of_the_c_library(file, offset, length)
    options = {"trackfd": False} if os.name == "posix" else {}
    made = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=offset, **options)
    return Pages(made, getattr(made, "madvise", _nothing))


def _nothing(advice: int, start: int, length: int) -> None:
    """Does nothing, on systems without madvise."""


@cache
def _c_library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    size, number, address = ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p
    library.mmap.argtypes, library.mmap.restype = [address, size, number, number, number, ctypes.c_long], address
    library.munmap.argtypes, library.munmap.restype = [address, size], number
    library.madvise.argtypes, library.madvise.restype = [address, size, number], number
    return library


def _of_the_c_library(file: BinaryIO, offset: int, length: int) -> Pages:
    library = _c_library()
    begin = library.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), offset)
    if begin == _FAILED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    memory = (ctypes.c_ubyte * length).from_address(begin)
    weakref.finalize(memory, library.munmap, begin, length).atexit = False

    def madvise(advice: int, start: int, length: int) -> None:
        library.madvise(begin + start, length, advice)  # it is only advice

    return Pages(memoryview(memory).toreadonly().cast("B"), madvise)
