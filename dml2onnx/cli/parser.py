"""Parses command lines and explains wrong ones."""

from __future__ import annotations

import argparse
import re
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
    """Repeats what it was given as shortly as all other findings do."""

    typed: Sequence[str] = ()
    commands: Mapping[str, _Parser] = MappingProxyType({})

    def error(self, message: str) -> NoReturn:
        for item in sorted(self.typed, key=len, reverse=True):
            for text in (item, item.partition("=")[2]):
                if len(text) > LONGEST_QUOTE:
                    for spelling in (repr(text), text):
                        message = message.replace(spelling, quote(text))
        message = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
        command = self._of_command()
        self.exit(2, f"{command._shortly()}{command.prog}: error: {visible(message + command._meant(message))}\n")

    def _of_command(self) -> _Parser:
        """The parser of the command that was given, which knows its options; the errors are those of all commands."""
        return self.commands.get(self.typed[0], self) if self.typed else self

    def _shortly(self) -> str:
        """The usage without its options, which would fill the screen above the message."""
        formatter = self._get_formatter()
        formatter.add_usage(None, [action for action in self._actions if not action.option_strings], [])
        usage = formatter.format_help().strip().replace(self.prog, f"{self.prog} [OPTIONS]", 1)
        return f"{usage}\n{self.prog} --help lists all options\n"

    def _takes_one_model(self) -> bool:
        return any(action.dest == "model" and action.nargs in (None, "?") for action in self._actions)

    def _meant(self, message: str) -> str:
        """The command, option or value that is nearly what was given."""
        from dml2onnx.catalog.likeness import nearest, question  # only what is misspelt needs it

        wrong = re.search(r"unrecognized arguments: (-[\w-]+)|required: COMMAND$", message)
        number = re.search(r"argument (-[\w-]+)(?:/\S+)?: invalid int value", message)
        if number is not None and (known := self._option_string_actions[number[1]].choices):
            return f" (choose from {', '.join(map(str, known))})"
        choice = re.search(r"invalid choice: '(.+)' \(choose from (.+)\)$", message)
        pairs = [item for item in self.typed[:-1] if item in ("--input", "--constant")]
        is_surplus = message.startswith("unrecognized arguments: ") and wrong is None
        if is_surplus and pairs:
            return f"; {pairs[0]} takes NAME=FILE"
        surplus = message.rpartition(" ")[2]
        if is_surplus and surplus.endswith(".onnx") and (how := _OF_ONNX.get(self.prog.rpartition(" ")[2])):
            return f"; {how[0]} {surplus} {how[1]}"
        if is_surplus and self._takes_one_model():
            return f"; {self.prog.rpartition(' ')[2]} takes one model, batch takes many"
        if wrong is not None and (instead := OF_OTHER_TOOLS.get(wrong[1] or "")):
            return f"; {instead}"
        if wrong is not None:
            name, known = wrong[1] or "".join(self.typed[:1]), list(self._option_string_actions)
        elif choice is not None:
            name, known = choice[1], [item.strip("' ") for item in choice[2].split(",")]
            if name == "onnx" and "dml_graph" in known:
                return "; compile writes ONNX models"
        else:
            return ""
        return question(nearest(name, known))


_BOUNDS = "verify compares within the error that the reference allows of each element, which no option widens"
_SIZES = "--size NAME=8,3,224,224 gives an input other sizes, and with names in their place one model for all"
_OF_ONNX = MappingProxyType({"verify": ("--against", "compares with it"), "compile": ("-o", "writes it")})
"""How commands are told of the file of an ONNX model, and what they do with it."""
OF_OTHER_TOOLS = MappingProxyType(
    {
        **dict.fromkeys(("--tolerance", "--atol", "--rtol", "--abs-tol", "--rel-tol", "--epsilon"), _BOUNDS),
        **dict.fromkeys(("--batch-size", "--shape", "--input-shape", "--dynamic", "--dynamic-axes"), _SIZES),
        **dict.fromkeys(("--fp16", "--float16", "--precision"), "--half computes in FLOAT16"),
        **dict.fromkeys(("--gpu", "--cuda", "--cpu", "--ep"), "--provider chooses where ONNX Runtime computes"),
        **dict.fromkeys(("--verbose", "-v"), "--json has all that is known, and explain says why"),
        "-o": "run writes into --output-dir DIR, and other commands without -o print their answer",
    }
)
"""What other compilers and runtimes have as options, and what does it here."""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; ends the process with exit code 2 when it makes no sense."""
    if arguments and arguments[0] == "help" and len(arguments) < 3:
        arguments = [*arguments[1:], "--help"]
    arguments = _command_first(arguments)
    parser = make_parser([item for item in arguments[:1] if item in COMMANDS])
    _Parser.typed = arguments
    options = parser.parse_args(arguments)
    if options.command == "batch" and options.output is None and options.do in ("compile", "report"):
        parser.error(f"--do {options.do} writes files: say with -o OUTDIR where to")
    if options.command == "pydirectml" and options.save is None and (options.freeze or options.input):
        parser.error("--freeze and --input are about the model that --save keeps, and there is no --save")
    if options.command == "check" and options.json and options.format not in (None, "json"):
        parser.error(f"--json and --format {options.format} say two things; choose one")
    if hasattr(options, "provider_option"):
        _provider(options, parser)
    return options


def _command_first(arguments: Sequence[str]) -> Sequence[str]:
    """The same command line with the command in front of its options, where argparse wants it."""
    if not arguments or not arguments[0].startswith("-"):
        return arguments
    place = next((i for i, item in enumerate(arguments) if item in COMMANDS), 0)
    return [arguments[place], *arguments[:place], *arguments[place + 1 :]]


def make_parser(complete: Collection[str] = tuple(COMMANDS)) -> _Parser:
    """The parser of command lines, with the arguments of the commands that are to be ``complete``.

    Each takes its time. If there are any, the others are not listed.
    """
    parser = _Parser(
        prog=PROGRAM,
        description="Compiles DirectML operator graphs to standard ONNX and runs them on ONNX Runtime.",
        epilog="exit codes: 0 all is well, 1 findings, 2 unreadable input or command line",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", prog=PROGRAM)
    for name in complete or COMMANDS:
        command = commands.add_parser(name, help=COMMANDS[name][0])
        if name in complete:
            getattr(module_of(name), f"{name}_arguments")(command)
    parser.commands = commands.choices
    return parser


def _provider(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Puts one value into the place of the three options."""
    from dml2onnx.providers.choice import Providers

    try:
        options.provider = Providers.of_texts(options.provider or (), options.provider_option, options.device)
    except DmlError as error:
        parser.error(error.diagnostics[0].message)
