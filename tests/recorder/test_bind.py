"""`samples/cpp/bind.cpp`: ONNX Runtime's C++ API with the buffers of a program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import dml2onnx
from tests.recorder import compilers
from tests.recorder.compilers import Compiler
from tests.recorder.sample import SAMPLE

HEADERS = next(
    (
        path
        for path in (compilers.ZIG / "onnxruntime", Path("/usr/include/onnxruntime"))
        if (path / "onnxruntime_cxx_api.h").is_file()
    ),
    None,
)
LIBRARY = next(iter((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*")), None)


@pytest.fixture(scope="module")
def program(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if HEADERS is None:
        pytest.skip("no headers of ONNX Runtime: scripts/test.py fetches them, and Debian has libonnxruntime-dev")
    if sys.platform != "linux" or LIBRARY is None:
        pytest.skip("only the Linux wheel of ONNX Runtime contains the C++ library")
    directory = tmp_path_factory.mktemp("bind")
    # the library's own name
    (directory / "libonnxruntime.so.1").symlink_to(LIBRARY)
    options = ["-isystem", str(HEADERS), str(directory / "libonnxruntime.so.1"), f"-Wl,-rpath,{directory}"]
    compiler.program(SAMPLE / "bind.cpp", SAMPLE, directory / "bind", *options)
    return directory / "bind"


def test_the_buffers_of_the_program_bind(program: Path, compiled: Path, tmp_path: Path) -> None:
    picture = np.load(SAMPLE / "picture.npy")
    source, target = tmp_path / "picture.bin", tmp_path / "enlarged.bin"
    picture.tofile(source)
    done = subprocess.run([program, compiled, source, target], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    session = onnxruntime.InferenceSession(compiled, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"picture": picture})[0]
    assert np.array_equal(np.fromfile(target, np.float32).reshape(expected.shape), expected)


def test_errors(program: Path, tmp_path: Path) -> None:
    (tmp_path / "no.onnx").write_text(dml2onnx.__version__)
    line = [program, tmp_path / "no.onnx", SAMPLE / "weights.bin", tmp_path / "out.bin"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no.onnx" in done.stderr
    assert not (tmp_path / "out.bin").exists()
