"""The README's three commands from a C++ program to the numbers of ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorder.sample import HAS_BASH


@pytest.mark.skipif(not HAS_BASH, reason="the commands are those of bash")
def test_three_commands_lead_from_source_to_output(recording: Path) -> None:
    """All other tests of the sample look at what they have recorded."""
    made = np.load(recording.parent / "enlarged" / "enlarged.npy")
    assert made.size == 96 * 128
