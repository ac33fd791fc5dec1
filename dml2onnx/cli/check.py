"""``dml2onnx check``: what is wrong with a model, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.cli.models import count, level_text, load_model
from dml2onnx.diagnostics import Severity

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen


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
        f"[{colour}]{count(errors, 'error')}[/], {count(warnings, 'warning')} in {count(len(graph.nodes), 'node')}"
    )
    level = minimum_feature_level(graph)
    if level is not None:
        screen.say(f"needs feature level {escape(level_text(level))}")
    return 1 if errors else 0
