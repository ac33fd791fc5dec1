"""The README's three commands from a C++ program to the numbers of ONNX Runtime."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.recorder.compilers import ROOT
from tests.recorder.sample import SAMPLE

if TYPE_CHECKING:
    from tests.recorder.compilers import Compiler


@pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are those of bash")
def test_three_commands_lead_from_source_to_output(
    compiler: Compiler, directml: Path, recording: Path, tmp_path: Path
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(text for text in re.findall(r"```console\n(.*?)```", readme, re.DOTALL) if "samples/cpp" in text)
    commands = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(commands) == 3
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, command in (("c++", compiler.command), ("dml2onnx", (sys.executable, "-m", "dml2onnx"))):
        (programs / name).write_text(
            f'#!/bin/sh\nPATH={shlex.quote(os.environ["PATH"])} exec {shlex.join(command)} "$@"\n'
        )
        (programs / name).chmod(0o755)
    (tmp_path / "samples").symlink_to(SAMPLE.parent)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "DIRECTML": str(directml)}
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    made = np.load(tmp_path / "enlarged" / "enlarged.npy")
    assert made.size == 96 * 128
    assert (tmp_path / "recording" / "upscale.json").read_bytes() == (recording / "upscale.json").read_bytes()
