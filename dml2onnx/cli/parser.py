"""Parses command lines and reports mistakes in them."""

from __future__ import annotations

import argparse
import re
from itertools import pairwise
from os.path import exists
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from dml2onnx import __version__
from dml2onnx.cli.commands import COMMANDS, module_of
from dml2onnx.diagnostics import LONGEST_QUOTE, DmlError, quote, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

PROGRAM = "dml2onnx"
LONGEST_MESSAGE = 400


class _Parser(argparse.ArgumentParser):
    """Shortens quoted arguments in errors, and adds hints."""

    typed: Sequence[str] = ()
    commands: Mapping[str, _Parser] = MappingProxyType({})

    def error(self, message: str) -> NoReturn:
        for item in sorted(self.typed, key=len, reverse=True):
            for text in (item, item.partition("=")[2]):
                if len(text) > LONGEST_QUOTE:
                    for spelling in (repr(text), text):
                        message = message.replace(spelling, quote(text))
        message = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
        # argparse reports some mistakes through the main parser, which lacks the options of the command
        command = self.commands.get(self.typed[0], self) if self.typed else self
        self.exit(2, f"{command._short_usage()}{command.prog}: error: {visible(message + command._hint(message))}\n")

    def _short_usage(self) -> str:
        """The usage without options, which would push the message off the screen."""
        formatter = self._get_formatter()
        formatter.add_usage(None, [action for action in self._actions if not action.option_strings], [])
        usage = formatter.format_help().strip().replace(self.prog, f"{self.prog} [OPTIONS]", 1)
        return f"{usage}\n{self.prog} --help lists all options\n"

    def _hint(self, message: str) -> str:
        """Suggests the command, option or value that was probably meant."""
        from dml2onnx.catalog.likeness import nearest, question  # needed for misspelt options only

        number = re.search(r"argument (-[\w-]+)(?:/\S+)?: invalid int value", message)
        if number is not None and (numbers := self._option_string_actions[number[1]].choices):
            return f" (choose from {', '.join(map(str, numbers))})"
        if choice := re.search(r"invalid choice: '(.+)' \(choose from (.+)\)$", message):
            choices = [item.strip("' ") for item in choice[2].split(",")]
            if choice[1] == "onnx" and "dml_graph" in choices:
                return "; compile writes ONNX models"
            return question(nearest(choice[1], choices))
        if option := re.search(r"unrecognized arguments: (-[\w-]+)|required: COMMAND$", message):
            if equivalent := FOREIGN_OPTIONS.get(option[1] or ""):
                return f"; {equivalent}"
            return question(nearest(option[1] or "".join(self.typed[:1]), list(self._option_string_actions)))
        if message.startswith("unrecognized arguments: "):
            return self._hint_for_surplus(message.rpartition(" ")[2])
        return ""

    def _hint_for_surplus(self, argument: str) -> str:
        """Suggests what to do with a positional argument that the command does not take."""
        command = self.prog.rpartition(" ")[2]
        for option, value in pairwise(self.typed):
            if option in ("--input", "--constant"):
                return f"; {option} takes NAME=FILE"
            flag = self._option_string_actions.get(option)
            is_flag = flag is not None and flag.nargs == 0 and "-o" in self._option_string_actions
            if is_flag and not value.startswith("-") and (value == argument or not exists(value)):
                return f"; {option} takes no file, -o names the one to write"
        if argument.endswith(".onnx") and (onnx := _ONNX_OPTIONS.get(command)):
            return f"; {onnx[0]} {argument} {onnx[1]}"
        if any(action.dest == "model" and action.nargs in (None, "?") for action in self._actions):
            return f"; {command} takes one model, batch takes many"
        return ""


_BOUNDS = "verify compares within the error that the reference allows for each element, which no option changes"
_SIZES = "--size NAME=8,3,224,224 changes the sizes of an input; names instead of numbers make one model for all sizes"
_ONNX_OPTIONS = MappingProxyType({"verify": ("--against", "compares with it"), "compile": ("-o", "writes it")})
"""The option for an ONNX file that is passed as a positional argument, and its effect."""
FOREIGN_OPTIONS = MappingProxyType(
    {
        **dict.fromkeys(("--tolerance", "--atol", "--rtol", "--abs-tol", "--rel-tol", "--epsilon"), _BOUNDS),
        **dict.fromkeys(("--batch-size", "--shape", "--input-shape", "--dynamic", "--dynamic-axes"), _SIZES),
        **dict.fromkeys(("--fp16", "--float16", "--precision"), "--half computes in FLOAT16"),
        **dict.fromkeys(("--gpu", "--cuda", "--cpu", "--ep"), "--provider selects ONNX Runtime's execution provider"),
        **dict.fromkeys(("--verbose", "-v"), "--json prints all details, and explain the reasons"),
        "--to": "convert --format names the format to write, or the suffix of -o does",
        "-o": "run writes into --output-dir DIR, and other commands without -o print their output",
    }
)
"""Options of other compilers and runtimes, with our equivalents."""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses a command line; exits with code 2 if it is wrong."""
    if arguments and arguments[0] == "help" and len(arguments) < 3:
        arguments = [*arguments[1:], "--help"]
    arguments = _command_first(arguments)
    parser = make_parser([item for item in arguments[:1] if item in COMMANDS])
    _Parser.typed = arguments
    options = parser.parse_args(arguments)
    if options.command == "batch" and options.output is None and options.do in ("compile", "report"):
        parser.error(f"--do {options.do} writes files: choose their directory with -o OUTDIR")
    if options.command == "pydirectml" and options.save is None and (options.freeze or options.input):
        parser.error("--freeze and --input need --save, because they change the saved model")
    if options.command == "check" and options.json and options.format not in (None, "json"):
        parser.error(f"--json and --format {options.format} conflict; use one of them")
    if hasattr(options, "provider_option"):
        from dml2onnx.providers.choice import Providers

        try:
            options.provider = Providers.of_texts(options.provider or (), options.provider_option, options.device)
        except DmlError as error:
            parser.error(error.diagnostics[0].message)
    return options


def _command_first(arguments: Sequence[str]) -> Sequence[str]:
    """Moves the command in front of its options, as argparse requires."""
    if not arguments or not arguments[0].startswith("-"):
        return arguments
    position = next((i for i, item in enumerate(arguments) if item in COMMANDS), 0)
    return [arguments[position], *arguments[:position], *arguments[position + 1 :]]


def make_parser(complete: Collection[str] = tuple(COMMANDS)) -> _Parser:
    """The parser of command lines, with the arguments of the ``complete`` commands only, to save time.

    If there are none, all commands are listed without arguments.
    """
    parser = _Parser(
        prog=PROGRAM,
        description="Compiles DirectML operator graphs to standard ONNX and runs them on ONNX Runtime.",
        epilog="exit codes: 0 success, 1 findings, 2 unreadable input or command line",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", prog=PROGRAM)
    for name in complete or COMMANDS:
        command = commands.add_parser(name, help=COMMANDS[name][0])
        if name in complete:
            getattr(module_of(name), f"{name}_arguments")(command)
    parser.commands = commands.choices
    return parser
