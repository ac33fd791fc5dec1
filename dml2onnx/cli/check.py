"""``dml2onnx check``: reports findings."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dml2onnx import targets
from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_common, add_documented, add_freeze, add_reading
from dml2onnx.cli.lazily import checks, directories, formats, frontends, recording
from dml2onnx.cli.markup import escape
from dml2onnx.cli.models import SHOWN_INPUT, STANDARD_INPUT, at_sizes, level_text, load_options
from dml2onnx.cli.wrong_use import is_of_options
from dml2onnx.codes.unreadable import NO_SUCH_FILE, UNKNOWN_FORMAT
from dml2onnx.diagnostics import DmlError, UnreadableError, plural, quote
from dml2onnx.report.checked import (
    CheckAllAnswer,
    CheckAnswer,
    NativeDescriptor,
    NodeAboveLevelRecord,
    checked,
    unchecked,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.cli.render import Screen
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.report.form import Json


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``check``."""
    add_common(parser)
    add_reading(parser)
    add_freeze(parser)
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="files, directories of them, or - for standard input"
    )
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check against this feature level, such as 3_0 (default: the model's own, else the latest)",
    )
    target.add_argument(
        "--directml",
        dest="feature_level",
        type=texts.level_by("directml_level"),
        metavar="VERSION",
        help="check against this version of DirectML, such as 1.8",
    )
    target.add_argument(
        "--windows",
        dest="feature_level",
        type=texts.level_by("windows_level"),
        metavar="RELEASE",
        help="check against the DirectML in this release of Windows, such as 10-22H2",
    )
    add_documented(parser)
    parser.add_argument(
        "--format",
        choices=["full", "concise", "json", "github", "sarif", "junit"],
        help="output format of findings (default: full)",
    )
    for name, text in (
        ("--select", "show only findings with this code or prefix of a code, such as DML15"),
        ("--ignore", "hide findings with this code or prefix of a code"),
    ):
        parser.add_argument(name, action="append", type=texts.code, default=[], metavar="CODE", help=text)
    parser.add_argument(
        "--suggest",
        action="store_true",
        help="list the nodes above the feature level, with the reason and an equivalent for that level; without a "
        "level: the nodes that need the highest one",
    )
    parser.add_argument(
        "--target",
        type=texts.target,
        choices=targets.NAMES,
        help="also compile for this target, and report what cannot be compiled",
    )
    parser.add_argument("--warnings-as-errors", action="store_true", help="exit with 1 for warnings, too")
    parser.add_argument("--models-only", action="store_true", help="skip files that are not models")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="correct mistakes with only one possible correction (misspelled names, counts and sizes that follow from "
        "others) in the files, print a diff, and check again",
    )
    parser.add_argument("--diff", action="store_true", help="print the diff of --fix and write nothing")


def check_command(options: argparse.Namespace, screen: Screen) -> int:
    """Reports the findings of all models."""
    form = "json" if options.json else options.format or "full"
    screen.as_json = form != "full"
    results = []
    for name in options.models:
        try:
            found = list(_checked(name, options, screen))
        except UnreadableError as error:  # a directory that cannot be listed
            found = [unchecked(name, error)]
        results += found
        if not found and not options.models_only:
            screen.note(f"no models in {escape(quote(name))}")
    is_wrong_use = any(item.diagnostics and all(map(is_of_options, item.diagnostics)) for item in results)
    results = [_filtered(item, options) for item in results]
    _write(results, form, screen, several=len(results) != 1 or directories.is_directory(Path(options.models[0])))
    if is_wrong_use or any(not item.is_readable for item in results):
        return 2
    return 1 if any(item.errors or (options.warnings_as_errors and item.warnings) for item in results) else 0


def _filtered(answer: CheckAnswer, options: argparse.Namespace) -> CheckAnswer:
    selected, ignored = tuple(options.select) or "", tuple(options.ignore)
    shown = tuple(
        item for item in answer.diagnostics if item.code.startswith(selected) and not item.code.startswith(ignored)
    )
    return replace(answer, diagnostics=shown, hidden=len(answer.diagnostics) - len(shown))


# --- Checking -------------------------------------------------------------------------------------------------------


def _checked(name: str, options: argparse.Namespace, screen: Screen) -> Iterator[CheckAnswer]:
    """Checks one model, or the models in a directory, where files that are not models are skipped."""
    if not name:
        raise UnreadableError(NO_SUCH_FILE.at("the path of the model is empty", expected="a file", found='""'))
    directory = Path(name)
    index = recording.index_of(directory)
    if index.name == recording.INDEX and name != STANDARD_INPUT:
        yield from _check_recording(index, options, screen)
        return
    if name == STANDARD_INPUT or not directories.is_directory(directory):
        answer = _check_one(name, options, screen)
        if not options.models_only or _is_model(answer, directory):
            yield answer
        return
    allowed = tuple(options.allow_path)
    yield from (unchecked(str(path), error) for path, error in directories.find_escaping_links(directory, allowed))
    for path in directories.find_models(directory, allowed=allowed):
        if path.name == recording.INDEX:
            yield from _check_recording(path, options, screen)
            continue
        answer = _check_one(str(path), options, screen)
        if _is_model(answer, path):
            yield answer


def _is_model(answer: CheckAnswer, path: Path) -> bool:
    """Whether a file is a model, possibly a broken one, rather than a weights file or a file of another tool."""
    is_other = path.suffix == ".bin" or any(item.code == UNKNOWN_FORMAT for item in answer.diagnostics)
    return answer.is_readable or not is_other


def _check_recording(index: Path, options: argparse.Namespace, screen: Screen) -> Iterator[CheckAnswer]:
    """Checks the graph that ``--graph`` names, or all graphs of a recording, each under the name of its file."""
    try:
        found = recording.graphs(index, load_options(options))
        if options.graph is not None or not found:
            found = (recording.choose(found, options.graph),)
    except DmlError as error:
        yield unchecked(str(index), error)
        return
    for item in found:
        yield _check_one(str(index.parent / item.file), options, screen, (index, item.name))


def _check_one(
    name: str, options: argparse.Namespace, screen: Screen, recorded: tuple[Path, str] | None = None
) -> CheckAnswer:
    """Checks a model, or the ``recorded`` graph: the path of the index, and the graph's name."""
    data: bytes | None = None
    shown = name
    if (options.fix or options.diff) and name != STANDARD_INPUT and recorded is None:
        _fix(name, options, screen)
    try:
        with screen.working("reading"):
            if name == STANDARD_INPUT:
                data, shown = sys.stdin.buffer.read(), SHOWN_INPUT
            graph = _load(name, data, options, recorded)
        with screen.working("checking"):
            found = checks.check(graph, options.feature_level, documented=options.documented)
        if options.target is not None:
            found += _uncompiled(graph, found, options, screen)
    except DmlError as error:
        return unchecked(shown, error)
    level = checks.level_of(graph, options.feature_level)
    above = _above_level(graph, level, options) if options.suggest else None
    return checked(graph, level, found, shown, data, above)


def _fix(name: str, options: argparse.Namespace, screen: Screen) -> None:
    """Writes the unambiguous corrections into a file, or only shows the diff."""
    from dml2onnx.cli.fixing import difference, fix_file  # slow to import, and rarely needed
    from dml2onnx.files import put

    path = Path(name)
    try:
        fixed = fix_file(path, options)
    except (DmlError, OSError):
        return  # the check that follows reports it
    if fixed is None:
        return
    for line in difference(name, fixed.before, fixed.text):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[0], "dim")
        screen.note(f"[{colour}]{escape(line)}[/]")
    is_written = options.fix and not options.diff
    if is_written:
        put(path, [fixed.text.encode("utf-8")])
    verb = "fixed" if is_written else "--fix would fix"
    screen.note(f"{verb} {plural(fixed.findings, 'finding', 'no')} in {escape(name)}\n")


def _uncompiled(
    graph: Graph, known: Sequence[Diagnostic], options: argparse.Namespace, screen: Screen
) -> list[Diagnostic]:
    """The errors of compiling the graph that are not in ``known``."""
    from dml2onnx.compiler import compile  # imports the lowerings, which are slow to import

    how = {name: getattr(options, name) for name in ("target", "feature_level", "documented")}
    with screen.counting("compiling") as progress:
        try:
            compile(graph, **how, progress=progress)
        except DmlError as error:
            return [item for item in error.diagnostics if item not in known]
    return []


def _above_level(graph: Graph, level: FeatureLevel, options: argparse.Namespace) -> tuple[NodeAboveLevelRecord, ...]:
    from dml2onnx.checks.alternatives import nodes_above_level, nodes_at_the_top_level
    from dml2onnx.exporters.descriptors import fields

    found = list(nodes_above_level(graph, level))
    if not found and options.feature_level is None:
        found = list(nodes_at_the_top_level(graph))
    return tuple(
        NodeAboveLevelRecord(
            item.node,
            item.operator,
            item.needs.name,
            item.needs.info.ships_with,
            item.reason,
            item.instead,
            item.at.name if item.steps else "",
            tuple(NativeDescriptor(step.type, cast("dict[str, Json]", fields(step))) for step in item.steps),
        )
        for item in found
    )


def _load(name: str, data: bytes | None, options: argparse.Namespace, recorded: tuple[Path, str] | None) -> Graph:
    how = load_options(options, frozenset(options.input))
    if recorded is not None:
        graph = frontends.load(recorded[0], how, graph=recorded[1])
    else:
        graph = frontends.load(name, how) if data is None else frontends.load_bytes(data, SHOWN_INPUT, how)
    return at_sizes(graph, options)


# --- Writing --------------------------------------------------------------------------------------------------------


def _write(results: Sequence[CheckAnswer], form: str, screen: Screen, *, several: bool) -> None:
    match form:
        case "json" if several:
            errors, warnings = (sum(item.errors for item in results), sum(item.warnings for item in results))
            screen.answer(CheckAllAnswer(errors=errors, warnings=warnings, models=tuple(results)))
        case "json":
            screen.answer(results[0])
        case "sarif":
            screen.json(formats.sarif(results))
        case "junit":
            sys.stdout.write(formats.junit(results))
        case "concise" | "github":
            write = formats.concise if form == "concise" else formats.github
            for line in (line for item in results for line in write(item)):
                sys.stdout.write(f"{line}\n")
        case _:
            for item in results:
                _write_full(item, screen, several=several)


def _write_full(item: CheckAnswer, screen: Screen, *, several: bool) -> None:
    screen.diagnostics(item.diagnostics, are_results=item.is_readable)
    if not item.is_readable:
        return
    colour = "bold red" if item.errors else "bold green"
    of_file = f"{escape(item.model)}: " if several else ""
    found = f"[{colour}]{plural(item.errors, 'error', 'no')}[/], {plural(item.warnings, 'warning', 'no')}"
    at = "" if item.feature_level is None else f", checked at feature level {item.feature_level}"
    hidden = f"; {plural(item.hidden, 'finding')} of other codes hidden" if item.hidden else ""
    has_nodes = item.directml_nodes or item.feature_level is not None  # else it was refused before reading its nodes
    nodes = f" in {plural(item.directml_nodes, 'node', 'no')}" if has_nodes else ""
    screen.say(f"{of_file}{found}{nodes}{at}{hidden}")
    if item.minimum_feature_level is not None:
        screen.say(f"needs feature level {escape(level_text(item.minimum_feature_level, item.ships_with))}")
    if item.above_level:
        screen.say()
        rows = [
            (
                node.node,
                node.operator,
                level_text(node.needs, node.ships_with),
                f"{node.instead} ({node.at})" if node.at else "no equivalent is known",
                node.reason,
            )
            for node in item.above_level
        ]
        screen.table(["node", "operator", "needs feature level", "instead (from level)", "because"], rows)
    if several:
        screen.say()
