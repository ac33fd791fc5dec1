"""Reads input contents from the files on the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli.lazily import array_files, np
from dml2onnx.codes.running import INPUT_UNREADABLE
from dml2onnx.diagnostics import UnreadableError, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.frontends.array_files import ContentsFile
    from dml2onnx.onnx_model import Array, OnnxPort


def contents_files(pairs: list[str], option: str = "--input") -> dict[str, ContentsFile]:
    """The file of each input, from ``NAME=FILE``, or from ``FILE.npz`` with an array for each of several inputs."""
    files: dict[str, ContentsFile] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals and pair.lower().endswith(".npz"):
            found = {item: array_files.ContentsFile(Path(pair), item) for item in array_files.members(Path(pair))}
        elif name and re.search(r",\w+=", file) is not None and not Path(file).exists():
            message = f"{quote(pair)} names several inputs; {option} takes one NAME=FILE, and is repeated for each"
            expected = " ".join(f"{option} {item}" for item in pair.split(","))
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected=expected, found=pair))
        elif name and file:
            found = {name: array_files.ContentsFile.parse(file)}
        else:
            message = f"{quote(pair)} is not of the form NAME=FILE"
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected="NAME=FILE", found=pair))
        for name in found.keys() & files.keys():
            raise UnreadableError(INPUT_UNREADABLE.at(f"{option} names {quote(name)} twice", found=pair))
        files |= found
    return files


def constants(supplied: list[str]) -> dict[str, ContentsFile | None]:
    """The inputs that ``--constant`` makes constants, with their file, or ``None`` for the contents in the model."""
    pairs = [item for item in supplied if "=" in item or item.lower().endswith(".npz")]
    files: dict[str, ContentsFile | None] = {**contents_files(pairs, "--constant")}
    return dict.fromkeys((item for item in supplied if item not in pairs), None) | files


class InputArguments:
    """The contents of ``--input``: read at once, and converted once the model's ports are known."""

    def __init__(self, pairs: list[str], max_bytes: int | None = None) -> None:
        """``max_bytes`` limits the unpacked size of an array in a ``.npz`` file."""
        files = contents_files(pairs)
        self.sources = [file.path for file in files.values()]
        most = array_files.MAX_PIPE_BYTES if max_bytes is None else max_bytes
        self._read = {name: array_files.read_contents_file(name, file, most) for name, file in files.items()}

    @property
    def names(self) -> frozenset[str]:
        """The inputs with contents."""
        return frozenset(self._read)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the inputs whose contents are arrays."""
        return {name: item.shape for name, item in self._read.items() if isinstance(item, np.ndarray)}

    def __call__(self, ports: Sequence[OnnxPort]) -> dict[str, Array]:
        """The arrays for the model's ports; the session refuses names without a port."""
        by_name = {port.name: port for port in ports}
        return {
            name: array_files.convert_contents(item, port.dtype, port.shape, f"the input {quote(name)}")
            if (port := by_name.get(name))
            else np.empty(0)
            for name, item in self._read.items()
        }
