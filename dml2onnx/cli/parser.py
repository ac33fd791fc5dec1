"""What the command line takes: commands, options, and how each is read."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from dml2onnx import __version__
from dml2onnx.cli import texts
from dml2onnx.diagnostics import LONGEST_QUOTE, DmlError, quote
from dml2onnx.providers.table import NAMES as PROVIDERS
from dml2onnx.targets import DEFAULT_OPSET, NAMES, OPSETS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

LONGEST_MESSAGE = 400
SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")
"""What shtab writes scripts for."""


class _Parser(argparse.ArgumentParser):
    """Repeats what it was given as shortly as all other findings do."""

    given: Sequence[str] = ()
    commands: Mapping[str, _Parser] = MappingProxyType({})

    def error(self, message: str) -> NoReturn:
        for item in sorted(self.given, key=len, reverse=True):
            for text in (item, item.partition("=")[2]):
                if len(text) > LONGEST_QUOTE:
                    for spelling in (repr(text), text):
                        message = message.replace(spelling, quote(text))
        message = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
        command = self._of_command()
        self.exit(2, f"{command._shortly()}{command.prog}: error: {message}{command._meant(message)}\n")

    def _of_command(self) -> _Parser:
        """The parser of the command that was given, which knows its options; the errors are those of all commands."""
        return self.commands.get(self.given[0], self) if self.given else self

    def _shortly(self) -> str:
        """The usage without its options, which would fill the screen above the message."""
        formatter = self._get_formatter()
        formatter.add_usage(None, [action for action in self._actions if not action.option_strings], [])
        usage = formatter.format_help().strip().replace(self.prog, f"{self.prog} [OPTIONS]", 1)
        return f"{usage}\n{self.prog} --help lists all options\n"

    def _meant(self, message: str) -> str:
        """The command, option or value that is nearly what was given."""
        import difflib  # only what is misspelt needs it

        wrong = re.search(r"unrecognized arguments: (-[\w-]+)|required: COMMAND$", message)
        choice = re.search(r"invalid choice: '(.+)' \(choose from (.+)\)$", message)
        if wrong is not None:
            name, known = wrong[1] or "".join(self.given[:1]), list(self._option_string_actions)
        elif choice is not None:
            name, known = choice[1], [item.strip("' ") for item in choice[2].split(",")]
        else:
            return ""
        close = difflib.get_close_matches(name, known, n=1)
        return f"; did you mean {close[0]}?" if close else ""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; ends the process with exit code 2 when it makes no sense."""
    if arguments and arguments[0] == "help" and len(arguments) < 3:
        arguments = [*arguments[1:], "--help"]
    parser = make_parser()
    arguments = _command_first(arguments, parser.commands)
    _Parser.given = arguments
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


def _command_first(arguments: Sequence[str], commands: Collection[str]) -> Sequence[str]:
    """The same command line with the command in front of its options, where argparse wants it."""
    if not arguments or not arguments[0].startswith("-"):
        return arguments
    place = next((i for i, item in enumerate(arguments) if item in commands), 0)
    return [arguments[place], *arguments[:place], *arguments[place + 1 :]]


def make_parser() -> _Parser:
    """All commands and their options."""
    parser = _Parser(
        prog="dml2onnx",
        description="Compiles DirectML operator graphs to standard ONNX and runs them on ONNX Runtime.",
        epilog="exit codes: 0 all is well, 1 findings, 2 unreadable input or command line",
    )
    parser.add_argument("--version", action="version", version=f"dml2onnx {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    common, reading, level = _common(), _reading(), _level()
    model = _model(common, reading)
    frozen = _Parser(add_help=False)
    frozen.add_argument(
        "--freeze", action="store_true", help="make every input that has contents a constant, except --input ones"
    )
    freeze = _Parser(add_help=False, parents=[frozen])
    freeze.add_argument("--input", action="append", default=[], metavar="NAME", help="keep this an input")
    form, run_form = _form("cpu"), _form(None)
    _add_compile(commands.add_parser("compile", parents=[model, freeze, level, form], help="write an ONNX model"))
    _add_check(commands.add_parser("check", parents=[common, reading, freeze], help="say what is wrong, and why"))
    _add_run(commands.add_parser("run", parents=[model, frozen, level, run_form], help="compile and run a model"))
    _add_verify(commands.add_parser("verify", parents=[model, _passes()], help="compare a model with the reference"))
    explain = commands.add_parser(
        "explain",
        parents=[model, freeze, form],
        help="what each node becomes, what a code such as DML1601 means, or all about an operator such as JOIN",
    )
    explain.set_defaults(feature_level=None)
    _add_report(
        commands.add_parser(
            "report", parents=[model, freeze, level, run_form], help="write a page that shows all of a model"
        )
    )
    _add_batch(
        commands.add_parser(
            "batch",
            parents=[common, level, run_form],
            help="check, compile, verify or report many models, in several processes, with a journal",
        )
    )
    _add_convert(commands.add_parser("convert", parents=[model, freeze], help="write a model in another format"))
    _add_pydirectml(commands.add_parser("pydirectml", help="run a program made for PyDirectML"))
    _add_without_model(commands, common)
    parser.commands = commands.choices
    return parser


def _common() -> _Parser:
    """How a command says what it has to say."""
    common = _Parser(add_help=False)
    common.add_argument("--json", action="store_true", help="machine-readable output")
    common.add_argument("--quiet", "-q", action="store_true", help="say only what went wrong")
    return common


def _reading() -> _Parser:
    """How models are read."""
    reading = _Parser(add_help=False)
    _add_allow_path(reading, "the model's own that its")
    reading.add_argument("--graph", metavar="NAME", help="which graph of a recording is meant")
    _add_constants(reading)
    reading.add_argument(
        "--max-bytes",
        type=texts.size,
        metavar="N",
        help="refuse texts larger than this, and runs that hold more at once; 512M, 4G and the like are sizes too "
        "(default: 1G of text, and the memory of this machine)",
    )
    return reading


def _add_constants(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="NAME[=FILE]",
        help="make this input a constant, with the contents of a .npy file, an array of a .npz (FILE.npz:ARRAY), the "
        "bytes of any other file, or else those that the model has for it; FILE.npz alone has several (repeatable)",
    )
    parser.add_argument(
        "--constants",
        action="append",
        default=[],
        type=texts.path,
        metavar="DIR",
        help="make constants of the inputs after which files of this directory are named, NAME.npy or NAME.bin"
        " (repeatable)",
    )


def _add_allow_path(parser: argparse.ArgumentParser, whose: str) -> None:
    parser.add_argument(
        "--allow-path",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help=f"a directory outside of {whose} files may lie in (repeatable)",
    )


def _model(common: _Parser, reading: _Parser) -> _Parser:
    """The model that a command is about."""
    model = _Parser(add_help=False, parents=[common, reading])
    model.add_argument(
        "model",
        metavar="MODEL",
        help="native, DML_GRAPH_DESC or DxDispatch JSON, a serialized graph, the directory of a recording, or - for "
        "standard input",
    )
    return model


def _level() -> _Parser:
    """The feature level that a model is checked against."""
    level = _Parser(add_help=False)
    level.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check against this level, such as 3_0 (default: the model's own, or else 6_4)",
    )
    return level


def _form(target: str | None) -> _Parser:
    """What a model is compiled to, for which ``target`` by default; that of the provider for none."""
    form = _Parser(add_help=False, parents=[_passes()])
    form.add_argument(
        "--opset",
        type=int,
        choices=OPSETS,
        default=DEFAULT_OPSET,
        metavar="N",
        help=f"ONNX opset, {OPSETS[0]} to {OPSETS[-1]} (default: {DEFAULT_OPSET})",
    )
    default = target or "that of the provider"
    form.add_argument(
        "--target",
        choices=NAMES,
        default=target,
        help=f"whose kernels decide about data types (default: {default})",
    )
    return form


def _passes() -> _Parser:
    """What a model goes through when it has been translated."""
    passes = _Parser(add_help=False)
    passes.add_argument(
        "-O",
        dest="optimize",
        type=int,
        choices=(0, 1, 2),
        default=1,
        help="-O0: the literal translation, node by node; -O1: with all passes that make it faster and keep each bit "
        "of its results (default); -O2: also with those that round otherwise",
    )
    passes.add_argument(
        "--no-pass",
        dest="without_passes",
        action="append",
        type=texts.pass_name,
        default=[],
        metavar="NAME",
        help="but without this pass, such as share-moves (repeatable)",
    )
    return passes


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=texts.output,
        metavar="OUT.onnx",
        help="file to write, or - (default: beside MODEL, in the place of nothing but an earlier result)",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="leave weights in the files where they lie, if that is beside OUT.onnx or below, and name these",
    )
    _add_written(parser)
    parser.add_argument(
        "--graph-output",
        action="append",
        default=None,
        metavar="NAME",
        help="compile for this output or resource (repeatable; default: those the model shows)",
    )


def _add_written(parser: argparse.ArgumentParser, only: str = "") -> None:
    """How ONNX models are written, ``only`` by the command that the help names."""
    parser.add_argument(
        "--external-data",
        action=argparse.BooleanOptionalAction,
        default=None,
        help=f"{only}put weights into OUT.onnx.data (default: above 1 GiB)",
    )
    parser.add_argument(
        "--no-shapes",
        dest="shapes",
        action="store_false",
        help=f"{only}leave out the types and shapes of values inside of the model, which tools infer as well",
    )
    parser.add_argument(
        "--ir-version",
        type=int,
        metavar="N",
        help=f"{only}IR version to state (default: that of the opset, which every runtime with the opset reads)",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="files, directories of them, or - for standard input"
    )
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check against this level, such as 3_0 (default: the model's own, or else 6_4)",
    )
    target.add_argument(
        "--directml",
        dest="feature_level",
        type=texts.level_by("directml_level"),
        metavar="VERSION",
        help="check against what this version of DirectML has, such as 1.8",
    )
    target.add_argument(
        "--windows",
        dest="feature_level",
        type=texts.level_by("windows_level"),
        metavar="RELEASE",
        help="check against what this release of Windows has by itself, such as 10-22H2",
    )
    parser.add_argument(
        "--format",
        choices=["full", "concise", "json", "github", "sarif"],
        help="how findings are written (default: full)",
    )
    parser.add_argument(
        "--select", action="append", default=[], metavar="CODE", help="only findings of this code, or one such as DML15"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="CODE", help="no findings of this code")
    parser.add_argument(
        "--suggest", action="store_true", help="say what holds each node back, and what an older level has instead"
    )
    parser.add_argument("--target", choices=NAMES, help="compile too, for this target, and say what stands in the way")
    parser.add_argument("--warnings-as-errors", action="store_true", help="warnings give exit code 1 too")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input: .npy, an array of a .npz (FILE.npz:ARRAY), else raw bytes; FILE.npz alone has "
        "several (repeatable)",
    )
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="write every output as DIR/NAME.npy")
    _add_providers(parser)
    parser.add_argument("--profile", action="store_true", help="show what every ONNX node cost")
    parser.add_argument("--assignment", action="store_true", help="show on which provider every ONNX node ran")
    parser.add_argument(
        "--no-fallback",
        action="store_true",
        help="name the nodes that ran on none of the providers asked for, with exit code 1 if there are any",
    )


def _add_providers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--provider",
        action="append",
        metavar="NAME",
        help=f"execution provider of ONNX Runtime: {', '.join(PROVIDERS)}; several with commas between them, or"
        " repeated, in the order in which they are offered each node (default: cpu)",
    )
    parser.add_argument(
        "--provider-option",
        action="append",
        default=[],
        metavar="[NAME:]KEY=VALUE",
        help="an option of the provider, or of NAME where there are several (repeatable)",
    )
    parser.add_argument(
        "--device", type=texts.at_least(0), metavar="N", help="number of a device of the first provider"
    )


def _provider(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Puts one value into the place of the three options."""
    from dml2onnx.providers.choice import Providers

    try:
        options.provider = Providers.of_texts(options.provider or (), options.provider_option, options.device)
    except DmlError as error:
        parser.error(error.diagnostics[0].message)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    _add_providers(parser)
    parser.add_argument(
        "--cases", "--rounds", type=texts.at_least(1), default=3, metavar="N", help="runs with new inputs (default: 3)"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input, in every case, as for run (repeatable; default: random and extreme numbers)",
    )
    parser.add_argument(
        "--against",
        type=texts.path,
        metavar="OTHER.onnx",
        help="compare this ONNX model with the graph, not the compiled one",
    )
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="look at no further node after that time"
    )
    parser.add_argument("--nodes", action="store_true", help="show what was found of every node")
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="seed of the inputs (default: 0)"
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=texts.output,
        metavar="OUT.html",
        help="file to write, or - (default: beside MODEL, in the place of nothing but an earlier report)",
    )
    parser.add_argument(
        "--compare",
        metavar="OTHER",
        help="put another model, or the same one at a feature level such as 3_0, beside this one",
    )
    parser.add_argument("--svg", action="store_true", help="draw the graphs only, for documents")
    parser.add_argument("--verify", action="store_true", help="compare every node with the reference")
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="compare no further node after that time"
    )
    parser.add_argument("--profile", action="store_true", help="run the model, and say what every node cost")
    _add_providers(parser)


def _add_batch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="+",
        metavar="LIST_OR_DIR",
        help="directories, models (.json, .bin), or text files with one of these in each line; - is such a list",
    )
    parser.add_argument(
        "--do", choices=["check", "compile", "verify", "report"], default="check", help="the work (default: check)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=texts.path,
        metavar="OUTDIR",
        help="directory of the results, in the tree of the models, and of the journal",
    )
    parser.add_argument(
        "--journal",
        type=texts.path,
        metavar="FILE",
        help="the journal (default: OUTDIR/journal.jsonl; without -o none)",
    )
    workers = parser.add_mutually_exclusive_group()
    workers.add_argument(
        "--jobs", "-j", type=texts.at_least(1), metavar="N", help="processes (default: one for each core)"
    )
    workers.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="work on the Dask cluster with this scheduler, such as tcp://10.0.0.1:8786 (needs dml2onnx[dask])",
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--again", action="store_true", help="do again what stands in the journal as done")
    again.add_argument(
        "--retry-failed", action="store_true", help="do again what took too long or too much memory, died, or failed"
    )
    parser.add_argument(
        "--model-timeout", type=texts.seconds, metavar="SECONDS", help="end the work on a model after that time"
    )
    parser.add_argument(
        "--max-bytes", type=texts.size, metavar="N", help="let no model have more memory than this, such as 512M or 4G"
    )
    parser.add_argument("--freeze", action="store_true", help="make every input that has contents a constant")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME", help="but keep this an input (repeatable)"
    )
    _add_constants(parser)
    _add_allow_path(parser, "the models' own that their")
    _add_written(parser, "compile: ")
    parser.add_argument(
        "--cases", type=texts.at_least(1), default=3, metavar="N", help="verify: runs with new inputs (default: 3)"
    )
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="verify: seed of the inputs (default: 0)"
    )
    _add_providers(parser)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=texts.output, metavar="OUT", help="file to write, or - (default: a new one beside MODEL)"
    )
    parser.add_argument(
        "--format",
        choices=["native", "dml_graph", "serialized", "dxdispatch"],
        help="format to write (default: native for OUT.json, serialized for OUT.bin)",
    )


def _add_pydirectml(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--save",
        type=texts.path,
        metavar="OUT.onnx|OUT.json",
        help="keep the model that is computed, as ONNX or, for all other commands, as a native graph; further ones as "
        "OUT-2.onnx, ...",
    )
    parser.add_argument("--freeze", action="store_true", help="make all inputs of it constants, not only OWNED_BY_DML")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME",
        help="but not this one: input0, input1, ... (repeatable)",
    )
    parser.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check operators against this level, such as 3_0 (default: 6_4)",
    )
    _add_providers(parser)
    parser.add_argument("--quiet", "-q", action="store_true", help="say only what went wrong")
    parser.add_argument("program", metavar="PROGRAM.py", help="a program that says: import pydirectml")
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="what the program finds in sys.argv"
    )
    rest.required = False  # of nothing that is missing is that to be said
    parser.set_defaults(json=False)


def _add_without_model(commands: argparse._SubParsersAction[_Parser], common: _Parser) -> None:
    """The commands that are about no model."""
    recorder = commands.add_parser(
        "recorder", parents=[common], help="write a header with which C++ programs record their graphs"
    )
    recorder.add_argument(
        "--output",
        "-o",
        type=texts.directory,
        default=Path(),
        metavar="DIR",
        help="where to (default: the current directory)",
    )
    ops = commands.add_parser("ops", parents=[common], help="list DirectML's operators and whether they compile")
    ops.add_argument("pattern", nargs="?", default="", metavar="TEXT", help="only operators whose name contains this")
    commands.add_parser("doctor", parents=[common], help="say what is installed here, what works, and what is missing")
    schema = commands.add_parser("schema", parents=[common], help="print a JSON Schema")
    schema.add_argument(
        "subject",
        nargs="?",
        choices=("graph", "report", "journal"),
        default="graph",
        help="graph: the native format, for editors (default); report: what --json writes; journal: a line of what "
        "batch keeps",
    )
    completion = commands.add_parser("completion", parents=[common], help="print a script that completes commands")
    completion.add_argument("shell", choices=SHELLS, help="the shell that is to complete them")
