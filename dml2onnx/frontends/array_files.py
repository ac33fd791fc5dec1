"""Reads arrays from files that the caller names: ``.npy`` and ``.npz`` files as arrays, any other file as raw bytes."""

from __future__ import annotations

import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import prod
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.codes.running import INPUT_UNREADABLE
from dml2onnx.diagnostics import UnreadableError, quote, shortened
from dml2onnx.frontends.text import neighbour
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    from zipfile import ZipFile

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
else:
    np = lazy_module("numpy")

MAX_HEADER_BYTES = 1 << 16
MAX_PIPE_BYTES = 1 << 30
"""The most bytes read from a file that cannot be memory-mapped, such as a pipe."""
_NPY_MAGIC = b"\x93NUMPY"
_NPZ = ".npz"


@dataclass(frozen=True, slots=True)
class ContentsFile:
    """The file with the contents of a buffer."""

    path: Path
    array: str | None = None
    """The name of an array in a ``.npz`` file, if stated."""

    @classmethod
    def parse(cls, text: str) -> ContentsFile:
        """Parses ``FILE`` or ``FILE.npz:array``."""
        begin = text.lower().rfind(_NPZ + ":")
        try:
            if begin < 0 or exists(text):
                return cls(Path(text))
        except (OSError, ValueError):  # not a valid file name, which is reported when the file is read
            return cls(Path(text))
        end = begin + len(_NPZ)
        return cls(Path(text[:end]), text[end + 1 :])

    def __str__(self) -> str:
        return str(self.path) if self.array is None else f"{self.path}:{self.array}"


@dataclass(frozen=True, slots=True, eq=False)
class RawBytes:
    """Bytes without a data type."""

    content: npt.NDArray[np.uint8]
    what: str
    """Their source, for messages."""


def read_contents_file(name: str, file: ContentsFile, max_bytes: int = MAX_PIPE_BYTES) -> Array | RawBytes:
    """Reads the contents of a buffer: an array of a ``.npy`` or ``.npz`` file, or the bytes of any other file.

    Arrays of ``.npz`` files unpack to at most ``max_bytes``. Raises :class:`UnreadableError` (DML3007).
    """
    suffix = file.path.suffix.lower()
    if suffix == _NPZ:
        return _member(file.path, name if file.array is None else file.array, max_bytes, only=file.array is None)
    if suffix == ".npy":
        return read_array(file.path)
    if _is_stray_number(file.path):
        message = f"{quote(name)} takes its contents from a file, and {quote(str(file.path))} is a number"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file", found=str(file.path)))
    content = _open(file.path, "a file")
    if content[: len(_NPY_MAGIC)].tobytes() != _NPY_MAGIC:
        _reject_other_formats(file.path, suffix, bytes(content[:_MAGIC_BYTES]))
        return RawBytes(content, quote(str(file.path)))
    with _reject_bad_arrays(file.path, "a .npy file"):
        return _npy(content)


def _is_stray_number(file: Path) -> bool:
    """Whether the file name is a number and no such file exists."""
    try:
        float(str(file))
    except ValueError:
        return False
    return not file.exists()


_MAGIC_BYTES = 64
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF")
"""Magic bytes of image files."""
_TEXT_SUFFIXES = frozenset({".csv", ".json", ".tsv", ".txt"})
_TENSOR_SUFFIXES = {
    ".pb": "a tensor as ONNX stores it: onnx.numpy_helper.to_array reads it",
    ".pt": "a file of PyTorch: torch.load reads it",
    ".pth": "a file of PyTorch: torch.load reads it",
    ".safetensors": "a file of safetensors, whose load_file reads it",
}
"""Files with more than the bytes of a buffer, by suffix."""


def _reject_other_formats(path: Path, suffix: str, beginning: bytes) -> None:
    """Rejects files that are not the raw bytes of a buffer, whatever their size."""
    if suffix in _TEXT_SUFFIXES and beginning and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in beginning):
        what = "is text: numpy's loadtxt or Python's json reads its numbers"
    elif suffix in _TENSOR_SUFFIXES:
        what = f"is {_TENSOR_SUFFIXES[suffix]}"
    elif beginning.startswith(b"PK\x03\x04"):
        what = "is a ZIP archive, as .npz and .pt files are"
    else:
        return
    message = f"{quote(str(path))} {what}; save an array with numpy.save"
    raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file, or the bytes of the buffer"))


def convert_contents(source: Array | RawBytes, dtype: np.dtype[np.generic], shape: tuple[int, ...], what: str) -> Array:
    """Converts contents to the type and shape of a buffer.

    Bytes are reinterpreted, and may be padded to a multiple of 4. numpy writes float64 and int64 by default, so floats
    are rounded to the buffer's type, and integers are converted if all are in its range; floats and integers do not
    mix. Returns arrays that do not fit unchanged, for the caller to reject; raises :class:`UnreadableError` (DML3007)
    for a wrong number of bytes.
    """
    length = dtype.itemsize * prod(shape)
    if isinstance(source, RawBytes):
        if not length <= source.content.size <= -(-length // 4) * 4:
            message = f"{source.what} has {source.content.size} bytes, and {what} takes {length}"
            if bytes(source.content[:8]).startswith(_PICTURES):
                message += "; pictures are not decoded: save their numbers with numpy.save"
            elif source.content.size == prod(shape) and dtype.itemsize > 1:
                message += f", {dtype.itemsize} for each number; are these uint8? "
                message += f"numpy's fromfile(FILE, 'uint8').astype('{dtype}') makes {dtype} of them"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=length, found=source.content.size))
        return source.content[:length].view(dtype).reshape(shape)
    if source.dtype == dtype or _kind(source.dtype) != _kind(dtype):
        return source
    with np.errstate(all="ignore"):
        converted = source.astype(dtype)
    if source.dtype.kind == "f":
        return converted if np.array_equal(np.isfinite(source), np.isfinite(converted)) else source
    return converted if np.array_equal(converted.astype(object), source.astype(object)) else source


def _kind(dtype: np.dtype[np.generic]) -> str:
    return {"u": "i", "b": "i"}.get(dtype.kind, dtype.kind)


def members(file: Path) -> list[str]:
    """The names of the arrays in a ``.npz`` file."""
    with _archive(file) as archive:
        return [item.removesuffix(".npy") for item in archive.namelist()]


def _member(file: Path, name: str, max_bytes: int, *, only: bool) -> Array:
    """Reads one array of a ``.npz`` file; with ``only``, the single array of a file matches any name."""
    with _archive(file) as archive:
        names = archive.namelist()
        if only and len(names) == 1:
            name = names[0].removesuffix(".npy")
        if f"{name}.npy" not in names:
            there = shortened(", ".join(item.removesuffix(".npy") for item in names)) or "none"
            message = f"{quote(str(file))} has no array {quote(name)}; its arrays are: {there}"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=there, found=name))
        size = archive.getinfo(f"{name}.npy").file_size
        if size > max_bytes:
            message = f"the array {quote(name)} of {quote(str(file))} has {size} bytes, unpacked"
            expected = f"at most {max_bytes} bytes (--max-bytes), or a .npy file, which need not be unpacked"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=f"{size} bytes"))
        with _reject_bad_arrays(file, "an array"):
            return _npy(np.frombuffer(archive.read(f"{name}.npy"), np.uint8))


@contextmanager
def _archive(file: Path) -> Iterator[ZipFile]:
    from zipfile import BadZipFile, ZipFile

    try:
        archive = ZipFile(file)
    except (OSError, ValueError, BadZipFile, NotImplementedError) as error:
        message = f"cannot read {quote(str(file))}: {getattr(error, 'strerror', None) or error}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npz file", found=str(file))) from None
    with archive:
        yield archive


def read_array(file: Path) -> Array:
    """Reads the array of a ``.npy`` file; raises :class:`UnreadableError` (DML3007) for anything else."""
    content = _open(file, "a .npy file")
    with _reject_bad_arrays(file, "a .npy file"):
        return _npy(content)


def _open(file: Path, expected: str) -> npt.NDArray[np.uint8]:
    try:
        return _read_or_map(file)
    except (OSError, ValueError) as error:
        near = neighbour(file) if isinstance(error, FileNotFoundError) else ""
        message = f"cannot read {quote(str(file))}: {getattr(error, 'strerror', None) or error}{near}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None


class _TruncatedError(ValueError):
    """An array whose end is missing; the message says how much."""


@contextmanager
def _reject_bad_arrays(file: Path, expected: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns about headers that it repairs
            yield
    except _TruncatedError as error:
        message = f"{quote(str(file))} is cut off: {error}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None
    except Exception:  # numpy and zipfile raise many kinds for damaged headers and archives
        message = f"{quote(str(file))} has no complete array of numbers"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None


def _read_or_map(file: Path) -> npt.NDArray[np.uint8]:
    with file.open("rb") as stream:
        if stat.S_ISREG(file.stat().st_mode) and file.stat().st_size:
            return np.memmap(stream, np.uint8, "r")
        content = stream.read(MAX_PIPE_BYTES + 1)
    if len(content) > MAX_PIPE_BYTES:
        raise ValueError(f"it gives more than {MAX_PIPE_BYTES} bytes")
    return np.frombuffer(content, np.uint8)


def _npy(content: npt.NDArray[np.uint8]) -> Array:
    """Decodes the bytes of a ``.npy`` file without trusting the size in its header."""
    head = BytesIO(content[:MAX_HEADER_BYTES].tobytes())
    version = np.lib.format.read_magic(head)
    header = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
    shape, is_column_major, dtype = header(head)
    if dtype.kind not in "biufc" or any(size < 0 for size in shape):
        raise ValueError("no numbers")
    begin = head.tell()
    needed = prod(shape) * dtype.itemsize
    if content.size - begin < needed:
        raise _TruncatedError(f"its array has {needed} bytes, of which {content.size - begin} are there")
    flat = content[begin : begin + needed].view(dtype)
    shaped = flat.reshape(shape, order="F" if is_column_major else "C")
    return np.require(shaped, dtype.newbyteorder("="), "A")
