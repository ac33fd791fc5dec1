"""The README's three commands from a C++ program to the numbers of ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorder.sample import HAS_BASH


@pytest.mark.skipif(not HAS_BASH, reason="the commands need bash")
def test_the_last_command_writes_the_output(recording: Path) -> None:
    assert np.load(recording.parent / "enlarged" / "enlarged.npy").size == 96 * 128
