"""`samples/cpp`: the results of the recorded model, compared with numpy."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import dml2onnx
from dml2onnx.cli import main
from tests.recorder.compilers import Compiler
from tests.recorder.sample import SAMPLE, WEIGHTS

Doubles: TypeAlias = npt.NDArray[np.float64]


def convolved(image: Doubles, kernels: Doubles, bias: Doubles) -> Doubles:
    """Cross-correlation of (channels, height, width) with (outputs, channels, rows, columns), without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(image, kernels.shape[2:], axis=(1, 2))
    return np.einsum("chwij,ocij->ohw", windows, kernels) + bias[:, None, None]


def enlarged(picture: Doubles) -> Doubles:
    """The expected result in double precision."""
    floats = np.fromfile(SAMPLE / "weights.bin", "<f4").astype(np.float64)
    filter1, bias1, filter2, bias2 = np.split(floats, np.cumsum((200, 8, 288)))
    padded = np.pad(picture, ((0, 0), (3, 3), (3, 3)), "edge")
    features = np.maximum(convolved(padded, filter1.reshape(8, 1, 5, 5), bias1), 0)
    phases = convolved(features, filter2.reshape(4, 8, 3, 3), bias2)
    _, height, width = phases.shape
    pixels = phases.reshape(2, 2, height, width).transpose(2, 0, 3, 1).reshape(2 * height, 2 * width)
    return np.clip(pixels, 0, 1)


def test_the_recorded_graph(recording: Path) -> None:
    graph = dml2onnx.load(recording)
    assert dml2onnx.check(graph) == []
    assert [node.name for node in graph.nodes] == ["border", "features", "phases", "pixels", "clip"]
    assert [item.name for item in graph.inputs] == ["picture"]
    assert [item.value.name for item in graph.constants] == list(WEIGHTS)
    assert str(dml2onnx.minimum_feature_level(graph)) == "2_1"


def test_the_recorded_weights(recording: Path) -> None:
    files = [recording / "data" / f"upscale.{name}.bin" for name in WEIGHTS]
    assert b"".join(path.read_bytes() for path in files) == (SAMPLE / "weights.bin").read_bytes()


def test_the_picture_is_enlarged(recording: Path, tmp_path: Path) -> None:
    picture = SAMPLE / "picture.npy"
    assert main(["run", str(recording), f"--input=picture={picture}", "--output-dir", str(tmp_path)]) == 0
    result = np.load(tmp_path / "enlarged.npy").reshape(96, 128)
    expected = enlarged(np.load(picture)[0].astype(np.float64))
    # two layers of float32 sums of up to 72 products of weights up to 1.6 and pixels up to about 1
    np.testing.assert_allclose(result, expected, rtol=0, atol=float(200 * np.finfo(np.float32).eps))
    plain = np.load(picture)[0, 0].repeat(2, axis=0).repeat(2, axis=1)
    assert np.abs(np.diff(result, axis=1)).max() > 0.1
    assert 0.001 < np.abs(result - plain).mean() < 0.1


def test_verification_passes(recording: Path) -> None:
    verification = dml2onnx.verify(recording)
    assert verification.passed
    assert verification.first_wrong_node is None


def test_invalid_weights_are_refused(compiler: Compiler, recording: Path, tmp_path: Path) -> None:
    (tmp_path / "few.bin").write_bytes(b"\0" * 12)
    done = subprocess.run(
        [recording.parent / "upscale", tmp_path / "few.bin", tmp_path / "none"], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert not (tmp_path / "none").exists()
