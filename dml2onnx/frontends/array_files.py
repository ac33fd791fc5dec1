"""Arrays and bytes in files that the caller names: ``.npy`` and ``.npz`` files, and any other as its bytes."""

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

LONGEST_HEADER = 1 << 16
MOST_FROM_PIPES = 1 << 30
"""Bytes that are read of what cannot be mapped."""
_NPY_MAGIC = b"\x93NUMPY"
_NPZ = ".npz"


@dataclass(frozen=True, slots=True)
class ContentsFile:
    """Where the contents of a buffer are."""

    path: Path
    array: str | None = None
    """Which array of a ``.npz`` file, where that is said."""

    @classmethod
    def named(cls, text: str) -> ContentsFile:
        """A file by its name, or ``FILE.npz:array``."""
        begin = text.lower().rfind(_NPZ + ":")
        try:
            if begin < 0 or exists(text):
                return cls(Path(text))
        except (OSError, ValueError):  # what no file can be called, which is said when it is read
            return cls(Path(text))
        end = begin + len(_NPZ)
        return cls(Path(text[:end]), text[end + 1 :])

    def __str__(self) -> str:
        return str(self.path) if self.array is None else f"{self.path}:{self.array}"


@dataclass(frozen=True, slots=True, eq=False)
class RawBytes:
    """Bytes that do not say what they are."""

    content: npt.NDArray[np.uint8]
    what: str
    """Where they come from, for messages."""


def read_contents_file(name: str, file: ContentsFile, most: int = MOST_FROM_PIPES) -> Array | RawBytes:
    """What a file has for a buffer: an array of a ``.npy`` or ``.npz`` file, or the bytes of any other.

    An array of a ``.npz`` file is unpacked, to at most so many bytes. :class:`UnreadableError` (DML3007) for what
    cannot be read.
    """
    suffix = file.path.suffix.lower()
    if suffix == _NPZ:
        return _member(file.path, name if file.array is None else file.array, most, only=file.array is None)
    if suffix == ".npy":
        return read_array(file.path)
    if _is_number(file.path):
        message = f"{quote(name)} takes its contents from a file, and {quote(str(file.path))} is a number"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file", found=str(file.path)))
    content = _opened(file.path, "a file")
    if content[: len(_NPY_MAGIC)].tobytes() != _NPY_MAGIC:
        _refuse_other(file.path, suffix, bytes(content[:_BEGINNING]))
        return RawBytes(content, quote(str(file.path)))
    with _numbers(file.path, "a .npy file"):
        return _npy(content)


def _is_number(file: Path) -> bool:
    """Whether what stands for a file is a number, and no file is named so."""
    try:
        float(str(file))
    except ValueError:
        return False
    return not file.exists()


_BEGINNING = 64
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF")
"""How files of pictures begin."""
_OF_TEXT = frozenset({".csv", ".json", ".tsv", ".txt"})
_OF_TENSORS = {
    ".pb": "a tensor as ONNX stores it: onnx.numpy_helper.to_array reads it",
    ".pt": "a file of PyTorch: torch.load reads it",
    ".pth": "a file of PyTorch: torch.load reads it",
    ".safetensors": "a file of safetensors, whose load_file reads it",
}
"""Files that have more than the bytes of a buffer, by the ends of their names."""


def _refuse_other(path: Path, suffix: str, beginning: bytes) -> None:
    """Refuses what is not the bytes of a buffer, however many bytes it has."""
    if suffix in _OF_TEXT and beginning and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in beginning):
        what = "is text: numpy's loadtxt or Python's json reads its numbers"
    elif suffix in _OF_TENSORS:
        what = f"is {_OF_TENSORS[suffix]}"
    elif beginning.startswith(b"PK\x03\x04"):
        what = "is a ZIP archive, as .npz and .pt files are"
    else:
        return
    message = f"{quote(str(path))} {what}; save an array with numpy.save"
    raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file, or the bytes of the buffer"))


def fitted(source: Array | RawBytes, dtype: np.dtype[np.generic], shape: tuple[int, ...], what: str) -> Array:
    """Contents as a buffer of this type and shape takes them: bytes as they are, and numbers that the type holds in it.

    Bytes may go on up to a multiple of 4. numpy writes float64 and int64 by default: floats are
    rounded to the buffer's type, whole numbers have to be in its range, and kinds of numbers are not mixed. What does
    not fit stays as it is, for the caller to refuse; a wrong number of bytes is refused here (DML3007).
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


def _member(file: Path, name: str, most: int, *, only: bool) -> Array:
    """One array of a ``.npz`` file; where it has just one, that may be meant under any name."""
    with _archive(file) as archive:
        names = archive.namelist()
        if only and len(names) == 1:
            name = names[0].removesuffix(".npy")
        if f"{name}.npy" not in names:
            there = shortened(", ".join(item.removesuffix(".npy") for item in names)) or "none"
            message = f"{quote(str(file))} has no array {quote(name)}; its arrays are: {there}"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=there, found=name))
        size = archive.getinfo(f"{name}.npy").file_size
        if size > most:
            message = f"the array {quote(name)} of {quote(str(file))} has {size} bytes, unpacked"
            expected = f"at most {most} bytes (--max-bytes), or a .npy file, which need not be unpacked"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=f"{size} bytes"))
        with _numbers(file, "an array"):
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
    """The array of a ``.npy`` file; :class:`UnreadableError` (DML3007) for everything else."""
    content = _opened(file, "a .npy file")
    with _numbers(file, "a .npy file"):
        return _npy(content)


def _opened(file: Path, expected: str) -> npt.NDArray[np.uint8]:
    try:
        return _content(file)
    except (OSError, ValueError) as error:
        near = neighbour(file) if isinstance(error, FileNotFoundError) else ""
        message = f"cannot read {quote(str(file))}: {getattr(error, 'strerror', None) or error}{near}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None


class _CutOffError(ValueError):
    """An array of which the end is missing; its text says how much."""


@contextmanager
def _numbers(file: Path, expected: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers that numpy repairs
            yield
    except _CutOffError as error:
        message = f"{quote(str(file))} is cut off: {error}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None
    except Exception:  # numpy has many for a header that is none, and zipfile for what is not packed right
        message = f"{quote(str(file))} has no complete array of numbers"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None


def _content(file: Path) -> npt.NDArray[np.uint8]:
    with file.open("rb") as stream:
        if stat.S_ISREG(file.stat().st_mode) and file.stat().st_size:
            return np.memmap(stream, np.uint8, "r")
        content = stream.read(MOST_FROM_PIPES + 1)
    if len(content) > MOST_FROM_PIPES:
        raise ValueError(f"it gives more than {MOST_FROM_PIPES} bytes")
    return np.frombuffer(content, np.uint8)


def _npy(content: npt.NDArray[np.uint8]) -> Array:
    """An array of a file's bytes, of which no more is read than there is, whatever its header says."""
    head = BytesIO(content[:LONGEST_HEADER].tobytes())
    version = np.lib.format.read_magic(head)
    header = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
    shape, is_column_major, dtype = header(head)
    if dtype.kind not in "biufc" or any(size < 0 for size in shape):
        raise ValueError("no numbers")
    begin = head.tell()
    needed = prod(shape) * dtype.itemsize
    if content.size - begin < needed:
        raise _CutOffError(f"its array has {needed} bytes, of which {content.size - begin} are there")
    flat = content[begin : begin + prod(shape) * dtype.itemsize].view(dtype)
    shaped = flat.reshape(shape, order="F" if is_column_major else "C")
    return np.require(shaped, dtype.newbyteorder("="), "A")
