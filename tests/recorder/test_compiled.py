"""The cache of compiled programs."""

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
def make(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], tuple[str, bool]]:
    """Compiles a program in its own directory; returns the number that it prints, and whether the compiler ran."""
    monkeypatch.setattr(compiled, "KEPT", tmp_path / "kept")
    run, commands = subprocess.run, []

    def logged(command: Any, *arguments: Any, **options: Any) -> Any:
        commands.append(list(map(str, command)))
        return run(command, *arguments, **options)

    monkeypatch.setattr(subprocess, "run", logged)

    def compile(directory: str, header: str, *options: str) -> tuple[str, bool]:
        place = tmp_path / directory
        place.mkdir()
        (place / "number.h").write_text(header)
        (place / "main.cpp").write_text(SOURCE)
        commands.clear()
        compiler.program(place / "main.cpp", place, place / "main", *options)
        has_compiled = any("-o" in command for command in commands)
        return run([place / "main"], capture_output=True, text=True, check=True).stdout, has_compiled

    return compile


def test_only_changed_programs_are_compiled(make: Callable[..., tuple[str, bool]]) -> None:
    assert make("first", "#define NUMBER 1") == ("1", True)
    assert make("second", "#define NUMBER 1") == ("1", False)
    assert make("third", "#define NUMBER 2") == ("2", True)
    assert make("option", "#define NUMBER 1", "-O1") == ("1", True)
    assert make("macro", "#ifndef NUMBER\n#define NUMBER 1\n#endif", "-DNUMBER=7") == ("7", True)
    assert make("again", "#ifndef NUMBER\n#define NUMBER 1\n#endif", "-DNUMBER=7") == ("7", False)


def test_paths_in_the_text_are_part_of_the_key(make: Callable[..., tuple[str, bool]], tmp_path: Path) -> None:
    number = "#define NUMBER sizeof({}) > 1\n"
    assert make("first", number.format(f'"{tmp_path / "first"}"')) == ("1", True)
    assert make("second", number.format(f'"{tmp_path / "second"}"')) == ("1", True)


def test_failures_are_not_cached(compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", tmp_path / "kept")
    (tmp_path / "main.cpp").write_text("int main() { int unread = 1; }\n")
    for _ in range(2):
        with pytest.raises(AssertionError, match="unread"):
            compiler.object(tmp_path / "main.cpp", tmp_path)
    assert not (tmp_path / "kept").exists()


def test_the_oldest_results_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(compiled, "MAX_RESULTS", 2)
    for number, name in enumerate(("a", "b", "c")):
        compiled.keep(name, None)
        os.utime(tmp_path / "kept" / name, (number, number))
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"b", "c"}
    assert compiled.take("c", None)
    assert not compiled.take(None, None)
