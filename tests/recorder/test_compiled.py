"""A program is compiled again where anything of it differs, and only there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.recorder import compiled
from tests.recorder.compilers import Compiler

SOURCE = '#include "number.h"\n#include <cstdio>\nint main() { std::printf("%d", NUMBER); }\n'


@pytest.fixture
def made(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], tuple[str, bool]]:
    """Compiles a program that prints a number, in a directory of its own; what it prints, and whether that was done."""
    monkeypatch.setattr(compiled, "KEPT", tmp_path / "kept")
    run, commands = subprocess.run, []

    def watched(command: Any, *arguments: Any, **how: Any) -> Any:
        commands.append(list(map(str, command)))
        return run(command, *arguments, **how)

    monkeypatch.setattr(subprocess, "run", watched)

    def make(directory: str, header: str, *options: str) -> tuple[str, bool]:
        place = tmp_path / directory
        place.mkdir()
        (place / "number.h").write_text(header)
        (place / "main.cpp").write_text(SOURCE)
        commands.clear()
        compiler.program(place / "main.cpp", place, place / "main", *options)
        is_made = any("-o" in command for command in commands)
        return run([place / "main"], capture_output=True, text=True, check=True).stdout, is_made

    return make


def test_only_what_differs_is_compiled_again(made: Callable[..., tuple[str, bool]]) -> None:
    assert made("first", "#define NUMBER 1") == ("1", True)
    assert made("second", "#define NUMBER 1") == ("1", False)
    assert made("third", "#define NUMBER 2") == ("2", True)
    assert made("option", "#define NUMBER 1", "-O1") == ("1", True)
    assert made("macro", "#ifndef NUMBER\n#define NUMBER 1\n#endif", "-DNUMBER=7") == ("7", True)
    assert made("again", "#ifndef NUMBER\n#define NUMBER 1\n#endif", "-DNUMBER=7") == ("7", False)


def test_a_path_in_the_text_is_part_of_it(made: Callable[..., tuple[str, bool]], tmp_path: Path) -> None:
    """It is that of another run, where the program would write."""
    number = "#define NUMBER sizeof({}) > 1\n"
    assert made("first", number.format(f'"{tmp_path / "first"}"')) == ("1", True)
    assert made("second", number.format(f'"{tmp_path / "second"}"')) == ("1", True)


def test_what_fails_is_not_kept(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", tmp_path / "kept")
    (tmp_path / "main.cpp").write_text("int main() { int unread = 1; }\n")
    for _ in range(2):
        with pytest.raises(AssertionError, match="unread"):
            compiler.object(tmp_path / "main.cpp", tmp_path)
    assert not (tmp_path / "kept").exists()


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(compiled, "MOST", 2)
    for number, name in enumerate(("a", "b", "c")):
        compiled.keep(name, None)
        os.utime(tmp_path / "kept" / name, (number, number))
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"b", "c"}
    assert compiled.take("c", None)
    assert not compiled.take(None, None)
