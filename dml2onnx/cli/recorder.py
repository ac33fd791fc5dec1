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
    """Adds the arguments of ``recorder``."""
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
    """Writes the headers, and the files of an example that do not exist yet."""
    directory: Path = options.output
    make_directory(directory / "posix")
    header = directory / recorder.HEADER
    replaced = tuple(
        str(directory / name)
        for name in recorder.HEADERS
        if (directory / name).is_file() and (directory / name).read_bytes() != recorder.contents(name)
    )
    kept = [directory / name for name in recorder.EXAMPLE if (directory / name).exists()]
    contents = {directory / name: [recorder.contents(name)] for name in (*recorder.HEADERS, *recorder.EXAMPLE)}
    others = {path: parts for path, parts in contents.items() if path != header and path not in kept}
    written = put(header, contents[header], others)
    answer = answers.RecorderAnswer(
        files=tuple(map(str, written)),
        file_bytes={str(path): path.stat().st_size for path in written},
        replaced=replaced,
        kept=tuple(map(str, kept)),
    )
    if screen.answered(answer):
        return 0
    for file in answer.files:
        verb = "replaced another version of" if file in answer.replaced else "wrote"
        screen.say(f"[bold green]{verb}[/] {escape(file)}")
    for file in answer.kept:
        screen.say(f"kept {escape(file)}")
    return 0
