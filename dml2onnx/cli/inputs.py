"""Contents of inputs that the command line names as files."""

from __future__ import annotations

import stat
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

import numpy as np

from dml2onnx.codes.running import INPUT_UNREADABLE
from dml2onnx.diagnostics import UnreadableError, quote, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from dml2onnx.model import Array, Port

LONGEST_HEADER = 1 << 16
MOST_FROM_PIPES = 1 << 30
"""Bytes that are read of what cannot be mapped."""
_NPY_MAGIC = b"\x93NUMPY"


@dataclass(frozen=True, slots=True)
class InputFile:
    """Where the contents of an input are."""

    path: Path
    array: str | None = None
    """Which array of a ``.npz`` file, where that is known."""


@dataclass(frozen=True, slots=True, eq=False)
class RawBytes:
    """The bytes of a file that does not say what they are."""

    path: Path
    content: npt.NDArray[np.uint8]


def input_files(pairs: list[str]) -> dict[str, InputFile]:
    """The files of ``NAME=FILE`` by their inputs; ``FILE.npz`` alone has an array for each of several."""
    files: dict[str, InputFile] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals and pair.lower().endswith(".npz"):
            found = {item: InputFile(Path(pair), item) for item in _members(Path(pair))}
        elif name and file:
            found = {name: InputFile(Path(file))}
        else:
            message = f"{quote(pair)} is not of the form NAME=FILE"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected="NAME=FILE", found=pair))
        for name in found.keys() & files.keys():
            raise UnreadableError(INPUT_UNREADABLE.at(f"input {quote(name)} is given twice", found=pair))
        files |= found
    return files


class GivenInputs:
    """The contents that ``--input`` names: read at once, and fitted to the model when it is there."""

    def __init__(self, pairs: list[str]) -> None:
        files = input_files(pairs)
        self.sources = [file.path for file in files.values()]
        self._read = {name: read_input(name, file) for name, file in files.items()}

    @property
    def names(self) -> frozenset[str]:
        """The inputs that have contents."""
        return frozenset(self._read)

    def __call__(self, ports: Sequence[Port]) -> dict[str, Array]:
        """What the model gets; what has no port is for the session to refuse."""
        known = {port.name: port for port in ports}
        return {
            name: fitted(name, item, known[name]) if name in known else np.empty(0) for name, item in self._read.items()
        }


def read_input(name: str, file: InputFile) -> Array | RawBytes:
    """What a file has for an input: an array of a ``.npy`` or ``.npz`` file, or the bytes of any other.

    :class:`UnreadableError` (DML3007) for what cannot be read.
    """
    suffix = file.path.suffix.lower()
    if suffix == ".npz":
        return _member(file.path, name if file.array is None else file.array, only=file.array is None)
    if suffix == ".npy":
        return read_array(file.path)
    content = _opened(file.path, "a file")
    if content[: len(_NPY_MAGIC)].tobytes() != _NPY_MAGIC:
        return RawBytes(file.path, content)
    with _numbers(file.path, "a .npy file"):
        return _npy(content)


def fitted(name: str, given: Array | RawBytes, port: Port) -> Array:
    """Contents as the model takes them: bytes as they are, and numbers that the input's type holds in that type.

    numpy writes float64 and int64 unless told otherwise. Floats are rounded to the input's type and whole numbers have
    to be in its range; kinds of numbers are not mixed. What does not fit stays as it is, for the session to refuse.
    """
    length = port.dtype.itemsize * prod(port.shape)
    if isinstance(given, RawBytes):
        if not length <= given.content.size <= -(-length // 4) * 4:
            shown = quote(str(given.path))
            message = f"{shown} has {given.content.size} bytes, and the input {quote(name)} takes {length}"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=length, found=given.content.size))
        return given.content[:length].view(port.dtype).reshape(port.shape)
    if given.dtype == port.dtype or _kind(given.dtype) != _kind(port.dtype):
        return given
    with np.errstate(all="ignore"):
        converted = given.astype(port.dtype)
    if given.dtype.kind == "f":
        return converted if np.array_equal(np.isfinite(given), np.isfinite(converted)) else given
    return converted if np.array_equal(converted.astype(object), given.astype(object)) else given


def _kind(dtype: np.dtype[np.generic]) -> str:
    return {"u": "i", "b": "i"}.get(dtype.kind, dtype.kind)


# --- Files ------------------------------------------------------------------------------------------------------------


def _members(file: Path) -> list[str]:
    with _archive(file) as archive:
        return [item.removesuffix(".npy") for item in archive.namelist()]


def _member(file: Path, name: str, *, only: bool) -> Array:
    """One array of a ``.npz`` file; where it has just one, that may be meant under any name."""
    with _archive(file) as archive:
        names = archive.namelist()
        if only and len(names) == 1:
            name = names[0].removesuffix(".npy")
        if f"{name}.npy" not in names:
            there = shortened(", ".join(item.removesuffix(".npy") for item in names)) or "none"
            message = f"{quote(str(file))} has no array {quote(name)}; its arrays are: {there}"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=there, found=name))
        with _numbers(file, "an array"):
            if archive.getinfo(f"{name}.npy").file_size > MOST_FROM_PIPES:
                raise ValueError("too large to be unpacked")
            return _npy(np.frombuffer(archive.read(f"{name}.npy"), np.uint8))


@contextmanager
def _archive(file: Path) -> Iterator[ZipFile]:
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
        message = f"cannot read {quote(str(file))}: {getattr(error, 'strerror', None) or error}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=str(file))) from None


@contextmanager
def _numbers(file: Path, expected: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that numpy has to mend
            yield
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
    flat = content[begin : begin + prod(shape) * dtype.itemsize].view(dtype)
    shaped = flat.reshape(shape, order="F" if is_column_major else "C")
    return np.require(shaped, dtype.newbyteorder("="), "A")
