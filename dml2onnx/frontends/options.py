"""Options for reading a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.arguments import items, refusal, text

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from dml2onnx.frontends.array_files import ContentsFile

InputContents: TypeAlias = "npt.ArrayLike | bytes | str | os.PathLike[str] | ContentsFile | None"
"""Contents of a buffer: an array in memory order, bytes, the name of a file of either, or those of the model."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Which inputs of the graph are to be constants, and which files may be read.

    ``constants`` are names of inputs, or a dictionary from names to contents: an array as ``run`` takes it (in memory
    order, in the shape that ``compile`` shows, or flat), the buffer's ``bytes``, or the path of a ``.npy`` file, of a
    ``.npz`` file (``"weights.npz:w"`` for one of several arrays) or of any other, which has the buffer's bytes. A name
    alone, or ``None`` for contents, means the sample contents that came with the model. Of ``constant_directories``
    every file named after an input (``w.npy``, ``w.bin`` or ``w``) has the contents of that one. With ``freeze`` all
    inputs that came with contents are constants. Those named in ``inputs`` stay inputs whatever ``freeze`` and
    directories say; to name one in ``constants`` as well is refused. What DirectML owns is always constant. A
    constant whose file is not there takes contents in the same ways, and is an input if ``inputs`` names it.

    Files that a model names lie in its directory or in one of ``allow_paths``. Those that are read as a whole, which
    are all texts and no weights, have at most ``max_bytes``.

    Of the recording of a program ``graph`` names the graph that is meant, where there are several.
    """

    constants: Collection[str] | Mapping[str, InputContents] = frozenset()
    inputs: frozenset[str] = frozenset()
    freeze: bool = False
    allow_paths: tuple[Path, ...] = ()
    constant_directories: tuple[Path, ...] = ()
    max_bytes: int = 1 << 30
    graph: str | None = None

    @property
    def changes_inputs(self) -> bool:
        """Whether anything is said about inputs."""
        return bool(self.constants or self.inputs or self.freeze or self.constant_directories)

    def contents(self) -> dict[str, InputContents]:
        """``constants`` with what they are to hold."""
        if isinstance(self.constants, Mapping):
            return {text(name, "a name in constants"): supplied for name, supplied in self.constants.items()}
        names = items(self.constants, "constants", "names of inputs, or contents by name")
        return {text(name, "a name in constants"): None for name in names}

    def with_graph(self, name: object) -> LoadOptions:
        """The same about this graph of a recording."""
        return replace(self, graph=text(name, "graph"))

    def with_constants(self, constants: object) -> LoadOptions:
        """The same with these as well."""
        if not isinstance(constants, Mapping):
            raise refusal("constants", constants, "contents by name, as a dictionary")
        return replace(self, constants=self.contents() | dict(constants))


DEFAULT_OPTIONS = LoadOptions()
