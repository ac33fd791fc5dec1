"""``dml2onnx perf``: times models on providers, targets, levels and threads."""

from __future__ import annotations

import os
import platform
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from dml2onnx import targets
from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_common, add_level, add_reading
from dml2onnx.cli.inputs import InputArguments
from dml2onnx.cli.lazily import (
    answers,
    choice,
    compiler,
    compiler_options,
    frontends,
    gathering,
    html,
    installed,
    measured_subjects,
    measuring,
    np,
)
from dml2onnx.cli.markup import escape
from dml2onnx.cli.models import load_options
from dml2onnx.cli.render import files_written
from dml2onnx.files import check_target, put, spare
from dml2onnx.providers import table
from dml2onnx.report.form import number
from dml2onnx.report.measured import Latency, Measured, PerfAnswer, conditions, main_table, other_table
from dml2onnx.targets import DEFAULT_TARGET

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen
    from dml2onnx.compiler import CompiledModel
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.measuring import MeasuredModel, Measurement, Way
    from dml2onnx.onnx_model import Array
    from dml2onnx.options import CompileOptions


@dataclass(frozen=True, slots=True)
class _Model:
    name: str
    """The path on the command line."""
    graph: Graph


def perf_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``perf``."""
    add_common(parser)
    add_reading(parser)
    add_level(parser)
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="native, DML_GRAPH_DESC or DxDispatch JSON, or serialized graphs"
    )
    parser.add_argument(
        "--provider",
        dest="providers",
        action="append",
        metavar="NAME",
        help=f"execution provider to measure: {', '.join(table.NAMES)}; several with commas are one "
        "measurement (repeatable: each is measured; default: cpu)",
    )
    parser.add_argument(
        "--target",
        dest="targets",
        action="append",
        type=texts.target,
        choices=targets.NAMES,
        help="where the models are to run (repeatable; default: the target of each provider)",
    )
    parser.add_argument(
        "-O",
        dest="levels",
        action="append",
        type=int,
        choices=(0, 1, 2),
        help="optimization level, as for compile (repeatable; default: 1)",
    )
    parser.add_argument(
        "--threads",
        action="append",
        type=texts.at_least(0),
        metavar="N",
        help="threads of a session, 0 for ONNX Runtime's own choice (repeatable; default: 0)",
    )
    parser.add_argument(
        "--against",
        action="append",
        type=texts.path,
        default=[],
        metavar="OTHER.onnx",
        help="also measure this ONNX model, which must compute the same (repeatable)",
    )
    _add_measuring(parser)


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    """Adds the options for a single measurement."""
    parser.add_argument(
        "--opset", type=int, choices=targets.OPSETS, default=targets.DEFAULT_OPSET, metavar="N", help="ONNX opset"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input, as for run (repeatable; default: the model's sample, else random numbers, and 0 "
        "for integers)",
    )
    parser.add_argument(
        "--seconds",
        type=texts.seconds,
        default=2.0,
        metavar="S",
        help="seconds to measure each, alternately (default: 2)",
    )
    parser.add_argument("--runs", type=texts.at_least(1), metavar="N", help="number of runs of each, instead of a time")
    parser.add_argument(
        "--warm-up",
        type=texts.at_least(0),
        default=10,
        metavar="N",
        help="runs before the measured ones (default: 10)",
    )
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="seed of random inputs (default: 0)"
    )
    parser.add_argument(
        "--report", type=texts.path, metavar="OUT.html", help="write a report of the model with the figures"
    )


def perf_command(options: argparse.Namespace, screen: Screen) -> int:
    """Compares the outputs of the models, then measures the models in turns."""
    inputs = InputArguments(options.input, options.max_bytes)
    how = load_options(options, inputs.names)
    with screen.working("reading"):
        models = [_Model(name, frontends.load(name, how)) for name in options.models]
    ways = _ways(options)
    if options.report is not None:
        check_target(options.report)
        spare([options.report], [source for model in models for source in model.graph.sources])
    plan = measuring.MeasuringPlan(options.seconds, warm_up=options.warm_up)
    if options.runs is not None:
        plan = measuring.MeasuringPlan(0.0, options.runs, options.runs, min(options.runs, plan.rounds), options.warm_up)
    warnings: list[Diagnostic] = []
    load_before = _load()
    with tempfile.TemporaryDirectory(prefix="dml2onnx-perf-") as scratch, screen.counting("measuring") as progress:
        directory = Path(scratch)
        subjects = _subjects(models, ways, inputs, options, directory, warnings)
        measured = measuring.measure(subjects, plan, directory, progress or (lambda text: None))
    answer = PerfAnswer(
        diagnostics=tuple(dict.fromkeys(warnings)),
        measured=tuple(_measured(item, measured) for item in measured),
        rounds=plan.rounds,
        warm_up=plan.warm_up,
        processor=_processor(),
        logical_processors=os.cpu_count() or 1,
        load=load_before,
        onnxruntime=_onnxruntime(),
        files=() if options.report is None else (str(options.report),),
    )
    if options.report is not None:
        report = gathering.gather(models[0].graph, _compile_options(options, "cpu"))
        put(options.report, [html.page(report, answer).encode()])
    _show(answer, screen)
    return 0


def _compile_options(options: argparse.Namespace, target: str = DEFAULT_TARGET) -> CompileOptions:
    shared = {name: getattr(options, name) for name in ("feature_level", "documented", "opset")}
    return compiler_options.CompileOptions.of(target=target, **shared)


def _ways(options: argparse.Namespace) -> list[Way]:
    """The combinations of providers, targets, levels, and threads to measure, without duplicates."""
    stated = [choice.Providers.of_texts([text]) for text in options.providers or ["cpu"]]
    providers = list(map(installed.require_providers, stated))
    return list(
        dict.fromkeys(
            measuring.Way(provider, target, level, threads)
            for provider in providers
            for target in options.targets or [provider.target]
            for level, threads in product(options.levels or [1], options.threads or [0])
        )
    )


def _subjects(
    models: list[_Model],
    ways: list[Way],
    inputs: InputArguments,
    options: argparse.Namespace,
    directory: Path,
    warnings: list[Diagnostic],
) -> list[MeasuredModel]:
    """Compiles all models and prepares their inputs; the subjects of a model are adjacent."""
    compiling = _compile_options(options)
    subjects = []
    for model in models:

        def feeds(compiled: CompiledModel) -> dict[str, Array]:
            warnings.extend(compiled.warnings)
            return measured_subjects.inputs_of(compiled, inputs(compiled.inputs), options.seed)

        subjects += [measuring.of_model(model.graph, model.name, way, directory, feeds, compiling) for way in ways]
        if options.against:
            compiled = compiler.compile_graph(model.graph, compiling)
            arrays = measured_subjects.inputs_of(compiled, inputs(compiled.inputs), options.seed)
            others = dict.fromkeys((way.provider, way.threads) for way in ways)
            subjects += [
                measuring.of_other(path, model.name, measuring.Way(provider, "", 0, threads), compiled, arrays)
                for path in options.against
                for provider, threads in others
            ]
    return subjects


# --- Figures ----------------------------------------------------------------------------------------------------------


def _measured(item: Measurement, measurements: list[Measurement]) -> Measured:
    subject, times = item.subject, item.times
    first = next(other for other in measurements if other.subject.model == subject.model)
    p90, p95, p99, p999 = (float(value) for value in np.percentile(times, [90, 95, 99, 99.9]))
    median = float(np.median(times))
    latency = Latency(fmean(times), pstdev(times), min(times), median, p90, p95, p99, p999, max(times))
    return Measured(
        model=subject.model,
        against=subject.file,
        provider=str(subject.way.provider),
        providers=item.providers,
        target=subject.way.target,
        optimize=None if subject.file else subject.way.optimize,
        threads=subject.way.threads,
        nodes=subject.nodes,
        session_seconds=item.session,
        first_seconds=item.first,
        warm_up_seconds=fmean(item.warm_up) if item.warm_up else 0.0,
        runs=len(times),
        seconds=item.wall,
        latency=latency,
        throughput=len(times) / item.wall,
        processors=item.busy / item.wall,
        memory=item.memory,
        memory_before=item.memory_before,
        difference=number(item.difference),
        of_first=median / float(np.median(first.times)),
    )


def _show(answer: PerfAnswer, screen: Screen) -> None:
    if screen.answered(answer):
        return
    screen.diagnostics(answer.diagnostics)
    screen.table(*main_table(answer.measured))
    screen.say()
    screen.table(*other_table(answer.measured))
    screen.say()
    screen.say(escape(conditions(answer)))
    if answer.files:
        screen.say(f"[bold green]wrote[/] {files_written(answer.files, answers.sizes_of([Path(answer.files[0])]))}")


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # not available on Windows
        return None


def _onnxruntime() -> str:
    import onnxruntime

    version: str = onnxruntime.__version__
    return version
