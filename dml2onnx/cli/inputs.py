"""Contents of inputs that the command line names as files."""

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
    from dml2onnx.onnx_model import Array, Port


def contents_files(pairs: list[str], option: str = "--input") -> dict[str, ContentsFile]:
    """The files that an option names as ``NAME=FILE``, by input; ``FILE.npz`` alone has an array for each of a few."""
    files: dict[str, ContentsFile] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals and pair.lower().endswith(".npz"):
            found = {item: array_files.ContentsFile(Path(pair), item) for item in array_files.members(Path(pair))}
        elif name and _holds_another(file):
            message = f"{quote(pair)} names several inputs; {option} takes one NAME=FILE, and is given once for each"
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


def _holds_another(file: str) -> bool:
    """Whether what stands for a file is one with a further ``NAME=FILE`` behind a comma; a file may be named so."""
    return re.search(r",\w+=", file) is not None and not Path(file).exists()


def constants(supplied: list[str]) -> dict[str, ContentsFile | None]:
    """What ``--constant`` makes constants: a name alone with the model's own contents, else with those of a file."""
    pairs = [item for item in supplied if "=" in item or item.lower().endswith(".npz")]
    files: dict[str, ContentsFile | None] = {**contents_files(pairs, "--constant")}
    return dict.fromkeys((item for item in supplied if item not in pairs), None) | files


class InputArguments:
    """The contents that ``--input`` names: read at once, and fitted to the model when it is there."""

    def __init__(self, pairs: list[str], max_bytes: int | None = None) -> None:
        """``max_bytes`` is what an array of a ``.npz`` file may be unpacked to."""
        files = contents_files(pairs)
        self.sources = [file.path for file in files.values()]
        most = array_files.MAX_PIPE_BYTES if max_bytes is None else max_bytes
        self._read = {name: array_files.read_contents_file(name, file, most) for name, file in files.items()}

    @property
    def names(self) -> frozenset[str]:
        """The inputs that have contents."""
        return frozenset(self._read)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of those that have one."""
        return {name: item.shape for name, item in self._read.items() if isinstance(item, np.ndarray)}

    def __call__(self, ports: Sequence[Port]) -> dict[str, Array]:
        """What the model gets; what has no port is for the session to refuse."""
        known = {port.name: port for port in ports}
        return {
            name: array_files.convert_contents(item, port.dtype, port.shape, f"the input {quote(name)}")
            if (port := known.get(name))
            else np.empty(0)
            for name, item in self._read.items()
        }
