"""``dml2onnx check``: what is wrong with models, and why."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from dml2onnx.checks import check, level_of, minimum_feature_level
from dml2onnx.checks.alternatives import held_back
from dml2onnx.cli.formats import Checked, concise, github, sarif
from dml2onnx.cli.models import count, level_text, load_options
from dml2onnx.codes.reading import UNKNOWN_FORMAT
from dml2onnx.diagnostics import DmlError, Severity, UnreadableError, quote
from dml2onnx.frontends import load, load_bytes
from dml2onnx.frontends.locations import locate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from dml2onnx.cli.render import Screen
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph

STANDARD_INPUT = "-"
SUFFIXES = (".json", ".bin")
"""What a directory is searched for."""


def check_command(options: argparse.Namespace, screen: Screen) -> int:
    """Lists all findings of all models."""
    form = "json" if options.json else options.format
    screen.as_json = form != "full"
    results = [checked for name in options.models for checked in _checked(name, options, screen)]
    results = [replace(item, findings=_chosen(item.findings, options)) for item in results]
    _write(results, form, screen, several=len(results) != 1 or Path(options.models[0]).is_dir())
    if any(not item.is_readable for item in results):
        return 2
    failing = {Severity.ERROR, Severity.WARNING} if options.warnings_as_errors else {Severity.ERROR}
    return 1 if any(found.severity in failing for item in results for found in item.findings) else 0


def _chosen(findings: Sequence[Diagnostic], options: argparse.Namespace) -> Sequence[Diagnostic]:
    selected, ignored = (tuple(code.upper() for code in codes) for codes in (options.select, options.ignore))
    return [
        item
        for item in findings
        if (not selected or item.code.startswith(selected)) and not (ignored and item.code.startswith(ignored))
    ]


# --- Checking -------------------------------------------------------------------------------------------------------


def _checked(name: str, options: argparse.Namespace, screen: Screen) -> Iterator[Checked]:
    """One model, or those of a directory; there, files that are no models are passed over."""
    directory = Path(name)
    if name == STANDARD_INPUT or not directory.is_dir():
        yield _check_one(name, options, screen)
        return
    for path in sorted(path for path in directory.rglob("*") if path.suffix in SUFFIXES and path.is_file()):
        checked = _check_one(str(path), options, screen)
        is_other = path.suffix == ".bin" or any(item.code == UNKNOWN_FORMAT.id for item in checked.findings)
        if checked.is_readable or not is_other:  # contents of constants, files of other tools
            yield checked


def _check_one(name: str, options: argparse.Namespace, screen: Screen) -> Checked:
    data: bytes | None = None
    shown = name
    try:
        with screen.working("reading"):
            if name == STANDARD_INPUT:
                data, shown = sys.stdin.buffer.read(), "<stdin>"
            graph = _load(name, data, options)
        with screen.working("checking"):
            findings = check(graph, options.feature_level)
    except UnreadableError as error:
        return Checked(shown, error.diagnostics, is_readable=False)
    except DmlError as error:
        return Checked(shown, error.diagnostics)
    wanted = {item.pointer: _is_about_name(item) for item in findings if item.pointer}
    places = {}
    if wanted and graph.format != "serialized":
        places = locate(data if data is not None else Path(name).read_bytes(), wanted)
    minimum = minimum_feature_level(graph)
    level = level_of(graph, options.feature_level)
    held = list(held_back(graph, level)) if options.suggest else None
    least = minimum.name if minimum else None
    return Checked(shown, findings, places, len(graph.nodes), level.name, least, held_back=held)


def _load(name: str, data: bytes | None, options: argparse.Namespace) -> Graph:
    how = load_options(options, frozenset(options.input))
    return load(name, how) if data is None else load_bytes(data, "model.json", how)


def _is_about_name(item: Diagnostic) -> bool:
    """Whether a finding is about the name of a member and not about its value."""
    return item.found == quote(item.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~"))


# --- Writing --------------------------------------------------------------------------------------------------------


def _write(results: Sequence[Checked], form: str, screen: Screen, *, several: bool) -> None:
    match form:
        case "json" if several:
            screen.json({"models": [{"model": item.path, **item.as_dict()} for item in results]})
        case "json" if results[0].is_readable:
            screen.json(results[0].as_dict())
        case "json":
            screen.json({"diagnostics": [item.as_dict() for item in results[0].findings]})
        case "sarif":
            screen.json(sarif(results))
        case "concise" | "github":
            write = concise if form == "concise" else github
            for line in (line for item in results for line in write(item)):
                sys.stdout.write(f"{line}\n")
        case _:
            for item in results:
                _write_full(item, screen, several=several)


def _write_full(item: Checked, screen: Screen, *, several: bool) -> None:
    screen.diagnostics(item.findings, asked_for=item.is_readable, path=item.path, places=item.places)
    if not item.is_readable:
        return
    errors = sum(found.severity is Severity.ERROR for found in item.findings)
    warnings = len(item.findings) - errors
    colour = "bold red" if errors else "bold green"
    of_file = f"{escape(item.path)}: " if several else ""
    found = f"[{colour}]{count(errors, 'error')}[/], {count(warnings, 'warning')} in {count(item.nodes, 'node')}"
    screen.say(f"{of_file}{found}, checked at feature level {item.level}")
    if item.minimum is not None:
        from dml2onnx.catalog import FeatureLevel

        screen.say(f"needs feature level {escape(level_text(FeatureLevel(item.minimum)))}")
    if item.held_back:
        screen.say()
        rows = [
            (held.node, held.operator, level_text(held.needs), held.instead or "", held.reason)
            for held in item.held_back
        ]
        screen.table(["node", "operator", "needs feature level", "instead", "because"], rows)
    if several:
        screen.say()
