"""Exporters: graphs in the formats that the front ends read, to be edited, or for programs that speak one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.codes.exporting import LEFT_OUT, UNKNOWN_TARGET
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.exporters.files import spare_sources, write_files
from dml2onnx.frontends import load
from dml2onnx.frontends.findings import listing
from dml2onnx.ir.graph import Graph

if TYPE_CHECKING:
    import os

    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.data import Data

__all__ = ["FORMATS", "convert", "export", "left_out"]

FORMATS = ("native", "dml_graph", "serialized")
_BY_SUFFIX = {".json": "native", ".bin": "serialized"}


def convert(
    model: Graph | str | os.PathLike[str], path: str | os.PathLike[str], format: str | None = None
) -> list[Path]:
    """Writes a graph, or the model file at a path, in another format, and returns the files written.

    ``format`` is ``"native"``, ``"dml_graph"`` or ``"serialized"``; without it the suffix of ``path`` decides:
    ``.json`` is native, ``.bin`` serialized. Nothing is lost in the native format; what the others have no place for
    (sample contents of inputs, feature levels, commands) is left out, which :func:`left_out` tells. Large constants
    go to files beside ``path``: ``<path>.data`` or, of a serialized graph, one for each. The file that is converted,
    and those it names, are never overwritten. Raises :class:`DmlError` with the errors found while the graph was read,
    or with everything that the other format cannot say.
    """
    graph = model if isinstance(model, Graph) else load(model)
    return export(graph, Path(path), format, None if isinstance(model, Graph) else Path(model))


def export(graph: Graph, path: Path, format: str | None = None, model: Path | None = None) -> list[Path]:
    """As :func:`convert`; ``model`` is the file that the graph was read from."""
    chosen = format or _BY_SUFFIX.get(path.suffix.lower(), "")
    if chosen not in FORMATS:
        found = quote(format or path.suffix)
        message = f"{found} is no format to write" if format else f"{quote(path.name)} does not say in which format"
        raise DmlError(UNKNOWN_TARGET.at(message, expected=", ".join(FORMATS), found=found))
    spare_sources([path], graph, model)
    contents, beside = _contents(graph, path, chosen)
    spare_sources([path.with_name(name) for name in beside], graph, model)
    return write_files(path, contents, beside)


def left_out(graph: Graph, path: Path, format: str | None = None) -> list[Diagnostic]:
    """What a conversion to ``path`` has no place for, as warnings; nothing for the native format."""
    chosen = format or _BY_SUFFIX.get(path.suffix.lower(), "")
    if chosen not in ("dml_graph", "serialized"):
        return []
    samples = [quote(item.name) for item in graph.inputs if item.default is not None]
    parts = {
        f"the sample contents of {listing(samples)}": bool(samples),
        f"the feature level {graph.feature_level}": graph.feature_level is not None,
        "what the commands print and write": bool(graph.effects),
    }
    return [LEFT_OUT.at(f"the format {chosen} has no place for {part}") for part, there in parts.items() if there]


def _contents(graph: Graph, path: Path, format: str) -> tuple[bytes, dict[str, Data]]:
    """What belongs into the file, and into others beside it by their names."""
    if format == "serialized":
        from dml2onnx.exporters.serialized import serialized

        return serialized(graph, {path.name})
    sidecar = f"{path.name}.data"
    if format == "native":
        from dml2onnx.exporters.native import native

        text, data = native(graph, sidecar)
    else:
        from dml2onnx.exporters.dml_graph import dml_graph

        text, data = dml_graph(graph, sidecar)
    return text.encode(), {} if data is None else {sidecar: data}
