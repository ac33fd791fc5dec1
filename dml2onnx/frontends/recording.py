"""Reads recordings of C++ programs: directories with an index, which the recording DirectML device writes.

.. code-block:: json

    {
      "dml2onnx_recording": 1,
      "ended": true,
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

A ``graph`` is a ``DML_GRAPH_DESC`` that the program compiled, an ``operator`` a graph of a single node, ``rejected`` an
operator that could not be created, for the reason in ``problem``; the ``program`` has all dispatches, in the format of
DxDispatch. Inputs with ``contents`` are constants: the weights that the program passed to the recorder. DxDispatch has
neither constants in graphs nor buffers of unknown contents, so ``constants`` and ``without_contents`` name those of
the program. ``unrecorded`` (of a graph or of the whole) and ``missing`` (dispatches) describe what could not be
recorded. A recording that has not ``ended`` has journals, which the module ``recorded`` describes.

All files must be in the directory of the index, or below.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from dml2onnx.codes import reading
from dml2onnx.codes import recordings as codes
from dml2onnx.diagnostics import plural
from dml2onnx.frontends.files import FileError, ModelFiles
from dml2onnx.frontends.findings import LONGEST_LIST, Findings, listing, quote
from dml2onnx.frontends.options import DEFAULT_OPTIONS, LoadOptions
from dml2onnx.frontends.recorded import (
    KEY,
    PROGRAM,
    REJECTED,
    FileRange,
    Index,
    Recorded,
    apply_program_journal,
    damaged,
    read_index_document,
    unreadable,
)
from dml2onnx.frontends.text import Document, read_document, read_file
from dml2onnx.frontends.unresolved import UNBOUNDED
from dml2onnx.ir.data import Data, head, padded
from dml2onnx.ir.graph import Constant, Graph, GraphInput, Value

INDEX = "recording.json"
OPERATORS = "operators"
_DIRECTORIES = (OPERATORS, "data")
"""The directories that the recorder makes first."""


def index_of(path: Path) -> Path:
    """Returns the path of the index, even a missing one, for the directory of a recording; other paths unchanged."""
    index = path / INDEX
    try:
        return index if path.is_dir() and (index.is_file() or _is_recording(path)) else path
    except (OSError, ValueError):  # not a valid file name, which is reported when the file is read
        return path


def _is_recording(folder: Path) -> bool:
    """Whether a directory has only files of the recorder, apart from the index."""
    if not all((folder / name).is_dir() for name in _DIRECTORIES):
        return False
    files = [item for item in folder.iterdir() if item.name not in _DIRECTORIES]
    return all(item.suffix in (".json", ".jsonl") for item in (*files, *(folder / OPERATORS).iterdir()))


def read_index(path: Path, options: LoadOptions) -> bytes:
    """Reads the bytes of an index; raises :class:`UnreadableError` (DML0016) for a recording without one."""
    if path.name == INDEX and not path.exists() and path.parent.is_dir():
        message = f"{quote(str(path.parent))} has the files of a recording, but no {INDEX}, which says what they are"
        expected = f"{INDEX}, or one of the other files by its own name"
        raise unreadable(codes.BAD_RECORDING, message, expected, f"no {INDEX}")
    return read_file(path, options.max_bytes)


def is_index(document: Document) -> bool:
    """Whether a file is the index of a recording."""
    return KEY in document.root


def reject_graph_option(options: LoadOptions) -> None:
    """Raises :class:`UnreadableError` if the options select a graph of a model that is a single graph."""
    if options.graph is not None:
        message = f"the model is one graph, and {quote(options.graph)} names one of several"
        raise unreadable(codes.UNKNOWN_GRAPH, message, "the recording of a program", "one graph")


def graphs(index: Path, options: LoadOptions = DEFAULT_OPTIONS) -> tuple[Recorded, ...]:
    """Returns the graphs in an index."""
    document = read_document(index, read_index(index, options))
    if not is_index(document):
        raise damaged(f"{quote(str(index))} has no member {KEY}", KEY)
    return read_index_document(document, ModelFiles(index.parent, options)).graphs


def choose(listed: tuple[Recorded, ...], name: str | None) -> Recorded:
    """Returns the graph of that name, or by default the only graph or the program, even if there is a graph besides.

    Raises :class:`UnreadableError`, which lists all graphs, if there is none or the choice is ambiguous.
    """
    if not listed:
        raise unreadable(codes.BAD_RECORDING, "the program has compiled no graph", "a graph", "none")
    good = [item for item in listed if item.kind != REJECTED]
    programs = [item for item in good if item.kind == PROGRAM]
    only = programs if len(programs) == 1 and len(good) <= 2 else good
    named = only if name is None else [item for item in listed if item.name == name]
    if len(named) == 1:
        return named[0]
    shown = "; ".join(map(str, listed[:LONGEST_LIST]))
    if len(listed) > LONGEST_LIST:
        shown += f"; ... ({len(listed)} in all)"
    if name is not None:
        guess = Findings().did_you_mean(name, [item.name for item in listed])
        message = f"the recording has no graph {quote(name)}{guess}; it has {shown}"
        raise unreadable(codes.UNKNOWN_GRAPH, message, "a graph of the recording", quote(name))
    message = f"select a graph with --graph; the recording has {shown}"
    raise unreadable(codes.CHOOSE_GRAPH, message, "--graph NAME", plural(len(listed), "graph"))


def read(document: Document, options: LoadOptions) -> Graph:
    """Reads the graph that ``options`` select from the recording with this index."""
    files = ModelFiles(document.path.parent, options)
    index = read_index_document(document, files)
    item = choose(index.graphs, options.graph)
    try:
        path = files.find(item.file)
    except FileError as error:
        raise unreadable(error.code, str(error), error.expected, error.found) from None
    inner = read_document(path, read_file(path, options.max_bytes))
    if item.kind != PROGRAM and inner.strict_error is not None:
        raise inner.strict_error
    if item.kind == PROGRAM:
        from dml2onnx.frontends import dxdispatch

        item = apply_program_journal(inner, item, files)
        graph = dxdispatch.read(inner, options)
    else:
        from dml2onnx.frontends import dml_graph

        graph = dml_graph.read(inner, options)
    if item.kind == PROGRAM:
        graph = _drop_unknown_contents(graph, item)
    findings = Findings()
    _report_incomplete(index, item, findings)
    inputs, constants = _fill_contents(graph, item, files, options, findings)
    resources = inner.root.get("resources") if item.kind == PROGRAM else None
    if not any(found.is_error for found in graph.findings):
        _report_unknown_names(
            item, resources if type(resources) is dict else [port.name for port in graph.inputs], findings
        )
    return replace(
        graph,
        name=item.name,
        inputs=inputs,
        constants=(*constants, *graph.constants),
        findings=(*findings.all(), *graph.findings),
        sources=(*graph.sources, document.path, *files.found),
    )


def _report_incomplete(index: Index, item: Recorded, findings: Findings) -> None:
    """Reports the parts of the program that the recording lacks."""
    if item.problem:
        message = f"the device refused this call of the program: {item.problem}"
        findings.report(codes.REFUSED_IN_PROGRAM, message, found=item.problem)
    for what in (*filter(None, (item.unrecorded,)), *index.unrecorded):
        findings.report(codes.NOT_RECORDED, f"the recording leaves out a part of the program: {what}", found=what)
    for what in item.missing:
        findings.report(codes.MISSING_DISPATCH, what, expected="all that the program dispatched")
    if not index.ended:
        message = "the recording is incomplete: the program is still running, or it ended without releasing its objects"
        findings.report(codes.NOT_ENDED, message, expected='"ended": true', found='"ended": false')


def require_owned(graph: Graph, options: LoadOptions) -> Graph:
    """Returns the graph, with an error (DML1014) for each tensor without contents that DirectML owns."""
    if graph.format != "dxdispatch":
        return graph
    empty = {port.value for port in graph.inputs if port.default is None and port.name not in options.inputs}
    if not empty:
        return graph
    missing = empty & _owned_values(graph)
    findings = Findings()
    for port in graph.inputs:
        if port.value in missing:
            message = f"{quote(port.name)} is owned by DirectML, and the recording does not have its contents"
            findings.report(reading.NO_CONTENTS, message, port.source, expected="--constant NAME=FILE")
    return replace(graph, findings=(*graph.findings, *findings.all()))


def _drop_unknown_contents(graph: Graph, item: Recorded) -> Graph:
    """Turns owned buffers without contents into inputs, since their zeros are placeholders for DxDispatch."""
    unknown = [constant for constant in graph.constants if constant.value.name in item.without_contents]
    owned = _owned_values(graph) if unknown else frozenset()
    unknown = [constant for constant in unknown if constant.value in owned]
    if not unknown:
        return graph
    inputs = [GraphInput(constant.value.name, constant.value) for constant in unknown]
    values = {constant.value for constant in unknown}
    known = tuple([constant for constant in graph.constants if constant.value not in values])
    return replace(graph, inputs=(*graph.inputs, *inputs), constants=known)


def _owned_values(graph: Graph) -> frozenset[Value]:
    """Returns the values that tensors read that DirectML owns."""
    views = (view for node in graph.nodes for view in node.views_in())
    return frozenset(read.value for _, _, read, desc in views if desc.owned_by_dml)


def _fill_contents(
    graph: Graph, item: Recorded, files: ModelFiles, options: LoadOptions, findings: Findings
) -> tuple[tuple[GraphInput, ...], tuple[Constant, ...]]:
    """Returns inputs and constants, with the recorded contents."""
    inputs: list[GraphInput] = []
    constants: list[Constant] = []
    for port in graph.inputs:
        part = item.contents.get(port.name)
        data = port.default if port.name in item.constants else None
        if part is not None:
            data = _data(port, part, files, findings)
        if data is None:
            inputs.append(replace(port, default=None) if port.name in item.without_contents else port)
        elif port.name in options.inputs:
            inputs.append(replace(port, default=data))
        else:
            constants.append(Constant(port.value, data))
    return tuple(inputs), tuple(constants)


def _report_unknown_names(item: Recorded, known: Collection[str], findings: Findings) -> None:
    """Reports names in the index that the graph does not have."""
    what = "buffer" if item.kind == PROGRAM else "input"
    for member in ("contents", "constants", "without_contents"):
        for name in sorted(set(getattr(item, member)) - set(known)):
            guess = findings.did_you_mean(name, known)
            message = f"{member} of {quote(item.name)} in {INDEX}: the graph has no {what} {quote(name)}{guess}"
            findings.report(codes.BAD_RECORDING, message, expected=listing(known), found=quote(name))


def _data(port: GraphInput, part: FileRange, files: ModelFiles, findings: Findings) -> Data | None:
    """Reads the contents of an input, cut or padded to its size."""
    try:
        data = files.raw(part.file, part.offset, part.length)
    except FileError as error:
        findings.report(error.code, str(error), expected=error.expected, found=error.found)
        return None
    nbytes = port.value.nbytes
    needed = nbytes if port.desc is None else port.desc.reach
    if nbytes < UNBOUNDED and data.nbytes < needed:
        message = f"{quote(part.file)} has {data.nbytes} bytes for {quote(port.name)}, which has {needed}"
        findings.report(codes.BAD_RECORDING, message, expected=f"{needed} bytes", found=f"{data.nbytes} bytes")
        return None
    return data if nbytes >= UNBOUNDED else padded(head(data, nbytes), nbytes)
