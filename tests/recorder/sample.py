"""The C++ sample, and what makes constants of its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.recorder.compilers import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = ROOT / "samples" / "cpp"
WEIGHTS = ("filter1", "bias1", "filter2", "bias2")


def given(recording: Path) -> list[str]:
    """Options that make constants of the weights."""
    return [f"--constant={name}={recording / 'data' / f'upscale.{name}.bin'}" for name in WEIGHTS]
