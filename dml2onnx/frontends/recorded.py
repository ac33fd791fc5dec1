"""What the index of a recording lists, and its journals: what came between the times when a file was written whole.

A recorder that has not ended has a journal of the index, ``recording.N.jsonl``, whose lines are graphs by their number,
new ones or as they are now, and one of the program, ``program.jsonl``, each line of which is what a dispatch has added
to ``program.json``, beginning with its command number ``from``. A line that the program did not live to end is left
out, and so are commands that ``program.json`` has already.
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
class Part:
    """Bytes of a file."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """A graph of a recording, as the index has it."""

    name: str
    kind: str
    nodes: int
    file: str
    problem: str = ""
    """Why the program did not get it."""
    contents: Mapping[str, Part] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    without_contents: frozenset[str] = frozenset()
    unrecorded: str = ""
    """Why it is not all that the program got."""
    missing: tuple[str, ...] = ()
    """Dispatches that are not in the program."""
    journal: str = ""

    def __str__(self) -> str:
        return f"{quote(self.name)} ({self.kind}, {plural(self.nodes, 'node')}, {self.file})"


@dataclass(frozen=True, slots=True)
class Index:
    """All that an index says, journal and all."""

    graphs: tuple[Recorded, ...]
    ended: bool
    """Whether the program released all that it had of the device."""
    unrecorded: tuple[str, ...]


def index_in(document: Document, files: ModelFiles) -> Index:
    """What the index says; :class:`UnreadableError` where it is damaged."""
    if document.strict_error is not None:
        raise document.strict_error
    root = document.root
    if type(root[KEY]) is not int or root[KEY] != VERSION:
        raise bad(f"{KEY} is {show(root[KEY])}", f"{KEY}: {VERSION}")
    listed = _member(root, "graphs", list, "the index")
    found = [_recorded(raw, f"graphs[{index}]") for index, raw in enumerate(listed)]
    if "journal" in root:
        found = _continued(found, _member(root, "journal", str, "the index"), files)
    _require_distinct(found)
    ended = _member(root, "ended", bool, "the index") if "ended" in root else True
    return Index(tuple(found), ended, _names(root, "unrecorded", "the index"))


def _continued(listed: list[Recorded], journal: str, files: ModelFiles) -> list[Recorded]:
    """The graphs of an index with those of its journal; the program stays the last."""
    graphs = [item for item in listed if item.kind != PROGRAM]
    for place, line in _lines(journal, files):
        number = _whole(line, "number", place)
        if number > len(graphs):
            raise bad(f"{place}.number is {number}, after {plural(len(graphs), 'graph')}", "the next graph")
        graphs[number : number + 1] = [_recorded(_member(line, "graph", dict, place), f"{place}.graph")]
    return graphs + [item for item in listed if item.kind == PROGRAM]


def continued(document: Document, item: Recorded, files: ModelFiles) -> Recorded:
    """Adds to the program what its journal has beyond it, and to what the index says of it."""
    if not item.journal:
        return item
    root = document.root
    constants, without = set(item.constants), set(item.without_contents)
    commands = _member(root, "commands", list, "the program")
    for place, line in _lines(item.journal, files):
        begin = _whole(line, "from", place)
        if begin < len(commands):
            continue
        if begin > len(commands):
            raise bad(f"{place}.from is {begin}, after {plural(len(commands), 'command')}", "the next command")
        commands += _member(line, "commands", list, place)
        for section in ("resources", "dispatchables"):
            _member(root, section, dict, "the program").update(_member(line, section, dict, place))
        resources = _member(line, "resources", dict, place)
        constants = (constants - set(resources)) | set(_names(line, "constants", place))
        without = (without - set(resources)) | set(_names(line, "without_contents", place))
    return replace(item, constants=frozenset(constants), without_contents=frozenset(without))


def _lines(name: str, files: ModelFiles) -> Iterator[tuple[str, Json]]:
    """The place and contents of each whole line of a journal."""
    try:
        data = files.content(name)
    except MissingFileError:
        return  # nothing has come since
    except FileError as error:
        raise unreadable(error.code, str(error), error.expected, error.found) from None
    for number, text in enumerate(data.split(b"\n")[:-1], 1):
        place = f"{name}:{number}"
        document = read_document(Path(place), text)
        if document.strict_error is not None:
            raise document.strict_error
        yield place, document.root


def _require_distinct(found: list[Recorded]) -> None:
    names = [item.name for item in found]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise bad(f"two graphs are called {quote(twice)}", "a name for each graph")
    files = Counter(item.file for item in found)
    if len(files) < len(found):  # a small index could have a large file read again and again
        raise bad(f"two graphs are in {quote(files.most_common(1)[0][0])}", "a file for each graph")


def _recorded(raw: object, what: str) -> Recorded:
    if type(raw) is not dict:
        raise bad(f"{what} is {show(raw)}", "an object")
    kind = _member(raw, "kind", str, what)
    if kind not in KINDS:
        raise bad(f"{what}.kind is {quote(kind)}", ", ".join(KINDS))
    contents = _member(raw, "contents", dict, what) if "contents" in raw else {}
    return Recorded(
        _member(raw, "name", str, what),
        kind,
        _whole(raw, "nodes", what),
        _member(raw, "file", str, what),
        _member(raw, "problem", str, what) if "problem" in raw else "",
        {name: _part(part, f"{what}.contents[{quote(name)}]") for name, part in contents.items()},
        frozenset(_names(raw, "constants", what)),
        frozenset(_names(raw, "without_contents", what)),
        _member(raw, "unrecorded", str, what) if "unrecorded" in raw else "",
        _names(raw, "missing", what),
        _member(raw, "journal", str, what) if "journal" in raw else "",
    )


def _names(raw: Mapping[str, object], member: str, what: str) -> tuple[str, ...]:
    names = _member(raw, member, list, what) if member in raw else []
    if not all(type(name) is str for name in names):
        raise bad(f"{what}.{member} has what is no text", "texts")
    return tuple(names)


def _part(raw: object, what: str) -> Part:
    if type(raw) is not dict:
        raise bad(f"{what} is {show(raw)}", "an object with file, offset and length")
    return Part(_member(raw, "file", str, what), _whole(raw, "offset", what), _whole(raw, "length", what))


def _whole(raw: Mapping[str, object], name: str, what: str) -> int:
    value = _member(raw, name, int, what)
    if not 0 <= value < 1 << 63:
        raise bad(f"{what}.{name} is {show(value)}", "a whole number that is not negative")
    return value


def _member(raw: Mapping[str, object], name: str, kind: type[T], what: str) -> T:
    value = raw.get(name)
    if type(value) is not kind:
        found = show(value) if name in raw else "missing"
        raise bad(f"{what}.{name} is {found}", f"{name}, {_WORDS[kind]}")
    return value


_WORDS = {int: "a whole number", str: "text", list: "an array", dict: "an object", bool: "true or false"}


def bad(message: str, expected: str) -> UnreadableError:
    """What is wrong with a recording as a whole."""
    return unreadable(codes.BAD_RECORDING, f"the recording is damaged: {message}", expected, message)


def unreadable(code: Code, message: str, expected: str, found: str) -> UnreadableError:
    """The error of this code."""
    return UnreadableError(code.at(message, expected=expected, found=found))
