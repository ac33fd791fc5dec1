"""Checks, compiles, runs and verifies every sample; results go to samples/output/.

    python scripts/demo.py

Creates ``.venv`` with pinned packages first. The exit code is 0 if every command had the expected exit code.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import NamedTuple

from _environment import ROOT, prepare, run

OUTPUT = "samples/output"
FINDINGS = 1


class Command(NamedTuple):
    """A command line and its expected exit code."""

    line: str
    expected: int = 0

    def arguments(self, python: Path) -> list[str | Path]:
        """The command with the environment's interpreter."""
        program, *rest = self.line.split()
        return [python, "-m", "dml2onnx", *rest] if program == "dml2onnx" else [python, *rest]


class Chapter(NamedTuple):
    """The commands for one sample."""

    title: str
    commands: tuple[Command, ...]


def model_commands(name: str) -> tuple[Command, ...]:
    model = f"samples/{name}/model.json"
    return (
        Command(f"dml2onnx check {model}"),
        Command(f"dml2onnx compile {model} -o {OUTPUT}/{name}.onnx"),
        Command(f"dml2onnx verify {model}"),
    )


CHAPTERS = (
    Chapter(
        "A DxDispatch program that processes a picture: padding, convolution, resampling, pooling, join",
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
        "The same network as an unchanged PyDirectML program; saves its model",
        (Command(f"dml2onnx pydirectml --save {OUTPUT}/classify.onnx samples/pydirectml/classify.py"),),
    ),
    Chapter(
        "A model with mistakes: what is wrong, where, and which feature level would accept it",
        (Command("dml2onnx check samples/broken/model.json", FINDINGS), Command("dml2onnx explain DML1101")),
    ),
)


def perform(chapters: tuple[Chapter, ...], python: Path) -> list[str]:
    """Runs all commands and returns those with unexpected exit codes."""
    wrong = []
    columns = str(shutil.get_terminal_size((120, 40)).columns)
    for number, chapter in enumerate(chapters, 1):
        print(f"\n{'=' * 100}\n{number}. {chapter.title}")
        for command in chapter.commands:
            print(f"\n$ {command.line}\n", flush=True)
            code = run(command.arguments(python), {"PYTHONUTF8": "1", "COLUMNS": columns})
            if code != command.expected:
                print(f"exit code {code}, expected {command.expected}")
                wrong.append(command.line)
    return wrong


def main() -> int:
    argparse.ArgumentParser(description="Checks, compiles, runs and verifies every sample.").parse_args()
    python = prepare(".venv")
    started = time.perf_counter()
    shutil.rmtree(ROOT / OUTPUT, ignore_errors=True)
    (ROOT / OUTPUT).mkdir(parents=True)
    wrong = perform(CHAPTERS, python)
    print("\n" + "=" * 100)
    if wrong:
        print(f"FAILED: {'; '.join(wrong)}")
        return 1
    print(f"all commands passed in {time.perf_counter() - started:.0f} s; see {OUTPUT}/picture/result.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
