"""Reads the model of a command, and its options for compiling."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli.inputs import constants
from dml2onnx.cli.lazily import frontends, reading_options, recording
from dml2onnx.cli.wrong_use import WrongUseError
from dml2onnx.codes.running import OUTPUT_UNWRITABLE
from dml2onnx.codes.sizing import WRONG_REQUEST
from dml2onnx.diagnostics import DmlError, shortened

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen
    from dml2onnx.frontends import LoadOptions
    from dml2onnx.ir.graph import Graph
    from dml2onnx.options import CompileOptions

STANDARD_INPUT, SHOWN_INPUT = "-", "<stdin>"
"""How the command line calls it, and messages."""


def load_model(options: argparse.Namespace, screen: Screen, inputs: frozenset[str] = frozenset()) -> Graph:
    """Reads the model as the command line says, from standard input too; ``inputs`` stay inputs."""
    with screen.working("reading"):
        how = load_options(options, inputs)
        if options.model == STANDARD_INPUT:
            return at_sizes(frontends.load_bytes(sys.stdin.buffer.read(), SHOWN_INPUT, how), options)
        return at_sizes(frontends.load(options.model, how), options)


NAMED = frozenset({"check", "compile", "convert", "explain", "report", "run", "verify"})
"""Commands for which sizes may have names."""


def at_sizes(graph: Graph, options: argparse.Namespace) -> Graph:
    """The graph at the sizes that the command line wants, which may have names."""
    if not options.size and not options.range:
        return graph
    if options.command not in NAMED and any(isinstance(size, str) for _, sizes in options.size for size in sizes):
        listed = shortened(", ".join(sorted(NAMED)))
        message = f"names for sizes are for {listed}; for {options.command} each size is a number"
        raise DmlError(WRONG_REQUEST.at(message, expected="numbers"))
    from dml2onnx.checks.resizing import sized  # which few commands need

    return sized(graph, dict(options.size) or None, dict(options.range))


def load_options(options: argparse.Namespace, inputs: frozenset[str] = frozenset()) -> LoadOptions:
    """How the command line wants models to be read."""
    return frontends.LoadOptions(
        constants=constants(options.constant),
        inputs=inputs,
        freeze=getattr(options, "freeze", False),
        allow_paths=tuple(options.allow_path),
        constant_directories=tuple(options.constants),
        max_bytes=options.max_bytes or reading_options.DEFAULT_OPTIONS.max_bytes,
        graph=options.graph,
    )


def compile_options(options: argparse.Namespace) -> CompileOptions:
    """What model the command line wants; where it names no target, the one of the provider is meant."""
    from dml2onnx.options import CompileOptions  # which checks do without

    return CompileOptions.of_members(options, target=getattr(options, "target", None) or options.provider.target)


def model_file(options: argparse.Namespace, graph: Graph) -> Path:
    """The file that results are put beside: the model, or the chosen graph of a recording."""
    if options.model == STANDARD_INPUT:
        message = "a model from standard input lies beside nothing; say with -o which file to write"
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT"))
    model = recording.index_of(Path(options.model))
    folder, source = model.parent, graph.sources[0].resolve()
    return model if source == model.resolve() else folder / source.relative_to(folder.resolve())


def level_text(level: str | None, ships_with: str) -> str:
    """A level and the products that first ship it."""
    return "none admits it" if level is None else f"{level} ({ships_with})"
