"""``dml2onnx convert``: writes a model in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_freeze, add_model
from dml2onnx.cli.lazily import answers, exporters, resizing
from dml2onnx.cli.models import load_model, model_file
from dml2onnx.cli.render import files_written
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, quote

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen
    from dml2onnx.ir.graph import Graph

OTHER_SUFFIXES = frozenset({".onnx", ".npy", ".npz", ".data", ".png", ".jpg", ".jpeg"})
"""Suffixes of files that go with models, which are mistakes for a graph."""
SUFFIXES = {
    **dict.fromkeys(("native", "dml_graph", "dxdispatch"), ".json"),
    "serialized": ".bin",
    "python": ".py",
    "cpp": ".cpp",
}
"""The usual suffix of each format; that of another one is a mistake."""


def _beside(model: Path, graph: Graph, format: str | None) -> Path:
    """A new file beside the model: ``model.json`` for ``model.bin``, ``model.native.json`` for another JSON."""
    if format is None and graph.format == "native":
        message = f"{quote(model.name)} is already native; choose another format with --format or -o"
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="--format or -o", found="native"))
    suffix = SUFFIXES[format or "native"]
    path = model.with_suffix(suffix)
    if path == model:
        path = model.with_suffix(f".{format or 'native'}{suffix}")
    if path.exists():
        message = f"{quote(str(path))} already exists; choose the file to write with -o"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT", found=str(path)))
    return path


def convert_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``convert``."""
    add_model(parser)
    add_freeze(parser)
    parser.add_argument(
        "-o", "--output", type=texts.output, metavar="OUT", help="file to write, or - (default: a new one beside MODEL)"
    )
    parser.add_argument(
        "--format",
        choices=["native", "dml_graph", "serialized", "dxdispatch", "python", "cpp"],
        help="format to write; python is a program of the builder, with its weights in a .npz file beside it, cpp one "
        "of DirectMLX, with a .bin file (default: native for OUT.json, serialized for OUT.bin, python for OUT.py, cpp "
        "for OUT.cpp)",
    )


def convert_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes a model in another format."""
    graph = resizing.at_stated_numbers(load_model(options, screen, frozenset(options.input)))
    output = _beside(model_file(options, graph), graph, options.format) if options.output is None else options.output
    suffix = output.suffix.lower() if isinstance(output, Path) else ""
    right = SUFFIXES.get(options.format)
    if suffix in OTHER_SUFFIXES or (right and suffix != right and suffix in SUFFIXES.values()):
        what = f"a file of the format {options.format}" if right else "a graph"
        message = f"{quote(output.name)} does not name {what}: {suffix} files are something else"
        message += "; dml2onnx compile writes ONNX models" if suffix == ".onnx" else ""
        expected = f"OUT{right}" if right else "OUT.json or OUT.bin"
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected=expected, found=str(output)))
    with screen.working("writing"):
        files = exporters.export(graph, output, options.format)
    answer = answers.ConvertAnswer(
        diagnostics=(*graph.findings, *exporters.left_out(graph, output, options.format)),
        files=tuple(map(str, files)),
        file_bytes=answers.sizes_of(files),
        source=graph.format,
        directml_nodes=len(graph.nodes),
    )
    if screen.answered(answer):
        return 0
    screen.diagnostics(answer.diagnostics)
    screen.say(f"[bold green]wrote[/] {files_written(answer.files, answer.file_bytes)}")
    return 0
