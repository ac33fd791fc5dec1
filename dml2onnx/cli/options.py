"""The commands and their options: what each is called and takes, and what help says of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.cli.common_options import (
    add_allow_path,
    add_common,
    add_constants,
    add_documented,
    add_form,
    add_freeze,
    add_frozen,
    add_level,
    add_model,
    add_passes,
    add_reading,
    add_run_form,
)
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dml2onnx import targets
    from dml2onnx.providers import table
else:
    targets, table = lazy_module("dml2onnx.targets"), lazy_module("dml2onnx.providers.table")

SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")
"""What shtab writes scripts for."""


# --- Commands ---------------------------------------------------------------------------------------------------------


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
        help="check against this level, such as 3_0 (default: the model's own, or else the latest)",
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
    add_documented(parser)
    parser.add_argument(
        "--format",
        choices=["full", "concise", "json", "github", "sarif", "junit"],
        help="how findings are written (default: full)",
    )
    parser.add_argument(
        "--select", action="append", default=[], metavar="CODE", help="only findings of this code, or one such as DML15"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="CODE", help="no findings of this code")
    parser.add_argument(
        "--suggest",
        action="store_true",
        help="say what holds each node back, and what an older level has instead; where no level is given, which nodes "
        "need the highest one, and what would lower it",
    )
    parser.add_argument(
        "--target",
        type=texts.target,
        choices=targets.NAMES,
        help="compile too, for this target, and say what stands in the way",
    )
    parser.add_argument("--warnings-as-errors", action="store_true", help="warnings give exit code 1 too")
    parser.add_argument(
        "--models-only", action="store_true", help="pass over files that are no models, as in directories"
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="write into the files what leaves no doubt (misspelt names, counts and sizes that follow), show it as a "
        "diff, and check what is left",
    )
    parser.add_argument(
        "--diff", action="store_true", help="show what --fix would write, and write nothing, with --fix or without"
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input: .npy, an array of a .npz (FILE.npz:ARRAY), else raw bytes; FILE.npz alone has "
        "several; arrays have the shape of memory, or are flat, or have that of the tensor where it is another "
        "(repeatable)",
    )
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="write every output as DIR/NAME.npy, in the shape of its tensor"
    )
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
        help=f"execution provider of ONNX Runtime: {', '.join(table.NAMES)}; several with commas between them, or"
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
        metavar="OTHER.onnx|directml",
        help="compare this ONNX model with the graph, not the compiled one; or compare DirectML itself as well",
    )
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="look at no further node after that time"
    )
    parser.add_argument("--nodes", action="store_true", help="show what was found of every node")
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="seed of the inputs (default: 0)"
    )


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(feature_level=None, documented=False, range=[])


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
    add_constants(parser)
    add_allow_path(parser, "the models' own that their")
    _add_written(parser, "compile: ")
    parser.add_argument(
        "--cases", type=texts.at_least(1), default=3, metavar="N", help="verify: runs with new inputs (default: 3)"
    )
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="verify: seed of the inputs (default: 0)"
    )
    _add_providers(parser)


def _add_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--of",
        action="append",
        default=[],
        metavar="NAME",
        help="ask about this input (repeatable; default: the first)",
    )


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=texts.output, metavar="OUT", help="file to write, or - (default: a new one beside MODEL)"
    )
    parser.add_argument(
        "--format",
        choices=["native", "dml_graph", "serialized", "dxdispatch", "python", "cpp"],
        help="format to write; python is a program of the builder, with its weights in a .npz file beside it, cpp one "
        "of DirectMLX, with a .bin file (default: native for OUT.json, serialized for OUT.bin, python for OUT.py, cpp "
        "for OUT.cpp)",
    )


def _add_perf(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="native, DML_GRAPH_DESC or DxDispatch JSON, or serialized graphs"
    )
    parser.add_argument(
        "--provider",
        dest="providers",
        action="append",
        metavar="NAME",
        help=f"execution provider to measure: {', '.join(table.NAMES)}; with commas between them several that work "
        "together (repeatable: each is measured; default: cpu)",
    )
    parser.add_argument(
        "--target",
        dest="targets",
        action="append",
        type=texts.target,
        choices=targets.NAMES,
        help="whose kernels decide about forms and data types (repeatable; default: that of each provider)",
    )
    parser.add_argument(
        "-O",
        dest="levels",
        action="append",
        type=int,
        choices=(0, 1, 2),
        help="level of optimisation, as for compile (repeatable; default: 1)",
    )
    parser.add_argument(
        "--threads",
        action="append",
        type=texts.at_least(0),
        metavar="N",
        help="threads of a session, 0 for ONNX Runtime's own choice (repeatable; default: 0)",
    )
    parser.add_argument(
        "--against",
        action="append",
        type=texts.path,
        default=[],
        metavar="OTHER.onnx",
        help="measure this ONNX model too, which computes the same (repeatable)",
    )
    _add_measuring(parser)


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    """What is measured of each."""
    parser.add_argument(
        "--opset", type=int, choices=targets.OPSETS, default=targets.DEFAULT_OPSET, metavar="N", help="ONNX opset"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input, as for run (repeatable; default: the model's sample, else random numbers, and 0 "
        "for integers)",
    )
    parser.add_argument(
        "--seconds",
        type=texts.seconds,
        default=2.0,
        metavar="S",
        help="how long each is measured, in turns (default: 2)",
    )
    parser.add_argument(
        "--runs", type=texts.at_least(1), metavar="N", help="so many runs of each instead, however long they take"
    )
    parser.add_argument(
        "--warm-up", type=texts.at_least(0), default=10, metavar="N", help="runs that do not count (default: 10)"
    )
    parser.add_argument(
        "--seed", type=texts.at_least(0), default=0, metavar="N", help="seed of random inputs (default: 0)"
    )
    parser.add_argument(
        "--report", type=texts.path, metavar="OUT.html", help="write a report of the model with the figures"
    )


def _add_reduce(parser: argparse.ArgumentParser) -> None:
    test = parser.add_mutually_exclusive_group(required=True)
    test.add_argument(
        "--while",
        dest="failing",
        metavar="COMMAND",
        help="a graph is of interest as long as this command fails with the exit code that it has for MODEL; it is run "
        "by the shell, with the path of the graph, native JSON, for {} or else behind it",
    )
    test.add_argument(
        "--interesting",
        metavar="COMMAND",
        help="a graph is of interest as long as this command ends with exit code 0, as C-Reduce wants it",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=texts.path,
        metavar="OUT.json",
        help="file to write whenever a smaller graph is found (default: a new one beside MODEL)",
    )
    parser.add_argument(
        "--timeout",
        type=texts.seconds,
        default=300.0,
        metavar="SECONDS",
        help="end the command after that time; the graph is then of no interest (default: 300, as C-Reduce's)",
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
        help="check operators against this level, such as 3_0 (default: the latest)",
    )
    _add_providers(parser)
    parser.add_argument("--quiet", "-q", action="store_true", help="say only what went wrong")
    parser.add_argument("program", metavar="PROGRAM.py", help="a program that says: import pydirectml")
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="what the program finds in sys.argv"
    )
    rest.required = False  # of nothing that is missing is that to be said
    parser.set_defaults(json=False)


def _add_recorder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        "-o",
        type=texts.directory,
        default=Path(),
        metavar="DIR",
        help="where to (default: the current directory)",
    )


def _add_ops(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pattern", nargs="?", default="", metavar="TEXT", help="only operators whose name contains this"
    )


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "subject",
        nargs="?",
        choices=("graph", "report", "journal"),
        default="graph",
        help="graph: the native format, for editors (default); report: what --json writes; journal: a line of what "
        "batch keeps",
    )


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete them")


COMMANDS: Mapping[str, tuple[str, tuple[Callable[[argparse.ArgumentParser], None], ...]]] = {
    "compile": ("write an ONNX model", (add_model, add_freeze, add_level, add_form, _add_compile)),
    "check": ("say what is wrong, and why", (add_common, add_reading, add_freeze, _add_check)),
    "run": ("compile and run a model", (add_model, add_frozen, add_level, add_run_form, _add_run)),
    "verify": (
        "compare a model with the reference",
        (add_model, add_documented, add_passes, _add_verify),
    ),
    "explain": (
        "what each node becomes, what a code such as DML1601 means, or all about an operator such as JOIN",
        (add_model, add_freeze, add_form, _add_explain),
    ),
    "report": (
        "write a page that shows all of a model",
        (add_model, add_freeze, add_level, add_run_form, _add_report),
    ),
    "batch": (
        "check, compile, verify or report many models, in several processes, with a journal",
        (add_common, add_level, add_run_form, _add_batch),
    ),
    "sizes": ("which sizes of inputs are free, tied, or fixed, by whom", (add_model, add_freeze, _add_of)),
    "convert": ("write a model in another format", (add_model, add_freeze, _add_convert)),
    "perf": (
        "measure models on providers, targets, levels and threads, side by side",
        (add_common, add_reading, add_level, _add_perf),
    ),
    "reduce": (
        "find the smallest graph for which a command still fails, for a bug report",
        (add_model, add_freeze, _add_reduce),
    ),
    "pydirectml": ("run a program made for PyDirectML", (_add_pydirectml,)),
    "recorder": ("write a header with which C++ programs record their graphs", (add_common, _add_recorder)),
    "ops": ("list DirectML's operators and whether they compile", (add_common, _add_ops)),
    "doctor": ("say what is installed here, what works, and what is missing", (add_common,)),
    "schema": ("print a JSON Schema", (add_common, _add_schema)),
    "completion": ("print a script that completes commands", (add_common, _add_completion)),
}
"""What each command is for, and what adds its options to its parser, in the order of its help."""
