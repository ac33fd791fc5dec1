"""Reads models as the command line specifies, and converts its options."""

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
"""The names of standard input on the command line and in messages."""


def load_model(options: argparse.Namespace, screen: Screen, inputs: frozenset[str] = frozenset()) -> Graph:
    """Reads the model of a command, from a file or standard input; ``inputs`` are not frozen."""
    with screen.working("reading"):
        how = load_options(options, inputs)
        if options.model == STANDARD_INPUT:
            return at_sizes(frontends.load_bytes(sys.stdin.buffer.read(), SHOWN_INPUT, how), options)
        return at_sizes(frontends.load(options.model, how), options)


NAMED = frozenset({"check", "compile", "convert", "explain", "report", "run", "verify"})
"""Commands that accept names in ``--size``."""


def at_sizes(graph: Graph, options: argparse.Namespace) -> Graph:
    """Resizes the graph as ``--size`` and ``--range`` specify."""
    if not options.size and not options.range:
        return graph
    if options.command not in NAMED and any(isinstance(size, str) for _, sizes in options.size for size in sizes):
        listed = shortened(", ".join(sorted(NAMED)))
        message = f"only {listed} accept names for sizes; {options.command} needs numbers"
        raise DmlError(WRONG_REQUEST.at(message, expected="numbers"))
    from dml2onnx.checks.resizing import sized  # slow to import, and rarely needed

    return sized(graph, dict(options.size) or None, dict(options.range))


def load_options(options: argparse.Namespace, inputs: frozenset[str] = frozenset()) -> LoadOptions:
    """The options for reading models."""
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
    """The options for compiling; the default target is that of the provider."""
    from dml2onnx.options import CompileOptions  # not needed by check

    return CompileOptions.of_members(options, target=getattr(options, "target", None) or options.provider.target)


def model_file(options: argparse.Namespace, graph: Graph) -> Path:
    """The file beside which results are written: the model, or the selected graph of a recording."""
    if options.model == STANDARD_INPUT:
        message = "a model from standard input has no directory for the result; choose the file to write with -o"
        raise WrongUseError(OUTPUT_UNWRITABLE.at(message, expected="-o OUT"))
    model = recording.index_of(Path(options.model))
    folder, source = model.parent, graph.sources[0].resolve()
    return model if source == model.resolve() else folder / source.relative_to(folder.resolve())


def level_text(level: str | None, ships_with: str) -> str:
    """A level and the first products with it."""
    return "none (no level allows it)" if level is None else f"{level} ({ships_with})"
