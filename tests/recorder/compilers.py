"""C++ compilers for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.recorder import compiled

ROOT = Path(__file__).parent.parent.parent
RECORDER = ROOT / "dml2onnx" / "recorder"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic", "-Werror")
ZIG = ROOT / ".venv-cpp"
MISSING = "no C++ compiler: install one as c++, or make .venv-cpp with scripts/test.py"
NO_ZIG = "no compiler for Windows: scripts/test.py makes .venv-cpp, which has one"


@dataclass(frozen=True, slots=True)
class Compiler:
    """A command that compiles C++17."""

    command: tuple[str, ...]
    only_checks: bool = True
    """Whether it supports ``-fsyntax-only``."""

    def object(self, source: Path, include: Path, *options: str) -> None:
        """Compiles a file that includes the recorder; ``include`` has ``DirectML.h``; warnings are errors."""
        last = ("-fsyntax-only",) if self.only_checks else ("-c", "-o", str(source.with_suffix(".o")))
        self._run(source, include, options, last, None)

    def program(self, source: Path, include: Path, output: Path, *options: str) -> None:
        """Compiles and links a program that includes the recorder; warnings are errors."""
        self._run(source, include, (*options, "-pthread"), ("-o", str(output)), output)

    def precompiled(self, header: Path, *options: str) -> tuple[str, ...]:
        """Precompiles a header, if the compiler can; returns the options that include it."""
        command = (*self.command, "-std=c++17", *WARNINGS, *options, "-x", "c++-header", str(header))
        if self.only_checks:
            subprocess.run([*command, "-o", f"{header}.gch"], capture_output=True, check=False, env=_environment())
        return ("-include", str(header))

    def _run(
        self, source: Path, include: Path, options: tuple[str, ...], last: tuple[str, ...], output: Path | None
    ) -> None:
        directories = (f"-I{include}", f"-I{RECORDER}", f"-I{RECORDER / 'posix'}")
        options = ("-std=c++17", *WARNINGS, *directories, *options)
        environment = _environment()
        key = compiled.key_of(self.command, options, source, environment)
        if compiled.take(key, output):
            return
        command = (*self.command, str(source), *options, *last)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280, env=environment)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        compiled.keep(key, output)


def _environment() -> dict[str, str]:
    # zig caches the C++ libraries that it builds
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(ZIG / "cache"), "ZIG_LOCAL_CACHE_DIR": str(ZIG / "cache")}


def zig(target: str | None = None) -> Compiler | None:
    """The compiler of the package index, for this system or for ``target``."""
    python = ZIG / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    # without debug information, which zig adds by default, compilation is faster
    options = () if target is None else ("-target", target, "-g0", "-fno-sanitize=undefined")
    return Compiler((str(python), "-m", "ziglang", "c++", *options), only_checks=False) if python.exists() else None


def native() -> Compiler | None:
    """A compiler for this system: the system's own, or that of the package index."""
    found = next((name for name in ("c++", "g++", "clang++") if shutil.which(name) is not None), None)
    return Compiler((found,)) if found is not None else zig()


MEMORY = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")  # -g1: lines in reports
THREADS = ("-fsanitize=thread", "-g1")


def sanitizers(compiler: Compiler, directory: Path, options: tuple[str, ...] = MEMORY) -> tuple[str, ...]:
    """Returns the options for sanitizers if the compiler supports them."""
    source, program = directory / "sanitized.cpp", directory / "sanitized"
    source.write_text("int main() { return 0; }\n")
    commands = ([*compiler.command, *options, str(source), "-o", str(program)], [program])
    works = all(subprocess.run(item, capture_output=True, check=False).returncode == 0 for item in commands)
    return options if works else ()
