"""``dml2onnx compile``: writes an ONNX model and shows a summary of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import render, texts
from dml2onnx.cli.common_options import add_compiling, add_freeze, add_level, add_model, add_written
from dml2onnx.cli.lazily import answers, compiler, targets, writer
from dml2onnx.cli.models import compile_options, level_text, load_model, model_file
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, plural, quote
from dml2onnx.files import check_target, spare

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen
    from dml2onnx.files import Destination
    from dml2onnx.ir.graph import Graph
    from dml2onnx.report.answers import BufferRecord, CompileAnswer

OTHER_SUFFIXES = frozenset(
    {".json", ".bin", ".npy", ".npz", ".py", ".cpp", ".dat", ".data", ".png", ".jpg", ".jpeg"}
    | {".engine", ".h5", ".mlmodel", ".pb", ".pt", ".pth", ".safetensors", ".tflite", ".xml"}
)
"""Suffixes of weights, programs, and models in other formats, which are mistakes for an ONNX model."""
CONVERTED = frozenset({".json", ".bin", ".py", ".cpp"})
"""Suffixes of files that ``convert`` writes."""
MOST_KINDS = 6
"""ONNX operators that the summary counts one by one."""


def compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``compile``."""
    add_model(parser)
    add_freeze(parser)
    add_level(parser)
    add_compiling(parser, targets.DEFAULT_TARGET)
    parser.add_argument(
        "-o",
        "--output",
        type=texts.output,
        metavar="OUT.onnx",
        help="file to write, or - (default: beside MODEL; replaces only an earlier result)",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="refer to weight files beside OUT.onnx or below instead of copying them",
    )
    add_written(parser)
    parser.add_argument(
        "--graph-output",
        action="append",
        default=None,
        metavar="NAME",
        help="compile only what this output or resource needs (repeatable; default: the model's outputs)",
    )


def compile_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes an ONNX model."""
    started = time.perf_counter()
    graph = load_model(options, screen, frozenset(options.input))
    output = _default_model(model_file(options, graph)) if options.output is None else options.output
    _spare_sources(output, graph)
    with screen.counting("compiling") as progress:
        model = compiler.compile_graph(graph, compile_options(options), options.graph_output, progress)
    with screen.working("writing"):
        files = model.save(output, external_data=options.external_data, in_place=options.in_place)
        external = writer.places_of(model.lowered, files[0]) if options.in_place else {}
    in_place = sorted({place["location"] for place in external.values()})
    answer = answers.compiled(graph, model, files, time.perf_counter() - started, in_place=in_place)
    if screen.answered(answer):
        return 0
    screen.diagnostics(answer.diagnostics)
    if not screen.quiet:
        _show_compiled(answer, screen)
    return 0


def _spare_sources(target: Destination, graph: Graph) -> None:
    """Raises if the target cannot be written, is a source of the graph, or has the suffix of another format."""
    if isinstance(target, Path):
        check_target(target)
        spare([target, *writer.data_paths(target)], graph.sources)
        if target.suffix.lower() in OTHER_SUFFIXES:
            message = f"{quote(target.name)} does not name an ONNX model: {target.suffix} files are something else"
            if target.suffix.lower() in CONVERTED:
                message += "; dml2onnx convert writes them"
            raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="OUT.onnx", found=str(target)))


def _default_model(model: Path) -> Path:
    """``model.onnx`` beside ``model.json``; only an earlier result may be replaced."""
    path = model.with_suffix(".onnx")
    if path.exists() and not writer.is_compiled(path):
        message = f"{quote(str(path))} exists and was not written by dml2onnx; choose the file to write with -o"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT.onnx", found=str(path)))
    return path


def _show_compiled(answer: CompileAnswer, screen: Screen) -> None:
    most = list(answer.operators.items())[:MOST_KINDS]
    rest = answer.onnx_nodes - sum(number for _, number in most)
    listed = ", ".join(f"{number} {name}" for name, number in most) + (f", {plural(rest, 'other')}" if rest else "")
    later = f"; opset {answer.later_opset} needs fewer nodes" if answer.later_opset else ""
    in_place = f", some of it in {plural(len(answer.in_place), 'file', 'no')} in place" if answer.in_place else ""
    float32 = f", {plural(len(answer.stay_float32), 'node')} in FLOAT32" if answer.stay_float32 else ""
    precision = [("precision", f"FLOAT16{float32}")] if answer.half else []
    screen.table(
        ["", ""],
        [
            ("DirectML nodes", answer.directml_nodes),
            ("ONNX nodes", f"{answer.onnx_nodes} ({listed})"),
            ("weights", render.size(answer.weight_bytes) + in_place),
            *precision,
            ("opset", f"{answer.opset} (IR version {answer.ir_version}){later}"),
            *([("named sizes", answer.named_sizes)] if answer.named_sizes else []),
            ("needs feature level", level_text(answer.minimum_feature_level, answer.ships_with)),
        ],
    )
    ends: tuple[tuple[str, tuple[BufferRecord, ...]], ...] = (("input", answer.inputs), ("output", answer.outputs))
    rows = [
        (kind, item.name, item.data_type, render.shape(item.shape))
        for kind, items in ends
        for item in items[: render.MOST_PORTS]
    ]
    screen.say()
    screen.table(["", "name", "data type", "shape in memory"], rows)
    for kind, items in ends:
        if len(items) > render.MOST_PORTS:
            screen.say(f"... and {plural(len(items) - render.MOST_PORTS, f'more {kind}')}; --json lists all of them")
    screen.say(
        f"\n[bold green]wrote[/] {render.files_written(answer.files, answer.file_bytes)} in {answer.seconds:.2f} s"
    )
