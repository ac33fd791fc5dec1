"""``dml2onnx run``: shows or writes the outputs of a model, and the provider and time of each node."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import render
from dml2onnx.cli.common_options import add_compiling, add_frozen, add_level, add_model, add_providers
from dml2onnx.cli.inputs import InputArguments
from dml2onnx.cli.lazily import answers, checks, file_names, resizing
from dml2onnx.cli.markup import escape
from dml2onnx.cli.models import compile_options, load_model
from dml2onnx.codes.running import INPUT_SHAPE
from dml2onnx.diagnostics import DmlError, Remedy, plural, raise_errors
from dml2onnx.files import make_directory, spare

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from dml2onnx.cli.render import Screen
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.execution import Execution
    from dml2onnx.ir.graph import Effect, Graph, Value
    from dml2onnx.onnx_model import Array
    from dml2onnx.report.answers import OutputContents, Printed, RunAnswer

MOST_VALUES = 1 << 16
"""The limit for elements of an output in JSON; larger outputs need ``--output-dir``."""
FIRST = 6
"""Elements of an output in the text."""
MOST_PRINTED = 1 << 20
"""The limit for elements of all print commands of a program, each of which could print terabytes."""
MERGED = "(folded or merged)"
"""Shown as the provider of nodes that ONNX Runtime's optimizer removed."""


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``run``."""
    add_model(parser)
    add_frozen(parser)
    add_level(parser)
    add_compiling(parser)
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input: a .npy, an array of a .npz (FILE.npz:ARRAY), or raw bytes; FILE.npz alone "
        "gives several inputs; arrays are in memory order, flat, or in the shape of the tensor (repeatable)",
    )
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="write each output as DIR/NAME.npy, in the shape of its tensor"
    )
    add_providers(parser)
    parser.add_argument("--profile", action="store_true", help="show the time of each ONNX node")
    parser.add_argument("--assignment", action="store_true", help="show the provider of each ONNX node")
    parser.add_argument(
        "--no-fallback",
        action="store_true",
        help="exit with 1, and list the nodes that ran on other providers, if there are any",
    )


def run_command(options: argparse.Namespace, screen: Screen) -> int:
    """Runs a model once, and shows or writes its outputs."""
    from dml2onnx.execution import execute

    unfrozen = [item for item in options.input if options.freeze and not re.search(r"=|\.npz$", item)]
    inputs = InputArguments([item for item in options.input if item not in unfrozen], options.max_bytes)
    graph = load_model(options, screen, inputs.names.union(unfrozen))
    with screen.counting("run") as progress:
        try:
            execution = execute(
                graph,
                inputs,
                options.provider,
                compile_options(options),
                profile=options.profile,
                assignment=options.assignment or options.no_fallback,
                max_bytes=options.max_bytes,
                progress=progress,
            )
        except DmlError as error:
            if not any(item.code == INPUT_SHAPE.id for item in error.diagnostics):
                raise
            raise DmlError(*_with_sizes(error.diagnostics, graph, inputs)) from None
    written: list[Path] = []
    failures: list[Diagnostic] = []
    if options.output_dir is not None:
        written, failures = _write_results(execution, options.output_dir, [*graph.sources, *inputs.sources])
    if options.no_fallback:
        failures += execution.fell_back
    answer = _answer(execution, options, written, failures)
    if not screen.answered(answer):
        _show_run(answer, screen, options.output_dir)
        screen.diagnostics([*execution.warnings, *failures])
    return 1 if failures else 0


def _with_sizes(found: Sequence[Diagnostic], graph: Graph, inputs: InputArguments) -> Iterator[Diagnostic]:
    """Adds the remedy ``--size`` to findings about shapes, if the graph can have the sizes of the arrays."""
    from dml2onnx.cli.sizes import sizes_of_inputs

    known = {} if graph.named_sizes else sizes_of_inputs(graph)
    other = {
        name: shape
        for name, sizes in known.items()
        if len(shape := inputs.shapes.get(name, sizes)) == len(sizes) and shape != sizes
    }
    remedies: list[Remedy] = []
    if other:
        with suppress(DmlError):
            raise_errors(checks.check(resizing.resize(graph, other)))
            how = [f"--size {name}={','.join(map(str, shape))}" for name, shape in other.items()]
            remedies.append(Remedy(" ".join(how)))
    for item in found:
        yield replace(item, remedies=(*item.remedies, *remedies)) if item.code == INPUT_SHAPE.id else item


def _answer(
    execution: Execution, options: argparse.Namespace, written: Sequence[Path], failures: Sequence[Diagnostic]
) -> RunAnswer:
    files = [effect.path for effect, _ in execution.shown if effect.kind == "writeFile"]
    return answers.RunAnswer(
        diagnostics=(*execution.model.warnings, *execution.warnings, *failures),
        files=tuple(map(str, written)),
        file_bytes=answers.sizes_of(written),
        provider=str(options.provider),
        opset=execution.model.opset,
        target=execution.model.target,
        passes=execution.model.passes,
        outputs=tuple(_contents(name, array) for name, array in execution.results.items()),
        printed=tuple(_all_printed(execution.shown)),
        left_out=tuple(files) if options.output_dir is None else (),
        profile=tuple(
            answers.NodeCost(item.name, item.operator, item.microseconds, item.provider) for item in execution.times
        ),
        assignment=tuple(
            answers.NodePlace(item.name, item.operator, item.provider, item.node)
            for item in execution.assignment
            if options.assignment
        ),
    )


def _contents(name: str, array: Array) -> OutputContents:
    values = render.plain(array) if array.size <= MOST_VALUES else None
    first = render.plain(array.reshape(-1)[:FIRST])
    return answers.OutputContents(name, str(array.dtype), array.shape, values, first)


def _all_printed(shown: Sequence[tuple[Effect, Array]]) -> Iterator[Printed]:
    left = MOST_PRINTED
    for effect, array in shown:
        if effect.kind == "print":
            yield _printed(effect, array, left)
            left = max(left - array.size, 0)


def _printed(effect: Effect, array: Array, most: int) -> Printed:
    """A flat list as in DxDispatch, with the bits of each element for verbose commands."""
    flat = array.reshape(-1)[:most]
    width = 2 * flat.itemsize
    bits = tuple(f"0x{item:0{width}X}" for item in flat.view(f"u{flat.itemsize}").tolist()) if effect.verbose else ()
    return answers.Printed(effect.output.name, str(flat.dtype), render.plain(flat), bits, array.size - flat.size)


def _show_run(answer: RunAnswer, screen: Screen, directory: Path | None) -> None:
    for printed in answer.printed:
        _show_printed(printed, screen)
    rows = [
        (item.name, item.data_type, render.shape(item.shape), render.preview(item.first, prod(item.shape)))
        for item in answer.outputs[: render.MOST_PORTS]
    ]
    screen.table(["output", "data type", "shape", "contents"], rows)
    if len(answer.outputs) > render.MOST_PORTS:
        screen.say(f"... and {plural(len(answer.outputs) - render.MOST_PORTS, 'more output')}; --json has all of them")
    if answer.profile:
        slowest = sorted(answer.profile, key=lambda item: -item.microseconds)
        screen.say()
        screen.table([">µs", "operator", "ONNX node"], [(f"{i.microseconds:.0f}", i.operator, i.name) for i in slowest])
    if answer.assignment:
        screen.say()
        rows = [(i.provider or MERGED, i.operator, i.name, i.node) for i in answer.assignment]
        screen.table(["provider", "operator", "ONNX node", "DirectML node"], rows)
    if answer.files:
        screen.say(f"\n[bold green]wrote[/] {plural(len(answer.files), 'file', 'no')} to {escape(str(directory))}")
    elif answer.left_out:
        screen.say("\nthe model's writeFile commands were skipped; choose their directory with --output-dir")


def _write_results(
    execution: Execution, directory: Path, sources: Sequence[Path]
) -> tuple[list[Path], list[Diagnostic]]:
    """Runs the writeFile commands, and writes the results that they have not written.

    Returns the written files, and the findings about the others: a failure does not prevent other files.
    """
    from dml2onnx.execution import save_npy, write_effect

    make_directory(directory)
    files: dict[Path, None] = {}
    failures: list[Diagnostic] = []
    by_commands: set[tuple[Path, Value]] = set()
    for effect, array in execution.shown:
        if effect.kind == "writeFile":
            with _collected(failures):
                path = write_effect(effect, array, directory, sources)
                files[path] = None
                by_commands.add((path, effect.output.value))
    root = directory.resolve()
    taken = {path.name.removesuffix(".npy").lower() for path in files if path.parent == root}
    stems: set[str] = set()
    for output in execution.outputs:
        stem = _file_stem(output.name, stems)
        if (root / f"{stem}.npy", output.value) in by_commands:
            continue
        if stem.lower() in taken:
            stem = _file_stem(output.name, taken | stems)
        stems.add(stem.lower())
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
    """A file name for an output that is unique, ignoring case."""
    stem = file_names.free_name(file_names.file_stem(name) or "output", lambda stem: stem.lower() in taken)
    taken.add(stem.lower())
    return stem


def _show_printed(printed: Printed, screen: Screen) -> None:
    values = map(render.brief, printed.values)
    rest = f"... and {plural(printed.left_out, 'more element', 'no')}" if printed.left_out else ""
    if not printed.bits:
        screen.say(f"Resource '{escape(printed.resource)}': {', '.join([*values, rest] if rest else values)}")
        return
    screen.say(f"Resource '{escape(printed.resource)}':")
    for index, (value, bits) in enumerate(zip(values, printed.bits, strict=True)):
        screen.say(f"  {index}: {value} ({bits})")
    if rest:
        screen.say(f"  {rest}")
