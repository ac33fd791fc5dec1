"""``dml2onnx convert``: a model in another format, to be read, edited, or handed to a program that speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.cli.commands import files_written
from dml2onnx.cli.models import load_model
from dml2onnx.exporters import export, left_out

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen


def convert_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes a model in another format."""
    graph = load_model(options, screen, frozenset(options.input))
    with screen.working("writing"):
        files = export(graph, options.output, options.format)
    findings = [*graph.findings, *left_out(graph, options.output, options.format)]
    if screen.as_json:
        screen.json(
            {
                "files": [str(path) for path in files],
                "source": graph.format,
                "nodes": len(graph.nodes),
                "diagnostics": [item.as_dict() for item in findings],
            }
        )
        return 0
    screen.diagnostics(findings)
    screen.say(f"[bold green]wrote[/] {files_written(files)}")
    return 0
