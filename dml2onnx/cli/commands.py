"""What each command does; every function returns the exit code."""

from __future__ import annotations

import re
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from dml2onnx.checks import minimum_feature_level
from dml2onnx.cli import render
from dml2onnx.cli.inputs import GivenInputs
from dml2onnx.cli.models import count, level_text, load_model
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, quote
from dml2onnx.execution import execute, save_npy, write_effect
from dml2onnx.files import check_target, spare
from dml2onnx.frontends.names import file_stem
from dml2onnx.writer import is_compiled

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from dml2onnx.cli.render import Screen
    from dml2onnx.compiler import CompiledModel
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.execution import Execution
    from dml2onnx.files import Target
    from dml2onnx.ir.graph import Graph, Value
    from dml2onnx.model import Array, Port


OTHER_SUFFIXES = frozenset({".json", ".bin", ".npy", ".npz", ".py", ".dat", ".data", ".png", ".jpg", ".jpeg"})
"""Names of what models are made of, and never what a model is called."""
MOST_VALUES = 1 << 16
"""Elements of an output that are listed as JSON; larger ones go to files (``--output-dir``)."""


def _ports(ports: tuple[Port, ...]) -> list[dict[str, object]]:
    return [
        {"name": port.name, "onnx_name": port.onnx_name, "data_type": str(port.dtype), "shape": list(port.shape)}
        for port in ports
    ]


def compile_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes an ONNX model."""
    started = time.perf_counter()
    graph = load_model(options, screen, frozenset(options.input))
    output = default_model(options.model) if options.output is None else options.output
    spare_sources(output, graph)
    with screen.counting("compiling") as progress:
        model = compile(
            graph,
            outputs=options.graph_output,
            opset=options.opset,
            target=options.target,
            feature_level=options.feature_level,
            shapes=options.shapes,
            progress=progress,
        )
    with screen.working("writing"):
        files = model.save(output, external_data=options.external_data)
    seconds = time.perf_counter() - started
    if screen.as_json:
        document = {
            "files": [str(path) for path in files],
            "directml_nodes": len(graph.nodes),
            "onnx_nodes": model.node_count,
            "opset": model.opset,
            "inputs": _ports(model.inputs),
            "outputs": _ports(model.outputs),
            "weight_bytes": model.weight_bytes,
            "minimum_feature_level": getattr(minimum_feature_level(graph), "name", None),
            "seconds": round(seconds, 4),
            "diagnostics": [item.as_dict() for item in model.warnings],
        }
        screen.json(document)
        return 0
    screen.diagnostics(model.warnings)
    if screen.quiet:
        return 0
    _summarise(graph, model, screen)
    screen.say(f"\n[bold green]wrote[/] {files_written(files)} in {seconds:.2f} s")
    return 0


def spare_sources(target: Target, graph: Graph) -> None:
    """Refuses to write a model where nothing can be written, or over what the graph was read from."""
    if isinstance(target, Path):
        check_target(target)
        spare([target, target.with_name(target.name + ".data")], graph.sources)
        if target.suffix.lower() in OTHER_SUFFIXES:
            message = f"{quote(target.name)} is no name of an ONNX model: {target.suffix} files are something else"
            raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="OUT.onnx", found=str(target)))


def default_model(model: str) -> Path:
    """``model.onnx`` beside ``model.json``, which may be there only if it was compiled before."""
    path = Path(model).with_suffix(".onnx")
    if path.exists() and not is_compiled(path):
        message = f"{quote(str(path))} is there, and dml2onnx has not made it; say with -o which file to write"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT.onnx", found=str(path)))
    return path


def files_written(files: Sequence[Path]) -> str:
    """The files that a command has written, with their sizes."""
    if not files:
        return "to standard output"
    return ", ".join(
        f"{escape(str(path))} ({render.size(path.stat().st_size)})" if path.is_file() else escape(str(path))
        for path in files
    )


def _summarise(graph: Graph, model: CompiledModel, screen: Screen) -> None:
    kinds = Counter(node.op_type for node in model.lowered.nodes)
    listed = ", ".join(f"{count} {name}" for name, count in kinds.most_common(6))
    rest = sum(kinds.values()) - sum(count for _, count in kinds.most_common(6))
    onnx_nodes = f"{model.node_count} ({listed}{f', {rest} others' if rest else ''})"
    screen.table(
        ["", ""],
        [
            ("DirectML nodes", len(graph.nodes)),
            ("ONNX nodes", onnx_nodes),
            ("weights", render.size(model.weight_bytes)),
            ("opset", model.opset),
            ("needs feature level", level_text(minimum_feature_level(graph))),
        ],
    )
    rows = [("input", port.name, port.dtype, render.shape(port.shape)) for port in model.inputs]
    rows += [("output", port.name, port.dtype, render.shape(port.shape)) for port in model.outputs]
    screen.say()
    screen.table(["", "name", "data type", "shape in memory"], rows)


def run_command(options: argparse.Namespace, screen: Screen) -> int:
    """Runs a model once and shows or writes what it computes."""
    kept = [item for item in options.input if options.freeze and not re.search(r"=|\.npz$", item)]
    inputs = GivenInputs([item for item in options.input if item not in kept])
    graph = load_model(options, screen, inputs.names.union(kept))
    with screen.working("compiling and running"):
        execution = execute(
            graph,
            inputs,
            options.provider,
            opset=options.opset,
            target=options.target,
            feature_level=options.feature_level,
            profile=options.profile,
        )
    written: list[Path] = []
    failures: list[Diagnostic] = []
    if options.output_dir is not None:
        written, failures = _write_results(execution, options.output_dir, [*graph.sources, *inputs.sources])
    if screen.as_json:
        screen.json(
            {
                "outputs": [
                    {
                        "name": name,
                        "data_type": str(array.dtype),
                        "shape": list(array.shape),
                        "values": [render.plain(item) for item in array.reshape(-1)]
                        if array.size <= MOST_VALUES
                        else None,
                    }
                    for name, array in execution.results.items()
                ],
                "printed": [
                    {"resource": effect.output.name, "values": [render.plain(item) for item in array.reshape(-1)]}
                    for effect, array in execution.shown
                    if effect.kind == "print"
                ],
                "files": [str(path) for path in written],
                "diagnostics": [item.as_dict() for item in failures],
                "profile": [
                    {"name": item.name, "operator": item.operator, "microseconds": item.microseconds}
                    for item in execution.times
                ],
            }
        )
        return 1 if failures else 0
    for effect, array in execution.shown:
        if effect.kind == "print":
            _print_resource(effect.output.name, array, effect.verbose, screen)
    screen.table(["output", "data type", "shape", "contents"], render.array_summary(execution.results))
    if execution.times:
        slowest = sorted(execution.times, key=lambda item: -item.microseconds)
        screen.say()
        screen.table([">µs", "operator", "ONNX node"], [(f"{i.microseconds:.0f}", i.operator, i.name) for i in slowest])
    if written:
        screen.say(f"\n[bold green]wrote[/] {count(len(written), 'file')} to {escape(str(options.output_dir))}")
    elif any(effect.kind == "writeFile" for effect, _ in execution.shown):
        screen.say("\nthe model's writeFile commands were not carried out: say where to with --output-dir")
    screen.diagnostics(failures)
    return 1 if failures else 0


def _write_results(
    execution: Execution, directory: Path, sources: Sequence[Path]
) -> tuple[list[Path], list[Diagnostic]]:
    """Carries out the writeFile commands, and writes the results that they have not written.

    Returns the files written and why the others are not: one that fails stands in the way of no other.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make {quote(str(directory))}: {error.strerror}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, found=str(directory))) from None
    files: dict[Path, None] = {}
    failures: list[Diagnostic] = []
    shown: set[tuple[Path, Value]] = set()
    for effect, array in execution.shown:
        if effect.kind == "writeFile":
            with _collected(failures):
                path = write_effect(effect, array, directory, sources)
                files[path] = None
                shown.add((path, effect.output.value))
    root = directory.resolve()
    taken = {path.name.removesuffix(".npy").lower() for path in files if path.parent == root}
    own: set[str] = set()
    for output in execution.outputs:
        stem = _file_stem(output.name, own)
        if (root / f"{stem}.npy", output.value) in shown:
            continue  # the program itself has said how that file is to be written
        if stem.lower() in taken:
            stem = _file_stem(output.name, taken | own)
        own.add(stem.lower())
        path = directory / f"{stem}.npy"
        with _collected(failures):
            spare([path], sources)
            save_npy(path, execution.results[output.name])
            files[path] = None
    return list(files), failures


@contextmanager
def _collected(failures: list[Diagnostic]) -> Iterator[None]:
    try:
        yield
    except DmlError as error:
        failures.extend(error.diagnostics)


def _file_stem(name: str, taken: set[str]) -> str:
    """A file name for an output: names of resources may differ only in case."""
    stem = candidate = file_stem(name) or "output"
    count = 1
    while candidate.lower() in taken:
        count += 1
        candidate = f"{stem}_{count}"
    taken.add(candidate.lower())
    return candidate


def _print_resource(name: str, array: Array, verbose: bool, screen: Screen) -> None:
    """As DxDispatch prints: a flat list, or with ``verbose`` one line per element with its bits."""
    if screen.quiet:
        return
    flat = array.reshape(-1)
    if not verbose:
        screen.say(f"Resource '{escape(name)}': {', '.join(map(render.number, flat))}")
        return
    screen.say(f"Resource '{escape(name)}':")
    bits = flat.view(f"u{flat.itemsize}")
    for index, (item, raw) in enumerate(zip(flat, bits, strict=True)):
        screen.say(f"  {index}: {render.number(item)} (0x{int(raw):0{2 * flat.itemsize}X})")
