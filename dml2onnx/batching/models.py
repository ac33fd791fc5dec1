"""Finds the models of a batch: files, directories, recordings with all their graphs, and lists of these.

It also names the results, for all models at once, so that no two share a file. In the output directory, the tree of a
directory is under the directory's name, as ``cp -r`` copies it; other models have their paths relative to the current
directory.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.codes.running import BAD_LIST, SAME_OUTPUT
from dml2onnx.diagnostics import Diagnostic, DmlError, UnreadableError, quote
from dml2onnx.frontends import recording
from dml2onnx.frontends.directories import SUFFIXES, find_escaping_links, find_models, is_directory
from dml2onnx.frontends.text import is_serialized, neighbour
from dml2onnx.report.batched import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

STANDARD_INPUT = "-"
_HEAD = 1 << 12
"""Bytes that distinguish a serialized graph from the contents of a tensor."""


@dataclass(frozen=True, slots=True)
class BatchModel:
    """A graph of a batch."""

    path: Path
    """A file, or the index of a recording."""
    graph: str | None = None
    """The name in the recording."""
    place: Path = Path()
    """The path of the result in the output directory, without its suffix."""
    is_searched: bool = False
    """Whether it was found in a directory, so that it is skipped if it is not a model."""
    problem: Diagnostic | None = None
    """Why it cannot be processed."""

    @property
    def key(self) -> tuple[str, str]:
        """The path and the graph, which identify the model."""
        return os.fspath(self.path), self.graph or ""


def collect_models(
    names: Iterable[str | os.PathLike[str]], output: Path | None, allowed: tuple[Path, ...] = ()
) -> list[BatchModel]:
    """All models that ``names`` refer to, without duplicates, with the places of their results.

    A name is a directory, a recording, a model (a name that ends in .json or .bin), or else a text file with one of
    these in each line; ``-`` is such a list on standard input. Raises :class:`UnreadableError` (DML3034) for bad lists.
    Links out of a directory, unless to one that is ``allowed``, become models with a problem (DML1020).
    """
    models: dict[tuple[str, str], BatchModel] = {}
    for name in names:
        text, path = os.fspath(name), Path(name)
        is_list = text == STANDARD_INPUT or not (is_directory(path) or path.suffix.lower() in SUFFIXES)
        for line in _lines(text) if is_list else (text,):
            for item in _models(Path(line), output, allowed):
                # a link with a problem is not the file that it leads to
                path = item.path.resolve() if item.problem is None else item.path.absolute()
                models.setdefault((str(path), item.graph or ""), item)
    return list(models.values())


def _lines(name: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        message = f"the list {quote(name)} cannot be read: {getattr(error, 'strerror', None) or error}"
        message += f"; did you mean --do {name}?" if name in ACTIONS else neighbour(Path(name), directories=True)
        raise UnreadableError(BAD_LIST.at(message, expected="a directory, a model or a list", found=name)) from None
    if b"\0" in data:
        message = f"{quote(name)} is not a list of models: it has null bytes, which paths cannot have"
        raise UnreadableError(BAD_LIST.at(message, expected="a path in each line", found="a binary file"))
    return [os.fsdecode(line) for line in data.splitlines() if line.strip()]


def _models(path: Path, output: Path | None, allowed: tuple[Path, ...]) -> Iterator[BatchModel]:
    index = recording.index_of(path)
    if index.name == recording.INDEX:
        yield from _graphs(index, _from_here(index.parent))
    elif is_directory(path):
        root = Path("" if path.resolve() == Path.cwd() else path.resolve().name)
        for file, error in find_escaping_links(path, allowed):
            place = root / file.relative_to(path)
            yield BatchModel(file, place=place.with_suffix(""), problem=error.diagnostics[0])
        for file in find_models(path, output, allowed):
            place = root / file.relative_to(path)
            if file.name == recording.INDEX:
                yield from _graphs(file, place.parent)
            elif file.suffix != ".bin" or _may_be_graph(file):
                yield BatchModel(file, place=place.with_suffix(""), is_searched=True)
    else:
        place = _from_here(path)
        yield BatchModel(path, place=place.with_suffix("") if place.name else place)


def _graphs(index: Path, place: Path) -> Iterator[BatchModel]:
    """The graphs of a recording; an unreadable one is a model whose reading fails."""
    try:
        listed = recording.graphs(index)
    except DmlError:
        listed = ()
    if not listed:
        yield BatchModel(index, place=place / index.stem)
    for item in listed:
        yield BatchModel(index, item.name, place / Path(item.file).with_suffix("") if item.file else place / index.stem)


def _from_here(path: Path) -> Path:
    """The path relative to the current directory, or to the root if it is outside."""
    real = Path(os.path.abspath(path))
    here = Path.cwd()
    return real.relative_to(here) if real.is_relative_to(here) else real.relative_to(real.anchor)


def _may_be_graph(file: Path) -> bool:
    """Whether a .bin file may be a serialized graph, and not the contents of a tensor."""
    try:
        with file.open("rb") as stream:
            return is_serialized(file.with_suffix(""), stream.read(_HEAD))
    except OSError:
        return True  # reading the model reports the error


def _folded(place: Path) -> str:
    """The same text for all names that some file systems do not distinguish."""
    return unicodedata.normalize("NFC", str(place)).casefold()


def with_unique_names(models: Sequence[BatchModel]) -> list[BatchModel]:
    """Gives all but the first of the models whose results would be the same file a problem (DML3033).

    Binary files come last, because a .bin file beside a model of the same name may have its weights.
    """
    taken: dict[str, BatchModel] = {}
    for item in sorted(models, key=lambda item: item.path.suffix == ".bin"):
        if item.problem is None:
            taken.setdefault(_folded(item.place), item)
    unique = []
    for item in models:
        first = taken.get(_folded(item.place), item)
        if first is not item and item.problem is None:
            message = f"its result would be the same file as that of {quote(str(first.path))}: {quote(str(item.place))}"
            problem = SAME_OUTPUT.at(message, expected="a unique name", found=str(item.place))
            item = replace(item, problem=problem)
        unique.append(item)
    return unique
