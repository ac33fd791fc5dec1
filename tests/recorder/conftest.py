from __future__ import annotations

from pathlib import Path

import pytest

from dml2onnx.cli import main
from tests.recorder import compilers, sample, stand_in
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
    """The recording of the sample, with the program beside it."""
    directory = tmp_path_factory.mktemp("sample")
    record = sample.by_readme if sample.HAS_BASH else sample.by_itself
    record(compiler, directml, directory)
    return directory / "recording"


@pytest.fixture(scope="session")
def compiled(recording: Path) -> Path:
    """The recorded network with its weights, as ONNX."""
    model = recording.parent / "upscale.onnx"
    assert main(["compile", str(recording), "-o", str(model)]) == 0
    return model
