"""Recordings of C++ programs: a directory with an index, as the recording DirectML device makes it.

.. code-block:: json

    {
      "dml2onnx_recording": 1,
      "graphs": [
        {
          "name": "net",
          "kind": "graph",
          "nodes": 12,
          "file": "net.json",
          "contents": {"weights": {"file": "data/weights.bin", "offset": 0, "length": 64}}
        },
        {
          "name": "program",
          "kind": "program",
          "nodes": 3,
          "file": "program.json",
          "constants": ["net/bias"],
          "without_contents": ["input"]
        }
      ]
    }

A ``graph`` is a ``DML_GRAPH_DESC`` that the program has compiled, an ``operator`` one of a single node, ``rejected`` an
operator that could not be created, for the reason in ``problem``; and the ``program`` is all that was dispatched, for
DxDispatch. Inputs with ``contents`` are constants: what the program has told the recorder of its weights. DxDispatch
has neither constants in graphs nor buffers whose contents are not known: those of the program are named.

All files lie beside the index, or below; none of them is read that lies elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from dml2onnx.codes import reading
from dml2onnx.codes import recordings as codes
from dml2onnx.diagnostics import Severity, UnreadableError, plural
from dml2onnx.frontends.files import FileError, ModelFiles
from dml2onnx.frontends.findings import LONGEST_LIST, Findings, listing, quote, show
from dml2onnx.frontends.options import DEFAULT_OPTIONS
from dml2onnx.frontends.text import read_document, read_file
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.data import head, padded
from dml2onnx.ir.graph import Constant, Graph, GraphInput

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from dml2onnx.diagnostics import Code
    from dml2onnx.frontends.options import LoadOptions
    from dml2onnx.frontends.text import Document
    from dml2onnx.ir.data import Data
    from dml2onnx.ir.graph import Value

INDEX = "recording.json"
VERSION = 1
PROGRAM, REJECTED = "program", "rejected"
KINDS = ("graph", "operator", REJECTED, PROGRAM)
_KEY = "dml2onnx_recording"
OPERATORS = "operators"
_FOLDERS = (OPERATORS, "data")
"""What the recorder makes before anything else."""
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

    def __str__(self) -> str:
        return f"{quote(self.name)} ({self.kind}, {plural(self.nodes, 'node')}, {self.file})"


def index_of(path: Path) -> Path:
    """The index of a recording's directory, where it is lost as well; any other path as it is."""
    index = path / INDEX
    try:
        return index if path.is_dir() and (index.is_file() or _is_recorded(path)) else path
    except (OSError, ValueError):  # what no file can be called, which is said when it is read
        return path


def _is_recorded(folder: Path) -> bool:
    """Whether a directory has what the recorder puts there, and nothing else: only the index may be missing."""
    if not all((folder / name).is_dir() for name in _FOLDERS):
        return False
    files = [item for item in folder.iterdir() if item.name not in _FOLDERS]
    return all(item.suffix == ".json" for item in (*files, *(folder / OPERATORS).iterdir()))


def read_index(path: Path, max_bytes: int) -> bytes:
    """The text of an index; :class:`UnreadableError` (DML0016) where a directory has all of a recording but that."""
    if path.name == INDEX and not path.exists() and path.parent.is_dir():
        message = f"{quote(str(path.parent))} has the files of a recording, but no {INDEX}, which says what they are"
        expected = f"{INDEX}, or one of the other files by its own name"
        raise _unreadable(codes.BAD_RECORDING, message, expected, f"no {INDEX}")
    return read_file(path, max_bytes)


def is_index(document: Document) -> bool:
    """Whether a file is the index of a recording."""
    return _KEY in document.root


def refuse_choice(options: LoadOptions) -> None:
    """:class:`UnreadableError` when a graph is chosen of a model that is one."""
    if options.graph is not None:
        message = f"the model is one graph, and {quote(options.graph)} names one of several"
        raise _unreadable(codes.UNKNOWN_GRAPH, message, "the recording of a program", "one graph")


def graphs(index: Path, options: LoadOptions = DEFAULT_OPTIONS) -> tuple[Recorded, ...]:
    """The graphs that an index lists."""
    document = read_document(index, read_index(index, options.max_bytes))
    if not is_index(document):
        raise _bad(f"{quote(str(index))} has no member {_KEY}", _KEY)
    return _graphs(document)


def chosen(listed: tuple[Recorded, ...], name: str | None) -> Recorded:
    """The graph of that name, or the only one; :class:`UnreadableError` lists them otherwise."""
    if not listed:
        raise _unreadable(codes.BAD_RECORDING, "the program has compiled no graph", "a graph", "none")
    good = [item for item in listed if item.kind != REJECTED]
    named = good if name is None else [item for item in listed if item.name == name]
    if len(named) == 1:
        return named[0]
    shown = "; ".join(map(str, listed[:LONGEST_LIST]))
    if len(listed) > LONGEST_LIST:
        shown += f"; ... ({len(listed)} in all)"
    if name is not None:
        guess = Findings().did_you_mean(name, [item.name for item in listed])
        message = f"the recording has no graph {quote(name)}{guess}; it has {shown}"
        raise _unreadable(codes.UNKNOWN_GRAPH, message, "a graph of the recording", quote(name))
    message = f"say with --graph which one is meant; the recording has {shown}"
    raise _unreadable(codes.CHOOSE_GRAPH, message, "--graph NAME", plural(len(listed), "graph"))


def read(document: Document, options: LoadOptions) -> Graph:
    """The graph that ``options`` choose of the recording with this index."""
    item = chosen(_graphs(document), options.graph)
    files = ModelFiles(document.path.parent, options.allow_paths, options.max_bytes)
    try:
        path = files.find(item.file)
    except FileError as error:
        raise _unreadable(error.code, str(error), error.expected, error.found) from None
    inner = read_document(path, read_file(path, options.max_bytes))
    if item.kind != PROGRAM and inner.strict_error is not None:
        raise inner.strict_error
    if item.kind == PROGRAM:
        from dml2onnx.frontends import dxdispatch

        graph = dxdispatch.read(inner, options)
    else:
        from dml2onnx.frontends import dml_graph

        graph = dml_graph.read(inner, options)
    if item.kind == PROGRAM:
        graph = _unfilled(graph, item)
    findings = Findings()
    if item.problem:
        message = f"the program was refused this: {item.problem}"
        findings.add(codes.REFUSED_IN_PROGRAM.at(message, found=item.problem))
    inputs, constants = _filled(graph, item, files, options, findings)
    resources = inner.root.get("resources") if item.kind == PROGRAM else None
    if not any(found.severity is Severity.ERROR for found in graph.findings):
        _require_known(item, resources if type(resources) is dict else [given.name for given in graph.inputs], findings)
    return replace(
        graph,
        name=item.name,
        inputs=inputs,
        constants=(*constants, *graph.constants),
        findings=(*findings.all(), *graph.findings),
        sources=(*graph.sources, document.path, *files.found),
    )


def require_owned(graph: Graph, options: LoadOptions) -> Graph:
    """The graph, with an error (DML1014) for each tensor that DirectML owns whose contents nobody has given."""
    if graph.format != "dxdispatch":
        return graph
    empty = {given.value for given in graph.inputs if given.default is None and given.name not in options.inputs}
    if not empty:
        return graph
    missing = empty & _owned(graph)
    findings = Findings()
    for given in graph.inputs:
        if given.value in missing:
            message = f"{quote(given.name)} is owned by DirectML, and the recording does not have its contents"
            findings.add(reading.NO_CONTENTS.at(message, pointer=given.source, expected="--constant NAME=FILE"))
    return replace(graph, findings=(*graph.findings, *findings.all()))


def _unfilled(graph: Graph, item: Recorded) -> Graph:
    """A program whose owned buffers without contents are inputs: the zeros that DxDispatch needs there mean nothing."""
    unknown = [made for made in graph.constants if made.value.name in item.without_contents]
    owned = _owned(graph) if unknown else frozenset()
    unknown = [made for made in unknown if made.value in owned]
    if not unknown:
        return graph
    inputs = [GraphInput(made.value.name, made.value) for made in unknown]
    values = {made.value for made in unknown}
    known = tuple([made for made in graph.constants if made.value not in values])
    return replace(graph, inputs=(*graph.inputs, *inputs), constants=known)


def _owned(graph: Graph) -> frozenset[Value]:
    """What is read as a tensor that DirectML owns."""
    views = (view for node in graph.nodes for view in node.views_in())
    return frozenset(read.value for _, _, read, desc in views if desc.owned_by_dml)


def _filled(
    graph: Graph, item: Recorded, files: ModelFiles, options: LoadOptions, findings: Findings
) -> tuple[tuple[GraphInput, ...], tuple[Constant, ...]]:
    """Inputs and constants, with what the recording knows of their contents."""
    inputs: list[GraphInput] = []
    constants: list[Constant] = []
    for given in graph.inputs:
        part = item.contents.get(given.name)
        data = given.default if given.name in item.constants else None
        if part is not None:
            data = _data(given, part, files, findings)
        if data is None:
            inputs.append(replace(given, default=None) if given.name in item.without_contents else given)
        elif given.name in options.inputs:
            inputs.append(replace(given, default=data))
        else:
            constants.append(Constant(given.value, data))
    return tuple(inputs), tuple(constants)


def _require_known(item: Recorded, known: Collection[str], findings: Findings) -> None:
    """Finds fault with names that the graph does not have: what is said of them would be lost."""
    what = "buffer" if item.kind == PROGRAM else "input"
    for member in ("contents", "constants", "without_contents"):
        for name in sorted(set(getattr(item, member)) - set(known)):
            guess = findings.did_you_mean(name, known)
            message = f"{member} of {quote(item.name)} in {INDEX}: the graph has no {what} {quote(name)}{guess}"
            findings.add(codes.BAD_RECORDING.at(message, expected=listing(known), found=quote(name)))


def _data(given: GraphInput, part: Part, files: ModelFiles, findings: Findings) -> Data | None:
    """The bytes of an input, as many as it has."""
    try:
        data = files.raw(part.file, part.offset, part.length)
    except FileError as error:
        findings.add(error.code.at(str(error), expected=error.expected, found=error.found))
        return None
    nbytes = given.value.nbytes
    needed = nbytes if given.desc is None else given.desc.reach
    if nbytes < UNBOUNDED and data.nbytes < needed:
        message = f"{quote(part.file)} gives {data.nbytes} bytes for {quote(given.name)}, which has {needed}"
        findings.add(codes.BAD_RECORDING.at(message, expected=f"{needed} bytes", found=f"{data.nbytes} bytes"))
        return None
    return data if nbytes >= UNBOUNDED else padded(head(data, nbytes), nbytes)


# --- The index --------------------------------------------------------------------------------------------------------


def _graphs(document: Document) -> tuple[Recorded, ...]:
    if document.strict_error is not None:
        raise document.strict_error
    root = document.root
    if type(root[_KEY]) is not int or root[_KEY] != VERSION:
        raise _bad(f"{_KEY} is {show(root[_KEY])}", f"{_KEY}: {VERSION}")
    listed = _member(root, "graphs", list, "the index")
    found = tuple([_recorded(raw, f"graphs[{index}]") for index, raw in enumerate(listed)])
    names = [item.name for item in found]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise _bad(f"two graphs are called {quote(twice)}", "a name for each graph")
    files = Counter(item.file for item in found)
    if len(files) < len(found):  # a small index could have a large file read again and again
        raise _bad(f"two graphs are in {quote(files.most_common(1)[0][0])}", "a file for each graph")
    return found


def _recorded(raw: object, what: str) -> Recorded:
    if type(raw) is not dict:
        raise _bad(f"{what} is {show(raw)}", "an object")
    kind = _member(raw, "kind", str, what)
    if kind not in KINDS:
        raise _bad(f"{what}.kind is {quote(kind)}", ", ".join(KINDS))
    contents = _member(raw, "contents", dict, what) if "contents" in raw else {}
    return Recorded(
        _member(raw, "name", str, what),
        kind,
        _whole(raw, "nodes", what),
        _member(raw, "file", str, what),
        _member(raw, "problem", str, what) if "problem" in raw else "",
        {name: _part(part, f"{what}.contents[{quote(name)}]") for name, part in contents.items()},
        _names(raw, "constants", what),
        _names(raw, "without_contents", what),
    )


def _names(raw: Mapping[str, object], member: str, what: str) -> frozenset[str]:
    names = _member(raw, member, list, what) if member in raw else []
    if not all(type(name) is str for name in names):
        raise _bad(f"{what}.{member} has what is no name", "names of buffers")
    return frozenset(names)


def _part(raw: object, what: str) -> Part:
    if type(raw) is not dict:
        raise _bad(f"{what} is {show(raw)}", "an object with file, offset and length")
    return Part(_member(raw, "file", str, what), _whole(raw, "offset", what), _whole(raw, "length", what))


def _whole(raw: Mapping[str, object], name: str, what: str) -> int:
    value = _member(raw, name, int, what)
    if not 0 <= value < 1 << 63:
        raise _bad(f"{what}.{name} is {show(value)}", "a whole number that is not negative")
    return value


def _member(raw: Mapping[str, object], name: str, kind: type[T], what: str) -> T:
    value = raw.get(name)
    if type(value) is not kind:
        found = show(value) if name in raw else "missing"
        raise _bad(f"{what}.{name} is {found}", f"{name}, {_WORDS[kind]}")
    return value


_WORDS = {int: "a whole number", str: "text", list: "an array", dict: "an object"}


def _bad(message: str, expected: str) -> UnreadableError:
    return _unreadable(codes.BAD_RECORDING, f"the recording is damaged: {message}", expected, message)


def _unreadable(code: Code, message: str, expected: str, found: str) -> UnreadableError:
    return UnreadableError(code.at(message, expected=expected, found=found))
