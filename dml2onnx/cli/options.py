"""The commands, their options, and their help."""

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
        help="file to write, or - (default: beside MODEL; replaces only an earlier result)",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="refer to weight files beside OUT.onnx or below instead of copying them",
    )
    _add_written(parser)
    parser.add_argument(
        "--graph-output",
        action="append",
        default=None,
        metavar="NAME",
        help="compile only what this output or resource needs (repeatable; default: the model's outputs)",
    )


def _add_written(parser: argparse.ArgumentParser, only: str = "") -> None:
    """How ONNX models are written, ``only`` by the command that the help names."""
    parser.add_argument(
        "--external-data",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="write weights to OUT.onnx.data (default: above 1 GiB)",
    )
    parser.add_argument(
        "--no-shapes",
        dest="shapes",
        action="store_false",
        help=f"{only}omit types and shapes of values inside the model; tools can infer them",
    )
    parser.add_argument(
        "--ir-version",
        type=int,
        metavar="N",
        help=f"{only}IR version of the model (default: that of the opset, which every runtime with the opset reads)",
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
        help="check against this feature level, such as 3_0 (default: the model's own, else the latest)",
    )
    target.add_argument(
        "--directml",
        dest="feature_level",
        type=texts.level_by("directml_level"),
        metavar="VERSION",
        help="check against this version of DirectML, such as 1.8",
    )
    target.add_argument(
        "--windows",
        dest="feature_level",
        type=texts.level_by("windows_level"),
        metavar="RELEASE",
        help="check against the DirectML in this release of Windows, such as 10-22H2",
    )
    add_documented(parser)
    parser.add_argument(
        "--format",
        choices=["full", "concise", "json", "github", "sarif", "junit"],
        help="output format of findings (default: full)",
    )
    hidden = "hide findings with this code"
    shown = "show only findings with this code, or with this beginning of a code, such as DML15"
    for name, text in (("--select", shown), ("--ignore", hidden)):
        parser.add_argument(name, action="append", type=texts.code, default=[], metavar="CODE", help=text)
    parser.add_argument(
        "--suggest",
        action="store_true",
        help="name what keeps each node from an older feature level, and an equivalent for that level; without a "
        "level: the nodes that need the highest one",
    )
    parser.add_argument(
        "--target",
        type=texts.target,
        choices=targets.NAMES,
        help="also compile for this target, and report what cannot be compiled",
    )
    parser.add_argument("--warnings-as-errors", action="store_true", help="exit with 1 for warnings, too")
    parser.add_argument("--models-only", action="store_true", help="skip files that are no models")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="correct the files where only one correction is possible (misspelt names, counts and sizes that "
        "follow from others), print a diff, and check again",
    )
    parser.add_argument("--diff", action="store_true", help="print the diff of --fix and write nothing")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input: a .npy, an array of a .npz (FILE.npz:ARRAY), or raw bytes; FILE.npz alone "
        "gives several inputs; arrays are in memory order, flat, or in the shape of the tensor (repeatable)",
    )
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="write each output as DIR/NAME.npy, in the shape of its tensor"
    )
    _add_providers(parser)
    parser.add_argument("--profile", action="store_true", help="show the time of each ONNX node")
    parser.add_argument("--assignment", action="store_true", help="show the provider of each ONNX node")
    parser.add_argument(
        "--no-fallback",
        action="store_true",
        help="exit with 1 and list the nodes, if nodes ran on other providers than these",
    )


def _add_providers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--provider",
        action="append",
        metavar="NAME",
        help=f"execution provider of ONNX Runtime: {', '.join(table.NAMES)}; several in order of preference, "
        "with commas or repeated (default: cpu)",
    )
    parser.add_argument(
        "--provider-option",
        action="append",
        default=[],
        metavar="[NAME:]KEY=VALUE",
        help="option of the provider, or of NAME if there are several (repeatable)",
    )
    number = texts.at_least(0, "; --device counts the devices of a provider, which --provider names")
    parser.add_argument("--device", type=number, metavar="N", help="device number for the first provider")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    _add_providers(parser)
    parser.add_argument(
        "--cases",
        "--rounds",
        type=texts.at_least(1),
        default=3,
        metavar="N",
        help="number of runs, each with new inputs (default: 3)",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="contents of an input in every case, as for run (repeatable; default: random and extreme numbers)",
    )
    parser.add_argument(
        "--against",
        type=texts.path,
        metavar="OTHER.onnx|directml",
        help="compare this ONNX model with the graph instead of the compiled one; directml: compare DirectML "
        "itself, too",
    )
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="stop comparing nodes after this time"
    )
    parser.add_argument("--nodes", action="store_true", help="show the result of each node")
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
        help="file to write, or - (default: beside MODEL; replaces only an earlier report)",
    )
    parser.add_argument(
        "--compare",
        metavar="OTHER",
        help="compare with another model, or with this model at a feature level such as 3_0",
    )
    parser.add_argument("--svg", action="store_true", help="draw only the graphs, as SVG")
    parser.add_argument("--verify", action="store_true", help="compare each node with the reference")
    parser.add_argument(
        "--time-limit", type=texts.seconds, metavar="SECONDS", help="stop comparing nodes after this time"
    )
    parser.add_argument("--profile", action="store_true", help="run the model and show the time of each node")
    _add_providers(parser)


def _add_repeats(parser: argparse.ArgumentParser) -> None:
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--again", action="store_true", help="repeat models that are done according to the journal")
    again.add_argument(
        "--retry-failed",
        action="store_true",
        help="repeat models that took too long or too much memory, crashed, or failed",
    )


def _add_batch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="+",
        metavar="LIST_OR_DIR",
        help="directories, models (.json, .bin), or text files with one of these in each line; - reads such a list",
    )
    parser.add_argument(
        "--do",
        choices=["check", "compile", "verify", "report"],
        default="check",
        help="what to do with each model (default: check)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=texts.path,
        metavar="OUTDIR",
        help="directory for results, in the same tree as the models, and for the journal",
    )
    parser.add_argument(
        "--journal",
        type=texts.path,
        metavar="FILE",
        help="journal file (default: OUTDIR/journal.jsonl; without -o none)",
    )
    workers = parser.add_mutually_exclusive_group()
    workers.add_argument(
        "--jobs", "-j", type=texts.at_least(1), metavar="N", help="number of processes (default: one for each core)"
    )
    workers.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="use the Dask cluster with this scheduler, such as tcp://10.0.0.1:8786 (needs dml2onnx[dask])",
    )
    _add_repeats(parser)
    parser.add_argument("--model-timeout", type=texts.seconds, metavar="SECONDS", help="time limit for one model")
    parser.add_argument(
        "--max-bytes", type=texts.size, metavar="N", help="memory limit for one model, such as 512M or 4G"
    )
    parser.add_argument(
        "--freeze", action="store_true", help="turn inputs into constants if the model has contents for them"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME", help="keep this input an input (repeatable)"
    )
    add_constants(parser)
    add_allow_path(parser, "the models'")
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
        help="input to ask about (repeatable; default: the first)",
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
        help=f"execution provider to measure: {', '.join(table.NAMES)}; several with commas are one "
        "measurement (repeatable: each is measured; default: cpu)",
    )
    parser.add_argument(
        "--target",
        dest="targets",
        action="append",
        type=texts.target,
        choices=targets.NAMES,
        help="where the models are to run (repeatable; default: the target of each provider)",
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
        help="also measure this ONNX model, which must compute the same (repeatable)",
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
        help="time to measure each, in turns (default: 2)",
    )
    parser.add_argument("--runs", type=texts.at_least(1), metavar="N", help="number of runs of each, instead of a time")
    parser.add_argument(
        "--warm-up",
        type=texts.at_least(0),
        default=10,
        metavar="N",
        help="first runs, which are not measured (default: 10)",
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
        help="keep graphs for which this command fails with the same exit code as for MODEL; the shell runs it "
        "with the path of the graph (native JSON) for {}, or at its end",
    )
    test.add_argument(
        "--interesting",
        metavar="COMMAND",
        help="keep graphs for which this command exits with 0, as in C-Reduce",
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
        help="time limit for the command; a graph that exceeds it is not kept (default: 300, as in C-Reduce)",
    )


def _add_pydirectml(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--save",
        type=texts.path,
        metavar="OUT.onnx|OUT.json",
        help="save the model that the program computes, as ONNX or as a native graph for other commands; further "
        "models go to OUT-2.onnx, ...",
    )
    parser.add_argument(
        "--freeze", action="store_true", help="turn all inputs into constants, not only those owned by DirectML"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME",
        help="keep this input an input: input0, input1, ... (repeatable)",
    )
    parser.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check operators against this level, such as 3_0 (default: the latest)",
    )
    _add_providers(parser)
    parser.add_argument("--quiet", "-q", action="store_true", help="print errors only")
    parser.add_argument("program", metavar="PROGRAM.py", help="a program with: import pydirectml")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="arguments of the program")
    rest.required = False  # of nothing that is missing is that to be said
    parser.set_defaults(json=False)


def _add_recorder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        "-o",
        type=texts.directory,
        default=Path(),
        metavar="DIR",
        help="directory to write to (default: the current one)",
    )


def _add_ops(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pattern", nargs="?", default="", metavar="TEXT", help="list only operators whose name contains this"
    )


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "subject",
        nargs="?",
        choices=("graph", "report", "journal"),
        default="graph",
        help="graph: the native format, for editors (default); report: the output of --json; journal: a line of "
        "the journal of batch",
    )


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="your shell")


COMMANDS: Mapping[str, tuple[str, tuple[Callable[[argparse.ArgumentParser], None], ...]]] = {
    "compile": ("write an ONNX model", (add_model, add_freeze, add_level, add_form, _add_compile)),
    "check": ("find what is wrong with a model, and explain it", (add_common, add_reading, add_freeze, _add_check)),
    "run": ("compile and run a model", (add_model, add_frozen, add_level, add_run_form, _add_run)),
    "verify": (
        "compare a model with the reference",
        (add_model, add_documented, add_passes, _add_verify),
    ),
    "explain": (
        "explain the ONNX nodes of a model, a code such as DML1601, or an operator such as JOIN",
        (add_model, add_freeze, add_form, _add_explain),
    ),
    "report": (
        "write an HTML page about a model: graphs, findings, errors, times",
        (add_model, add_freeze, add_level, add_run_form, _add_report),
    ),
    "batch": (
        "check, compile, verify or report many models, in several processes, with a journal",
        (add_common, add_level, add_run_form, _add_batch),
    ),
    "sizes": (
        "list the input sizes that can change, and the nodes that fix the others",
        (add_model, add_freeze, _add_of),
    ),
    "convert": ("write a model in another format", (add_model, add_freeze, _add_convert)),
    "perf": (
        "measure models on providers, targets, levels and threads, side by side",
        (add_common, add_reading, add_level, _add_perf),
    ),
    "reduce": (
        "find the smallest graph for which a command still fails, for a bug report",
        (add_model, add_freeze, _add_reduce),
    ),
    "pydirectml": ("run a program written for PyDirectML", (_add_pydirectml,)),
    "recorder": ("write the C++ headers that record the graphs of a program", (add_common, _add_recorder)),
    "ops": ("list DirectML's operators, and whether they compile", (add_common, _add_ops)),
    "doctor": ("show what is installed, what works, and what is missing", (add_common,)),
    "schema": ("print a JSON Schema", (add_common, _add_schema)),
    "completion": ("print a script with which your shell completes commands", (add_common, _add_completion)),
}
"""What each command is for, and what adds its options to its parser, in the order of its help."""
