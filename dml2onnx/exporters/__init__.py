"""Exporters: write graphs in the formats that the front ends read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx import arguments
from dml2onnx.codes.exporting import FILE_TO_COME, LEFT_OUT, UNKNOWN_TARGET
from dml2onnx.diagnostics import Diagnostic, DmlError, quote, raise_errors
from dml2onnx.exporters.dxdispatch import dxdispatch, lost
from dml2onnx.exporters.files import write_files
from dml2onnx.exporters.references import references
from dml2onnx.exporters.serialized import lost_descriptors, serialized
from dml2onnx.exporters.whole_tensors import lost_effects, obstacles
from dml2onnx.files import Destination, check_target, spare
from dml2onnx.frontends import graph_of
from dml2onnx.frontends.findings import listing
from dml2onnx.ir.data import Data, padded
from dml2onnx.ir.graph import Graph

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import BinaryIO

__all__ = ["FORMATS", "GRAPHS", "convert", "export", "left_out"]

GRAPHS = ("native", "dml_graph", "serialized", "dxdispatch")
"""Formats that are read, too."""
FORMATS = (*GRAPHS, "python", "cpp")
_BY_SUFFIX = {".json": "native", ".bin": "serialized", ".py": "python", ".cpp": "cpp"}


def convert(
    model: Graph | str | os.PathLike[str], path: str | os.PathLike[str] | BinaryIO, format: str | None = None
) -> list[Path]:
    """Writes a graph, or the model file at a path, in another format, and returns the files written.

    ``format`` is ``"native"``, ``"dml_graph"``, ``"serialized"``, ``"dxdispatch"``, ``"python"``, a program of the
    builder, or ``"cpp"``, one of DirectMLX; without it the suffix of ``path`` decides: ``.json`` is native, ``.bin``
    serialized, ``.py`` and ``.cpp`` are programs. Nothing is lost in the native format; what the others have no place
    for (sample contents of inputs, feature levels, commands, and in a serialized graph descriptors of inputs and
    outputs) is left out, which :func:`left_out` tells. Large constants go to files beside ``path``: ``<path>.data`` or,
    of a serialized graph and of a DxDispatch program, one for each, of a Python program ``<stem>.npz``, of one in C++
    ``<stem>.bin``. The file that is converted, and those it names, are never overwritten. Raises :class:`DmlError` with
    the errors found while the graph was read, or with everything that the other format cannot say.
    """
    target = arguments.target_of(path)
    if format is not None:
        format = arguments.text(format, "format", f"one of {', '.join(FORMATS)}")
    return export(graph_of(model), target, format)


def export(graph: Graph, target: Destination, format: str | None = None) -> list[Path]:
    """As :func:`convert`, into a file by its name or an open one."""
    path = _path(target)
    chosen = _format(target, format)
    if chosen not in FORMATS:
        suffix = target.suffix if isinstance(target, Path) else ""
        found = quote(format or suffix)
        unsaid = (
            f"{_named(target)} does not say in which format; .json, .bin, .py and .cpp do, and --format (format=) does"
        )
        message = f"{found} is no format to write" if format else unsaid
        raise DmlError(UNKNOWN_TARGET.at(message, expected=", ".join(FORMATS), found=found))
    if isinstance(target, Path):
        check_target(target)
        spare([target], graph.sources)
    contents, beside = _contents(graph, path, chosen)
    spare([path.with_name(name) for name in beside], graph.sources)
    return write_files(target, contents, beside)


def _format(target: Destination, format: str | None) -> str:
    return format or (_BY_SUFFIX.get(target.suffix.lower(), "") if isinstance(target, Path) else "")


def _path(target: Destination) -> Path:
    """A name for what has none: files that lie beside it are refused anyway."""
    return target if isinstance(target, Path) else Path("graph")


def _named(target: Destination) -> str:
    return quote(target.name) if isinstance(target, Path) else "an open file"


def left_out(graph: Graph, target: Destination, format: str | None = None) -> list[Diagnostic]:
    """What a conversion to ``target`` has no place for, as warnings; nothing for the native format."""
    chosen = _format(target, format)
    path = _path(target)
    directory = path.parent.resolve()
    missing = [
        FILE_TO_COME.at(
            f"{quote(source.name)} is not there; it is to be {quote(name)} beside {quote(path.name)}", found="no file"
        )
        for source, name in references(graph, directory, _written(path)).items()
        if directory / name != source
    ]
    if graph.named_sizes and chosen != "native":
        named = listing(
            list(dict.fromkeys(size for own in graph.named_sizes.values() for size in own if isinstance(size, str)))
        )
        missing.append(LEFT_OUT.at(f"the format {chosen} has no place for the names {named} of sizes"))
    if chosen == "dxdispatch":
        return missing + [LEFT_OUT.at(f"the format {chosen} has no place for {part}") for part in lost(graph)]
    if chosen == "python":
        return missing + [LEFT_OUT.at(f"the format {chosen} has no place for {part}") for part in _unprogrammed(graph)]
    if chosen not in ("dml_graph", "serialized", "cpp"):
        return missing
    views = lost_descriptors(graph) if chosen in ("serialized", "cpp") else []
    samples = [quote(item.name) for item in graph.inputs if item.default is not None]
    parts = {
        f"the sample contents of {listing(samples)}": bool(samples),
        f"the feature level {graph.feature_level}": graph.feature_level is not None,
        "what the commands print and write": bool(graph.effects),
        f"other descriptors than those of the nodes, which {listing(views)} had": bool(views),
    }
    return [*missing, *lost_effects(graph)] + [
        LEFT_OUT.at(f"the format {chosen} has no place for {part}") for part, there in parts.items() if there
    ]


def _unprogrammed(graph: Graph) -> list[str]:
    """What a program of the builder leaves out."""
    read = {value for node in graph.nodes for value in node.sources}
    read |= {item.value for item in (*graph.outputs, *graph.results)}
    unread = [quote(item.value.name) for item in graph.constants if item.value not in read]
    parts = {
        "what the commands print and write": bool(graph.effects),
        f"what nobody reads: {listing(unread)}": bool(unread),
    }
    return [part for part, there in parts.items() if there]


def _written(path: Path) -> tuple[str, str]:
    """The names that files written to ``path`` have at most, apart from those of serialized constants."""
    return path.name, f"{path.name}.data"


def _contents(graph: Graph, path: Path, format: str) -> tuple[bytes, dict[str, Data]]:
    """What belongs into the file, and into others beside it by their names."""
    named = references(graph, path.parent, _written(path))
    if format == "serialized":
        return serialized(graph, {path.name}, named)
    if format == "dxdispatch":
        program, files = dxdispatch(graph, path.stem, {path.name}, named)
        return program.encode(), files
    if format in ("python", "cpp"):
        return (_program if format == "python" else _cpp)(graph, path, named)
    sidecar = f"{path.name}.data"
    if format == "native":
        from dml2onnx.exporters.native import native

        text, data = native(graph, sidecar, named)
    else:
        from dml2onnx.exporters.dml_graph import dml_graph

        text, data = dml_graph(graph, sidecar, named)
    return text.encode(), {} if data is None else {sidecar: data}


def _program(graph: Graph, path: Path, named: Mapping[Path, str]) -> tuple[bytes, dict[str, Data]]:
    from dml2onnx.exporters.archive import Archive
    from dml2onnx.source_code import python

    archive = f"{path.stem}.npz"
    program = python(graph, archive, named)
    return program.text.encode(), {archive: Archive(program.arrays)} if program.arrays else {}


def _cpp(graph: Graph, path: Path, named: Mapping[Path, str]) -> tuple[bytes, dict[str, Data]]:
    from dml2onnx.exporters.native_contents import Sidecar
    from dml2onnx.source_code import cpp

    raise_errors(graph.findings)
    raise_errors(obstacles(graph))
    text, placed = cpp(graph, path.stem, named)
    weights = Sidecar(f"{path.stem}.bin")
    for item, (position, data) in zip(graph.constants, placed, strict=True):
        assert weights.add(padded(data, item.value.nbytes), item.value.nbytes) == position
    return text.encode(), {weights.name: weights} if placed else {}
