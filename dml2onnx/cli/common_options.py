"""Options that several commands share: reading, checking, compiling, and running models."""

from __future__ import annotations

import argparse
from pathlib import Path

from dml2onnx.cli import texts
from dml2onnx.cli.lazily import table, targets


def add_common(parser: argparse.ArgumentParser) -> None:
    """Adds the output options that every command has."""
    parser.add_argument("--json", action="store_true", help="print the output as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="print errors only")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Adds the options for reading models."""
    add_allow_path(parser, "the model's")
    parser.add_argument("--graph", metavar="NAME", help="name of the graph in a recording")
    add_constants(parser)
    add_sizes(parser)
    parser.add_argument(
        "--max-bytes",
        type=texts.size,
        metavar="N",
        help="limit for the text of a model, and for the memory of a run, such as 512M or 4G (default: 1G of text, "
        "and the memory of this machine)",
    )


def add_constants(parser: argparse.ArgumentParser) -> None:
    """Adds the options that turn inputs into constants with contents from files."""
    parser.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="NAME[=FILE]",
        help="turn this input into a constant with the contents of a .npy, an array of a .npz (FILE.npz:ARRAY), "
        "the bytes of any other file, or, without FILE, the contents in the model; FILE.npz alone gives "
        "several constants (repeatable)",
    )
    parser.add_argument(
        "--constants",
        action="append",
        default=[],
        type=texts.path,
        metavar="DIR",
        help="turn inputs into constants if this directory has a file with their name, NAME.npy or NAME.bin "
        "(repeatable)",
    )


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Adds the options that change the sizes of inputs."""
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        type=texts.sizes,
        metavar="NAME=N,C,H,W",
        help="rewrite the model for other sizes of this input (repeatable); names in place of numbers make one "
        "model for all sizes: NAME=N,3,H,W",
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        type=texts.sizes_range,
        metavar="N=FIRST..LAST",
        help="first and last size for a name in --size (repeatable; default: from the smallest possible size to "
        "64, or to four times the model's own)",
    )


def add_allow_path(parser: argparse.ArgumentParser, whose: str) -> None:
    """Adds the option for files outside of the model's directory."""
    parser.add_argument(
        "--allow-path",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help=f"also read files in this directory, outside of {whose} own (repeatable)",
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Adds the model argument, and the options for reading it."""
    add_common(parser)
    add_reading(parser)
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="native, DML_GRAPH_DESC or DxDispatch JSON, a serialized graph, the directory of a recording, or - for "
        "standard input",
    )


def add_frozen(parser: argparse.ArgumentParser) -> None:
    """Adds ``--freeze``."""
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="turn inputs into constants if the model has contents for them, except those named by --input",
    )


def add_freeze(parser: argparse.ArgumentParser) -> None:
    """Adds ``--freeze`` and the option for exceptions."""
    add_frozen(parser)
    parser.add_argument("--input", action="append", default=[], metavar="NAME", help="keep this input an input")


def add_level(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the feature level to check against."""
    parser.add_argument(
        "--feature-level",
        type=texts.feature_level,
        metavar="LEVEL",
        help="check against this feature level, such as 3_0 (default: the model's own, else the latest)",
    )
    add_documented(parser)


def add_documented(parser: argparse.ArgumentParser) -> None:
    """Adds ``--documented``."""
    parser.add_argument(
        "--documented",
        action="store_true",
        help="report as errors what DirectML accepts against its documentation",
    )


def add_compiling(parser: argparse.ArgumentParser, default_target: str | None = None) -> None:
    """Adds the options for compiling; ``None`` as the default target means that of the provider."""
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
    parser.add_argument(
        "--target",
        type=texts.target,
        choices=targets.NAMES,
        default=default_target,
        help="where the model is to run, which decides its operators and data types (default: "
        f"{default_target or 'the target of the provider'})",
    )


def add_passes(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the passes and the precision of the model."""
    parser.add_argument(
        "--exact",
        action="store_true",
        help="give the same NaN, infinities, signs of zero and last digits as DirectML, on the CPU provider "
        "(default: only what all runtimes can)",
    )
    parser.add_argument(
        "-O",
        dest="optimize",
        type=int,
        choices=(0, 1, 2),
        default=1,
        help="-O0: no passes; -O1: passes that keep each bit of the results (default); -O2: also passes that round "
        "differently",
    )
    parser.add_argument(
        "--no-pass",
        dest="without_passes",
        action="append",
        type=texts.pass_name,
        default=[],
        metavar="NAME",
        help="skip this pass, such as share-moves (repeatable)",
    )
    parser.add_argument(
        "--quant-format",
        choices=targets.QUANT_FORMATS,
        default=None,
        help="form of quantized operators: qdq for FLOAT operators between DequantizeLinear and QuantizeLinear, "
        "for accelerators; qoperator for integer operators such as QLinearConv (default: the target's)",
    )
    parser.add_argument(
        "--half",
        action="store_true",
        help="compute in FLOAT16, with FLOAT16 weights; inputs and outputs stay FLOAT32, and so do nodes whose "
        "constants FLOAT16 cannot hold",
    )


def add_written(parser: argparse.ArgumentParser, only: str = "") -> None:
    """Adds the options for writing ONNX models; ``only`` is a prefix of their help, such as ``compile: ``."""
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


def add_providers(parser: argparse.ArgumentParser) -> None:
    """Adds the options for execution providers."""
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
    number = texts.at_least(0, "; --device is the number of a device, and --provider names the provider")
    parser.add_argument("--device", type=number, metavar="N", help="device number for the first provider")
