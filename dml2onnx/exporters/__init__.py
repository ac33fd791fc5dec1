"""Exporters: write graphs in the formats that the front ends read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx import arguments
from dml2onnx.codes.exporting import FILE_TO_COME, LEFT_OUT, UNKNOWN_TARGET
from dml2onnx.diagnostics import Diagnostic, DmlError, quote, raise_errors
from dml2onnx.exporters.dxdispatch import dxdispatch, lost
from dml2onnx.exporters.files import Beside, write_files
from dml2onnx.exporters.references import references
from dml2onnx.exporters.serialized import lost_descriptors, serialized
from dml2onnx.exporters.whole_tensors import lost_effects, obstacles
from dml2onnx.files import Destination, check_target, spare
from dml2onnx.frontends import graph_of
from dml2onnx.frontends.findings import listing
from dml2onnx.ir.data import padded
from dml2onnx.ir.graph import Graph

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO

__all__ = ["FORMATS", "GRAPHS", "convert", "export", "left_out"]

GRAPHS = ("native", "dml_graph", "serialized", "dxdispatch")
"""Formats that the front ends read."""
FORMATS = (*GRAPHS, "python", "cpp")
_COMMANDS = "does not store commands such as print and writeFile"
_BY_SUFFIX = {".json": "native", ".bin": "serialized", ".py": "python", ".cpp": "cpp"}


def convert(
    model: Graph | str | os.PathLike[str], path: str | os.PathLike[str] | BinaryIO, format: str | None = None
) -> list[Path]:
    """Writes a graph, or the model file at a path, in another format, and returns the files written.

    ``format`` is ``"native"``, ``"dml_graph"``, ``"serialized"``, ``"dxdispatch"``, ``"python"`` (a program of the
    builder) or ``"cpp"`` (a program of DirectMLX). It defaults to the suffix of ``path``: ``.json`` is native, ``.bin``
    serialized, ``.py`` and ``.cpp`` are programs. The native format stores everything. The others omit what they
    cannot store, which :func:`left_out` lists: sample contents of inputs, feature levels, commands, and in a serialized
    graph descriptors of inputs and outputs. Large constants go to files beside ``path``: ``<path>.data``; a file for
    each in a serialized graph or a DxDispatch program; ``<stem>.npz`` for Python; ``<stem>.bin`` for C++. The source
    file, and the files that it names, are never overwritten. Raises :class:`DmlError` with the errors found while the
    graph was read, or with everything that the other format cannot express.
    """
    target = arguments.target_of(path)
    if format is not None:
        format = arguments.text(format, "format", f"one of {', '.join(FORMATS)}")
    return export(graph_of(model), target, format)


def export(graph: Graph, target: Destination, format: str | None = None) -> list[Path]:
    """As :func:`convert`, to a path or an open file."""
    path = _path(target)
    chosen = _format(target, format)
    if chosen not in FORMATS:
        name, suffix = (quote(target.name), target.suffix) if isinstance(target, Path) else ("an open file", "")
        found = quote(format or suffix)
        of_name = f"{name} does not determine the format; .json, .bin, .py and .cpp do, or --format (format=)"
        message = f"{found} is not an output format" if format else of_name
        raise DmlError(UNKNOWN_TARGET.at(message, expected=", ".join(FORMATS), found=found))
    if isinstance(target, Path):
        check_target(target)
        spare([target], graph.sources)
    try:
        contents, beside = _contents(graph, path, chosen)
    except (KeyError, ValueError):  # tensors do not match their descriptors, as only in graphs made in Python
        from dml2onnx.checks import check

        raise_errors(check(graph))
        raise
    spare([path.with_name(name) for name in beside], graph.sources)
    return write_files(target, contents, beside)


def _format(target: Destination, format: str | None) -> str:
    return format or (_BY_SUFFIX.get(target.suffix.lower(), "") if isinstance(target, Path) else "")


def _path(target: Destination) -> Path:
    """The path; an open file gets a placeholder, since it cannot have files beside it."""
    return target if isinstance(target, Path) else Path("graph")


def left_out(graph: Graph, target: Destination, format: str | None = None) -> list[Diagnostic]:
    """Warnings about everything that a conversion to ``target`` omits; none for the native format."""
    chosen = _format(target, format)
    path = _path(target)
    directory = path.parent.resolve()
    missing = [
        FILE_TO_COME.at(
            f"{quote(source.name)} is missing; put it beside {quote(path.name)} as {quote(name)}", found="no file"
        )
        for source, name in references(graph, directory, _file_names(path)).items()
        if directory / name != source
    ]
    if graph.named_sizes and chosen != "native":
        sizes = dict.fromkeys(size for own in graph.named_sizes.values() for size in own if isinstance(size, str))
        missing.append(LEFT_OUT.at(f"the format {chosen} does not store the names {listing(list(sizes))} of sizes"))
    parts: Iterable[str] = ()
    if chosen == "dxdispatch":
        parts = lost(graph)
    elif chosen == "python":
        parts = _not_in_programs(graph)
    elif chosen in ("dml_graph", "serialized", "cpp"):
        missing += lost_effects(graph)
        parts = _not_in_graphs(graph, with_views=chosen != "dml_graph")
    return missing + [LEFT_OUT.at(f"the format {chosen} {part}") for part in parts]


def _not_in_graphs(graph: Graph, *, with_views: bool) -> Iterator[str]:
    samples = [quote(item.name) for item in graph.inputs if item.default is not None]
    if samples:
        yield f"does not store the sample contents of {listing(samples)}"
    if graph.feature_level is not None:
        yield f"does not store the feature level {graph.feature_level}"
    if graph.effects:
        yield _COMMANDS
    views = lost_descriptors(graph) if with_views else []
    if views:
        yield f"does not store the descriptors of {listing(views)}, which differ from those of the nodes"


def _not_in_programs(graph: Graph) -> Iterator[str]:
    read = {value for node in graph.nodes for value in node.sources}
    read |= {item.value for item in (*graph.outputs, *graph.results)}
    unread = [quote(item.value.name) for item in graph.constants if item.value not in read]
    if graph.effects:
        yield _COMMANDS
    if unread:
        yield f"does not store the unused constants {listing(unread)}"


def _file_names(path: Path) -> tuple[str, str]:
    """The names of the files of a graph, apart from those of serialized constants."""
    return path.name, f"{path.name}.data"


def _contents(graph: Graph, path: Path, format: str) -> tuple[bytes, Mapping[str, Beside]]:
    """The contents of the file, and of others beside it by their names."""
    named = references(graph, path.parent, _file_names(path))
    if format == "serialized":
        return serialized(graph, {path.name}, named)
    if format == "dxdispatch":
        program, files = dxdispatch(graph, path.stem, {path.name}, named)
        return program.encode(), files
    if format == "python":
        return _program(graph, path, named)
    if format == "cpp":
        return _cpp(graph, path)
    sidecar = f"{path.name}.data"
    if format == "native":
        from dml2onnx.exporters.native import native

        text, data = native(graph, sidecar, named)
    else:
        from dml2onnx.exporters.dml_graph import dml_graph

        text, data = dml_graph(graph, sidecar, named)
    return text.encode(), {} if data is None else {sidecar: data}


def _program(graph: Graph, path: Path, named: Mapping[Path, str]) -> tuple[bytes, Mapping[str, Beside]]:
    from dml2onnx.exporters.archive import Archive
    from dml2onnx.source_code import python

    archive = f"{path.stem}.npz"
    program = python(graph, archive, named)
    return program.text.encode(), {archive: Archive(program.arrays)} if program.arrays else {}


def _cpp(graph: Graph, path: Path) -> tuple[bytes, Mapping[str, Beside]]:
    from dml2onnx.exporters.native_contents import Sidecar
    from dml2onnx.source_code import cpp

    raise_errors(graph.findings)
    raise_errors(obstacles(graph))
    text, weights = cpp(graph, path.stem)
    sidecar = Sidecar(f"{path.stem}.bin")
    for item, (position, data) in zip(graph.constants, weights, strict=True):
        start = sidecar.add(padded(data, item.value.nbytes), item.value.nbytes)
        assert start == position
    return text.encode(), {sidecar.name: sidecar} if weights else {}
