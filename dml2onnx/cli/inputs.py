"""Contents of inputs that the command line names as files."""

from __future__ import annotations

import stat
import warnings
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.codes.running import INPUT_UNREADABLE
from dml2onnx.diagnostics import UnreadableError, quote

if TYPE_CHECKING:
    import numpy.typing as npt

    from dml2onnx.model import Array

LONGEST_HEADER = 1 << 16
MOST_FROM_PIPES = 1 << 30
"""Bytes that are read of what cannot be mapped."""


def input_files(pairs: list[str]) -> dict[str, Path]:
    """The files of ``NAME=FILE`` by their inputs."""
    files: dict[str, Path] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals or not name or not file:
            message = f"{quote(pair)} is not of the form NAME=FILE.npy"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected="NAME=FILE.npy", found=pair))
        if name in files:
            raise UnreadableError(INPUT_UNREADABLE.at(f"input {quote(name)} is given twice", found=pair))
        files[name] = Path(file)
    return files


def read_array(file: Path) -> Array:
    """The array of a ``.npy`` file; :class:`UnreadableError` (DML3007) for everything else."""
    shown = quote(str(file))
    try:
        content = _content(file)
    except (OSError, ValueError) as error:
        message = f"cannot read {shown}: {getattr(error, 'strerror', None) or error}"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file", found=str(file))) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that numpy has to mend
            return _npy(content)
    except Exception:  # numpy has many for a header that is none
        message = f"{shown} is no complete .npy file of numbers"
        raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file", found=str(file))) from None


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
