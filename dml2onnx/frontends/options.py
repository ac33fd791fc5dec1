"""What a caller may decide about how a model is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How buffers with contents enter the graph, and which files may be read.

    A buffer with sample contents is a graph input with a default. Those named in ``constants`` become constants;
    with ``freeze`` all do, except those named in ``inputs``. What DirectML owns is always constant.
    Files that a model names lie in its directory or in one of ``allow_paths``.
    """

    constants: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()
    freeze: bool = False
    allow_paths: tuple[Path, ...] = ()

    def is_constant(self, name: str) -> bool:
        """Whether a buffer with sample contents is to be a constant."""
        return name in self.constants or (self.freeze and name not in self.inputs)


DEFAULT_OPTIONS = LoadOptions()
