"""Front ends: read model files into graphs, with findings.

The module of a format is imported when the first file of that format is read: importing all takes longer than most
models do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dml2onnx.arguments import path_of, refusal
from dml2onnx.codes import unreadable
from dml2onnx.diagnostics import Remedy, UnreadableError
from dml2onnx.frontends import recording
from dml2onnx.frontends.findings import listing, quote
from dml2onnx.frontends.foreign import recognize_members
from dml2onnx.frontends.options import DEFAULT_OPTIONS, InputContents, LoadOptions
from dml2onnx.frontends.text import is_serialized, read_document
from dml2onnx.gc_pause import gc_paused
from dml2onnx.ir.graph import Graph

__all__ = ["LoadOptions", "graph_of", "load", "load_bytes"]

_DXDISPATCH_ROOT = frozenset({"resources", "dispatchables", "commands"})
_DML_GRAPH_ROOT = frozenset({"Nodes", "InputEdges", "OutputEdges", "IntermediateEdges"})


def load(
    path: str | os.PathLike[str],
    options: LoadOptions = DEFAULT_OPTIONS,
    *,
    constants: Mapping[str, InputContents] | None = None,
    graph: str | None = None,
) -> Graph:
    """Reads a model. The format is detected from the contents: for JSON, from the members of the root.

    The recording of a C++ program is a directory, or the index file in it. It may hold several graphs; ``graph``
    selects one, and without it :class:`~dml2onnx.diagnostics.UnreadableError` lists them.

    ``constants`` turns inputs into constants, in addition to those of ``options``; :class:`LoadOptions` documents the
    values. ``Graph.format`` is ``"native"``, ``"dml_graph"``, ``"dxdispatch"`` or ``"serialized"``. Errors inside the
    model are in ``Graph.findings``; :class:`~dml2onnx.diagnostics.UnreadableError` is raised for files that are not a
    model.
    """
    if not isinstance(options, LoadOptions):
        raise refusal("options", options, "a LoadOptions")
    if constants is not None:
        options = options.with_constants(constants)
    if graph is not None:
        options = options.with_graph(graph)
    if isinstance(path, (str, bytes)) and not path:
        raise UnreadableError(
            unreadable.NO_SUCH_FILE.at("the path of the model is empty", expected="a file", found='""')
        )
    file = recording.index_of(path_of(path, "the model"))
    with gc_paused():
        return _read(file, recording.read_index(file, options), options)


def load_bytes(data: bytes, name: str, options: LoadOptions = DEFAULT_OPTIONS) -> Graph:
    """Reads a model from memory, such as from a pipe; files that it names are looked up in the working directory."""
    with gc_paused():
        return _read(Path(name), data, options)


def graph_of(model: object, graph: str | None = None) -> Graph:
    """Returns a graph as it is, or loads the model file at a path; ``graph`` selects a graph of a recording."""
    if isinstance(model, Graph):
        if graph is not None:
            recording.reject_graph_option(DEFAULT_OPTIONS.with_graph(graph))
        return model
    if not isinstance(model, (str, os.PathLike)):
        expected = "a Graph, such as load or GraphBuilder.build gives, or the path of a file"
        raise refusal("the model", model, expected, _builder_remedy(model))
    return load(model, graph=graph)


def _builder_remedy(model: object) -> tuple[Remedy, ...]:
    """How to turn builder objects into a graph: the ``TO_GRAPH`` of their class, if all of them have the same."""
    items = model.values() if isinstance(model, dict) else model if isinstance(model, (list, tuple)) else (model,)
    hints = {getattr(type(item), "TO_GRAPH", "") for item in items}
    return (Remedy(hints.pop()),) if len(hints) == 1 and "" not in hints else ()


def _read(path: Path, data: bytes, options: LoadOptions) -> Graph:
    graph = _read_format(path, data, options)
    if options.changes_inputs:
        from dml2onnx.frontends.freezing import freeze_inputs  # imports modules for archives, which is slow

        graph = freeze_inputs(graph, options)
    return recording.require_owned(graph, options)


def _read_format(path: Path, data: bytes, options: LoadOptions) -> Graph:
    if is_serialized(path, data):
        recording.reject_graph_option(options)
        from dml2onnx.frontends import serialized

        return serialized.read(path, data, options)
    document = read_document(path, data)
    root = document.root
    if recording.is_index(document):
        return recording.read(document, options)
    recording.reject_graph_option(options)
    if "dml2onnx" in root or _DXDISPATCH_ROOT.isdisjoint(root):
        wrong = document.commented_error if "dml2onnx" in root else document.strict_error
        if wrong is not None:
            raise wrong
        if "dml2onnx" in root:
            from dml2onnx.frontends import native

            return native.read(document, options)
        if not _DML_GRAPH_ROOT.isdisjoint(root):
            from dml2onnx.frontends import dml_graph

            return dml_graph.read(document, options)
        other = recognize_members(root)
        unknown = f"the members of {quote(str(path))} belong to no known format"
        message = unknown if other is None else f"{quote(str(path))} {other.what}"
        found = listing([quote(name) for name in root]) or "no members"
        raise UnreadableError(
            unreadable.UNKNOWN_FORMAT.at(
                f'{message}; a graph in the native format starts with "dml2onnx": 1',
                expected="dml2onnx, or Nodes, or resources, dispatchables and commands, or dml2onnx_recording",
                found=found,
            )
        )
    from dml2onnx.frontends import dxdispatch

    return dxdispatch.read(document, options)
