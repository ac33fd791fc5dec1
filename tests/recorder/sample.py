"""Compiles and runs the C++ sample."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.recorder import compilers
from tests.recorder.compilers import ROOT, Compiler

SAMPLE = ROOT / "samples" / "cpp"
WEIGHTS = ("filter1", "bias1", "filter2", "bias2")
HAS_BASH = shutil.which("bash") is not None
"""Whether the README's commands can be run."""


def by_readme(compiler: Compiler, directml: Path, directory: Path) -> None:
    """Runs the README's commands in a directory; warnings of the compiler are errors."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(text for text in re.findall(r"```console\n(.*?)```", readme, re.DOTALL) if "samples/cpp" in text)
    commands = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(commands) == 3
    programs = directory / "programs"
    programs.mkdir()
    compile_it = (*compiler.command, *compilers.WARNINGS)
    for name, command in (("c++", compile_it), ("dml2onnx", (sys.executable, "-m", "dml2onnx"))):
        (programs / name).write_text(
            f'#!/bin/sh\nPATH={shlex.quote(os.environ["PATH"])} exec {shlex.join(command)} "$@"\n'
        )
        (programs / name).chmod(0o755)
    (directory / "samples").symlink_to(SAMPLE.parent)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "DIRECTML": str(directml)}
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=directory, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if "upscale.cpp" in command:
            assert (done.stdout, done.stderr) == ("recorded\n", "")


def by_itself(compiler: Compiler, directml: Path, directory: Path) -> None:
    """Compiles and runs the sample in a directory without bash."""
    program, folder = directory / "upscale", directory / "recording"
    compiler.program(SAMPLE / "upscale.cpp", directml, program)
    done = subprocess.run([program, SAMPLE / "weights.bin", folder], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "recorded\n", "")
