"""The C++ sample."""

from __future__ import annotations

from tests.recorder.compilers import ROOT

SAMPLE = ROOT / "samples" / "cpp"
WEIGHTS = ("filter1", "bias1", "filter2", "bias2")
