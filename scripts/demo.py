"""The main job on every sample: check, compile, run, and compare with the reference. Results go to samples/output/.

    python scripts/demo.py

Makes ``.venv`` with pinned packages first. The exit code is 0 when every command ended as it should.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import NamedTuple

from _environment import ROOT, prepare, run

OUTPUT = "samples/output"
FINDINGS = 1


class Command(NamedTuple):
    """A command as one would type it, and the exit code that it should have."""

    line: str
    expected: int = 0

    def arguments(self, python: Path) -> list[str | Path]:
        """The same with the environment's own interpreter, whatever is on the path."""
        program, *rest = self.line.split()
        return [python, "-m", "dml2onnx", *rest] if program == "dml2onnx" else [python, *rest]


class Chapter(NamedTuple):
    """One sample: what it shows, and the commands that show it."""

    title: str
    commands: tuple[Command, ...]


def model_commands(name: str) -> tuple[Command, ...]:
    """Check, compile and verify one sample."""
    model = f"samples/{name}/model.json"
    return (
        Command(f"dml2onnx check {model}"),
        Command(f"dml2onnx compile {model} -o {OUTPUT}/{name}.onnx"),
        Command(f"dml2onnx verify {model}"),
    )


CHAPTERS = (
    Chapter(
        "A DxDispatch program that works on a picture: padding, convolution, resampling, pooling, join",
        (
            *model_commands("picture"),
            Command("dml2onnx explain samples/picture/model.json"),
            Command(f"dml2onnx run samples/picture/model.json --output-dir {OUTPUT}/picture"),
        ),
    ),
    Chapter(
        "A small network that reads handwritten digits, 360 at a time",
        (*model_commands("digits"), Command("python samples/digits/accuracy.py")),
    ),
    Chapter(
        "The same network as a PyDirectML program, run as it is; its model is kept",
        (Command(f"dml2onnx pydirectml --save {OUTPUT}/classify.onnx samples/pydirectml/classify.py"),),
    ),
    Chapter(
        "A model with mistakes: what is wrong, where, and since when it would be right",
        (Command("dml2onnx check samples/broken/model.json", FINDINGS), Command("dml2onnx explain DML1101")),
    ),
)


def perform(chapters: tuple[Chapter, ...], python: Path) -> list[str]:
    """Runs all commands and returns the lines of those that ended otherwise than expected."""
    wrong = []
    columns = str(shutil.get_terminal_size((120, 40)).columns)
    for number, chapter in enumerate(chapters, 1):
        print(f"\n{'=' * 100}\n{number}. {chapter.title}")
        for command in chapter.commands:
            print(f"\n$ {command.line}\n", flush=True)
            code = run(command.arguments(python), {"PYTHONUTF8": "1", "COLUMNS": columns})
            if code != command.expected:
                print(f"exit code {code}, {command.expected} was expected")
                wrong.append(command.line)
    return wrong


def main() -> int:
    python = prepare(".venv")
    started = time.perf_counter()
    shutil.rmtree(ROOT / OUTPUT, ignore_errors=True)
    (ROOT / OUTPUT).mkdir(parents=True)
    wrong = perform(CHAPTERS, python)
    print("\n" + "=" * 100)
    if wrong:
        print(f"FAILED: {'; '.join(wrong)}")
        return 1
    print(f"all is well, in {time.perf_counter() - started:.0f} s; see {OUTPUT}/picture/result.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
