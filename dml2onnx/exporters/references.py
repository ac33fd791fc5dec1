"""References of a written graph to missing files of constants."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from dml2onnx.frontends.names import free_name
from dml2onnx.ir.data import MissingData

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from dml2onnx.ir.graph import Graph

SUFFIX = ".bin"
NO_REFERENCES: Mapping[Path, str] = MappingProxyType({})


def references(graph: Graph, directory: Path, taken: Collection[str] = ()) -> dict[Path, str]:
    """The names of missing files in a model in ``directory``, relative to it for files below it.

    ``taken`` are the names of files that will be written there.
    """
    directory = directory.resolve()
    names: dict[Path, str] = {}
    used = {name.casefold() for name in taken}
    for path in dict.fromkeys(item.data.path for item in graph.constants if isinstance(item.data, MissingData)):
        inside = path.is_relative_to(directory)
        stem = (path.relative_to(directory).as_posix() if inside else path.name).removesuffix(SUFFIX)
        name = free_name(stem, lambda stem: (stem + SUFFIX).casefold() in used) + SUFFIX
        used.add(name.casefold())
        names[path] = name
    return names
