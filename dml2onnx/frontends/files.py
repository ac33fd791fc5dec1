"""Reads files that a model names, from allowed directories only."""

from __future__ import annotations

import ast
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import prod
from os.path import isdir, isfile
from pathlib import Path
from typing import NamedTuple

from dml2onnx.codes import reading as codes
from dml2onnx.diagnostics import Code
from dml2onnx.frontends.findings import quote
from dml2onnx.frontends.options import LoadOptions
from dml2onnx.ir.data import FileData
from dml2onnx.ir.tensor import DataType

_LFS_START = b"version https://git-lfs.github.com/spec/"
_LFS_SIZE = re.compile(rb"^size (\d{1,20})$", re.MULTILINE)
_LFS_BYTES = 1 << 10
"""The largest size of a pointer file."""

_NPY_MAGIC = b"\x93NUMPY"
_LONGEST_NPY_HEADER = 1 << 16
_NPY_TYPES = {
    f"{'f' if item.is_float else 'i' if item.is_signed else 'u'}{item.itemsize}": item
    for item in DataType
    if not item.is_packed_nibbles
}


class FileError(Exception):
    """A file that cannot be used."""

    def __init__(self, code: Code, message: str, expected: str = "", found: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.expected = expected
        self.found = found


class MissingFileError(FileError):
    """A file in an allowed directory that does not exist."""

    def __init__(self, path: Path, message: str, reason: str) -> None:
        super().__init__(codes.FILE_UNREADABLE, message, "a file", reason)
        self.path = path


def lfs_pointer(shown: str, start: bytes) -> FileError | None:
    """Returns the error for a file that starts as a Git LFS pointer, else ``None``; ``shown`` is its name."""
    if not start.startswith(_LFS_START):
        return None
    size = _LFS_SIZE.search(start[:_LFS_BYTES])
    found = "a Git LFS pointer" + (f" to {int(size[1])} bytes" if size else "")
    return FileError(codes.LFS_POINTER, f"{shown} is {found}, not the file itself", "the file: git lfs pull", found)


class ModelFiles:
    """Looks up files in the model's directory, or in others that the caller has allowed."""

    def __init__(self, directory: Path, options: LoadOptions, parent: ModelFiles | None = None) -> None:
        """``parent`` has the files of the enclosing model, if this one is a part of a model in another directory."""
        self._directory = directory
        self._options = options
        allowed = options.allow_paths if parent is None else parent._roots
        self._roots: tuple[Path, ...] = tuple(root.resolve() for root in (directory, *allowed))
        self._found: dict[Path, None] = {} if parent is None else parent._found

    @property
    def found(self) -> tuple[Path, ...]:
        """All files that were found, here and by :meth:`beside`."""
        return tuple(self._found)

    def find(self, name: str) -> Path:
        """Returns the real path of a regular file; raises :class:`FileError` if it is missing or not allowed."""
        try:
            plain = name.replace("\\", "/")
            roots = [str(root).replace("\\", "/") for root in self._roots]
            if plain.startswith("//") and not any(root.startswith("//") for root in roots):
                # on Windows, even checking for such a file logs in to the computer that it names
                raise self._outside(f"{quote(name)} names another computer or a device", quote(name))
            path = (self._directory / plain).resolve()
            if not any(path.is_relative_to(root) for root in self._roots):
                raise self._outside(f"{quote(name)} leads to {quote(str(path))}", quote(str(path)))
            regular = stat.S_ISREG(path.stat().st_mode)
        except FileNotFoundError as error:
            reason = str(error.strerror)
            where = f"{quote(str(path.parent))}{'' if isdir(path.parent) else ', which is no directory'}"
            message = f"{quote(name)} cannot be read: {reason} (in {where})"
            if isfile(self._directory / path.name) and path.parent != self._directory:
                message += f"; {quote(path.name)} is in the model's directory"
            raise MissingFileError(path, message, reason) from None
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"{quote(name)} cannot be read: {reason}"
            raise FileError(codes.FILE_UNREADABLE, message, "a file", reason) from None
        if not regular:
            raise FileError(codes.FILE_UNREADABLE, f"{quote(name)} is not a regular file", "a file")
        with _read(name), path.open("rb") as file:
            pointer = lfs_pointer(quote(name), file.read(_LFS_BYTES))
        if pointer is not None:
            raise pointer
        self._found[path] = None
        return path

    def _outside(self, what: str, found: str) -> FileError:
        expected = f"a file below {quote(str(self._roots[0]))}, or --allow-path DIR for another directory"
        message = f"{what}, which is outside of the model's directory"
        return FileError(codes.FILE_OUTSIDE, message, expected, found)

    def tensor(self, name: str, wanted: int, most: int) -> FileData:
        """Returns the whole file of a tensor of ``wanted`` bytes, which may have up to ``most`` bytes with padding."""
        path = self.find(name)
        size = path.stat().st_size
        if not wanted <= size <= most:
            code = codes.FILE_TOO_SHORT if size < wanted else codes.FILE_TOO_LONG
            raise FileError(code, f"{quote(name)} has {size} bytes, not {wanted}", f"{wanted} bytes", f"{size} bytes")
        return FileData(path, 0, size)

    def raw(self, name: str, offset: int = 0, length: int | None = None) -> FileData:
        """Returns a range of a file, by default to its end."""
        path = self.find(name)
        size = path.stat().st_size
        end = size if length is None else offset + length
        if end > size or offset > size:
            wanted = f"bytes {offset} to {end}" if length is not None else f"what follows byte {offset}"
            raise FileError(
                codes.FILE_TOO_SHORT, f"{quote(name)} has {size} bytes, not {wanted}", wanted, f"{size} bytes"
            )
        return FileData(path, offset, end - offset)

    def content(self, name: str) -> bytes:
        """Reads a whole file of at most ``max_bytes`` of the options."""
        path, most = self.find(name), self._options.max_bytes
        with _read(name):
            size = path.stat().st_size
            if size <= most:
                return path.read_bytes()
        message = f"{quote(name)} has {size} bytes"
        raise FileError(codes.FILE_UNREADABLE, message, f"at most {most} bytes", f"{size} bytes")

    def beside(self, path: Path) -> ModelFiles:
        """Looks up files in the directory of a file that was found."""
        return ModelFiles(path.parent, self._options, self)

    def npy(self, name: str) -> NpyFile:
        """Reads the type, shape and data range of a ``.npy`` file."""
        path = self.find(name)
        with _read(name):
            return _read_npy(path, name)


@contextmanager
def _read(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{quote(name)} cannot be read: {error.strerror}"
        raise FileError(codes.FILE_UNREADABLE, message, "a file", str(error.strerror)) from None


def lies_below(path: Path, directories: Iterable[Path]) -> bool:
    """Whether a path, with links resolved, is in or below one of the directories."""
    real = path.resolve()
    return any(real.is_relative_to(directory.resolve()) for directory in directories)


class NpyFile(NamedTuple):
    """The header of a ``.npy`` file, and its data."""

    data_type: DataType
    is_signed_bool: bool
    """Whether the elements are numpy's ``|b1``, which DxDispatch reads as INT8."""
    shape: tuple[int, ...]
    data: FileData
    """Everything after the header, which may be more or less than the shape needs."""

    @property
    def nbytes(self) -> int:
        """Bytes of the shape."""
        return self.data_type.bytes_for(prod(self.shape))


def _read_npy(path: Path, name: str) -> NpyFile:
    def refuse(what: str, expected: str = "", found: str = "") -> FileError:
        return FileError(codes.BAD_NPY, f"{quote(name)} {what}", expected, found)

    with path.open("rb") as file:
        start = file.read(12)
        if not start.startswith(_NPY_MAGIC) or len(start) < 12:
            raise refuse("is not a .npy file", "a .npy file")
        version = start[6]
        if version not in (1, 2, 3):
            raise refuse(f"has format version {version}", "version 1, 2 or 3", f"version {version}")
        begin = 10 if version == 1 else 12
        length = int.from_bytes(start[8:begin], "little")
        if length > _LONGEST_NPY_HEADER:
            raise refuse(f"has a header of {length} bytes", f"at most {_LONGEST_NPY_HEADER} bytes", str(length))
        file.seek(begin)
        header = file.read(length)
    if len(header) < length:
        raise refuse("has a damaged header")
    try:
        fields = ast.literal_eval(header.decode("utf-8").strip())
        descr, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError):
        raise refuse("has a damaged header") from None
    if not isinstance(shape, tuple) or not all(type(size) is int and 0 <= size < 1 << 63 for size in shape):
        raise refuse("has a damaged shape")
    if fortran:
        raise refuse("is stored in column-major order", "row-major order (fortran_order False)", "fortran_order True")
    data_type = _NPY_TYPES.get(descr[1:]) if isinstance(descr, str) else None
    is_bool = descr in ("|b1", "?")
    if is_bool:
        data_type = DataType.UINT8
    if data_type is None or (descr[0] not in "<|=" and not is_bool and data_type.bits > 8):
        found = quote(descr) if isinstance(descr, str) else "a structured type"
        raise refuse(
            f"has elements of type {found}", "little-endian whole numbers or floats of 8 to 64 bits, or bools", found
        )
    offset = begin + length
    return NpyFile(data_type, descr == "|b1", shape, FileData(path, offset, path.stat().st_size - offset))
