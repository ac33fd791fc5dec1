"""``dml2onnx report``: a report of a model as HTML, SVG or JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.arguments import feature_level
from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_compiling, add_freeze, add_level, add_model, add_providers
from dml2onnx.cli.lazily import answers, comparison, frontends, gathering, html, recording, svg
from dml2onnx.cli.markup import escape
from dml2onnx.cli.models import compile_options, load_model, load_options, model_file
from dml2onnx.cli.render import files_written
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.diagnostics import DmlError, plural, quote
from dml2onnx.files import check_target, put, spare

if TYPE_CHECKING:
    import argparse

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.cli.render import Screen
    from dml2onnx.ir.graph import Graph
    from dml2onnx.report.comparison import ComparisonAnswer
    from dml2onnx.report.records import Report

ROUNDS = 3
"""The default of ``verify``: ordinary, structured and extreme contents."""
LEVEL = re.compile(r"\d+_\d+")
SUFFIXES = {True: (".svg",), False: (".html", ".htm")}


def report_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``report``."""
    add_model(parser)
    add_freeze(parser)
    add_level(parser)
    add_compiling(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=texts.output,
        metavar="OUT.html",
        help="file to write, or - (default: beside MODEL; replaces only an earlier report)",
    )
    parser.add_argument(
        "--compare",
        metavar="OTHER",
        help="compare with another model, or with this model at a feature level such as 3_0",
    )
    parser.add_argument("--svg", action="store_true", help="draw only the graphs, as SVG")
    parser.add_argument("--verify", action="store_true", help="compare each node with the reference")
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="stop comparing nodes after this time"
    )
    parser.add_argument("--profile", action="store_true", help="run the model and show the time of each node")
    add_providers(parser)


def report_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes a page or prints its data as JSON; the exit code is 1 after errors or a failed verification."""
    graph = load_model(options, screen, frozenset(options.input))
    output = options.output
    if output is None and not options.json:
        output = _beside(model_file(options, graph), options.svg)
    other = None if options.compare is None else _other(options, screen, graph)
    if isinstance(output, Path):
        _require_suffix(output, options.svg)
        check_target(output)
        spare([output], [*graph.sources, *(() if other is None else other.graph.sources)])
    first = _gathered(_Side(graph, options.feature_level), options, screen)
    report = first if other is None else _compared(graph, first, other, options, screen)
    if output is not None:
        with screen.working("writing"):
            text = svg.drawing(report) if options.svg else html.page(report)
            files = put(output, [text.encode()])
        report = replace(report, files=tuple(map(str, files)), file_bytes=answers.sizes_of(files))
    if options.json:
        screen.answer(report)
    else:
        screen.say(f"[bold green]wrote[/] {files_written(report.files, report.file_bytes)}: {_summary(report)}")
    sides = (report.left, report.right) if isinstance(report, comparison.ComparisonAnswer) else (report,)
    return 1 if any(map(_is_wrong, sides)) else 0


@dataclass(frozen=True, slots=True)
class _Side:
    """A graph and the feature level to check it at."""

    graph: Graph
    level: FeatureLevel | None


def _other(options: argparse.Namespace, screen: Screen, graph: Graph) -> _Side:
    """The right side of ``--compare``: the same graph at another feature level, or another model."""
    if LEVEL.fullmatch(options.compare) and not exists(options.compare):
        return _Side(graph, feature_level(options.compare))
    how = load_options(options, frozenset(options.input))
    if recording.index_of(Path(options.compare)).name != recording.INDEX:
        how = replace(how, graph=None)  # --graph is about the first model
    with screen.working("reading"):
        return _Side(frontends.load(options.compare, how), options.feature_level)


def _compared(
    graph: Graph, first: Report, other: _Side, options: argparse.Namespace, screen: Screen
) -> ComparisonAnswer:
    second = _gathered(other, options, screen)
    is_same = other.graph is graph
    names = Path(options.model).name, Path(options.compare).name
    paths = names if names[0] != names[1] else (options.model, options.compare)
    left, right = (first.feature_level, second.feature_level) if is_same else paths
    return comparison.compare(first, second, (left, right) if left != right else (f"{left} (left)", f"{right} (right)"))


def _gathered(side: _Side, options: argparse.Namespace, screen: Screen) -> Report:
    with screen.counting("gathering") as progress:
        return gathering.gather(
            side.graph,
            replace(compile_options(options), feature_level=side.level),
            rounds=ROUNDS if options.verify else 0,
            profile=options.profile,
            provider=options.provider,
            time_limit=options.time_limit,
            max_bytes=options.max_bytes,
            progress=progress,
            digests=options.compare is not None,
        )


def _summary(report: Report | ComparisonAnswer) -> str:
    if isinstance(report, comparison.ComparisonAnswer):
        if not report.changed and not report.only_left and not report.only_right:
            return f"{plural(report.same, 'node', 'no')} the same, no differences"
        only = f"{report.only_left} only in {report.left_title}, {report.only_right} only in {report.right_title}"
        return escape(f"{plural(report.same, 'node', 'no')} the same, {report.changed or 'none'} changed, {only}")
    return f"{plural(report.errors, 'error', 'no')}, {plural(report.warnings, 'warning', 'no')}"


def _beside(model: Path, is_svg: bool) -> Path:
    """``model.html`` beside ``model.json``; only an earlier report may be replaced."""
    path = model.with_suffix(SUFFIXES[is_svg][0])
    if path.exists() and not html.is_report(path):
        message = f"{quote(str(path))} exists and is not a report; choose the file to write with -o"
        raise DmlError(OUTPUT_UNWRITABLE.at(message, expected=f"-o OUT{path.suffix}", found=str(path)))
    return path


def _is_wrong(report: Report) -> bool:
    return report.errors > 0 or (report.verification is not None and not report.verification.passed)


def _require_suffix(path: Path, is_svg: bool) -> None:
    """Refuses other suffixes, to catch mistakes."""
    allowed = SUFFIXES[is_svg]
    if path.suffix.lower() not in allowed:
        kind = "a drawing" if is_svg else "a page"
        message = f"{quote(path.name)} does not name {kind}: it has to end in {allowed[0]}"
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected=f"OUT{allowed[0]}", found=str(path)))
