"""Errors quote only a short part of a command line; parsing makes only the parsers that it needs."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

import pytest

from dml2onnx.cli import main
from dml2onnx.cli.commands import COMMANDS
from dml2onnx.cli.parser import make_parser, parsed

LONG = ["x" * 5000, "9" * 5000, "a\n\x1b[31m" * 1000, "-" * 5000, "a=" + "b" * 5000, "1_" * 3000]


def options() -> list[tuple[str, str]]:
    """Returns (command, option) for everything that takes a value; an empty option is the first positional argument."""
    (commands,) = (item for item in make_parser()._actions if isinstance(item, argparse._SubParsersAction))
    found = [("", "")]
    for name, parser in commands.choices.items():
        for action in parser._actions:
            if action.nargs != 0:
                found.append((name, action.option_strings[-1] if action.option_strings else ""))
    return found


OPTIONS = options()


def test_there_are_options() -> None:
    assert len(OPTIONS) > 30


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=lambda item: item or "-")
def test_long_texts_are_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text("{}")
    monkeypatch.setenv("COLUMNS", "80")
    positional = {"": [], "ops": []}.get(command, ["model.json"])
    for text in LONG:
        arguments = [f"{option}={text}", *positional] if option else [text]
        assert main([*([command] if command else []), *arguments]) in (0, 1, 2)
        usage, _, error = capsys.readouterr().err.partition("\nfor more: ")[0].rpartition("error: ")
        assert len(error) < 1500, error[:300]
        assert "\x1b" not in error
        assert "Traceback" not in usage


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_does_not_depend_on_the_others(name: str) -> None:
    """The parser of one command has the same help as that of all commands."""
    (alone,), (commands,) = (
        [item.choices for item in parser._actions if isinstance(item, argparse._SubParsersAction)]
        for parser in (make_parser([name]), make_parser())
    )
    assert list(alone) == [name]
    assert alone[name].format_help() == commands[name].format_help()


def test_parsing_makes_one_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[list[str]] = []

    def make(complete: list[str]) -> argparse.ArgumentParser:
        made.append(complete)
        return make_parser(complete)

    monkeypatch.setattr("dml2onnx.cli.parser.make_parser", make)
    for line in (["ops"], ["--quiet", "ops"], ["help"], ["nothing"]):
        with contextlib.suppress(SystemExit):
            parsed(line)
    assert made == [["ops"], ["ops"], [], []]
