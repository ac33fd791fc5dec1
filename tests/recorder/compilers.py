"""The C++ compilers that tests can use."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
RECORDER = ROOT / "dml2onnx" / "recorder"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic", "-Werror")
ZIG = ROOT / ".venv-cpp"
MISSING = "no C++ compiler: install one as c++, or make .venv-cpp with scripts/test.py"


@dataclass(frozen=True, slots=True)
class Compiler:
    """A command that compiles C++17 for this system."""

    command: tuple[str, ...]

    def compile(self, source: Path, include: Path, *options: str, output: Path | None = None) -> None:
        """Compiles a file that includes the recorder, ``include`` being where ``DirectML.h`` lies; warnings fail.

        Makes a program when there is an ``output``, and checks only that it would compile otherwise.
        """
        last = ("-fsyntax-only",) if output is None else ("-pthread", "-o", str(output))
        directories = (f"-I{include}", f"-I{RECORDER}")
        command = (*self.command, "-std=c++17", *WARNINGS, *directories, *options, str(source), *last)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def native() -> Compiler | None:
    """A compiler for programs that run here: the system's own, or the one of the package index."""
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name) is not None:
            return Compiler((name,))
    python = ZIG / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    return Compiler((str(python), "-m", "ziglang", "c++")) if python.exists() else None
