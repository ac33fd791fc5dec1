"""What each command does; every function returns the exit code."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape

from dml2onnx import catalog
from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.cli import render
from dml2onnx.codes import all_codes
from dml2onnx.codes.running import INPUT_UNREADABLE, OUTPUT_UNWRITABLE
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError, Severity, UnreadableError
from dml2onnx.execution import execute, save_npy, write_effect
from dml2onnx.exporters.files import spare_sources
from dml2onnx.frontends import LoadOptions, load
from dml2onnx.lowering.registry import lowerings
from dml2onnx.verification import verify

if TYPE_CHECKING:
    import argparse

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.cli.render import Screen
    from dml2onnx.compiler import CompiledModel
    from dml2onnx.execution import Execution
    from dml2onnx.ir.graph import Graph
    from dml2onnx.lowering.driver import Port
    from dml2onnx.lowering.emitter.core import Array


def load_model(options: argparse.Namespace, screen: Screen, inputs: frozenset[str] = frozenset()) -> Graph:
    """Reads the model as the command line says; ``inputs`` stay inputs."""
    with screen.working("reading"):
        return load(
            options.model,
            LoadOptions(
                constants=frozenset(options.constant),
                inputs=inputs,
                freeze=getattr(options, "freeze", False),
                allow_paths=tuple(options.allow_path),
            ),
        )


def _level_text(level: FeatureLevel | None) -> str:
    return "none admits it" if level is None else f"{level.name} ({level.info.ships_with})"


def _ports(ports: tuple[Port, ...]) -> list[dict[str, object]]:
    return [
        {"name": port.name, "onnx_name": port.onnx_name, "data_type": str(port.dtype), "shape": list(port.shape)}
        for port in ports
    ]


def compile_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes an ONNX model."""
    started = time.perf_counter()
    graph = load_model(options, screen, frozenset(options.input))
    beside = options.output.with_name(options.output.name + ".data")
    spare_sources([options.output, beside], graph, Path(options.model))
    with screen.working("compiling"):
        model = compile(
            graph,
            outputs=options.graph_output,
            opset=options.opset,
            target=options.target,
            feature_level=options.feature_level,
        )
    with screen.working("writing"):
        files = model.save(options.output, external_data=options.external_data)
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
    written = ", ".join(f"{escape(str(path))} ({render.size(path.stat().st_size)})" for path in files)
    screen.say(f"\n[bold green]wrote[/] {written} in {seconds:.2f} s")
    return 0


def _summarise(graph: Graph, model: CompiledModel, screen: Screen) -> None:
    kinds = Counter(node.op_type for node in model.lowered.proto.node)
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
            ("needs feature level", _level_text(minimum_feature_level(graph))),
        ],
    )
    rows = [("input", port.name, port.dtype, render.shape(port.shape)) for port in model.inputs]
    rows += [("output", port.name, port.dtype, render.shape(port.shape)) for port in model.outputs]
    screen.say()
    screen.table(["", "name", "data type", "shape in memory"], rows)


def check_command(options: argparse.Namespace, screen: Screen) -> int:
    """Lists all findings."""
    graph = load_model(options, screen, frozenset(options.input))
    with screen.working("checking"):
        findings = check(graph, options.feature_level)
    errors = sum(item.severity is Severity.ERROR for item in findings)
    if screen.as_json:
        screen.json(
            {
                "diagnostics": [item.as_dict() for item in findings],
                "minimum_feature_level": getattr(minimum_feature_level(graph), "name", None),
                "nodes": len(graph.nodes),
            }
        )
        return 1 if errors else 0
    screen.diagnostics(findings, asked_for=True)
    warnings = len(findings) - errors
    colour = "bold red" if errors else "bold green"
    screen.say(
        f"[{colour}]{_count(errors, 'error')}[/], {_count(warnings, 'warning')} in {_count(len(graph.nodes), 'node')}"
    )
    level = minimum_feature_level(graph)
    if level is not None:
        screen.say(f"needs feature level {escape(_level_text(level))}")
    pending = sorted({node.operator.type for node in graph.nodes} - set(lowerings()))
    if pending:
        screen.say(f"[bold yellow]cannot be compiled yet[/]: {', '.join(pending)} (see dml2onnx ops)")
    return 1 if errors else 0


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _read_inputs(pairs: list[str]) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals or not name:
            message = f'"{pair}" is not of the form NAME=FILE.npy'
            raise UnreadableError(INPUT_UNREADABLE.at(message, expected="NAME=FILE.npy", found=pair))
        if name in arrays:
            raise UnreadableError(INPUT_UNREADABLE.at(f'input "{name}" is given twice', found=pair))
        arrays[name] = _read_array(file)
    return arrays


def _read_array(file: str) -> Array:
    try:
        with open(file, "rb") as stream:
            return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
    except OSError as error:
        message = f'cannot read "{file}": {error.strerror}'
    except (ValueError, EOFError):
        message = f'"{file}" is no complete .npy file of numbers'
    raise UnreadableError(INPUT_UNREADABLE.at(message, expected="a .npy file", found=file))


def run_command(options: argparse.Namespace, screen: Screen) -> int:
    """Runs a model once and shows or writes what it computes."""
    inputs = _read_inputs(options.input)
    graph = load_model(options, screen, frozenset(inputs))
    with screen.working("compiling and running"):
        execution = execute(graph, inputs, options.provider, profile=options.profile)
    files = _write_results(execution, options.output_dir) if options.output_dir is not None else []
    if screen.as_json:
        screen.json(
            {
                "outputs": [
                    {"name": name, "data_type": str(array.dtype), "shape": list(array.shape)}
                    for name, array in execution.results.items()
                ],
                "printed": [
                    {"resource": effect.output.name, "values": [render.plain(item) for item in array.reshape(-1)]}
                    for effect, array in execution.shown
                    if effect.kind == "print"
                ],
                "files": [str(path) for path in files],
                "profile": [
                    {"name": item.name, "operator": item.operator, "microseconds": item.microseconds}
                    for item in execution.times
                ],
            }
        )
        return 0
    for effect, array in execution.shown:
        if effect.kind == "print":
            _print_resource(effect.output.name, array, effect.verbose, screen)
    screen.table(["output", "data type", "shape", "contents"], render.array_summary(execution.results))
    if execution.times:
        slowest = sorted(execution.times, key=lambda item: -item.microseconds)
        screen.say()
        screen.table([">µs", "operator", "ONNX node"], [(f"{i.microseconds:.0f}", i.operator, i.name) for i in slowest])
    if files:
        screen.say(f"\n[bold green]wrote[/] {_count(len(files), 'file')} to {escape(str(options.output_dir))}")
    elif any(effect.kind == "writeFile" for effect, _ in execution.shown):
        screen.say("\nthe model's writeFile commands were not carried out: say where to with --output-dir")
    return 0


def _write_results(execution: Execution, directory: Path) -> list[Path]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make {directory}: {error.strerror}"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, found=str(directory))) from None
    files: list[Path] = []
    for effect, array in execution.shown:
        if effect.kind == "writeFile":
            files.append(write_effect(effect, array, directory))
    taken: set[str] = set()
    for name, array in execution.results.items():
        path = directory / f"{_file_stem(name, taken)}.npy"
        if path.resolve() in files:
            continue  # the program itself has said how that file is to be written
        save_npy(path, array)
        files.append(path)
    return files


def _file_stem(name: str, taken: set[str]) -> str:
    """A file name for an output: names of resources may hold slashes, and may differ only in case."""
    stem = candidate = re.sub(r"[^\w.-]", "_", name).lstrip(".") or "output"
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


def verify_command(options: argparse.Namespace, screen: Screen) -> int:
    """Compares the compiled model with the reference on random inputs."""
    graph = load_model(options, screen)
    with screen.working("compiling, running, and evaluating the reference"):
        result = verify(graph, rounds=options.rounds, seed=options.seed, provider=options.provider)
    if screen.as_json:
        screen.json(
            {
                "passed": result.passed,
                "comparisons": [
                    {
                        "output": item.output,
                        "round": item.round,
                        "elements": item.elements,
                        "wrong": item.wrong,
                        "unspecified": item.unspecified,
                        "worst_difference": render.finite(item.worst),
                        "first_wrong": list(item.first_wrong),
                    }
                    for item in result.comparisons
                ],
            }
        )
        return 0 if result.passed else 1
    rows = [
        (item.output, item.round, item.elements, item.wrong, item.unspecified, f"{item.worst:.3g}")
        for item in result.comparisons
    ]
    screen.table(["output", "round", ">elements", ">wrong", ">unspecified", ">largest difference"], rows)
    verdict = "[bold green]agrees[/] with the reference" if result.passed else "[bold red]differs[/] from the reference"
    screen.say(f"\nthe compiled model {verdict}")
    return 0 if result.passed else 1


def explain_command(options: argparse.Namespace, screen: Screen) -> int:
    """Explains a code, or what each node of a model becomes."""
    if re.fullmatch(r"DML\d{4}", options.model, re.IGNORECASE) and not Path(options.model).exists():
        return _explain_code(options.model.upper(), screen)
    graph = load_model(options, screen, frozenset(options.input))
    with screen.working("compiling"):
        model = compile(graph, opset=options.opset, target=options.target, trace=True)
    if screen.as_json:
        screen.json(
            [
                {"node": t.node, "operator": t.operator, "onnx": list(t.operators), "notes": list(t.notes)}
                for t in model.traces
            ]
        )
        return 0
    rows = [
        (t.node, t.operator, _runs(t.operators) or "(nothing: folded or passed on)", "; ".join(t.notes))
        for t in model.traces
    ]
    screen.table(["DirectML node", "operator", "ONNX nodes", "why"], rows)
    return 0


def _runs(operators: tuple[str, ...]) -> str:
    """``Conv, Relu``; repeated operators are counted."""
    counts = Counter(operators)
    return ", ".join(name if counts[name] == 1 else f"{counts[name]} × {name}" for name in dict.fromkeys(operators))


def _explain_code(code: str, screen: Screen) -> int:
    found = all_codes().get(code)
    if found is None:
        screen.failure(f"there is no code {code}; codes run from {min(all_codes())} to {max(all_codes())}")
        return 2
    if screen.as_json:
        screen.json(
            {
                "code": found.id,
                "severity": found.severity.value,
                "title": found.title,
                "explanation": found.explanation,
            }
        )
    else:
        screen.say(f"[bold]{found.id}[/] {found.severity.value}: [bold]{escape(found.title)}[/]\n")
        screen.say(escape(found.explanation))
    return 0


def ops_command(options: argparse.Namespace, screen: Screen) -> int:
    """Lists the operators of DirectML."""
    table = lowerings()
    wanted = options.pattern.upper().removeprefix("DML_OPERATOR_")
    schemas = [catalog.operator(name) for name in catalog.operator_names()]
    chosen = [schema for schema in schemas if wanted in schema.short_name]
    if screen.as_json:
        screen.json(
            [
                {
                    "operator": schema.name,
                    "introduced": schema.introduced.name,
                    "lowered": schema.short_name in table,
                    "summary": schema.summary,
                    "documentation": schema.doc,
                }
                for schema in chosen
            ]
        )
        return 0
    screen.table(
        ["operator", "from level", "compiles"],
        [(s.short_name, s.introduced.name, "yes" if s.short_name in table else "not yet") for s in chosen],
    )
    done = sum(schema.short_name in table for schema in chosen)
    screen.say(f"\n{done} of {len(chosen)} operators compile")
    return 0
