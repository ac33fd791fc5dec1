"""Options of several commands: how models are read, what they are checked against, and how they are compiled."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx.cli import texts
from dml2onnx.lazy import lazy_module

if TYPE_CHECKING:
    from dml2onnx import targets
else:
    targets = lazy_module("dml2onnx.targets")


def add_common(parser: argparse.ArgumentParser) -> None:
    """How a command says what it has to say."""
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    parser.add_argument("--quiet", "-q", action="store_true", help="say only what went wrong")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How models are read."""
    add_allow_path(parser, "the model's own that its")
    parser.add_argument("--graph", metavar="NAME", help="which graph of a recording is meant")
    add_constants(parser)
    add_sizes(parser)
    parser.add_argument(
        "--max-bytes",
        type=texts.size,
        metavar="N",
        help="refuse texts larger than this, and runs that hold more at once; 512M, 4G and the like are sizes too "
        "(default: 1G of text, and the memory of this machine)",
    )


def add_constants(parser: argparse.ArgumentParser) -> None:
    """Which inputs become constants, with contents of files."""
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


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Other sizes of inputs."""
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        type=texts.sizes,
        metavar="NAME=N,C,H,W",
        help="read the model as if it had been written for an input of these sizes (repeatable); names make one model "
        "for all sizes: NAME=N,3,H,W",
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        type=texts.sizes_range,
        metavar="N=FIRST..LAST",
        help="the sizes that a name of --size stands for (repeatable; default: from the smallest that is possible to "
        "64 or four times the model's own)",
    )


def add_allow_path(parser: argparse.ArgumentParser, whose: str) -> None:
    """Where files may lie besides the directory of what is read."""
    parser.add_argument(
        "--allow-path",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help=f"a directory outside of {whose} files may lie in (repeatable)",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model that a command is about."""
    add_common(parser)
    add_reading(parser)
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="native, DML_GRAPH_DESC or DxDispatch JSON, a serialized graph, the directory of a recording, or - for "
        "standard input",
    )


def add_frozen(parser: argparse.ArgumentParser) -> None:
    """Whether inputs with contents become constants."""
    parser.add_argument(
        "--freeze", action="store_true", help="make every input that has contents a constant, except --input ones"
    )


def add_freeze(parser: argparse.ArgumentParser) -> None:
    """Which inputs become constants."""
    add_frozen(parser)
    parser.add_argument("--input", action="append", default=[], metavar="NAME", help="keep this an input")


def add_level(parser: argparse.ArgumentParser) -> None:
    """The feature level that a model is checked against."""
    parser.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check against this level, such as 3_0 (default: the model's own, or else the latest)",
    )
    add_documented(parser)


def add_documented(parser: argparse.ArgumentParser) -> None:
    """Whether the documentation is the judge, or DirectML itself."""
    parser.add_argument(
        "--documented",
        action="store_true",
        help="what DirectML's documentation forbids is an error also where DirectML accepts it",
    )


def add_form(parser: argparse.ArgumentParser) -> None:
    """What a model is compiled to, for every runtime by default."""
    add_form_for(parser, targets.DEFAULT_TARGET)


def add_run_form(parser: argparse.ArgumentParser) -> None:
    """What a model is compiled to, for its provider by default."""
    add_form_for(parser, None)


def add_form_for(parser: argparse.ArgumentParser, target: str | None) -> None:
    """What is compiled, and for which target."""
    add_passes(parser)
    first, last = targets.OPSETS[0], targets.OPSETS[-1]
    parser.add_argument(
        "--opset",
        type=int,
        choices=targets.OPSETS,
        default=targets.DEFAULT_OPSET,
        metavar="N",
        help=f"ONNX opset, {first} to {last} (default: {targets.DEFAULT_OPSET})",
    )
    default = target or "that of the provider"
    parser.add_argument(
        "--target",
        type=texts.target,
        choices=targets.NAMES,
        default=target,
        help=f"whose kernels decide about forms and data types (default: {default})",
    )


def add_passes(parser: argparse.ArgumentParser) -> None:
    """What a model keeps, and what it goes through when it has been translated."""
    parser.add_argument(
        "--exact",
        action="store_true",
        help="keep NaN, infinities, signs of zero and last digits as DirectML has them, on the CPU provider; other "
        "models leave them open",
    )
    parser.add_argument(
        "-O",
        dest="optimize",
        type=int,
        choices=(0, 1, 2),
        default=1,
        help="-O0: no passes; -O1: those that make the model faster and keep each bit of its results (default); "
        "-O2: also those that round differently",
    )
    parser.add_argument(
        "--no-pass",
        dest="without_passes",
        action="append",
        type=texts.pass_name,
        default=[],
        metavar="NAME",
        help="but without this pass, such as share-moves (repeatable)",
    )
    parser.add_argument(
        "--quant-format",
        choices=targets.QUANT_FORMATS,
        default=None,
        help="how quantised operators are written: qdq for FLOAT ones between DequantizeLinear and QuantizeLinear, "
        "which accelerators take, or qoperator for integer ones such as QLinearConv (default: what suits the target)",
    )
    parser.add_argument(
        "--half",
        action="store_true",
        help="compute FLOAT32 in FLOAT16, weights included; inputs and outputs stay as they are, between casts, and "
        "constants that FLOAT16 does not hold are named",
    )
