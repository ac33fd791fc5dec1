"""The commands, in the order of the help.

The module of a command defines ``NAME_arguments``, which fills the parser, and ``NAME_command``, which runs. Slow
imports wait for their first use, so that ``--help`` and usage errors are fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

COMMANDS: Mapping[str, tuple[str, str]] = {
    "compile": ("write an ONNX model", "compile"),
    "check": ("find and explain the mistakes in a model", "check"),
    "run": ("compile and run a model", "run"),
    "verify": ("compare a model with the reference", "verification"),
    "explain": ("explain the ONNX nodes of a model, a code such as DML1601, or an operator such as JOIN", "lookup"),
    "report": ("write an HTML page about a model: graphs, findings, errors, times", "report"),
    "batch": ("check, compile, verify or report many models, in several processes, with a journal", "batch"),
    "sizes": ("list the input sizes that can change, and the nodes that fix the others", "sizes"),
    "convert": ("write a model in another format", "convert"),
    "perf": ("measure models on providers, targets, levels and threads, side by side", "perf"),
    "reduce": ("find the smallest graph for which a command still fails, for a bug report", "reduce"),
    "pydirectml": ("run a program written for PyDirectML", "pydirectml"),
    "recorder": ("write the C++ headers that record the graphs of a program", "recorder"),
    "ops": ("list DirectML's operators, and whether they compile", "lookup"),
    "doctor": ("show what is installed, what works, and what is missing", "doctor"),
    "schema": ("print a JSON Schema", "lookup"),
    "completion": ("print a script with which your shell completes commands", "lookup"),
}
"""The help text and the module of each command."""


def module_of(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"dml2onnx.cli.{COMMANDS[name][1]}")
