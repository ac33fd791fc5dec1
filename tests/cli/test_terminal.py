"""Output for terminals: colours and progress."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from rich.status import Status

from dml2onnx.cli import main
from dml2onnx.cli.terminal import table

SAMPLES = Path(__file__).parent.parent.parent / "samples"
BROKEN, DIGITS = (str(SAMPLES / name / "model.json") for name in ("broken", "digits"))
ESCAPE = "\x1b["


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def seen(*arguments: str, code: int = 0) -> str:
    """Returns all output of a command on a terminal."""
    stream = Terminal()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        assert main(list(arguments)) == code
    return stream.getvalue()


def test_terminals_have_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"\x1b\[1;31m[^\x1b]*error", seen("check", BROKEN, code=1))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in seen("check", BROKEN, code=1)


def test_other_streams_have_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", BROKEN]) == 1
    assert ESCAPE not in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["compile", "verify", "run", "explain", "report"])
def test_long_commands_show_progress(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    monkeypatch.setattr(Status, "update", lambda self, text: reported.append(text))
    options = {"compile": ("-o", str(tmp_path / "o.onnx")), "report": ("--verify", "-o", str(tmp_path / "o.html"))}
    seen(command, DIGITS, *options.get(command, ()))
    assert any(re.search(r"\d+ of \d+", text) for text in reported), reported


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_quiet_and_json_show_no_progress(option: str, tmp_path: Path) -> None:
    assert ESCAPE not in seen("compile", DIGITS, "-o", str(tmp_path / "out.onnx"), option)


@pytest.mark.parametrize("width", [24, 40, 200])
@pytest.mark.parametrize("columns", [["name", "size"], ["name", "a column so long that cells stand below each other"]])
def test_lines_of_tables_are_not_log_commands(columns: list[str], width: int) -> None:
    """A name may be wrapped before ``::``, with which a command for GitHub begins."""
    names = [f"{'n' * length} ::warning::" for length in range(1, 40)]
    lines = table(Console(file=io.StringIO()), columns, [(name, 1) for name in names], "", width)
    assert not any(line.lstrip().startswith("::") for line in lines)
