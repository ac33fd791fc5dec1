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
"""Contents of a buffer: an array in memory order, bytes, a file of either, or ``None`` for those in the model."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Selects the graph inputs that become constants, and the files that may be read.

    ``constants`` are names of inputs, or a dictionary from names to contents: an array as for ``run`` (in memory order,
    in the shape that ``compile`` shows, or flat), the buffer's ``bytes``, or the path of a ``.npy`` file, a ``.npz``
    file (``"weights.npz:w"`` for one of several arrays) or any other file with the buffer's bytes. A name alone, or
    ``None`` as contents, means the sample contents in the model. In ``constant_directories``, a file named after an
    input (``w.npy``, ``w.bin`` or ``w``) has its contents. ``freeze`` turns all inputs with contents into constants.
    ``inputs`` stay inputs despite ``freeze`` and directories; a name in both ``inputs`` and ``constants`` is an error.
    Tensors that DirectML owns are always constants. A constant whose file is missing takes contents in the same ways,
    and becomes an input if ``inputs`` names it.

    Files that a model names must be in its directory or in one of ``allow_paths``. Files that are read as a whole,
    which are texts and not weights, have at most ``max_bytes``.

    ``graph`` selects a graph of the recording of a program.
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
        """Whether any option affects inputs."""
        return bool(self.constants or self.inputs or self.freeze or self.constant_directories)

    def contents(self) -> dict[str, InputContents]:
        """Returns ``constants`` with their contents."""
        if isinstance(self.constants, Mapping):
            return {text(name, "a name in constants"): supplied for name, supplied in self.constants.items()}
        names = items(self.constants, "constants", "names of inputs, or contents by name")
        return {text(name, "a name in constants"): None for name in names}

    def with_graph(self, name: object) -> LoadOptions:
        """Returns these options with another ``graph``."""
        return replace(self, graph=text(name, "graph"))

    def with_constants(self, constants: object) -> LoadOptions:
        """Returns these options with more constants."""
        if not isinstance(constants, Mapping):
            raise refusal("constants", constants, "contents by name, as a dictionary")
        return replace(self, constants=self.contents() | dict(constants))


DEFAULT_OPTIONS = LoadOptions()
