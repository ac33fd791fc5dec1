"""Reads the index of a recording and its journals, which have the changes since a file was last written.

A running recorder has two journals. Each line of ``recording.N.jsonl``, the journal of the index, is a new or changed
graph by its number; each line of ``program.jsonl`` is what a dispatch adds to ``program.json``, from command number
``from`` on. Unfinished last lines, and commands that ``program.json`` already has, are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from dml2onnx.codes import recordings as codes
from dml2onnx.diagnostics import Code, UnreadableError, plural
from dml2onnx.frontends.files import FileError, MissingFileError, ModelFiles
from dml2onnx.frontends.findings import quote, show
from dml2onnx.frontends.members import Json
from dml2onnx.frontends.text import Document, read_document

VERSION = 1
PROGRAM, REJECTED = "program", "rejected"
KINDS = ("graph", "operator", REJECTED, PROGRAM)
KEY = "dml2onnx_recording"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range of bytes of a file."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """An entry of the index: a graph of the recording."""

    name: str
    kind: str
    nodes: int
    file: str
    problem: str = ""
    """Why the device rejected it."""
    contents: Mapping[str, FileRange] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    without_contents: frozenset[str] = frozenset()
    unrecorded: str = ""
    """Why it is incomplete."""
    missing: tuple[str, ...] = ()
    """Dispatches that are missing from the program."""
    journal: str = ""

    def __str__(self) -> str:
        return f"{quote(self.name)} ({self.kind}, {plural(self.nodes, 'node')}, {self.file})"


@dataclass(frozen=True, slots=True)
class Index:
    """The contents of an index, including its journal."""

    graphs: tuple[Recorded, ...]
    ended: bool
    """Whether the program released all objects of the device."""
    unrecorded: tuple[str, ...]


def read_index_document(document: Document, files: ModelFiles) -> Index:
    """Reads an index; raises :class:`UnreadableError` if it is damaged."""
    if document.strict_error is not None:
        raise document.strict_error
    root = document.root
    if type(root[KEY]) is not int or root[KEY] != VERSION:
        raise damaged(f"{KEY} is {show(root[KEY])}", f"{KEY}: {VERSION}")
    listed = _read_member(root, "graphs", list, "the index")
    found = [_read_graph(raw, f"graphs[{index}]") for index, raw in enumerate(listed)]
    if "journal" in root:
        found = _apply_journal(found, _read_member(root, "journal", str, "the index"), files)
    _reject_duplicates(found)
    ended = _read_member(root, "ended", bool, "the index") if "ended" in root else True
    return Index(tuple(found), ended, _read_names(root, "unrecorded", "the index"))


def _apply_journal(listed: list[Recorded], journal: str, files: ModelFiles) -> list[Recorded]:
    """Returns the graphs of an index, updated by its journal; the program stays the last."""
    graphs = [item for item in listed if item.kind != PROGRAM]
    for place, line in _read_lines(journal, files):
        number = _read_uint(line, "number", place)
        if number > len(graphs):
            raise damaged(f"{place}.number is {number}, after {plural(len(graphs), 'graph')}", "the next graph")
        graphs[number : number + 1] = [_read_graph(_read_member(line, "graph", dict, place), f"{place}.graph")]
    return graphs + [item for item in listed if item.kind == PROGRAM]


def apply_program_journal(document: Document, item: Recorded, files: ModelFiles) -> Recorded:
    """Adds the commands in the program's journal to the document, and updates the entry of the index."""
    if not item.journal:
        return item
    root = document.root
    constants, without = set(item.constants), set(item.without_contents)
    commands = _read_member(root, "commands", list, "the program")
    for place, line in _read_lines(item.journal, files):
        begin = _read_uint(line, "from", place)
        if begin < len(commands):
            continue
        if begin > len(commands):
            raise damaged(f"{place}.from is {begin}, after {plural(len(commands), 'command')}", "the next command")
        commands += _read_member(line, "commands", list, place)
        for section in ("resources", "dispatchables"):
            _read_member(root, section, dict, "the program").update(_read_member(line, section, dict, place))
        resources = _read_member(line, "resources", dict, place)
        constants = (constants - set(resources)) | set(_read_names(line, "constants", place))
        without = (without - set(resources)) | set(_read_names(line, "without_contents", place))
    return replace(item, constants=frozenset(constants), without_contents=frozenset(without))


def _read_lines(name: str, files: ModelFiles) -> Iterator[tuple[str, Json]]:
    """Yields the place and contents of each complete line of a journal."""
    try:
        data = files.content(name)
    except MissingFileError:
        return  # no changes
    except FileError as error:
        raise unreadable(error.code, str(error), error.expected, error.found) from None
    for number, text in enumerate(data.split(b"\n")[:-1], 1):
        place = f"{name}:{number}"
        document = read_document(Path(place), text)
        if document.strict_error is not None:
            raise document.strict_error
        yield place, document.root


def _reject_duplicates(found: list[Recorded]) -> None:
    names = [item.name for item in found]
    if len(set(names)) < len(names):
        duplicate = Counter(names).most_common(1)[0][0]
        raise damaged(f"two graphs are called {quote(duplicate)}", "a name for each graph")
    files = Counter(item.file for item in found)
    if len(files) < len(found):  # a small index could name a large file many times
        raise damaged(f"two graphs are in {quote(files.most_common(1)[0][0])}", "a file for each graph")


def _read_graph(raw: object, what: str) -> Recorded:
    if type(raw) is not dict:
        raise damaged(f"{what} is {show(raw)}", "an object")
    kind = _read_member(raw, "kind", str, what)
    if kind not in KINDS:
        raise damaged(f"{what}.kind is {quote(kind)}", ", ".join(KINDS))
    contents = _read_member(raw, "contents", dict, what) if "contents" in raw else {}
    return Recorded(
        _read_member(raw, "name", str, what),
        kind,
        _read_uint(raw, "nodes", what),
        _read_member(raw, "file", str, what),
        _read_member(raw, "problem", str, what) if "problem" in raw else "",
        {name: _read_part(part, f"{what}.contents[{quote(name)}]") for name, part in contents.items()},
        frozenset(_read_names(raw, "constants", what)),
        frozenset(_read_names(raw, "without_contents", what)),
        _read_member(raw, "unrecorded", str, what) if "unrecorded" in raw else "",
        _read_names(raw, "missing", what),
        _read_member(raw, "journal", str, what) if "journal" in raw else "",
    )


def _read_names(raw: Mapping[str, object], member: str, what: str) -> tuple[str, ...]:
    names = _read_member(raw, member, list, what) if member in raw else []
    if not all(type(name) is str for name in names):
        raise damaged(f"{what}.{member} has a value that is not text", "texts")
    return tuple(names)


def _read_part(raw: object, what: str) -> FileRange:
    if type(raw) is not dict:
        raise damaged(f"{what} is {show(raw)}", "an object with file, offset and length")
    return FileRange(
        _read_member(raw, "file", str, what), _read_uint(raw, "offset", what), _read_uint(raw, "length", what)
    )


def _read_uint(raw: Mapping[str, object], name: str, what: str) -> int:
    value = _read_member(raw, name, int, what)
    if not 0 <= value < 1 << 63:
        raise damaged(f"{what}.{name} is {show(value)}", "a whole number that is not negative")
    return value


def _read_member(raw: Mapping[str, object], name: str, kind: type[T], what: str) -> T:
    value = raw.get(name)
    if type(value) is not kind:
        found = show(value) if name in raw else "missing"
        raise damaged(f"{what}.{name} is {found}", f"{name}, {_KIND_NAMES[kind]}")
    return value


_KIND_NAMES = {int: "a whole number", str: "text", list: "an array", dict: "an object", bool: "true or false"}


def damaged(message: str, expected: str) -> UnreadableError:
    """Makes the error for a damaged recording."""
    return unreadable(codes.BAD_RECORDING, f"the recording is damaged: {message}", expected, message)


def unreadable(code: Code, message: str, expected: str, found: str) -> UnreadableError:
    """Makes an error with this code."""
    return UnreadableError(code.at(message, expected=expected, found=found))
