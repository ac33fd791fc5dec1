from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from dml2onnx.cli import main
from tests.recorder import compilers, stand_in
from tests.recorder.sample import SAMPLE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recorder.compilers import Compiler


@pytest.fixture(scope="session")
def compiler() -> Compiler:
    found = compilers.native()
    if found is None:
        pytest.skip(compilers.MISSING)
    return found


@pytest.fixture(scope="session")
def windows() -> Compiler:
    found = compilers.zig("x86_64-windows-gnu")
    if found is None:
        pytest.skip(compilers.NO_ZIG)
    return found


@pytest.fixture(scope="session")
def directml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a DirectML.h."""
    return stand_in.write(tmp_path_factory.mktemp("directml"))


@pytest.fixture(scope="session")
def recording(compiler: Compiler, directml: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the sample records."""
    directory = tmp_path_factory.mktemp("sample")
    program, folder = directory / "upscale", directory / "recording"
    compiler.program(SAMPLE / "upscale.cpp", directml, program)
    done = subprocess.run([program, SAMPLE / "weights.bin", folder], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "recorded\n", "")
    return folder


@pytest.fixture(scope="session")
def compiled(recording: Path) -> Path:
    """The recorded network with its weights, as ONNX."""
    model = recording.parent / "upscale.onnx"
    assert main(["compile", str(recording), "-o", str(model)]) == 0
    return model
