"""Finds the models of a batch: files, directories, recordings with all their graphs, and lists of these.

Where a result goes is decided here too, for all models at once, so that no two of them meet in one file: below the
output directory the tree of a directory lies under the directory's own name, as ``cp -r`` copies it, and models that
were named one by one lie as seen from the current directory.
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
"""Bytes that tell a serialized graph from the contents of a tensor."""


@dataclass(frozen=True, slots=True)
class Model:
    """One graph to work on."""

    path: Path
    """A file, or the index of a recording."""
    graph: str | None = None
    """Of the recording."""
    place: Path = Path()
    """Where the result lies below the output directory, without the suffix that says what it is."""
    is_searched: bool = False
    """Whether nobody has named it, so that it is passed over where it turns out to be no model."""
    problem: Diagnostic | None = None
    """Why nothing can be done with it."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others."""
        return os.fspath(self.path), self.graph or ""


def found(names: Iterable[str | os.PathLike[str]], output: Path | None, allowed: tuple[Path, ...] = ()) -> list[Model]:
    """All models that ``names`` mean, each once, with the places of their results.

    A name is a directory, a recording, a model (a name that ends in .json or .bin), or else a text file with one of
    these in each line; ``-`` is such a list on standard input. :class:`UnreadableError` (DML3034) for what is no list.
    Links in a directory that lead out of it, and not to one that is ``allowed``, say so (DML1020).
    """
    models: dict[tuple[str, str], Model] = {}
    for name in names:
        for item in _named(os.fspath(name), output, allowed):
            path = (
                item.path.resolve() if item.problem is None else item.path.absolute()
            )  # a link is not what it leads to
            models.setdefault((str(path), item.graph or ""), item)
    return list(models.values())


def _named(name: str, output: Path | None, allowed: tuple[Path, ...]) -> Iterator[Model]:
    path = Path(name)
    is_list = name == STANDARD_INPUT or not (is_directory(path) or path.suffix.lower() in SUFFIXES)
    for item in _lines(name) if is_list else (name,):
        yield from _models(Path(item), output, allowed)


def _lines(name: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        message = f"the list {quote(name)} cannot be read: {getattr(error, 'strerror', None) or error}"
        message += f"; did you mean --do {name}?" if name in ACTIONS else neighbour(Path(name), directories=True)
        raise UnreadableError(BAD_LIST.at(message, expected="a directory, a model or a list", found=name)) from None
    if b"\0" in data:
        message = f"{quote(name)} is no list of models: it has bytes that no path has"
        raise UnreadableError(BAD_LIST.at(message, expected="a path in each line", found="a binary file"))
    return [os.fsdecode(line) for line in data.splitlines() if line.strip()]


def _models(path: Path, output: Path | None, allowed: tuple[Path, ...]) -> Iterator[Model]:
    index = recording.index_of(path)
    if index.name == recording.INDEX:
        yield from _graphs(index, _from_here(index.parent))
    elif is_directory(path):
        root = Path("" if path.resolve() == Path.cwd() else path.resolve().name)
        for file, error in find_escaping_links(path, allowed):
            place = root / file.relative_to(path)
            yield Model(file, place=place.with_suffix(""), problem=error.diagnostics[0])
        for file in find_models(path, output, allowed):
            place = root / file.relative_to(path)
            if file.name == recording.INDEX:
                yield from _graphs(file, place.parent)
            elif file.suffix != ".bin" or _may_be_graph(file):
                yield Model(file, place=place.with_suffix(""), is_searched=True)
    else:
        place = _from_here(path)
        yield Model(path, place=place.with_suffix("") if place.name else place)


def _graphs(index: Path, place: Path) -> Iterator[Model]:
    """All graphs of a recording; one that cannot be read says so when it is read."""
    try:
        listed = recording.graphs(index)
    except DmlError:
        listed = ()
    if not listed:
        yield Model(index, place=place / index.stem)
    for item in listed:
        yield Model(index, item.name, place / Path(item.file).with_suffix("") if item.file else place / index.stem)


def _from_here(path: Path) -> Path:
    """The path as seen from the current directory; from the root where it is not below."""
    real = Path(os.path.abspath(path))
    here = Path.cwd()
    return real.relative_to(here) if real.is_relative_to(here) else real.relative_to(real.anchor)


def _may_be_graph(file: Path) -> bool:
    """Whether a .bin file is no mere contents of a tensor."""
    try:
        with file.open("rb") as stream:
            return is_serialized(file.with_suffix(""), stream.read(_HEAD))
    except OSError:
        return True  # which is said when it is read


def _folded(place: Path) -> str:
    return unicodedata.normalize("NFC", str(place)).casefold()


def with_unique_names(models: Sequence[Model]) -> list[Model]:
    """The same models; where the results of two would be one file, all but the first say so (DML3033).

    Some file systems know no case.

    Binary files come last: what was found beside a model of the same name may hold its weights.
    """
    taken: dict[str, Model] = {}
    for item in sorted(models, key=lambda item: item.path.suffix == ".bin"):
        if item.problem is None:
            taken.setdefault(_folded(item.place), item)
    apart = []
    for item in models:
        first = taken.get(_folded(item.place), item)
        if first is not item and item.problem is None:
            message = f"its result would be that of {quote(str(first.path))}, {quote(str(item.place))}"
            problem = SAME_OUTPUT.at(message, expected="a name of its own", found=str(item.place))
            item = replace(item, problem=problem)
        apart.append(item)
    return apart
