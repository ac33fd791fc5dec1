"""``dml2onnx recorder``: writes the recording headers for C++ programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dml2onnx import recorder
from dml2onnx.cli import texts
from dml2onnx.cli.common_options import add_common
from dml2onnx.cli.lazily import answers
from dml2onnx.cli.markup import escape
from dml2onnx.files import make_directory, put

if TYPE_CHECKING:
    import argparse

    from dml2onnx.cli.render import Screen


def recorder_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command line of ``recorder`` may have."""
    add_common(parser)
    parser.add_argument(
        "--output",
        "-o",
        type=texts.directory,
        default=Path(),
        metavar="DIR",
        help="directory to write to (default: the current one)",
    )


def recorder_command(options: argparse.Namespace, screen: Screen) -> int:
    """Writes the headers, and an example of their use where there is none yet; what is there of that is left alone."""
    directory: Path = options.output
    make_directory(directory / "posix")
    header = directory / recorder.HEADER
    others = {directory / name: [recorder.contents(name)] for name in recorder.HEADERS if name != recorder.HEADER}
    replaced = tuple(
        str(directory / name)
        for name in recorder.HEADERS
        if (directory / name).is_file() and (directory / name).read_bytes() != recorder.contents(name)
    )
    kept = [directory / name for name in recorder.EXAMPLE if (directory / name).exists()]
    fresh = [name for name in recorder.EXAMPLE if directory / name not in kept]
    beside = others | {directory / name: [recorder.contents(name)] for name in fresh}
    written = put(header, [recorder.contents(recorder.HEADER)], beside)
    answer = answers.RecorderAnswer(
        files=tuple(map(str, written)),
        file_bytes={str(path): path.stat().st_size for path in written},
        replaced=replaced,
        kept=tuple(map(str, kept)),
    )
    if options.json:
        screen.answer(answer)
        return 0
    for file in answer.files:
        what = "replaced another version of" if file in answer.replaced else "wrote"
        screen.say(f"[bold green]{what}[/] {escape(file)}")
    for file in answer.kept:
        screen.say(f"left {escape(file)} as it is")
    return 0
